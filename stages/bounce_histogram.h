/* The histogram of bounces per photon (sink.histograms, the quantity `bounces`): where a photon
 * counts that has ended. It is small, so that a block of a GPU can keep it in shared memory. */
#ifndef ICS_STAGES_BOUNCE_HISTOGRAM_H
#define ICS_STAGES_BOUNCE_HISTOGRAM_H

#include "stages/platform.h"

/* The most bins, and cells with under- and overflow. */
#define ICE_BOUNCE_BINS  64u
#define ICE_BOUNCE_CELLS (ICE_BOUNCE_BINS + 2u)

/* The bins. Cell 0 is the underflow, cell bins + 1 the overflow, and cell i has the photons with
 * edges[i - 1] <= bounces < edges[i]. */
typedef struct ice_bounce_axis {
    uint32_t bins;                       /* 1 to ICE_BOUNCE_BINS; 0: there is no histogram */
    uint32_t edges[ICE_BOUNCE_BINS + 1]; /* [bins + 1], ascending; bins may be empty */
} ice_bounce_axis;

/* Returns the cell of a photon: the number of edges that its bounces reach. */
ICE_FN uint32_t ice_bounce_cell(const ice_bounce_axis *axis, uint32_t bounces)
{
    uint32_t low = 0, high = axis->bins + 1;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (bounces >= axis->edges[middle]) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

#endif
