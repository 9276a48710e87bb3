/* The histograms of photons in the memory of a GPU (ics_lane_memory.photon_cells): where the counts
 * of a batch are, and their sums. */
#ifndef ICS_KERNELS_CUDA_PHOTON_COUNTS_H
#define ICS_KERNELS_CUDA_PHOTON_COUNTS_H

#include "kernels/cuda/state.h"
#include "tables/large_axes.h"

/* Returns the number of counts of one batch: in all shares, then those of `large`; 0: there are no
 * histograms. */
uint64_t ics_photon_counts_of_batch(const ice_photon_axes *photons, const ics_large_axes *large);
/* Returns the size of the counts of all batches of a lane (bytes). */
uint64_t ics_photon_counts_bytes(const ice_photon_axes *photons, const ics_large_axes *large);

/* Returns the shared memory of a block for histograms (bytes, at most). */
uint32_t ics_photon_counts_shared(const ice_photon_axes *photons, const ics_large_axes *large);

/* Where the sums of a batch go. */
typedef struct ics_photon_sums {
    uint64_t *cells; /* [photons->cells] */
    uint64_t *large; /* [large->cells] */
} ics_photon_sums;

/* Sets the sums to those of the counts of a batch, all of whose photons have ended after `bounces`
 * bounces in all. counts: [ics_photon_counts_of_batch()]. */
void ics_photon_counts_sum(const ice_photon_axes *photons, const ics_large_axes *large,
                           const unsigned long long *counts, uint64_t bounces,
                           const ics_photon_sums *out);

#endif
