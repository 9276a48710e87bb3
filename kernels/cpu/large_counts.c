#include "kernels/cpu/large_counts.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

int ics_large_counts_create(ics_large_counts *counts, const ics_large_axes *axes,
                            icestream_error *error)
{
    counts->axes = *axes;
    ICS_TRY(ics_large_axes_create_cells(axes, &counts->cells, error));
    return ics_large_axes_create_words(axes, &counts->words, error);
}

void ics_large_counts_destroy(ics_large_counts *counts)
{
    free(counts->cells);
    free(counts->words);
}

void ics_large_counts_clear(ics_large_counts *counts)
{
    if (counts->cells != NULL) {
        memset(counts->cells, 0, counts->axes.cells * sizeof *counts->cells);
    }
}

void ics_large_counts_add(ics_large_counts *counts, const ice_tables *tables, ice_photon_end end)
{
    uint64_t *cells = counts->cells;
    const uint32_t *words = counts->words;
    for (uint32_t i = 0; i < counts->axes.count; ++i) {
        const ics_large_axis *axis = &counts->axes.items[i];
        const uint32_t word = ice_photon_word(tables, axis->quantity, end);
        cells[ice_large_cell(words, axis->search, word)]++;
        cells += axis->search.bins + 2;
        words += ice_large_words(axis->search);
    }
}
