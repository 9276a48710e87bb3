/* What histograms of photons count (stages/photon_histogram.h): the quantities of a photon at its
 * end, whether it is absorbed, hits a module, leaves the world, cannot reach a module any more or
 * is stopped. */
#ifndef ICS_STAGES_PHOTON_END_H
#define ICS_STAGES_PHOTON_END_H

#include "stages/optics.h"
#include "stages/photon_histogram.h"

/* A photon at its end. */
typedef struct ice_photon_end {
    uint32_t bounces; /* its segments */
    float path;       /* m, to where it ended */
    float wavelength; /* nm */
} ice_photon_end;

/* Returns the bits of a number, which grow with it. A photon below the Cherenkov threshold has a
 * path just below 0 (ICE_NOT_EMITTED), which counts as 0. */
ICE_FN uint32_t ice_photon_word_of(float value)
{
    return (uint32_t)ice_bits(ice_max(value, 0.0f));
}

/* Returns the word of a quantity. The callers on a GPU pass a constant for `quantity`. */
ICE_FN uint32_t ice_photon_word(const ice_tables *tables, uint32_t quantity, ice_photon_end end)
{
    if (quantity == ICE_PHOTON_BOUNCES) {
        return end.bounces;
    }
    if (quantity == ICE_PHOTON_DELAY) {
        return ice_photon_word_of(end.path * ice_slowness(tables, end.wavelength));
    }
    return ice_photon_word_of(end.path);
}

#endif
