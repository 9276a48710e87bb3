/* How kernels count photons in histograms with many bins (sink.histograms). Their counts and their
 * edges are too large for shared memory, so that both are in the memory of the GPU
 * (stages/histograms/large_histogram.h). Only run.h includes this.
 *
 * A block has a cache for the counts that it adds to most. An entry belongs to the first count that
 * asks for it, until the end of the launch. These are likely to be counts of many photons. A photon
 * of another count with the same entry is added to the memory at once. So nothing has to be locked.
 *
 * In the short kernels of wavefront a block ends only about ten photons, nearly all of which are in
 * different cells, so a cache would save nothing. But in the whole grid many photons add to the
 * same few cells, and wait for each other. So these kernels add to one of several copies of the
 * counts, by the number of the block, and another kernel adds up the copies at the end of the
 * launch.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_LARGE_COUNTS_H
#define ICS_KERNELS_CUDA_DEVICE_LARGE_COUNTS_H

#if defined(GPU_SPECIAL_LARGE_CELLS)
#include "stages/histograms/large_histogram.h"

/* Counts of a batch in front of those of histograms with many bins, and all counts of it. */
#define GPU_LARGE_FIRST  (ICS_SHARES * GPU_PHOTON_CELLS)
#define GPU_BATCH_COUNTS (GPU_LARGE_FIRST + GPU_SPECIAL_LARGE_CELLS)

/* Counts of a copy. */
#define GPU_COPY_COUNTS (ICS_LANE_BATCHES * GPU_SPECIAL_LARGE_CELLS)

/* The copies of the counts of these histograms; none without GPU_SPECIAL_COUNTS_AT_ONCE. */
ICE_FN uint32_t *gpu_large_copies(const ics_lane_memory *lane)
{
    return (uint32_t *)(lane->photon_cells + ICS_LANE_BATCHES * GPU_BATCH_COUNTS);
}

/* The words of all histograms: behind the counts of all batches, and their copies. */
ICE_FN const uint32_t *gpu_large_words(const ics_lane_memory *lane)
{
    return gpu_large_copies(lane) +
           (GPU_SPECIAL_COUNTS_AT_ONCE ? ICS_COUNT_COPIES : 0u) * GPU_COPY_COUNTS;
}

/* Adds 1 to a count in one of the copies. A batch has less than 2^32 photons. */
ICE_FN void gpu_add_to_copy(const ics_lane_memory *lane, uint32_t batch, uint32_t cell)
{
    const uint32_t copy = blockIdx.x % ICS_COUNT_COPIES;
    atomicAdd(
        &gpu_large_copies(lane)[copy * GPU_COPY_COUNTS + batch * GPU_SPECIAL_LARGE_CELLS + cell],
        1u);
}

/* Adds 1 to a count of the lane. `counts`: of the block, with the cache. An entry of the cache is
 * the index of the count + 1, or 0, and behind all entries are their numbers. A batch has less than
 * 2^32 photons, and so has a number. */
ICE_FN void gpu_add_to_cache(uint32_t *counts, const ics_lane_memory *lane, uint32_t batch,
                             uint32_t cell)
{
    const uint32_t index = batch * GPU_BATCH_COUNTS + GPU_LARGE_FIRST + cell;
    uint32_t *entry = counts + GPU_CACHE_FIRST + index % ICS_CACHE_ENTRIES;
    const uint32_t found = atomicCAS(entry, 0u, index + 1);
    if (found == 0 || found == index + 1) {
        atomicAdd(entry + ICS_CACHE_ENTRIES, 1u);
        return;
    }
    atomicAdd(&lane->photon_cells[index], 1ull);
}

ICE_FN void gpu_add_large(uint32_t *counts, const ics_lane_memory *lane, uint32_t batch,
                          uint32_t cell)
{
    if (GPU_SPECIAL_COUNTS_AT_ONCE) {
        gpu_add_to_copy(lane, batch, cell);
    } else {
        gpu_add_to_cache(counts, lane, batch, cell);
    }
}

/* In a list of the histograms: adds 1 to the cell of `end` of each of them. */
#define GPU_ADD_LARGE(quantity, number, first_cell, first_word, shift, first, last)                \
    {                                                                                              \
        const ice_large_search search = {number, shift, first, last};                              \
        const uint32_t word = ice_photon_word(tables, quantity, end);                              \
        gpu_add_large(counts, lane, batch,                                                         \
                      first_cell + ice_large_cell(words + first_word, search, word));              \
    }
#endif

/* Counts a photon that has ended in the histograms with many bins, if there are any. `counts`: of
 * the block, with the cache; no content with GPU_SPECIAL_COUNTS_AT_ONCE. */
ICE_FN void gpu_count_large(uint32_t *counts, const ics_lane_memory *lane, const ice_tables *tables,
                            uint32_t emission, ice_photon_end end)
{
#if defined(GPU_SPECIAL_LARGE_CELLS)
    const uint32_t batch = gpu_batch_of(emission);
    const uint32_t *words = gpu_large_words(lane);
    GPU_SPECIAL_LARGE(GPU_ADD_LARGE)
#else
    (void)counts, (void)lane, (void)tables, (void)emission, (void)end;
#endif
}

/* Adds the numbers of the cache to the counts of the lane. All threads of the block, which have
 * counted all of their photons. */
ICE_FN void gpu_empty_cache(const uint32_t *counts, const ics_lane_memory *lane)
{
#if defined(GPU_SPECIAL_LARGE_CELLS)
    const uint32_t *entries = counts + GPU_CACHE_FIRST;
    for (uint32_t i = threadIdx.x; i < ICS_CACHE_ENTRIES; i += blockDim.x) {
        if (entries[i] != 0) {
            atomicAdd(&lane->photon_cells[entries[i] - 1],
                      (unsigned long long)entries[ICS_CACHE_ENTRIES + i]);
        }
    }
#else
    (void)counts, (void)lane;
#endif
}

#endif
