/* What histograms of photons count (stages/histograms/photon_histogram.h): the quantities of a
 * photon at its end, whether it is absorbed, hits a module, leaves the world, cannot reach a module
 * any more or is stopped; and those of each of its segments. */
#ifndef ICS_STAGES_HISTOGRAMS_PHOTON_END_H
#define ICS_STAGES_HISTOGRAMS_PHOTON_END_H

#include "stages/direction.h"
#include "stages/histograms/photon_histogram.h"
#include "stages/optics.h"
#include "stages/photon.h"
#include "stages/tables.h"

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

/* A segment at its end, which is where a module or the boundary of the world cuts it. */
typedef struct ice_segment_end {
    float x, y, z; /* its start, m */
    ice_direction direction;
    float height; /* height of its start among the layers (m) */
    float length; /* m */
} ice_segment_end;

/* `photon` is at the start of the segment. */
ICE_FN ice_segment_end ice_segment_end_of(const ice_photon *photon, float height, float length)
{
    const ice_segment_end segment = {photon->x, photon->y, photon->z, ice_direction_of(photon),
                                     height,    length};
    return segment;
}

/* Returns the number of layers that a segment touches: those of its start and of its end, and those
 * between them. Columns of hole ice change nothing, and the outermost layers continue without
 * limit. */
ICE_FN uint32_t ice_layers_of(const ice_tables *tables, ice_segment_end segment)
{
    const int32_t first = ice_layer_at(tables, segment.height);
    const int32_t last =
        ice_layer_at(tables, fmaf(segment.length, segment.direction.z, segment.height));
    const int32_t layers = last - first;
    return 1 + (uint32_t)(layers < 0 ? -layers : layers);
}

/* ---- counting on a CPU ----------------------------------------------------------------------- */

/* Counts a photon that has ended. cells: [axes->cells], of all histograms. */
ICE_FN void ice_count_end(const ice_tables *tables, const ice_photon_axes *axes, ice_photon_end end,
                          uint64_t *cells)
{
    for (uint32_t i = 0; i < axes->count; ++i) {
        const ice_photon_axis *axis = &axes->items[i];
        if (!ice_counts_segments(axis->quantity)) {
            const uint32_t word = ice_photon_word(tables, axis->quantity, end);
            cells[ice_photon_cell(axis->edges, axis->bins, word)]++;
        }
        cells += axis->bins + 2;
    }
}

#endif
