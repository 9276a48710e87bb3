/* The edges of the bins of histograms (sink.histograms), and the words of edges of photons
 * (stages/histograms/photon_histogram.h). */
#ifndef ICS_TABLES_BIN_EDGES_H
#define ICS_TABLES_BIN_EDGES_H

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

#endif
