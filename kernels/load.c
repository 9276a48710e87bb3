#include "kernels/load.h"

#include <stdlib.h>

/* Sums over launches, ns. */
typedef struct sums {
    double time, block_time;               /* of launches; of launches, times their blocks */
    double processor[ICS_LOAD_PROCESSORS]; /* with a block */
    double busy[ICS_LOAD_INTERVALS], blocks[ICS_LOAD_INTERVALS];
} sums;

/* A group of blocks that overlap in time. */
typedef struct launch {
    const ics_block_span *spans; /* [count], by begin */
    size_t count;
    uint64_t begin, end;
} launch;

static int by_begin(const void *a, const void *b)
{
    const ics_block_span *one = a, *other = b;
    return (one->begin > other->begin) - (one->begin < other->begin);
}

/* Returns the launch that begins with the first of these blocks, which are sorted. */
static launch next_launch(const ics_block_span *spans, size_t count)
{
    launch out = {.spans = spans, .begin = spans[0].begin, .end = spans[0].end};
    while (out.count < count && (out.count == 0 || spans[out.count].begin < out.end)) {
        const uint64_t end = spans[out.count++].end;
        out.end = end > out.end ? end : out.end;
    }
    return out;
}

/* Adds the time from `begin` to `end` to the parts of a launch in which it lies. */
static void distribute(const launch *of, uint64_t begin, uint64_t end, double *parts)
{
    const double length = (double)(of->end - of->begin) / ICS_LOAD_INTERVALS;
    const double from = (double)(begin - of->begin), to = (double)(end - of->begin);
    for (int i = 0; i < ICS_LOAD_INTERVALS; ++i) {
        const double low = from > i * length ? from : i * length;
        const double high = to < (i + 1) * length ? to : (i + 1) * length;
        parts[i] += high > low ? high - low : 0.0;
    }
}

static void add_launch(const launch *of, sums *all)
{
    uint64_t until[ICS_LOAD_PROCESSORS] = {0}; /* a multiprocessor has had a block */
    for (size_t i = 0; i < of->count; ++i) {
        const ics_block_span *span = &of->spans[i];
        const uint32_t p = span->processor;
        const uint64_t begin = span->begin > until[p] ? span->begin : until[p];
        distribute(of, span->begin, span->end, all->blocks);
        if (span->end > begin) {
            distribute(of, begin, span->end, all->busy);
            all->processor[p] += (double)(span->end - begin);
            until[p] = span->end;
        }
    }
    const double time = (double)(of->end - of->begin);
    all->time += time;
    all->block_time += time * (double)of->count;
}

/* The mean of all multiprocessors, and the least and the most loaded ones. */
static void compare_processors(const sums *all, ics_load *out)
{
    out->seconds = 1e-9 * all->time;
    out->least = 1.0;
    for (uint32_t p = 0; p < out->processors; ++p) {
        const double share = all->processor[p] / all->time;
        out->mean += share / out->processors;
        if (share < out->least) {
            out->least = share;
            out->least_at = p;
        }
        if (share > out->most) {
            out->most = share;
            out->most_at = p;
        }
    }
}

static void finish(const sums *all, ics_load *out)
{
    compare_processors(all, out);
    for (int i = 0; i < ICS_LOAD_INTERVALS; ++i) {
        out->busy[i] = all->busy[i] * ICS_LOAD_INTERVALS / (all->time * out->processors);
        out->blocks[i] = all->blocks[i] * ICS_LOAD_INTERVALS / all->block_time;
    }
}

void ics_load_of(ics_block_span *spans, size_t count, bool is_cut, uint32_t processors,
                 ics_load *out)
{
    static const sums none;
    sums all = none;
    size_t known = 0; /* blocks with a number and a length */
    *out = (ics_load){.processors = processors};
    for (size_t i = 0; i < count; ++i) {
        if (spans[i].processor < ICS_LOAD_PROCESSORS && spans[i].end > spans[i].begin) {
            spans[known++] = spans[i];
            out->processors =
                spans[i].processor >= out->processors ? spans[i].processor + 1 : out->processors;
        }
    }
    qsort(spans, known, sizeof *spans, by_begin);
    for (size_t i = 0; i < known;) {
        const launch one = next_launch(spans + i, known - i);
        if (i > 0 || !is_cut) {
            add_launch(&one, &all);
            ++out->launches;
        }
        i += one.count;
    }
    if (out->launches > 0) {
        finish(&all, out);
    }
}

/* ---- a run of many launches ------------------------------------------------------------------ */

/* Returns the sum of bins[last] from `from` to `to`, which are numbers of bins with fractions. */
static double sum_between(const unsigned long long *bins, double from, double to)
{
    double sum = 0;
    for (uint32_t bin = (uint32_t)from; bin < to && bin < ICS_BUSY_BINS; ++bin) {
        const double low = from > bin ? from : bin, high = to < bin + 1.0 ? to : bin + 1.0;
        sum += (double)bins[bin] * (high - low);
    }
    return sum;
}

void ics_load_of_times(const ics_busy_times *times, uint32_t processors, ics_load *out)
{
    static const sums none;
    sums all = none;
    *out = (ics_load){.processors = processors, .of_run = true};
    all.time = (double)times->any.sum;
    for (uint32_t p = 0; p < ICS_LOAD_PROCESSORS; ++p) {
        all.processor[p] = (double)times->processors[p].sum;
        out->processors =
            times->processors[p].begins > 0 && p >= out->processors ? p + 1 : out->processors;
    }
    if (times->any.sum == 0) {
        return;
    }
    out->launches = times->any.begins;
    compare_processors(&all, out);
    uint32_t last = ICS_BUSY_BINS;
    while (last > 1 && times->any_bins[last - 1] == 0) {
        --last;
    }
    const double part = (double)last / ICS_LOAD_INTERVALS;
    for (int i = 0; i < ICS_LOAD_INTERVALS; ++i) {
        const double any = sum_between(times->any_bins, i * part, (i + 1) * part);
        const double sum = sum_between(times->sum_bins, i * part, (i + 1) * part);
        out->busy[i] = any > 0 ? sum / (any * out->processors) : 0.0;
    }
}
