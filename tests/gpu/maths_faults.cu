/* The counts of maths_faults.h. */
#include "stages/maths.h"
#include "tests/gpu/maths_faults.h"

namespace
{
constexpr uint32_t BLOCKS = 2048, THREADS = 128;
constexpr uint32_t LEAST = 27u << 23, BEHIND = 227u << 23; /* 2^-100 and 2^100 as bits */

/* Returns random bits for a counter (a round of MurmurHash3). */
__device__ uint32_t scrambled(uint64_t counter)
{
    counter ^= counter >> 33;
    counter *= 0xff51afd7ed558ccdull;
    counter ^= counter >> 33;
    counter *= 0xc4ceb9fe1a85ec53ull;
    return static_cast<uint32_t>(counter >> 32);
}

__device__ uint32_t is_wrong(float value, float expected)
{
    return ice_bits(value) != ice_bits(expected);
}

/* 1 for a result in the range of stages/maths.h. */
__device__ uint32_t is_in_range(float result)
{
    return fabsf(result) >= 7.8886091e-31f && fabsf(result) <= 1.2676506e30f;
}

__device__ uint32_t is_wrong_at(maths_function function, float x)
{
    switch (function) {
    case MATHS_ROOT:
        return is_wrong(ice_root(x), __fsqrt_rn(x));
    case MATHS_INVERSE_ROOT:
        return is_wrong(ice_inverse_root(x), __fdiv_rn(1.0f, __fsqrt_rn(x)));
    default:
        return is_wrong(ice_inverse(x), __fdiv_rn(1.0f, x));
    }
}

/* Two numbers of the range. Two close mantissas have a quotient next to a power of two. */
__device__ uint32_t is_wrong_ratio(maths_function function, uint64_t counter)
{
    const uint32_t range = BEHIND - LEAST;
    uint32_t a = LEAST + scrambled(2 * counter) % range,
             b = LEAST + scrambled(2 * counter + 1) % range;
    if (function == MATHS_RATIO_CLOSE) {
        a = (a & 0xff800000u) | (((b & 0x007fffffu) + a % 17u) & 0x007fffffu);
    }
    const float x = ice_from_bits(static_cast<int32_t>(a)),
                y = ice_from_bits(static_cast<int32_t>(b));
    const float expected = __fdiv_rn(x, y);
    return is_in_range(expected) && is_wrong(ice_ratio(x, y), expected);
}

__global__ void count(maths_function function, uint32_t pairs, unsigned long long *sums)
{
    const uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long tried = 0, faults = 0;
    if (function < MATHS_RATIO) {
        for (uint64_t bits = LEAST + thread; bits < BEHIND; bits += BLOCKS * THREADS) {
            ++tried;
            faults += is_wrong_at(function, ice_from_bits(static_cast<int32_t>(bits)));
        }
        faults += thread == 0 && function == MATHS_ROOT && is_wrong(ice_root(0.0f), 0.0f);
    } else {
        for (uint32_t k = 0; k < pairs; ++k) {
            ++tried;
            faults += is_wrong_ratio(function, thread * pairs + k);
        }
    }
    atomicAdd(&sums[0], tried);
    atomicAdd(&sums[1], faults);
}
} // namespace

extern "C" int maths_faults(maths_function function, uint32_t pairs, uint64_t *tried,
                            uint64_t *faults)
{
    unsigned long long *sums = nullptr, host[2] = {0, 0};
    cudaError_t error = cudaMalloc(&sums, sizeof host);
    if (error == cudaSuccess) {
        error = cudaMemset(sums, 0, sizeof host);
    }
    if (error == cudaSuccess) {
        count<<<BLOCKS, THREADS>>>(function, pairs, sums);
        error = cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
    }
    cudaFree(sums);
    *tried = host[0];
    *faults = host[1];
    return error;
}
