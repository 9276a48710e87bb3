/* Histograms of photons (sink.histograms): where a photon counts that has ended, and where each of
 * its segments counts. They are small, so that a block of a GPU can keep them in shared memory.
 *
 * Every quantity is a word of 32 bits that grows with it: a whole number, or the bits of a float
 * that is not negative. So one search finds the cell of any quantity.
 *
 * How to join: a new quantity of photons is a row of ICE_PHOTON_QUANTITIES and a case in
 * ice_photon_word(). If it needs more of the photon than ice_photon_end holds, the kernels must
 * fill the new member. A new quantity of segments is a row of ICE_SEGMENT_QUANTITIES and a case in
 * ice_segment_word_with().
 */
#ifndef ICS_STAGES_HISTOGRAMS_PHOTON_HISTOGRAM_H
#define ICS_STAGES_HISTOGRAMS_PHOTON_HISTOGRAM_H

#include "stages/platform.h"

/* ROW(constant, name, unit, is a whole number) */
#define ICE_PHOTON_QUANTITIES(ROW)                                                                 \
    ROW(BOUNCES, "bounces", "", 1)                                                                 \
    ROW(PATH, "path", "m", 0)                                                                      \
    ROW(DELAY, "delay", "ns", 0)                                                                   \
    ICE_SEGMENT_QUANTITIES(ROW)
/* Those of segments, behind all others. */
#define ICE_SEGMENT_QUANTITIES(ROW)                                                                \
    ROW(LAYERS, "layers", "", 1)                                                                   \
    ROW(CANDIDATES, "candidates", "", 1)

typedef enum ice_photon_quantity {
#define ICE_PHOTON_CONSTANT(constant, name, unit, whole) ICE_PHOTON_##constant,
    ICE_PHOTON_QUANTITIES(ICE_PHOTON_CONSTANT)
#undef ICE_PHOTON_CONSTANT
        ICE_PHOTON_QUANTITY_COUNT
} ice_photon_quantity;

/* Whether a quantity is one of segments. */
ICE_FN int32_t ice_counts_segments(uint32_t quantity)
{
    return quantity >= ICE_PHOTON_LAYERS ? 1 : 0;
}

/* Returns the most common word of a quantity of segments: one layer, no candidate. Kernels of a GPU
 * do not count segments with this word, because the number of all segments is known without it. */
ICE_FN uint32_t ice_common_word(uint32_t quantity)
{
    return quantity == ICE_PHOTON_LAYERS ? 1 : 0;
}

/* The most histograms, bins of one, and cells of all with under- and overflow. */
#define ICE_PHOTON_HISTOGRAMS 4u
#define ICE_PHOTON_BINS       64u
#define ICE_PHOTON_CELLS      (ICE_PHOTON_HISTOGRAMS * (ICE_PHOTON_BINS + 2u))

/* The bins of one histogram. Cell 0 is the underflow, cell bins + 1 the overflow, and cell i has
 * the photons with edges[i - 1] <= word < edges[i]. */
typedef struct ice_photon_axis {
    uint32_t quantity;                    /* ice_photon_quantity */
    uint32_t bins;                        /* 1 to ICE_PHOTON_BINS */
    uint32_t edges[ICE_PHOTON_BINS + 1u]; /* [bins + 1], ascending; bins may be empty */
} ice_photon_axis;

/* All histograms. The cells of each follow those of the one before. */
typedef struct ice_photon_axes {
    uint32_t count; /* 0: there are none */
    uint32_t cells; /* cells of all together */
    ice_photon_axis items[ICE_PHOTON_HISTOGRAMS];
} ice_photon_axes;

/* Returns the cell of a word: the number of edges[bins + 1] that it reaches. The number of rounds
 * depends on `bins` alone, so that a compiler that knows it makes no loop and no branch. */
ICE_FN uint32_t ice_photon_cell(const uint32_t *edges, uint32_t bins, uint32_t word)
{
    const uint32_t *at = edges;
    uint32_t left = bins + 1;
    while (left > 1) {
        const uint32_t half = left / 2;
        at += word >= at[half - 1] ? half : 0;
        left -= half;
    }
    return (uint32_t)(at - edges) + (word >= *at ? 1 : 0);
}

/* The same for edges that are whole numbers in a row, from `first` on. */
ICE_FN uint32_t ice_photon_cell_in_row(uint32_t first, uint32_t bins, uint32_t word)
{
    if (first == 0) {
        return (word < bins ? word : bins) + 1;
    }
    /* Without a branch, and for edges from 1 on a minimum alone. */
    const uint32_t below = first - 1, from = word > below ? word : below;
    return from - below < bins + 1 ? from - below : bins + 1;
}

/* Sets the cells with the common words of the histograms of segments to what the others leave of
 * the number of all segments. `cells`: [axes->cells] what a GPU has counted of photons that have
 * all ended; the former content of the cells that are set has no meaning. */
ICE_FN void ice_complete_segments(const ice_photon_axes *axes, uint64_t segments, uint64_t *cells)
{
    for (uint32_t i = 0; i < axes->count; ++i) {
        const ice_photon_axis *axis = &axes->items[i];
        if (ice_counts_segments(axis->quantity)) {
            const uint32_t common =
                ice_photon_cell(axis->edges, axis->bins, ice_common_word(axis->quantity));
            cells[common] = segments;
            for (uint32_t k = 0; k < axis->bins + 2; ++k) {
                cells[common] -= k != common ? cells[k] : 0;
            }
        }
        cells += axis->bins + 2;
    }
}

#endif
