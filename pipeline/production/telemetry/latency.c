#include "pipeline/production/telemetry/latency.h"

#include <jansson.h>
#include <math.h>

static int bucket_of(double seconds)
{
    int exponent = 0;
    /* The duration is in [1, 2) times 2^(exponent - 1). */
    double mantissa = 2.0 * frexp(seconds, &exponent);
    int octave = exponent - 1 - ICS_LATENCY_LOWEST;
    if (seconds <= 0.0 || octave < 0) {
        return 0;
    }
    if (octave >= ICS_LATENCY_HIGHEST - ICS_LATENCY_LOWEST) {
        return ICS_LATENCY_BUCKETS - 1;
    }
    return octave * ICS_LATENCY_PARTS + (int)((mantissa - 1.0) * ICS_LATENCY_PARTS);
}

static double bucket_middle(int bucket)
{
    int octave = bucket / ICS_LATENCY_PARTS, part = bucket % ICS_LATENCY_PARTS;
    return ldexp(1.0 + (part + 0.5) / ICS_LATENCY_PARTS, octave + ICS_LATENCY_LOWEST);
}

void ics_latency_add(ics_latency *latency, double seconds)
{
    /* Longer than any real duration, so that sums stay finite. */
    const double longest = 1e15;
    seconds = seconds > 0.0 ? fmin(seconds, longest) : 0.0;
    latency->min = latency->count > 0 ? fmin(latency->min, seconds) : seconds;
    latency->max = fmax(latency->max, seconds);
    latency->sum += seconds;
    latency->count++;
    latency->buckets[bucket_of(seconds)]++;
}

double ics_latency_quantile(const ics_latency *latency, double share)
{
    if (latency->count == 0) {
        return 0.0;
    }
    double rank = ceil(share * (double)latency->count);
    if (rank <= 1.0) {
        return latency->min;
    }
    if (rank >= (double)latency->count) {
        return latency->max;
    }
    uint64_t seen = 0;
    int bucket = 0;
    while (bucket < ICS_LATENCY_BUCKETS - 1 && (double)(seen + latency->buckets[bucket]) < rank) {
        seen += latency->buckets[bucket++];
    }
    return fmin(fmax(bucket_middle(bucket), latency->min), latency->max);
}

json_t *ics_latency_json(const ics_latency *latency)
{
    if (latency->count == 0) {
        return json_pack("{s:i, s:n, s:n, s:n, s:n, s:n}", "count", 0, "mean", "p50", "p90", "p99",
                         "max");
    }
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "count", (json_int_t)latency->count, "mean",
                     latency->sum / (double)latency->count, "p50",
                     ics_latency_quantile(latency, 0.5), "p90", ics_latency_quantile(latency, 0.9),
                     "p99", ics_latency_quantile(latency, 0.99), "max", latency->max);
}
