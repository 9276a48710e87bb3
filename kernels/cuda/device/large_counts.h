/* How kernels count photons in histograms with many bins (sink.histograms). Their counts and their
 * edges are too large for shared memory, so that both are in the memory of the GPU
 * (stages/histograms/large_histogram.h). Only run.h includes this. */
#ifndef ICS_KERNELS_CUDA_DEVICE_LARGE_COUNTS_H
#define ICS_KERNELS_CUDA_DEVICE_LARGE_COUNTS_H

#if defined(GPU_SPECIAL_LARGE_CELLS)
#include "stages/histograms/large_histogram.h"

/* Counts of a batch in front of those of histograms with many bins, and all counts of it. */
#define GPU_LARGE_FIRST  (ICS_SHARES * GPU_PHOTON_CELLS)
#define GPU_BATCH_COUNTS (GPU_LARGE_FIRST + GPU_SPECIAL_LARGE_CELLS)

/* The words of all histograms: behind the counts of all batches. */
ICE_FN const uint32_t *gpu_large_words(const ics_lane_memory *lane)
{
    return (const uint32_t *)(lane->photon_cells + ICS_LANE_BATCHES * GPU_BATCH_COUNTS);
}

/* In a list of the histograms: adds 1 to the cell of `end` of each of them. */
#define GPU_ADD_LARGE(quantity, number, first_cell, first_word, shift, first, last)                \
    {                                                                                              \
        const ice_large_search search = {number, shift, first, last};                              \
        const uint32_t word = ice_photon_word(tables, quantity, end);                              \
        atomicAdd(&cells[first_cell + ice_large_cell(words + first_word, search, word)], 1ull);    \
    }
#endif

/* Counts a photon that has ended in the histograms with many bins, if there are any. */
ICE_FN void gpu_count_large(const ics_lane_memory *lane, const ice_tables *tables,
                            uint32_t emission, ice_photon_end end)
{
#if defined(GPU_SPECIAL_LARGE_CELLS)
    unsigned long long *cells =
        lane->photon_cells + gpu_batch_of(emission) * GPU_BATCH_COUNTS + GPU_LARGE_FIRST;
    const uint32_t *words = gpu_large_words(lane);
    GPU_SPECIAL_LARGE(GPU_ADD_LARGE)
#else
    (void)lane, (void)tables, (void)emission, (void)end;
#endif
}

#endif
