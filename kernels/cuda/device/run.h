/* What the kernels of all schedules share: the tables with the constants of the run, slots, counts,
 * hits, new photons.
 *
 * NVRTC compiles this.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_RUN_H
#define ICS_KERNELS_CUDA_DEVICE_RUN_H

#include "kernels/cuda/device/special.h"
#include "kernels/cuda/state.h"

/* Where hits go. */
typedef struct gpu_hit_sink {
    const ics_lane_memory *lane;
    uint32_t *counts; /* counts of the block, in shared memory, [GPU_BLOCK_COUNTS]; no content with
                         GPU_SPECIAL_COUNTS_AT_ONCE */
} gpu_hit_sink;

static __device__ __forceinline__ int gpu_put_hit(void *sink, const ice_arrival *arrival);

#define ICE_PUT_ARRIVAL(sink, tables, arrival) gpu_put_hit(sink, arrival)
#if !GPU_SPECIAL_PHOTON_WAYS
#define ICE_CUTS_SEGMENT 0
#endif
#if defined(GPU_SPECIAL_CANDIDATES)
#define ICE_COUNTS_CANDIDATES 1
#define ICE_COUNT_TESTED(sink, photon, tested)                                                     \
    gpu_count_tested((const gpu_hit_sink *)(sink), (photon)->emission, tested)
#define ICE_COUNT_CANDIDATES(sink, tables, photon, length)                                         \
    gpu_count_candidates((const gpu_hit_sink *)(sink), tables, photon, length)
struct ice_tables;
struct ice_photon;
static __device__ __forceinline__ void gpu_count_tested(const gpu_hit_sink *sink, uint32_t emission,
                                                        uint32_t tested);
static __device__ __forceinline__ void gpu_count_candidates(const gpu_hit_sink *sink,
                                                            const struct ice_tables *tables,
                                                            const struct ice_photon *photon,
                                                            float length);
#endif
#if defined(GPU_SPECIAL_SEGMENTS)
#define ICE_COUNT_SEGMENT(sink, tables, photon, height, length)                                    \
    gpu_count_segment((const gpu_hit_sink *)(sink), tables, photon, height, length)
struct ice_tables;
struct ice_photon;
static __device__ __forceinline__ void gpu_count_segment(const gpu_hit_sink *sink,
                                                         const struct ice_tables *tables,
                                                         const struct ice_photon *photon,
                                                         float height, float length);
#endif
#include "kernels/cuda/device/clocks.h"
#include "kernels/cuda/device/slot_words.h"
#include "kernels/cuda/device/special_tables.h"
#include "stages/bounce.h"
#if defined(GPU_SPECIAL_CANDIDATES)
#include "stages/histograms/candidates.h"
#else
#include "stages/histograms/photon_end.h"
#endif

/* Returns a bit for each thread of the warp in front of this one. */
ICE_FN uint32_t gpu_threads_before(void)
{
#if defined(__CUDACC__)
    uint32_t threads;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(threads));
    return threads;
#else
    return (1u << threadIdx.x % 32) - 1;
#endif
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Where kernels count. With GPU_SPECIAL_COUNTS_AT_ONCE they add to the counts of the lane at once.
 * Short kernels do so, because their warps need not wait for each other then. Few threads have
 * something to count, and no thread waits for the result of an addition. All other kernels have
 * counts of their blocks.
 *
 * The counts of one block, for every batch: one for each ice_fate that ends a photon, the hits in
 * place of ICE_ALIVE, then the bounces in two words, low and high. The block adds them to the
 * counts of the lane at its end: one atomic operation per block and number instead of one per
 * photon. */
enum { GPU_COUNT_HITS = ICE_ALIVE, GPU_COUNT_BOUNCES = ICE_FATES, GPU_COUNTS = ICE_FATES + 3 };

/* The histograms of photons. The block has them for every batch, in shared memory behind its
 * counts, and behind them a copy of the edges, because an address in shared memory takes fewer
 * instructions. */
