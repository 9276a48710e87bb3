/* The stages as CUDA C: compiled by headers_are_device_clean.sh. */
#include "tests/stages/every_stage.h"

extern "C" __global__ void every_stage_kernel(ice_variants variants, ice_tables tables,
                                              const ice_emission *emissions, ice_arrival *arrivals,
                                              uint32_t *fates, ice_account *accounts)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    every_stage(&variants, &tables, &emissions[i], &arrivals[i], &fates[i], &accounts[i]);
}
