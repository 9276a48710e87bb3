#include "kernels/cuda/hit_sum_of.h"
#include "kernels/cuda/hit_sums.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/transform_iterator.h>

typedef unsigned __int128 sum_key;

static const uint32_t block_size = 256;
static const size_t alignment = 256;
static_assert(sizeof(sum_key) == sizeof(ics_hit_sum_key), "a key is a number of 128 bits");

/* The parts of the temporary memory. */
struct sum_memory {
    sum_key *keys;       /* [capacity] of the hits */
    uint32_t *mantissas; /* [capacity] of the hits */
    sum_key *sorted;
    uint32_t *sorted_mantissas;
    void *cub; /* [cub_bytes] memory that CUB works with */
    size_t cub_bytes;
};

/* Makes the total of one hit. Entries without a hit have one, too, which nothing reads. */
struct total_of {
    __host__ __device__ ics_hit_sum_total operator()(uint32_t mantissa) const
    {
        const ics_hit_sum_total total = {mantissa, 1u, 0u};
        return total;
    }
};

struct add_totals {
    __host__ __device__ ics_hit_sum_total operator()(const ics_hit_sum_total &a,
                                                     const ics_hit_sum_total &b) const
    {
        const ics_hit_sum_total sum = {a.mantissa + b.mantissa, a.hits + b.hits, 0u};
        return sum;
    }
};

static size_t aligned(size_t bytes)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

/* Divides the temporary memory; with a base of NULL the result is only its size. */
static size_t divide(char *base, uint32_t capacity, sum_memory *out)
{
    const size_t keys = aligned(capacity * sizeof(sum_key));
    const size_t mantissas = aligned(capacity * sizeof(uint32_t));
    out->keys = reinterpret_cast<sum_key *>(base);
    out->sorted = reinterpret_cast<sum_key *>(base + keys);
    out->mantissas = reinterpret_cast<uint32_t *>(base + 2 * keys);
    out->sorted_mantissas = reinterpret_cast<uint32_t *>(base + 2 * keys + mantissas);
    out->cub = base + 2 * keys + 2 * mantissas;
    return 2 * keys + 2 * mantissas;
}

static cudaError_t sort(const sum_memory &memory, size_t *cub_bytes, uint32_t capacity,
                        uint32_t bits, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(
        memory.cub, *cub_bytes, memory.keys, memory.sorted, memory.mantissas,
        memory.sorted_mantissas, static_cast<int>(capacity), 0, static_cast<int>(bits), stream);
}

static cudaError_t reduce(const sum_memory &memory, size_t *cub_bytes, sum_key *keys,
                          ics_hit_sum_total *totals, uint32_t *count, uint32_t capacity,
                          cudaStream_t stream)
{
    const auto single = thrust::make_transform_iterator(memory.sorted_mantissas, total_of());
    return cub::DeviceReduce::ReduceByKey(memory.cub, *cub_bytes, memory.sorted, keys, single,
                                          totals, count, add_totals(), static_cast<int>(capacity),
                                          stream);
}

static __device__ sum_key number_of(ics_hit_sum_key key)
{
    return (sum_key)key.high << 64 | key.low;
}

/* Makes the key of a hit. Returns false if the hit has no sum, and the host will say why. */
static __device__ bool make_key(const ice_tables &tables, const ics_hit_sum_rule &rule,
                                const ics_hit_sum_work &work, const ice_arrival &hit, sum_key *key,
                                uint32_t *mantissa)
{
    ics_hit_sum sum;
    if (hit.emission >= work.layout.emissions ||
        !ics_hit_sum_of(&tables, &rule, &work.steps[hit.emission], &work.emissions[hit.emission],
                        &hit, &sum)) {
        return false;
    }
    const uint32_t first = hit.emission >> work.layout.shift << work.layout.shift;
    *key = number_of(ics_hit_sum_key_of(&work.layout, first, &sum));
    *mantissa = (uint32_t)sum.mantissa;
    return true;
}

static __global__ void make_keys(ice_tables tables, ics_hit_sum_rule rule, ics_hit_sum_work work,
                                 sum_key *keys, uint32_t *mantissas)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= work.capacity) {
        return;
    }
    sum_key key = number_of(ics_hit_sum_key_of_nobody(&work.layout));
    uint32_t mantissa = 0;
    if (i < *work.count && !make_key(tables, rule, work, work.hits[i], &key, &mantissa)) {
        work.report->fault = 1;
    }
    keys[i] = key;
    mantissas[i] = mantissa;
}

extern "C" int ics_hit_sums_make(struct CUstream_st *stream, const ice_tables *tables,
                                 const ics_hit_sum_rule *rule, const ics_hit_sum_work *work)
{
    sum_memory memory;
    const size_t own = divide(static_cast<char *>(work->temporary), work->capacity, &memory);
    const uint32_t bits = ICS_HIT_SUM_CLASS_BITS + ICS_HIT_SUM_BIN_BITS + work->layout.module_bits +
                          ics_hit_sum_bits(work->layout.emissions);
    if (work->bytes < own) {
        return cudaErrorInvalidValue;
    }
    size_t cub_bytes = work->bytes - own;
    cudaError_t error = cudaMemsetAsync(work->report, 0, sizeof *work->report, stream);
    if (error != cudaSuccess) {
        return error;
    }
    const uint32_t blocks = (work->capacity + block_size - 1) / block_size;
    make_keys<<<blocks, block_size, 0, stream>>>(*tables, *rule, *work, memory.keys,
                                                 memory.mantissas);
    error = cudaGetLastError();
    if (error == cudaSuccess) {
        error = sort(memory, &cub_bytes, work->capacity, bits, stream);
    }
    if (error == cudaSuccess) {
        error = reduce(memory, &cub_bytes, reinterpret_cast<sum_key *>(work->keys), work->totals,
                       &work->report->count, work->capacity, stream);
    }
    return error;
}

extern "C" int ics_hit_sums_bytes(uint32_t capacity, size_t *bytes)
{
    sum_memory memory;
    size_t for_sort = 0, for_reduction = 0;
    const size_t own = divide(nullptr, capacity, &memory);
    memory.cub = nullptr; /* CUB only returns the size it needs */
    cudaError_t error = sort(memory, &for_sort, capacity, 128, nullptr);
    if (error == cudaSuccess) {
        error = reduce(memory, &for_reduction, nullptr, nullptr, nullptr, capacity, nullptr);
    }
    *bytes = own + aligned(for_sort > for_reduction ? for_sort : for_reduction);
    return error;
}