#if defined(GPU_SPECIAL_PHOTON_CELLS)
static __device__ const uint32_t gpu_photon_edges[] = {GPU_SPECIAL_PHOTON_EDGES};
enum {
    GPU_PHOTON_CELLS = GPU_SPECIAL_PHOTON_CELLS,
    GPU_PHOTON_EDGES = sizeof gpu_photon_edges / sizeof *gpu_photon_edges
};
#else
enum { GPU_PHOTON_CELLS = 0, GPU_PHOTON_EDGES = 0 };
#endif
#define GPU_PHOTON_FIRST (ICS_LANE_BATCHES * GPU_COUNTS)
#define GPU_EDGES_FIRST  (GPU_PHOTON_FIRST + ICS_LANE_BATCHES * GPU_PHOTON_CELLS)
/* Then the cache for histograms with many bins (large_counts.h). */
#define GPU_CACHE_FIRST (GPU_EDGES_FIRST + GPU_PHOTON_EDGES)
#if defined(GPU_SPECIAL_LARGE_CELLS)
#define GPU_BLOCK_COUNTS (GPU_CACHE_FIRST + 2 * ICS_CACHE_ENTRIES)
#else
#define GPU_BLOCK_COUNTS GPU_CACHE_FIRST
#endif

/* Whether the path and the wavelength of a photon that ends are counted; 0: they have no meaning in
 * an ice_photon_end. */
#if GPU_SPECIAL_PHOTON_WAYS
enum { GPU_COUNTS_WAYS = 1 };
#else
enum { GPU_COUNTS_WAYS = 0 };
#endif

/* Whether segments are counted; 0: the kernels need no emission of a photon before its end. */
#if defined(GPU_SPECIAL_SEGMENTS)
enum { GPU_COUNTS_SEGMENTS = 1 };
#else
enum { GPU_COUNTS_SEGMENTS = 0 };
#endif

ICE_FN void gpu_counts_clear(uint32_t *counts)
{
    for (uint32_t i = threadIdx.x; i < GPU_EDGES_FIRST; i += blockDim.x) {
        counts[i] = 0;
    }
#if defined(GPU_SPECIAL_PHOTON_CELLS)
    for (uint32_t i = threadIdx.x; i < GPU_PHOTON_EDGES; i += blockDim.x) {
        counts[GPU_EDGES_FIRST + i] = gpu_photon_edges[i];
    }
#endif
#if defined(GPU_SPECIAL_LARGE_CELLS)
    for (uint32_t i = GPU_CACHE_FIRST + threadIdx.x; i < GPU_BLOCK_COUNTS; i += blockDim.x) {
        counts[i] = 0;
    }
#endif
    __syncthreads();
}

ICE_FN uint32_t gpu_batch_of(uint32_t emission)
{
    return emission >> GPU_SPECIAL_START_SHIFT;
}

/* The share that this block adds to. */
ICE_FN ics_share *gpu_share_of(const ics_lane_memory *lane)
{
    return &lane->shares[blockIdx.x % ICS_SHARES];
}

#if defined(GPU_SPECIAL_PHOTON_CELLS)
/* The cells of a batch that this block adds to. */
ICE_FN unsigned long long *gpu_photon_cells_of(const ics_lane_memory *lane, uint32_t batch)
{
    unsigned long long *first = lane->photon_cells;
#if defined(GPU_SPECIAL_LARGE_CELLS)
    first += batch * GPU_SPECIAL_LARGE_CELLS;
#endif
    return first + (batch * ICS_SHARES + blockIdx.x % ICS_SHARES) * GPU_SPECIAL_PHOTON_CELLS;
}

#endif

#include "kernels/cuda/device/large_counts.h"

/* The end of a photon. */
ICE_FN ice_photon_end gpu_end_of(const ice_photon *photon)
{
    const ice_photon_end end = {photon->scatters, photon->path, photon->wavelength};
    return end;
}

#if defined(GPU_SPECIAL_SEGMENTS)
/* Counts of segments in shared memory have 32 bits. With a bounce limit of at most
 * GPU_BOUNCES_COUNTED they are moved to the cells of the lane when photons of the batch with
 * GPU_BOUNCES_MOVED more bounces have ended: a count is less than the bounces of these and of the
 * photons that the block still has, which are at most 2^30 + 2^12 * 2^19 < 2^32. So no addition
 * has to return whether the count has overflowed. */
