#include "pipeline/tools/report/hit_counts.h"

#include "base/error.h"
#include "pipeline/files/format/table_reader.h"

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
    const double wanted = share * (double)(counts->hits - counts->without_scatters);
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

/* Counts `many` hits of a module. Unsigned numbers wrap, so that hits can be taken away again. */
static int count_hits(ics_hit_counts *counts, uint16_t string, uint16_t module, double t,
                      uint64_t many, icestream_error *error)
{
    ics_hit_string *of = &counts->strings[string];
    if (module >= of->count) {
        ICS_TRY(make_room(of, module, error));
    }
    of->hits[module] += many;
    counts->times[time_bin(t)] += many;
    counts->hits += many;
    return ICESTREAM_OK;
}

/* A file that is read: of hits, or of waveforms. */
typedef struct counted_file {
    ics_table_reader *reader;
    bool has_waveforms;
    double half_bin; /* of waveforms (ns) */
    int sign;        /* -1: the hits are taken away again */
    uint64_t events, last;
    double weight;
} counted_file;

static void begin_row(counted_file *file, uint64_t event, double weight)
{
    file->events += file->events == 0 || event != file->last;
    file->last = event;
    file->weight += weight;
}

/* Counts one row. The hits of a bin of a waveform count at its middle. */
static int count_row(ics_hit_counts *counts, counted_file *file, const void *row,
                     icestream_error *error)
{
    if (file->has_waveforms) {
        const icestream_waveform_bin *bin = row;
        const uint64_t many = file->sign < 0 ? -bin->hits : bin->hits;
        begin_row(file, bin->event_id, bin->weight);
        counts->without_scatters += many;
        return count_hits(counts, bin->string, bin->module, bin->t + file->half_bin, many, error);
    }
    const icestream_hit *hit = row;
    const uint64_t one = file->sign < 0 ? UINT64_MAX : 1;
    begin_row(file, hit->event_id, (double)hit->weight);
    counts->scatters[hit->scatters] += one;
    return count_hits(counts, hit->string, hit->module, hit->t, one, error);
}

static int open_file(const char *path, counted_file *file, icestream_error *error)
{
    ICS_TRY(ics_table_reader_open(path, NULL, &file->reader, error));
    const ics_layout *layout = ics_table_reader_layout(file->reader);
    const json_t *metadata = ics_table_reader_metadata(file->reader);
    file->has_waveforms = layout == ics_layout_waveforms();
    file->half_bin = 0.5 * json_number_value(json_object_get(metadata, "bin_ns"));
    return file->has_waveforms || layout == ics_layout_hits()
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT, "%s: found %s, expected hits or waveforms",
                               path, layout->short_name);
}

/* Reads at most `limit` rows of a file. *read: how many were counted. */
static int count_rows(ics_hit_counts *counts, counted_file *file, uint64_t limit, uint64_t *read,
                      icestream_error *error)
{
    char *rows = malloc((size_t)ROWS * ICS_ROW_BYTES);
    const size_t bytes = ics_table_reader_layout(file->reader)->row_bytes;
    int status = ICESTREAM_OK;
    if (rows == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the report");
    }
    for (size_t got = 1; status == ICESTREAM_OK && got > 0 && *read < limit;) {
        const uint64_t left = limit - *read;
        status = ics_table_reader_read(file->reader, rows, left < ROWS ? (size_t)left : ROWS, &got,
                                       error);
        for (size_t i = 0; status == ICESTREAM_OK && i < got; ++i) {
            status = count_row(counts, file, rows + i * bytes, error);
            *read += status == ICESTREAM_OK;
        }
    }
    free(rows);
    return status;
}

static int count_file(ics_hit_counts *counts, const char *path, int sign, uint64_t limit,
                      uint64_t *read, icestream_error *error)
{
    counted_file file = {.sign = sign};
    int status = open_file(path, &file, error);
    if (status == ICESTREAM_OK) {
        status = count_rows(counts, &file, limit, read, error);
    }
    if (status == ICESTREAM_OK && sign > 0) {
        counts->events += file.events;
        counts->weight += file.weight;
    }
    ics_table_reader_destroy(file.reader);
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
