/* The tables and the stages of a run, with the constants that its kernels are compiled for. */
#ifndef ICS_KERNELS_CUDA_DEVICE_SPECIAL_TABLES_H
#define ICS_KERNELS_CUDA_DEVICE_SPECIAL_TABLES_H

#include "kernels/cuda/device/special.h"
#include "stages/variants.h"

/* A kernel. Tests define this differently, to run kernels as C on the CPU
 * (tests/kernels/emulated). */
#if defined(__CUDACC__)
#define ICS_KERNEL extern "C" __global__ void
#endif

/* The tables, in which the numbers that this run's kernels are compiled for are constants. */
ICE_FN ice_tables gpu_special_tables(const ice_tables *given)
{
    ice_tables tables = *given;
#define GPU_SET(name, member) tables.member = GPU_SPECIAL_##name;
    GPU_SPECIAL_TABLES(GPU_SET)
#undef GPU_SET
#if defined(GPU_SPECIAL_NUMBERS)
#define GPU_SET_NUMBER(member, bits) tables.member = ice_from_bits((int32_t)bits);
    GPU_SPECIAL_NUMBERS(GPU_SET_NUMBER)
#undef GPU_SET_NUMBER
#endif
    return tables;
}

ICE_FN ice_variants gpu_special_variants(void)
{
    const ice_variants variants = {GPU_SPECIAL_CREATE, GPU_SPECIAL_PROPAGATE, GPU_SPECIAL_COLLIDE,
                                   GPU_SPECIAL_SCATTER, ICE_compact_partition};
    return variants;
}

#endif
