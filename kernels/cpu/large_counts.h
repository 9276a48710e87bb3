/* Histograms of photons with many bins (sink.histograms) on a CPU. */
#ifndef ICS_KERNELS_CPU_LARGE_COUNTS_H
#define ICS_KERNELS_CPU_LARGE_COUNTS_H

#include "stages/histograms/photon_end.h"
#include "tables/large_axes.h"

/* Where photons are counted. */
typedef struct ics_large_counts {
    ics_large_axes axes;
    uint32_t *words; /* words of the axes */
    uint64_t *cells; /* [axes.cells]; NULL: there are none */
} ics_large_counts;

/* Makes counts that are 0, in a zeroed struct. The caller destroys it, also after an error.
 * ICESTREAM_E_MEMORY. */
int ics_large_counts_create(ics_large_counts *counts, const ics_large_axes *axes,
                            icestream_error *error);
void ics_large_counts_destroy(ics_large_counts *counts);

/* Sets all counts to 0. */
void ics_large_counts_clear(ics_large_counts *counts);
/* Counts a photon that has ended. */
void ics_large_counts_add(ics_large_counts *counts, const ice_tables *tables, ice_photon_end end);

#endif
