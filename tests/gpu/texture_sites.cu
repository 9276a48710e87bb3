/* The sites of texture_sites.h. */
#define ICE_MATH_FAST
#include "stages/reach.h"
#include "tests/gpu/texture_sites.h"

namespace
{
__global__ void read_all(const __grid_constant__ ice_tables tables, texture_site *sites,
                         uint32_t count)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        texture_site *site = &sites[i];
        site->height = ice_height(&tables, site->x, site->y, site->z);
        site->clearance = ice_clearance(&tables, site->x, site->y);
    }
}
} // namespace

extern "C" int texture_sites(const ice_tables *tables, texture_site *sites, uint32_t count)
{
    texture_site *memory = nullptr;
    const size_t bytes = count * sizeof *sites;
    cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaSuccess) {
        error = cudaMemcpy(memory, sites, bytes, cudaMemcpyHostToDevice);
    }
    if (error == cudaSuccess) {
        read_all<<<(count + 127) / 128, 128>>>(*tables, memory, count);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) {
        error = cudaMemcpy(sites, memory, bytes, cudaMemcpyDeviceToHost);
    }
    cudaFree(memory);
    return error;
}
