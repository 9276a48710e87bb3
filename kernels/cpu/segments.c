/* Counts segments in histograms. The searches of collide in this file count the modules that they
 * test; those of the kernels do not, so that they cost the same with and without histograms. */
#define ICE_COUNTS_CANDIDATES 1
#include "kernels/cpu/segments.h"

#include "stages/histograms/candidates.h"

void ics_segments_count(void *counter, ice_segment_end segment)
{
    const ics_segment_counter *to = counter;
    uint64_t *cells = to->cells;
    for (uint32_t i = 0; i < to->axes->count; ++i) {
        const ice_photon_axis *axis = &to->axes->items[i];
        if (ice_counts_segments(axis->quantity)) {
            const uint32_t word =
                ice_segment_word_with(to->collide, to->tables, axis->quantity, segment);
            cells[ice_photon_cell(axis->edges, axis->bins, word)]++;
        }
        cells += axis->bins + 2;
    }
}
