/* Percentiles of durations, of any number of them, in fixed memory.
 *
 * Durations are counted in buckets of which 64 fill every factor of two between one microsecond and
 * 2^24 s (194 days); a percentile is the middle of the bucket that holds it, so it is wrong by less
 * than 0.8 %. Nothing here locks: one thread at a time.
 */
#ifndef IS_LATENCY_H
#define IS_LATENCY_H

#include <stdint.h>

enum {
    IS_LATENCY_PARTS = 64,   /* buckets per factor of two */
    IS_LATENCY_LOWEST = -20, /* 2^-20 s: what is shorter counts in the first bucket */
    IS_LATENCY_HIGHEST = 24, /* 2^24 s: what is longer counts in the last one */
    IS_LATENCY_BUCKETS = (IS_LATENCY_HIGHEST - IS_LATENCY_LOWEST) * IS_LATENCY_PARTS
};

/* All zero is empty and ready for use. */
typedef struct is_latency {
    uint64_t count;
    double sum;      /* s */
    double min, max; /* s, exact; 0 while it is empty */
    uint64_t buckets[IS_LATENCY_BUCKETS];
} is_latency;

/* Adds a duration in seconds. Below zero, where a clock was set back, and what is not a number
 * count as 0. */
void is_latency_add(is_latency *latency, double seconds);
/* Adds all durations of another. */
void is_latency_merge(is_latency *into, const is_latency *from);
/* The duration in seconds that a share of all, 0 .. 1, does not exceed (nearest rank): within 0.8 %
 * of that duration, and within 2^-20 s below 2^-20 s; exact for 0 and 1. 0 while it is empty. */
double is_latency_quantile(const is_latency *latency, double share);

/* {"count", "mean", "p50", "p90", "p99", "max"} in seconds; all but count are null while it is
 * empty. NULL: out of memory. The caller owns it. */
struct json_t;
struct json_t *is_latency_json(const is_latency *latency);

#endif
