#include "tables/large_axes.h"

#include "base/error.h"

#include <stdlib.h>

void ics_large_axes_add(ics_large_axes *axes, ice_photon_quantity quantity, ics_bin_edges edges)
{
    ics_large_axis *axis = &axes->items[axes->count++];
    ice_large_search search = {.bins = edges.bins,
                               .first = ics_bin_edge_word(quantity, edges.from),
                               .last = ics_bin_edge_word(quantity, edges.to)};
    while ((search.last >> search.shift) - (search.first >> search.shift) >= ICE_LARGE_BUCKETS) {
        ++search.shift;
    }
    *axis = (ics_large_axis){.quantity = quantity, .edges = edges, .search = search};
    axes->cells += edges.bins + 2;
}

size_t ics_large_axes_words(const ics_large_axes *axes)
{
    size_t words = 0;
    for (uint32_t i = 0; i < axes->count; ++i) {
        words += ice_large_words(axes->items[i].search);
    }
    return words;
}

/* Writes the edges of a histogram and their starts. */
static void write_words(const ics_large_axis *axis, uint32_t *out)
{
    const ice_large_search search = axis->search;
    uint32_t *starts = out + search.bins + 1, bucket = 0;
    for (uint32_t k = 0; k <= search.bins; ++k) {
        out[k] = ics_bin_edge_word(axis->quantity, ics_bin_edge(&axis->edges, k));
        const uint32_t own = (out[k] >> search.shift) - (search.first >> search.shift);
        while (bucket <= own) {
            starts[bucket++] = k;
        }
    }
    starts[bucket] = search.bins + 1;
}

int ics_large_axes_create_words(const ics_large_axes *axes, uint32_t **out, icestream_error *error)
{
    const size_t count = ics_large_axes_words(axes);
    uint32_t *words = count > 0 ? malloc(count * sizeof *words) : NULL;
    *out = words;
    if (count > 0 && words == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "out of memory for the edges of histograms of photons");
    }
    for (uint32_t i = 0; i < axes->count; ++i) {
        write_words(&axes->items[i], words);
        words += ice_large_words(axes->items[i].search);
    }
    return ICESTREAM_OK;
}

int ics_large_axes_create_cells(const ics_large_axes *axes, uint64_t **out, icestream_error *error)
{
    *out = axes->cells > 0 ? calloc(axes->cells, sizeof **out) : NULL;
    return axes->cells == 0 || *out != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY,
                               "out of memory for histograms of photons with %u bins", axes->cells);
}
