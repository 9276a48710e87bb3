/* Percentiles of any number of durations, in constant memory.
 *
 * Durations are counted in buckets. Every factor of two between 2^-20 s (1 us) and 2^24 s (194
 * days) has 64 buckets. A percentile is the middle of its bucket, so its error is below 0.8 %.
 * Nothing is locked: one thread at a time.
 */
#ifndef ICS_PRODUCTION_TELEMETRY_LATENCY_H
#define ICS_PRODUCTION_TELEMETRY_LATENCY_H

#include <stdint.h>

enum {
    ICS_LATENCY_PARTS = 64,   /* buckets per factor of two */
    ICS_LATENCY_LOWEST = -20, /* 2^-20 s: shorter durations count in the first bucket */
    ICS_LATENCY_HIGHEST = 24, /* 2^24 s: longer durations count in the last bucket */
    ICS_LATENCY_BUCKETS = (ICS_LATENCY_HIGHEST - ICS_LATENCY_LOWEST) * ICS_LATENCY_PARTS
};

/* Zero-initialise: no durations. */
typedef struct ics_latency {
    uint64_t count;
    double sum;      /* s */
    double min, max; /* s, exact; 0 without durations */
    uint64_t buckets[ICS_LATENCY_BUCKETS];
} ics_latency;

/* Adds a duration (s). A negative duration (a clock was set back) and NaN count as 0. */
void ics_latency_add(ics_latency *latency, double seconds);
/* The duration (s) that this share (0 .. 1) of all durations does not exceed (nearest rank). The
 * error is below 0.8 %, and below 2^-20 s for durations below 2^-20 s; 0 and 1 are exact. 0 without
 * durations. */
double ics_latency_quantile(const ics_latency *latency, double share);

/* Returns {"count", "mean", "p50", "p90", "p99", "max"} (s), which the caller releases. Without
 * durations all but count are null. NULL: out of memory. */
struct json_t;
struct json_t *ics_latency_json(const ics_latency *latency);

#endif
