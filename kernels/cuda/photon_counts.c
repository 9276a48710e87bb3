#include "kernels/cuda/photon_counts.h"

#include <string.h>

uint64_t ics_photon_counts_of_batch(const ice_photon_axes *photons, const ics_large_axes *large)
{
    return (uint64_t)ICS_SHARES * photons->cells + large->cells;
}

uint64_t ics_photon_counts_bytes(const ice_photon_axes *photons, const ics_large_axes *large)
{
    return ICS_LANE_BATCHES * ics_photon_counts_of_batch(photons, large) * sizeof(uint64_t);
}

uint32_t ics_photon_counts_shared(const ice_photon_axes *photons, const ics_large_axes *large)
{
    return ICS_PHOTON_BYTES(photons->cells) + (large->count > 0 ? ICS_CACHE_BYTES : 0);
}

void ics_photon_counts_sum(const ice_photon_axes *photons, const ics_large_axes *large,
                           const unsigned long long *counts, uint64_t bounces,
                           const ics_photon_sums *out)
{
    const uint32_t cells = photons->cells;
    for (uint32_t cell = 0; cell < cells; ++cell) {
        out->cells[cell] = 0;
        for (uint32_t share = 0; share < ICS_SHARES; ++share) {
            out->cells[cell] += counts[share * cells + cell];
        }
    }
    ice_complete_segments(photons, bounces, out->cells);
    if (large->cells > 0) {
        memcpy(out->large, counts + (size_t)ICS_SHARES * cells, large->cells * sizeof(uint64_t));
    }
}
