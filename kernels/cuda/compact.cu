#include "kernels/cuda/compact.h"
#include "kernels/cuda/device/slot_words.h"

#include <cub/device/device_partition.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

static const uint32_t block_size = 256;
/* This number of blocks fills any GPU. If a pool has more slots, every thread works on several. */
static const uint32_t blocks_most = 2048;
static const size_t alignment = 256;
static const uint32_t slots_step = 32; /* slots of one warp: the slots in use are whole warps */

static uint32_t blocks_for(uint32_t slots)
{
    const uint32_t blocks = (slots + block_size - 1) / block_size;
    return blocks < blocks_most ? blocks : blocks_most;
}

/* A word as unsigned numbers. */
static __device__ uint4 &bits_of(ics_word &word)
{
    return reinterpret_cast<uint4 &>(word);
}

/* A further column of a photon needs a line in copy_photon(), which are written out because the
 * identity is read once for two purposes. */
static_assert(ICS_SLOT_BYTES == 3 * sizeof(ics_word) + sizeof(ice_random),
              "copy_photon() copies all columns of a photon");

static __device__ void copy_photon(const ics_compact_pool &from, uint32_t source,
                                   const ics_compact_pool &to, uint32_t target)
{
    const uint4 identity = bits_of(from.identity[source]);
    to.position[target] = from.position[source];
    to.direction[target] = from.direction[source];
    bits_of(to.identity[target]) = identity;
    to.random[target] = from.random[source];
    /* `recorded` has a meaning only for photons that wait. The next photon in the old slot begins
     * with no recorded hits. */
    if (gpu_may_wait(identity.x, identity.w)) {
        to.recorded[target] = from.recorded[source];
        from.recorded[source] = 0;
    }
}

/* Returns the number of slots in use for a number of photons. It never exceeds `used`, the number
 * before, because the words of later slots may look like photons. */
static __device__ uint32_t slots_for(uint32_t photons, uint32_t used)
{
    const uint32_t slots = (photons + slots_step - 1) / slots_step * slots_step;
    return slots < used ? slots : used;
}

/* Whether a slot holds a photon. */
struct occupied {
    const ics_word *identity;
    const ics_launch_progress *progress;

    __device__ bool operator()(uint32_t slot) const
    {
        return slot < progress->slots && !gpu_is_vacant(identity[slot]);
    }
};

/* ---- partition ------------------------------------------------------------------------------ */

/* The temporary memory of a partition. */
struct partition_memory {
    uint32_t *living; /* the number of living photons */
    uint32_t *slots;  /* the slots of living photons in ascending order, then the free slots in
                         descending order */
    void *cub;        /* [cub_bytes] memory that CUB works with */
    size_t cub_bytes;
};

static size_t aligned(size_t bytes)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

static size_t partition_own_bytes(uint32_t capacity)
{
    return alignment + aligned(capacity * sizeof(uint32_t));
}

static cudaError_t partition_slots(const partition_memory &memory, size_t *cub_bytes,
                                   const occupied &is_occupied, uint32_t capacity,
                                   cudaStream_t stream)
{
    const thrust::counting_iterator<uint32_t> slots(0);
    /* The flags are computed where they are read, which saves a column and a kernel. */
    const auto flags = thrust::make_transform_iterator(slots, is_occupied);
    return cub::DevicePartition::Flagged(memory.cub, *cub_bytes, slots, flags, memory.slots,
                                         memory.living, capacity, stream);
}

/* The number of living photons at or behind the new end equals the number of holes before it, so
 * the k-th photon from the back moves to the k-th hole. */
static __global__ void fill_holes(ics_compact_pool pool, const uint32_t *living,
                                  const uint32_t *slots, ics_launch_progress *progress)
{
    const uint32_t end = *living;
    const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t k = first; k < end; k += gridDim.x * blockDim.x) {
        const uint32_t source = slots[end - 1 - k];
        if (source < end) {
            break; /* this photon and all before it are in front already */
        }
        copy_photon(pool, source, pool, slots[pool.capacity - 1 - k]);
        gpu_set_vacant(&pool.identity[source]);
    }
    if (first == 0) {
        progress->slots = slots_for(end, progress->slots);
    }
}

