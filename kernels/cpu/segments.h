/* Histograms of segments (sink.histograms) on a CPU. */
#ifndef ICS_KERNELS_CPU_SEGMENTS_H
#define ICS_KERNELS_CPU_SEGMENTS_H

#include "stages/histograms/photon_end.h"
#include "stages/variants.h"

/* Where segments are counted. */
typedef struct ics_segment_counter {
    const ice_tables *tables;
    const ice_photon_axes *axes; /* axes of all histograms of photons */
    ice_variant collide;         /* whose candidates are counted; not a user's header */
    uint64_t *cells;             /* [axes->cells] */
} ics_segment_counter;

/* Counts a segment in the histograms of segments. Has the form of ics_arrival_sink.count_segment;
 * `counter` is an ics_segment_counter. */
void ics_segments_count(void *counter, ice_segment_end segment);

#endif
