/* How long the stages and the waves of a loop take, and how many photons wait at the ends of waves,
 * for profiles (gpu_stamp() of device/pool.h): what kernels and the host share, in the common
 * subset of C11 and CUDA C. */
#ifndef ICS_KERNELS_CUDA_DEVICE_WAVE_CLOCK_H
#define ICS_KERNELS_CUDA_DEVICE_WAVE_CLOCK_H

#include "stages/platform.h"

enum {
    ICS_WAVE_SPANS_SHIFT = 3, /* 8 spans from one power of 2 to the next one */
    ICS_WAVE_SPANS_FIRST = 9, /* span 0 begins at 2^9 ns, and has shorter waves, too */
    ICS_WAVE_SPANS = 192,     /* the last one begins at 8.1 s, and has longer waves, too */
    ICS_WAIT_BINS = 256 /* also 8 per power of 2, from 0 photons; the last one ends at 2^34, which
                           is more than the queue of a lane has, and has larger numbers, too */
};

/* What photons wait for. */
typedef enum ics_wait {
    ICS_WAIT_SLOT, /* photons of the launch that are not created yet: for a free slot */
    ICS_WAIT_HITS, /* photons that found no room in the hit buffer in this wave */
    ICS_WAITS
} ics_wait;

/* Waves by the photons that waited. */
typedef struct ics_wave_waits {
    uint64_t waves;               /* in which photons waited */
    uint64_t photons;             /* that waited, the sum of all waves */
    uint64_t most;                /* in one wave */
    uint64_t bins[ICS_WAIT_BINS]; /* waves by their photons that waited, also those without one */
} ics_wave_waits;

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
    unsigned long long spans[ICS_WAVE_SPANS]; /* waves by their length */
    ics_wave_waits waits[ICS_WAITS];
    uint32_t stalled; /* the sum of the shares at the end of the last wave, modulo 2^32 */
} ics_wave_clock;

/* Returns the exponent of the largest power of 2 that is not above a number; 0 for 0. */
ICE_FN uint32_t gpu_wave_power_of(unsigned long long number)
{
#if defined(__CUDACC__)
    return 63 - (uint32_t)__clzll((long long)(number | 1));
#else
    return 63 - (uint32_t)__builtin_clzll(number | 1);
#endif
}

/* Returns the span of a wave that took `time` ns. */
ICE_FN uint32_t gpu_wave_span_of(unsigned long long time)
{
    const uint32_t found = gpu_wave_power_of(time);
    const uint32_t power = found < ICS_WAVE_SPANS_FIRST ? ICS_WAVE_SPANS_FIRST : found;
    uint32_t span =
        ((power - ICS_WAVE_SPANS_FIRST) << ICS_WAVE_SPANS_SHIFT) +
        (uint32_t)(time >> (power - ICS_WAVE_SPANS_SHIFT) & ((1u << ICS_WAVE_SPANS_SHIFT) - 1));
    if (time >> ICS_WAVE_SPANS_FIRST == 0) {
        span = 0;
    }
    return span < ICS_WAVE_SPANS ? span : ICS_WAVE_SPANS - 1;
}

/* Returns the bin of a wave in which a number of photons waited. Numbers below 16 have their own
 * bins. */
ICE_FN uint32_t gpu_wave_wait_bin_of(uint64_t photons)
{
    const uint32_t power = gpu_wave_power_of(photons);
    if (power < ICS_WAVE_SPANS_SHIFT) {
        return (uint32_t)photons;
    }
    const uint32_t shift = power - ICS_WAVE_SPANS_SHIFT;
    const uint32_t bin = ((shift + 1) << ICS_WAVE_SPANS_SHIFT) +
                         (uint32_t)(photons >> shift & ((1u << ICS_WAVE_SPANS_SHIFT) - 1));
    return bin < ICS_WAIT_BINS ? bin : ICS_WAIT_BINS - 1;
}

/* Adds a wave in which a number of photons waited. One thread. */
ICE_FN void gpu_wave_wait_add(ics_wave_waits *waits, uint64_t photons)
{
    waits->waves += photons > 0;
    waits->photons += photons;
    waits->most = photons > waits->most ? photons : waits->most;
    waits->bins[gpu_wave_wait_bin_of(photons)] += 1;
}

#endif