extern "C" int ics_compact_partition(struct CUstream_st *stream, const ics_compact_pool *pool,
                                     ics_launch_progress *progress, void *temporary, size_t bytes)
{
    const size_t own = partition_own_bytes(pool->capacity);
    if (bytes < own) {
        return cudaErrorInvalidValue;
    }
    char *base = static_cast<char *>(temporary);
    const partition_memory memory = {reinterpret_cast<uint32_t *>(base),
                                     reinterpret_cast<uint32_t *>(base + alignment), base + own,
                                     bytes - own};
    const occupied is_occupied = {pool->identity, progress};
    size_t cub_bytes = memory.cub_bytes;
    const cudaError_t error =
        partition_slots(memory, &cub_bytes, is_occupied, pool->capacity, stream);
    if (error != cudaSuccess) {
        return error;
    }
    fill_holes<<<blocks_for(pool->capacity), block_size, 0, stream>>>(*pool, memory.living,
                                                                      memory.slots, progress);
    return cudaGetLastError();
}

/* ---- sort ----------------------------------------------------------------------------------- */

/* The temporary memory of a sort. */
struct sort_memory {
    uint32_t *used;                          /* the number of slots in use before the sort */
    cub::DoubleBuffer<uint32_t> keys, slots; /* two arrays each, between which CUB alternates */
    void *cub;                               /* memory that CUB works with */
};

static size_t sort_own_bytes(uint32_t capacity)
{
    return alignment + 4 * aligned(capacity * sizeof(uint32_t));
}

/* The key of free slots, which is larger than the keys of photons. */
static __host__ __device__ uint32_t key_of_nobody(const ics_compact_key &key)
{
    return key.nx * key.ny * key.layers;
}

static cudaError_t sort_slots(sort_memory *memory, size_t *cub_bytes, const ics_compact_key *key,
                              uint32_t capacity, cudaStream_t stream)
{
    int bits = 1;
    while (key_of_nobody(*key) >> bits) {
        ++bits;
    }
    return cub::DeviceRadixSort::SortPairs(memory->cub, *cub_bytes, memory->keys, memory->slots,
                                           capacity, 0, bits, stream);
}

static __device__ uint32_t index_in(float position, float start, float inverse_width,
                                    uint32_t count)
{
    const float index = (position - start) * inverse_width;
    return index > 0.0f ? min(static_cast<uint32_t>(index), count - 1) : 0u;
}

static __global__ void make_keys(ics_compact_pool pool, ics_compact_key key,
                                 const ics_launch_progress *progress, uint32_t *used,
                                 uint32_t *keys, uint32_t *slots)
{
    const occupied is_occupied = {pool.identity, progress};
    const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t i = first; i < pool.capacity; i += gridDim.x * blockDim.x) {
        uint32_t value = key_of_nobody(key);
        if (is_occupied(i)) {
            const ics_word position = pool.position[i];
            const uint32_t column = index_in(position.y, key.y, key.inverse_cell, key.ny) * key.nx +
                                    index_in(position.x, key.x, key.inverse_cell, key.nx);
            const uint32_t layer =
                index_in(position.z, key.bottom, key.inverse_thickness, key.layers);
            value = column * key.layers + layer;
        }
        keys[i] = value;
        slots[i] = i;
    }
    if (first == 0) {
        *used = progress->slots;
    }
}

static __global__ void gather(ics_compact_pool pool, ics_compact_pool spare, uint32_t nobody,
                              const uint32_t *keys, const uint32_t *slots)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < pool.capacity;
         i += gridDim.x * blockDim.x) {
        if (keys[i] == nobody) {
            break;
        }
        copy_photon(pool, slots[i], spare, i);
    }
}

static __global__ void put_back(ics_compact_pool pool, ics_compact_pool spare, uint32_t nobody,
                                const uint32_t *used, const uint32_t *keys,
                                ics_launch_progress *progress)
{
    const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t end = *used;
    for (uint32_t i = first; i < end; i += gridDim.x * blockDim.x) {
        if (keys[i] == nobody) {
            gpu_set_vacant(&pool.identity[i]);
            continue;
        }
        copy_photon(spare, i, pool, i);
        if (i + 1 == end || keys[i + 1] == nobody) {
            progress->slots = slots_for(i + 1, end);
        }
    }
    if (first == 0 && keys[0] == nobody) {
        progress->slots = 0;
    }
}