#ifndef GPU_BOUNCES_MOVED
#define GPU_BOUNCES_MOVED (1u << 30)
#endif
#define GPU_BOUNCES_COUNTED (1u << 19)
ICS_STATIC_ASSERT(32 * ICS_WARP_SLOTS <= 1u << 12, "a block has at most 2^12 photons");

ICE_FN void gpu_move_cells(uint32_t *counts, const ics_lane_memory *lane, uint32_t batch)
{
    for (uint32_t i = 0; i < GPU_PHOTON_CELLS; ++i) {
        const uint32_t number =
            atomicExch(&counts[GPU_PHOTON_FIRST + batch * GPU_PHOTON_CELLS + i], 0u);
        atomicAdd(&gpu_photon_cells_of(lane, batch)[i], (unsigned long long)number);
    }
}
#endif

#if defined(GPU_SPECIAL_PHOTON_CELLS)
/* The edges of all histograms. */
ICE_FN const uint32_t *gpu_edges_of(const uint32_t *counts)
{
    return GPU_SPECIAL_COUNTS_AT_ONCE ? gpu_photon_edges : counts + GPU_EDGES_FIRST;
}

/* The cells of a batch in the counts of the block; NULL with GPU_SPECIAL_COUNTS_AT_ONCE. */
ICE_FN uint32_t *gpu_block_cells_of(uint32_t *counts, uint32_t batch)
{
    return GPU_SPECIAL_COUNTS_AT_ONCE ? NULL : counts + GPU_PHOTON_FIRST + batch * GPU_PHOTON_CELLS;
}

/* Adds 1 to a cell of a batch. `cells`: gpu_block_cells_of(). */
ICE_FN void gpu_add_to_cell(uint32_t *cells, const ics_lane_memory *lane, uint32_t batch,
                            uint32_t cell)
{
    if (GPU_SPECIAL_COUNTS_AT_ONCE) {
        atomicAdd(&gpu_photon_cells_of(lane, batch)[cell], 1ull);
    } else {
        atomicAdd(&cells[cell], 1u);
    }
}
#endif

/* Counts a photon that has ended in the histograms with few bins, if there are any. `counts`: of
 * the block; no content with GPU_SPECIAL_COUNTS_AT_ONCE. */
ICE_FN void gpu_count_cells(uint32_t *counts, const ics_lane_memory *lane, const ice_tables *tables,
                            uint32_t emission, ice_photon_end end)
{
#if defined(GPU_SPECIAL_PHOTON_CELLS)
    const uint32_t batch = gpu_batch_of(emission);
    uint32_t *cells = gpu_block_cells_of(counts, batch);
    const uint32_t *edges = gpu_edges_of(counts);
    (void)cells, (void)edges; /* there may be only histograms of segments */
#define GPU_COUNT_CELL(quantity, bins, first_cell, first_edge)                                     \
    gpu_add_to_cell(cells, lane, batch,                                                            \
                    first_cell + ice_photon_cell(edges + first_edge, bins,                         \
                                                 ice_photon_word(tables, quantity, end)));
    GPU_SPECIAL_PHOTONS(GPU_COUNT_CELL)
#undef GPU_COUNT_CELL
#else
    (void)counts, (void)lane, (void)tables, (void)emission, (void)end;
#endif
}

/* The same for the counts of the batch. */
ICE_FN void gpu_count_fate(uint32_t *counts, const ics_lane_memory *lane, uint32_t batch,
                           uint32_t fate, uint32_t bounces)
{
    if (GPU_SPECIAL_COUNTS_AT_ONCE) {
        ics_batch_count *mine = &gpu_share_of(lane)->batches[batch];
        atomicAdd(&mine->of[fate - (uint32_t)ICE_ABSORBED], 1ull);
        atomicAdd(&mine->of[ICS_COUNT_BOUNCES], (unsigned long long)bounces);
        return;
    }
    uint32_t *mine = counts + batch * GPU_COUNTS;
    atomicAdd(&mine[fate], 1u);
    const uint32_t before = atomicAdd(&mine[GPU_COUNT_BOUNCES], bounces);
    if (before + bounces < before) {
        atomicAdd(&mine[GPU_COUNT_BOUNCES + 1], 1u);
    }
#if defined(GPU_SPECIAL_SEGMENTS)
    if (before / GPU_BOUNCES_MOVED != (before + bounces) / GPU_BOUNCES_MOVED) {
        gpu_move_cells(counts, lane, batch);
    }
#endif
}

