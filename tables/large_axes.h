/* The edges of the bins of histograms (sink.histograms), and the words of edges of photons
 * (stages/histograms/photon_histogram.h). For histograms of photons with many bins: the words in
 * which a search looks for the edges (stages/histograms/large_histogram.h), and memory for counts.
 */
#ifndef ICS_TABLES_LARGE_AXES_H
#define ICS_TABLES_LARGE_AXES_H

#include "base/icestream_error.h"
#include "stages/histograms/large_histogram.h"
#include "stages/histograms/photon_histogram.h"

/* The least `from` of a logarithmic axis: below it a float has less than 24 bits, so that the
 * rounded edges would not ascend. */
#define ICS_BIN_EDGE_LOG_LEAST 0x1p-126

/* Bins of equal width, or of equal width in the logarithm. */
typedef struct ics_bin_edges {
    double from, to; /* from < to; a logarithm needs from >= ICS_BIN_EDGE_LOG_LEAST */
    uint32_t bins;   /* >= 1 */
    bool is_log;
} ics_bin_edges;

/* Returns the lower edge of a bin, numbered from 0; of `bins` the upper edge of the last one. Edges
 * of a logarithmic axis are rounded to 24 bits, so that every library of mathematics gives the same
 * ones. */
double ics_bin_edge(const ics_bin_edges *of, uint32_t bin);

/* Returns the first word of a quantity of photons that is not below an edge. */
uint32_t ics_bin_edge_word(ice_photon_quantity quantity, double edge);

/* A histogram of photons with more bins than ICE_PHOTON_BINS. It does not count segments. */
typedef struct ics_large_axis {
    ice_photon_quantity quantity;
    ics_bin_edges edges;
    ice_large_search search;
} ics_large_axis;

/* All of them. Their cells follow each other, and so do their words. */
typedef struct ics_large_axes {
    uint32_t count; /* 0: there are none */
    uint32_t cells; /* of all together, with under- and overflow */
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
