/* Percentiles of durations, of any number of them, in fixed memory.
 *
 * Durations are counted in buckets of which 64 fill every factor of two between one microsecond and
 * 2^24 s (194 days); a percentile is the middle of the bucket that holds it, so it is wrong by less
 * than 0.8 %. Nothing here locks: one thread at a time.
 */
#ifndef ICS_TELEMETRY_LATENCY_H
#define ICS_TELEMETRY_LATENCY_H

#include <stdint.h>

enum {
    ICS_LATENCY_PARTS = 64,   /* buckets per factor of two */
    ICS_LATENCY_LOWEST = -20, /* 2^-20 s: what is shorter counts in the first bucket */
    ICS_LATENCY_HIGHEST = 24, /* 2^24 s: what is longer counts in the last one */
    ICS_LATENCY_BUCKETS = (ICS_LATENCY_HIGHEST - ICS_LATENCY_LOWEST) * ICS_LATENCY_PARTS
};

/* All zero is empty and ready for use. */
typedef struct ics_latency {
    uint64_t count;
    double sum;      /* s */
    double min, max; /* s, exact; 0 while it is empty */
    uint64_t buckets[ICS_LATENCY_BUCKETS];
} ics_latency;

/* Adds a duration in seconds. Below zero, where a clock was set back, and what is not a number
 * count as 0. */
void ics_latency_add(ics_latency *latency, double seconds);
/* Adds all durations of another. */
void ics_latency_merge(ics_latency *into, const ics_latency *from);
/* The duration in seconds that a share of all, 0 .. 1, does not exceed (nearest rank): within 0.8 %
 * of that duration, and within 2^-20 s below 2^-20 s; exact for 0 and 1. 0 while it is empty. */
double ics_latency_quantile(const ics_latency *latency, double share);

/* {"count", "mean", "p50", "p90", "p99", "max"} in seconds; all but count are null while it is
 * empty. NULL: out of memory. The caller owns it. */
struct json_t;
struct json_t *ics_latency_json(const ics_latency *latency);

#endif