/* Counts a photon that has ended. */
ICE_FN void gpu_count_end(uint32_t *counts, const ics_lane_memory *lane, const ice_tables *tables,
                          uint32_t emission, uint32_t fate, ice_photon_end end)
{
    gpu_count_fate(counts, lane, gpu_batch_of(emission), fate, end.bounces);
    gpu_count_cells(counts, lane, tables, emission, end);
    gpu_count_large(counts, lane, tables, emission, end);
}

#include "kernels/cuda/device/segment_counts.h"

/* The index of a count of the lane among those of the block. */
ICE_FN uint32_t gpu_word_of_count(uint32_t count)
{
    return count < ICS_COUNT_HITS    ? ICE_ABSORBED + count
           : count == ICS_COUNT_HITS ? (uint32_t)GPU_COUNT_HITS
                                     : (uint32_t)GPU_COUNT_BOUNCES;
}

/* Adds the counts of the block to those of the lane, at the end of the kernel. All threads of the
 * block. */
ICE_FN void gpu_counts_add(const uint32_t *counts, const ics_lane_memory *lane)
{
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < ICS_LANE_BATCHES * ICS_BATCH_COUNTS; i += blockDim.x) {
        const uint32_t batch = i / ICS_BATCH_COUNTS, count = i % ICS_BATCH_COUNTS;
        const uint32_t *mine = counts + batch * GPU_COUNTS;
        unsigned long long number = mine[gpu_word_of_count(count)];
        if (count == ICS_COUNT_BOUNCES) {
            number |= (unsigned long long)mine[GPU_COUNT_BOUNCES + 1] << 32;
        }
        if (number) {
            atomicAdd(&gpu_share_of(lane)->batches[batch].of[count], number);
        }
    }
#if defined(GPU_SPECIAL_PHOTON_CELLS)
    for (uint32_t i = threadIdx.x; i < ICS_LANE_BATCHES * GPU_PHOTON_CELLS; i += blockDim.x) {
        const uint32_t number = counts[GPU_PHOTON_FIRST + i];
        if (number) {
            atomicAdd(&gpu_photon_cells_of(lane, i / GPU_PHOTON_CELLS)[i % GPU_PHOTON_CELLS],
                      (unsigned long long)number);
        }
    }
#endif
    gpu_empty_cache(counts, lane);
}

/* Adds to the number of photons in the pool (modulo 2^32) and to the number of those that wait. One
 * thread of the block. */
ICE_FN void gpu_pool_add(const ics_lane_memory *lane, uint32_t photons, uint32_t waiting)
{
    if (photons) {
        atomicAdd(&gpu_share_of(lane)->alive, photons);
    }
    if (waiting) {
        atomicAdd(&gpu_share_of(lane)->stalled, waiting);
    }
}

/* ---- hits ------------------------------------------------------------------------------------ */

ICE_FN void gpu_count_hit(const gpu_hit_sink *sink, uint32_t emission)
{
    const uint32_t batch = gpu_batch_of(emission);
    if (GPU_SPECIAL_COUNTS_AT_ONCE) {
        atomicAdd(&gpu_share_of(sink->lane)->batches[batch].of[ICS_COUNT_HITS], 1ull);
    } else {
        atomicAdd(&sink->counts[batch * GPU_COUNTS + GPU_COUNT_HITS], 1u);
    }
}

