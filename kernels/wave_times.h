/* How long the waves of a loop took on a GPU, from what its kernels recorded. */
#ifndef ICS_KERNELS_WAVE_TIMES_H
#define ICS_KERNELS_WAVE_TIMES_H

#include "kernels/cuda/device/wave_clock.h"

/* Zero-initialise. waves 0: nothing was recorded. */
typedef struct ics_wave_times {
    uint64_t waves;
    double seconds, longest;        /* of all waves together, and of the longest one (s) */
    uint64_t waiting;               /* waves at whose end photons waited for a free slot */
    uint64_t spans[ICS_WAVE_SPANS]; /* waves by their time, see ics_wave_times_edge() */
} ics_wave_times;

/* Adds what a lane recorded: its waves, and the time (s) of its stages, by ics_clock. */
void ics_wave_times_add(const ics_wave_clock *clock, double stage_seconds[6],
                        ics_wave_times *times);
/* Adds waves of another lane or GPU. */
void ics_wave_times_merge(ics_wave_times *times, const ics_wave_times *other);
/* Returns the median of the times of the waves (s), to 6 %: the middle of the span that has it. 0
 * without waves. */
double ics_wave_times_median(const ics_wave_times *times);
/* Returns the time (s) at which a span begins, `span` <= ICS_WAVE_SPANS; that of ICS_WAVE_SPANS is
 * where the last one ends. Span 0 begins at 0. Longer waves count in the last span, too: if there
 * is one, this span ends at the longest. */
double ics_wave_times_edge(const ics_wave_times *times, uint32_t span);

#endif
