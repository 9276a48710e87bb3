/* Histograms of photons with many bins (sink.histograms): the words in which a search looks for the
 * edges (stages/histograms/large_histogram.h), and memory for counts. */
#ifndef ICS_TABLES_LARGE_AXES_H
#define ICS_TABLES_LARGE_AXES_H

#include "base/icestream_error.h"
#include "stages/histograms/large_histogram.h"
#include "tables/bin_edges.h"

/* A histogram of photons with more bins than ICE_PHOTON_BINS. It does not count segments. */
typedef struct ics_large_axis {
    ice_photon_quantity quantity;
    ics_bin_edges edges;
    ice_large_search search;
} ics_large_axis;

/* All of them. Their cells follow each other, and so do their words. */
typedef struct ics_large_axes {
    uint32_t count; /* 0: there are none */
    uint32_t cells; /* cells of all together, with under- and overflow */
    ics_large_axis items[ICE_PHOTON_HISTOGRAMS];
} ics_large_axes;

/* Appends a histogram with 1 to ICE_LARGE_BINS bins; there must be room for it. */
void ics_large_axes_add(ics_large_axes *axes, ice_photon_quantity quantity, ics_bin_edges edges);
/* Returns the number of words of all histograms: their edges and starts. */
size_t ics_large_axes_words(const ics_large_axes *axes);
/* Makes the words of all histograms, NULL if there are none; the caller frees *out.
 * ICESTREAM_E_MEMORY. */
int ics_large_axes_create_words(const ics_large_axes *axes, uint32_t **out, icestream_error *error);
/* Makes counts that are 0: [axes->cells], NULL if there are none; the caller frees *out.
 * ICESTREAM_E_MEMORY. */
int ics_large_axes_create_cells(const ics_large_axes *axes, uint64_t **out, icestream_error *error);

#endif