/* Returns 0, or -1 if the hit buffer is full. */
static __device__ __forceinline__ int gpu_put_hit(void *user, const ice_arrival *arrival)
{
    const gpu_hit_sink *sink = (const gpu_hit_sink *)user;
    const ics_launch *launch = sink->lane->launch;
    const uint32_t index = atomicAdd(&sink->lane->progress->hits, 1u);
    if (index >= launch->hit_capacity) {
        return -1;
    }
    float4 *words = (float4 *)&launch->hits[index];
    words[0] = make_float4(__uint_as_float(arrival->emission), __uint_as_float(arrival->photon_id),
                           __uint_as_float(arrival->module), __uint_as_float(arrival->scatters));
    words[1] = make_float4(arrival->x, arrival->y, arrival->z, arrival->path);
    words[2] = make_float4(arrival->dx, arrival->dy, arrival->dz, arrival->wavelength);
    gpu_count_hit(sink, arrival->emission);
    return 0;
}

/* ---- slots ----------------------------------------------------------------------------------- */

ICE_FN void gpu_store_words(const ics_lane_memory *lane, uint32_t slot, gpu_photon_words words)
{
    lane->position[slot] = words.position;
    lane->direction[slot] = words.direction;
    lane->identity[slot] = words.identity;
}

/* Returns the state of a photon before its first bounce. */
ICE_FN ice_random gpu_new_random(const ics_lane_memory *lane, const ice_tables *tables,
                                 const ice_photon *photon)
{
    const uint4 words = *(const uint4 *)&lane->emissions[photon->emission].event_low;
    const ice_identity identity = {words.x, words.y, words.z, photon->photon_id};
    return ice_random_of(tables, identity);
}

ICE_FN void gpu_free_slot(const ics_lane_memory *lane, uint32_t slot)
{
    lane->identity[slot] = gpu_identity_vacant();
}

/* ---- the step queue -------------------------------------------------------------------------- */

/* The index, in the ring of batches, of the batch that holds a number of the queue. */
ICE_FN uint32_t gpu_find_batch(const ics_launch *launch, uint64_t number)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < ICS_LANE_BATCHES; ++i) {
        if (number - launch->batches[i].first < launch->batches[i].size) {
            found = i;
        }
    }
    return found;
}

/* `bench/impact.py divergence` defines GPU_WITHOUT_DIVERGENCE for kernels whose hits nobody
 * keeps. Then all threads of a warp create copies of one photon, so that no thread takes another
 * branch than its neighbours. Every photon of the queue is still created once and counts for its
 * own batch. */

/* Returns the index in its batch of the photon that is created as number `number`: its own index.
 * Without divergence it is that of number `model`, which the threads of a warp have in common, or
 * the nearest one in the batch. */
ICE_FN uint32_t gpu_index_in_batch(const ics_queue_batch *batch, uint64_t number, uint64_t model)
{
#if defined(GPU_WITHOUT_DIVERGENCE)
    (void)number;
    const uint64_t index = model < batch->first ? 0 : model - batch->first;
    return index < batch->size ? (uint32_t)index : batch->size - 1;
#else
    (void)model;
    return (uint32_t)(number - batch->first);
#endif
}

/* Creates the photon with this number, in a queue that counts photons. `model`: the number of the
 * photon that all threads of the warp create without divergence. */
ICE_FN ice_photon gpu_new_photon(const ics_lane_memory *lane, const ice_tables *tables,
                                 uint64_t number, uint64_t model)
{
    const uint32_t batch = gpu_find_batch(lane->launch, number);
    const uint32_t photon = gpu_index_in_batch(&lane->launch->batches[batch], number, model);
    const uint32_t *starts = lane->starts + batch * lane->start_count + photon / ICS_START_STRIDE;
    const uint32_t base = batch << GPU_SPECIAL_START_SHIFT;
    uint32_t low = starts[0], high = starts[1];
    while (low < high) {
        const uint32_t middle = (low + high + 1) / 2;
        const bool is_later = lane->offsets[base + middle] > photon;
        low = is_later ? low : middle;
        high = is_later ? middle - 1 : high;
    }
    const uint32_t index = base + low;
    const ice_emission *emission = &lane->emissions[index];
    return ice_create(GPU_SPECIAL_CREATE, tables, emission, index,
                      emission->first_photon + (photon - lane->offsets[index]));
}

#endif
