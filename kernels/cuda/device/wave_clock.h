/* How long the stages and the waves of a loop take, for profiles (gpu_stamp() of device/pool.h):
 * what kernels and the host share, in the common subset of C11 and CUDA C. */
#ifndef ICS_KERNELS_CUDA_DEVICE_WAVE_CLOCK_H
#define ICS_KERNELS_CUDA_DEVICE_WAVE_CLOCK_H

#include "stages/platform.h"

enum {
    ICS_WAVE_SPANS_SHIFT = 3, /* 8 spans from one power of 2 to the next one */
    ICS_WAVE_SPANS_FIRST = 9, /* span 0 begins at 2^9 ns, and has shorter waves, too */
    ICS_WAVE_SPANS = 192      /* the last one begins at 8.1 s, and has longer waves, too */
};

/* What a stamp ends. */
typedef enum ics_stamp {
    ICS_STAMP_STAGE,
    ICS_STAMP_WAVE, /* a stage, and the wave with it */
    ICS_STAMP_TRIP  /* the decision and the compaction before a trip: the first wave of it begins */
} ics_stamp;

/* All times in ns, since the lane was made. */
typedef struct ics_wave_clock {
    unsigned long long last;      /* the time of the last stamp; 0: there was none */
    unsigned long long stages[6]; /* by ics_clock */
    unsigned long long begin;     /* of the present wave */
    unsigned long long waves, sum, longest;
    unsigned long long waiting; /* waves at whose end photons waited for a free slot */
    unsigned long long spans[ICS_WAVE_SPANS]; /* waves by their length */
} ics_wave_clock;

/* Returns the span of a wave that took `time` ns. */
ICE_FN uint32_t gpu_wave_span_of(unsigned long long time)
{
    uint32_t power = ICS_WAVE_SPANS_FIRST, span;
    while (power < 63 && time >> (power + 1) != 0) {
        ++power;
    }
    span = ((power - ICS_WAVE_SPANS_FIRST) << ICS_WAVE_SPANS_SHIFT) +
           (uint32_t)(time >> (power - ICS_WAVE_SPANS_SHIFT) & ((1u << ICS_WAVE_SPANS_SHIFT) - 1));
    if (time >> ICS_WAVE_SPANS_FIRST == 0) {
        span = 0;
    }
    return span < ICS_WAVE_SPANS ? span : ICS_WAVE_SPANS - 1;
}

#endif
