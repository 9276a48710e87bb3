/* How long the waves of a loop took on a GPU, and how many photons waited, from what its kernels
 * recorded. */
#ifndef ICS_KERNELS_WAVE_TIMES_H
#define ICS_KERNELS_WAVE_TIMES_H

#include "kernels/cuda/device/wave_clock.h"

/* Zero-initialise. waves 0: nothing was recorded. */
typedef struct ics_wave_times {
    uint64_t waves;
    double seconds, longest;        /* of all waves together, and of the longest one (s) */
    uint64_t spans[ICS_WAVE_SPANS]; /* waves by their time, see ics_wave_times_edge() */
    ics_wave_waits waits[ICS_WAITS];
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

/* Returns the mean number of photons that waited, of the waves in which photons waited. 0 without
 * such waves. */
double ics_wave_waits_mean(const ics_wave_waits *waits);
/* Returns the median of the same numbers, to 6 %: the middle of the bin that has it. Below 16 it is
 * exact. 0 without such waves. */
double ics_wave_waits_median(const ics_wave_waits *waits);
/* Returns the number of photons at which a bin begins, `bin` <= ICS_WAIT_BINS; that of
 * ICS_WAIT_BINS is where the last one ends: behind the largest number. Bin 0 has the waves in which
 * no photon waited. */
uint64_t ics_wave_waits_edge(const ics_wave_waits *waits, uint32_t bin);

#endif
