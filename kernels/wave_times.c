#include "kernels/wave_times.h"

#include <math.h>

static const double NANOSECOND = 1e-9;

static void merge_waits(ics_wave_waits *waits, const ics_wave_waits *other)
{
    waits->waves += other->waves;
    waits->photons += other->photons;
    waits->most = waits->most > other->most ? waits->most : other->most;
    for (size_t bin = 0; bin < ICS_WAIT_BINS; ++bin) {
        waits->bins[bin] += other->bins[bin];
    }
}

void ics_wave_times_merge(ics_wave_times *times, const ics_wave_times *other)
{
    times->waves += other->waves;
    times->seconds += other->seconds;
    times->longest = fmax(times->longest, other->longest);
    for (size_t span = 0; span < ICS_WAVE_SPANS; ++span) {
        times->spans[span] += other->spans[span];
    }
    for (size_t wait = 0; wait < ICS_WAITS; ++wait) {
        merge_waits(&times->waits[wait], &other->waits[wait]);
    }
}

void ics_wave_times_add(const ics_wave_clock *clock, double stage_seconds[6], ics_wave_times *times)
{
    for (size_t stage = 0; stage < sizeof clock->stages / sizeof *clock->stages; ++stage) {
        stage_seconds[stage] += NANOSECOND * (double)clock->stages[stage];
    }
    ics_wave_times lane = {.waves = clock->waves,
                           .seconds = NANOSECOND * (double)clock->sum,
                           .longest = NANOSECOND * (double)clock->longest};
    for (size_t span = 0; span < ICS_WAVE_SPANS; ++span) {
        lane.spans[span] = clock->spans[span];
    }
    for (size_t wait = 0; wait < ICS_WAITS; ++wait) {
        lane.waits[wait] = clock->waits[wait];
    }
    ics_wave_times_merge(times, &lane);
}

/* Returns the time (s) at which a part of a span has passed, `part` from 0 to 1. */
static double time_in(uint32_t span, double part)
{
    const uint32_t parts = 1u << ICS_WAVE_SPANS_SHIFT;
    return NANOSECOND *
           ldexp(1.0 + (span % parts + part) / parts, ICS_WAVE_SPANS_FIRST + (int)(span / parts));
}

double ics_wave_times_edge(const ics_wave_times *times, uint32_t span)
{
    if (span == 0) {
        return 0.0;
    }
    return span < ICS_WAVE_SPANS ? time_in(span, 0.0) : fmax(time_in(span, 0.0), times->longest);
}

double ics_wave_times_median(const ics_wave_times *times)
{
    uint64_t below = 0;
    for (uint32_t span = 0; span < ICS_WAVE_SPANS; ++span) {
        below += times->spans[span];
        if (2 * below >= times->waves && below > 0) {
            return time_in(span, 0.5);
        }
    }
    return 0.0;
}

double ics_wave_waits_mean(const ics_wave_waits *waits)
{
    return waits->waves > 0 ? (double)waits->photons / (double)waits->waves : 0.0;
}

double ics_wave_waits_median(const ics_wave_waits *waits)
{
    uint64_t below = 0;
    for (uint32_t bin = 1; bin < ICS_WAIT_BINS; ++bin) {
        below += waits->bins[bin];
        if (2 * below >= waits->waves && below > 0) {
            const uint64_t first = ics_wave_waits_edge(waits, bin);
            const uint64_t last = ics_wave_waits_edge(waits, bin + 1) - 1;
            return 0.5 * ((double)first + (double)last);
        }
    }
    return 0.0;
}

uint64_t ics_wave_waits_edge(const ics_wave_waits *waits, uint32_t bin)
{
    const uint32_t parts = 1u << ICS_WAVE_SPANS_SHIFT;
    const uint64_t edge = bin < parts ? bin : (uint64_t)(parts + bin % parts) << (bin / parts - 1);
    return bin == ICS_WAIT_BINS && waits->most >= edge ? waits->most + 1 : edge;
}
