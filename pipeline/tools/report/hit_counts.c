#include "pipeline/tools/report/hit_counts.h"

#include "base/error.h"
#include "pipeline/files/hit_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16384 };

int ics_hit_counts_create(ics_hit_counts **out, icestream_error *error)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? ICESTREAM_OK
                        : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the report");
}

void ics_hit_counts_destroy(ics_hit_counts *counts)
{
    for (size_t i = 0; counts != NULL && i < ICS_HIT_COUNTS_NUMBERS; ++i) {
        free(counts->strings[i].hits);
    }
    free(counts);
}

/* ---- times ----------------------------------------------------------------------------------- */

static size_t time_bin(double t)
{
    const double at = log2(1.0 + fabs(t)) * ICS_HIT_COUNTS_OCTAVE;
    const size_t bin = at < ICS_HIT_COUNTS_TIMES ? (size_t)at : ICS_HIT_COUNTS_TIMES - 1;
    return t < 0.0 ? ICS_HIT_COUNTS_TIMES - 1 - bin : ICS_HIT_COUNTS_TIMES + bin;
}

/* The lower edge of a bin (ns). */
static double time_edge(size_t bin)
{
    const double at = ((double)bin - ICS_HIT_COUNTS_TIMES) / ICS_HIT_COUNTS_OCTAVE;
    return at < 0.0 ? 1.0 - exp2(-at) : exp2(at) - 1.0;
}

double ics_hit_counts_time_quantile(const ics_hit_counts *counts, double share)
{
    const double wanted = share * (double)counts->hits;
    uint64_t sum = 0;
    for (size_t i = 0; i < (size_t)2 * ICS_HIT_COUNTS_TIMES; ++i) {
        sum += counts->times[i];
        if (counts->times[i] > 0 && (double)sum >= wanted) {
            return time_edge(i);
        }
    }
    return 0.0;
}

void ics_hit_counts_time_bins(const ics_hit_counts *counts, double low, double high, double *out,
                              size_t bins)
{
    const double width = (high - low) / (double)bins;
    memset(out, 0, bins * sizeof *out);
    for (size_t i = 0; i < (size_t)2 * ICS_HIT_COUNTS_TIMES; ++i) {
        const double middle = 0.5 * (time_edge(i) + time_edge(i + 1));
        if (counts->times[i] > 0 && middle >= low && middle < high) {
            const size_t bin = (size_t)((middle - low) / width);
            out[bin < bins ? bin : bins - 1] += (double)counts->times[i];
        }
    }
}

uint32_t ics_hit_counts_scatter_quantile(const ics_hit_counts *counts, double share)
{
    const double wanted = share * (double)counts->hits;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ICS_HIT_COUNTS_NUMBERS; ++i) {
        sum += counts->scatters[i];
        if (counts->scatters[i] > 0 && (double)sum >= wanted) {
            return i;
        }
    }
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int make_room(ics_hit_string *string, uint16_t module, icestream_error *error)
{
    size_t count = string->count > 0 ? string->count : 64;
    while (count <= module) {
        count *= 2;
    }
    uint64_t *hits = realloc(string->hits, count * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the report");
    }
    memset(hits + string->count, 0, (count - string->count) * sizeof *hits);
    *string = (ics_hit_string){.hits = hits, .count = count};
    return ICESTREAM_OK;
}

/* Counts hits, or with `sign` -1 takes them away again. */
static int count_rows(ics_hit_counts *counts, const icestream_hit *hits, size_t count, int sign,
                      icestream_error *error)
{
    const uint64_t one = sign < 0 ? UINT64_MAX : 1; /* unsigned numbers wrap */
    for (size_t i = 0; i < count; ++i) {
        ics_hit_string *string = &counts->strings[hits[i].string];
        if (hits[i].module >= string->count) {
            ICS_TRY(make_room(string, hits[i].module, error));
        }
        string->hits[hits[i].module] += one;
        counts->scatters[hits[i].scatters] += one;
        counts->times[time_bin(hits[i].t)] += one;
    }
    counts->hits += one * count;
    return ICESTREAM_OK;
}

/* Reads at most `limit` rows of a file. *read: how many were counted. */
static int count_file(ics_hit_counts *counts, const char *path, int sign, uint64_t limit,
                      uint64_t *read, icestream_error *error)
{
    ics_hit_reader *reader = NULL;
    icestream_hit *hits = malloc(ROWS * sizeof *hits);
    uint64_t events = 0, last = 0;
    double weight = 0.0;
    size_t got = 0;
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the report");
    }
    int status = ics_hit_reader_open(path, false, &reader, error);
    do {
        const uint64_t left = limit - *read;
        status =
            status != ICESTREAM_OK
                ? status
                : ics_hit_reader_read(reader, hits, left < ROWS ? (size_t)left : ROWS, &got, error);
        got = status == ICESTREAM_OK ? got : 0;
        for (size_t i = 0; i < got; ++i) {
            events += events == 0 || hits[i].event_id != last;
            last = hits[i].event_id;
            weight += (double)hits[i].weight;
        }
        if (got > 0) {
            status = count_rows(counts, hits, got, sign, error);
            *read += got;
        }
    } while (got > 0 && status == ICESTREAM_OK && *read < limit);
    if (status == ICESTREAM_OK && sign > 0) {
        counts->events += events;
        counts->weight += weight;
    }
    ics_hit_reader_destroy(reader);
    free(hits);
    return status;
}

int ics_hit_counts_add(ics_hit_counts *counts, const char *path, icestream_error *error)
{
    uint64_t read = 0, back = 0;
    const int status = count_file(counts, path, 1, UINT64_MAX, &read, error);
    if (status != ICESTREAM_OK && read > 0) {
        /* The checksum of a block is known after its last row, so hits of a damaged file may have
         * been counted. The same rows are taken away. */
        (void)count_file(counts, path, -1, read, &back, NULL);
    }
    return status;
}