extern "C" int ics_compact_sorted(struct CUstream_st *stream, const ics_compact_pool *pool,
                                  const ics_compact_pool *spare, const ics_compact_key *key,
                                  ics_launch_progress *progress, void *temporary, size_t bytes)
{
    const uint32_t capacity = pool->capacity;
    const size_t own = sort_own_bytes(capacity);
    if (bytes < own) {
        return cudaErrorInvalidValue;
    }
    char *base = static_cast<char *>(temporary);
    uint32_t *lists[4];
    for (int i = 0; i < 4; ++i) {
        lists[i] = reinterpret_cast<uint32_t *>(
            base + alignment + static_cast<size_t>(i) * aligned(capacity * sizeof(uint32_t)));
    }
    sort_memory memory = {
        reinterpret_cast<uint32_t *>(base), {lists[0], lists[1]}, {lists[2], lists[3]}, base + own};
    const uint32_t blocks = blocks_for(capacity), nobody = key_of_nobody(*key);

    make_keys<<<blocks, block_size, 0, stream>>>(*pool, *key, progress, memory.used, lists[0],
                                                 lists[2]);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        return error;
    }
    size_t cub_bytes = bytes - own;
    error = sort_slots(&memory, &cub_bytes, key, capacity, stream);
    if (error != cudaSuccess) {
        return error;
    }
    gather<<<blocks, block_size, 0, stream>>>(*pool, *spare, nobody, memory.keys.Current(),
                                              memory.slots.Current());
    error = cudaGetLastError();
    if (error != cudaSuccess) {
        return error;
    }
    put_back<<<blocks, block_size, 0, stream>>>(*pool, *spare, nobody, memory.used,
                                                memory.keys.Current(), progress);
    return cudaGetLastError();
}

extern "C" int ics_compact_bytes(uint32_t capacity, const ics_compact_key *key, size_t *bytes)
{
    size_t cub_bytes = 0;
    cudaError_t error;
    if (key != nullptr) {
        sort_memory memory = {};
        error = sort_slots(&memory, &cub_bytes, key, capacity, nullptr);
        *bytes = sort_own_bytes(capacity) + aligned(cub_bytes);
    } else {
        const partition_memory memory = {};
        const occupied is_occupied = {};
        error = partition_slots(memory, &cub_bytes, is_occupied, capacity, nullptr);
        *bytes = partition_own_bytes(capacity) + aligned(cub_bytes);
    }
    return error;
}

/* ---- the loop ------------------------------------------------------------------------------- */

/* Whether the loop continues after a trip: the rule of ics_compact_decide. */
static __device__ bool goes_on(const ics_launch *launch, const ics_launch_progress *progress)
{
    if (progress->stalled > 0) {
        return false; /* only the host can make room for the hits of photons that wait */
    }
    if (progress->next >= launch->end && (!launch->drain || progress->alive == 0)) {
        return false;
    }
    return launch->wave_limit == 0 || progress->waves < launch->wave_limit;
}

/* Whether a compaction follows. While photons are still being created, new photons fill the free
 * slots, and no compaction is needed unless the schedule asks for one every few waves. */
static __device__ bool wants_compaction(uint32_t every, const ics_launch *launch,
                                        const ics_launch_progress *progress)
{
    if (every > 0) {
        return progress->waves % every == 0;
    }
    return progress->next >= launch->end && progress->alive < progress->slots / 2;
}

/* Returns the sum of the values of all threads of the warp, in every thread. */
static __device__ uint32_t warp_sum(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, value);
#else
    for (int lane = 16; lane > 0; lane /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, lane);
    }
    return value;
#endif
}

/* Runs as one warp. */
static __global__ void decide(bool in_graph, cudaGraphConditionalHandle loop, bool compacts,
                              ics_loop_compaction compaction, const ics_launch *launch,
                              const ics_share *shares, ics_launch_progress *progress)
{
    uint32_t alive = 0, stalled = 0;
    for (uint32_t i = threadIdx.x; shares != NULL && i < ICS_SHARES; i += 32) {
        alive += shares[i].alive;
        stalled += shares[i].stalled;
    }
    alive = warp_sum(alive);
    stalled = warp_sum(stalled);
    if (threadIdx.x > 0) {
        return;
    }
    if (shares != NULL) {
        progress->alive = alive;
        progress->stalled = stalled;
    }
    progress->waves += 1;
    progress->trips += 1;
    const bool on = goes_on(launch, progress);
    const bool dense = on && compacts && wants_compaction(compaction.every, launch, progress);
    progress->decision = (on ? ICS_GOES_ON : 0u) | (dense ? ICS_COMPACTS : 0u);
    if (in_graph) {
        cudaGraphSetConditional(loop, on);
    }
    if (in_graph && compacts) {
        cudaGraphSetConditional(compaction.handle, dense);
    }
}

extern "C" int ics_compact_decide(struct CUstream_st *stream, const unsigned long long *loop,
                                  const ics_loop_compaction *compaction, const ics_launch *launch,
                                  const ics_share *shares, ics_launch_progress *progress)
{
    const ics_loop_compaction none = {};
    decide<<<1, 32, 0, stream>>>(loop != nullptr, loop ? *loop : 0, compaction != nullptr,
                                 compaction ? *compaction : none, launch, shares, progress);
    return cudaGetLastError();
}
