/* icestream_waveforms: makes histograms of the times at which light arrived at each module. */
#include "base/error.h"
#include "base/terminal.h"
#include "pipeline/photons/config/schema/number.h"
#include "pipeline/photons/files/hit_bins.h"
#include "pipeline/photons/files/hit_reader.h"
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/files/text_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, FIRST_SUMS = 1 << 12 };

typedef struct histogram {
    ics_bin_rule rule;
    bool force;
    uint64_t event;
    ics_bin_sum *sums; /* [count] of the event that is read now */
    size_t count, capacity;
    uint64_t outside;
    ics_bin_totals totals;
    ics_bin_rows *rows;
    ics_table_writer *table; /* receives the bins; or NULL, and `text` receives them */
    ics_text_output *text;
} histogram;

/* ---- one event ------------------------------------------------------------------------------- */

/* Makes room for one more sum. Memory is proportional to the bins that an event fills, not to its
 * hits. */
static int make_room(histogram *h, icestream_error *error)
{
    if (h->count < h->capacity) {
        return ICESTREAM_OK;
    }
    h->count = ics_hit_bins_unite(h->sums, h->count);
    if (h->count < h->capacity / 4 * 3) {
        return ICESTREAM_OK;
    }
    const size_t capacity = h->capacity ? 2 * h->capacity : FIRST_SUMS;
    ics_bin_sum *grown = reallocarray(h->sums, capacity, sizeof *grown);
    if (grown == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "waveforms: out of memory for %zu bins",
                             capacity);
    }
    h->sums = grown;
    h->capacity = capacity;
    return ICESTREAM_OK;
}

static int add_hit(histogram *h, const icestream_hit *hit, icestream_error *error)
{
    bool inside = false;
    ICS_TRY(make_room(h, error));
    ICS_TRY(
        ics_hit_bins_sum_of(&h->rule, hit, "--range LOW:HIGH", &h->sums[h->count], &inside, error));
    h->count += inside;
    h->outside += !inside;
    return ICESTREAM_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int write_text_row(histogram *h, const icestream_waveform_bin *row, icestream_error *error)
{
    char t[ICS_NUMBER_DIGITS], weight[ICS_NUMBER_DIGITS];
    return ics_text_output_put(h->text, error, "%" PRIu64 ",%u,%u,%d,%s,%" PRIu64 ",%s\n",
                               row->event_id, row->string, row->module, row->bin,
                               ics_number_print(row->t, t), row->hits,
                               ics_number_print(row->weight, weight));
}

/* An ics_bin_receiver. */
static int write_row(void *user, const icestream_waveform_bin *row, icestream_error *error)
{
    histogram *h = user;
    return h->table != NULL ? ics_table_writer_append(h->table, row, 1, error)
                            : write_text_row(h, row, error);
}

static int write_event(histogram *h, icestream_error *error)
{
    h->count = ics_hit_bins_unite(h->sums, h->count);
    const int status = ics_hit_bins_rows_add(h->rows, h->sums, h->count, error);
    h->count = 0;
    return status;
}

static int read_hits(histogram *h, ics_hit_reader *reader, icestream_error *error)
{
    ICS_FREES icestream_hit *hits = malloc(BLOCK * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "waveforms: out of memory for hits");
    }
    for (size_t got = 1; got > 0;) {
        ICS_TRY(ics_hit_reader_read(reader, hits, BLOCK, &got, error));
        for (size_t i = 0; i < got; ++i) {
            if (hits[i].event_id != h->event) {
                ICS_TRY(write_event(h, error));
            }
            h->event = hits[i].event_id;
            ICS_TRY(add_hit(h, &hits[i], error));
        }
    }
    return write_event(h, error);
}

static int add_hits(histogram *h, ics_hit_reader *reader, icestream_error *error)
{
    ICS_TRY(ics_hit_bins_rows_create(&h->rule, write_row, h, &h->rows, error));
    ICS_TRY(read_hits(h, reader, error));
    return ics_hit_bins_rows_end(h->rows, &h->totals, error);
}

/* Makes the metadata: how the hits were made, and how the bins were filled. */
static int make_metadata(const histogram *h, const json_t *hits, json_t **out,
                         icestream_error *error)
{
    static const char *const kept[] = {"seed",     "random_numbers", "digests",
                                       "settings", "inputs",         "math",
                                       "account",  "content",        "light_mismatch"};
    json_t *metadata = json_pack("{s:I, s:I}", "hits", (json_int_t)h->totals.hits, "outside",
                                 (json_int_t)h->outside);
    int failed = metadata == NULL;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
        json_t *value = json_object_get(hits, kept[i]);
        failed |= value != NULL && json_object_set(metadata, kept[i], value);
    }
    *out = metadata;
    return failed
               ? ics_error_set(error, ICESTREAM_E_MEMORY, "waveforms: out of memory for metadata")
               : ics_hit_bins_store(&h->rule, metadata, error);
}

static int write_table(histogram *h, ics_hit_reader *reader, const char *to, icestream_error *error)
{
    json_auto_t *metadata = NULL;
    ICS_TRY(ics_table_writer_create(to, ics_layout_waveforms(), h->force, &h->table, error));
    ICS_TRY(add_hits(h, reader, error));
    ICS_TRY(make_metadata(h, ics_hit_reader_metadata(reader), &metadata, error));
    return ics_table_writer_commit(h->table, metadata, error);
}

static int write_text(histogram *h, ics_hit_reader *reader, const char *to, icestream_error *error)
{
    ICS_TRY(ics_text_output_create(to, h->force, &h->text, error));
    ICS_TRY(ics_text_output_put(h->text, error, "event_id,string,module,bin,t,hits,weight\n"));
    ICS_TRY(add_hits(h, reader, error));
    return ics_text_output_commit(h->text, error);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static int check_options(const icestream_waveform_options *options, icestream_error *error)
{
    if (!(options->bin >= 1e-6 && options->bin <= 1e12)) {
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "--waveforms: found %.9g, expected the width of a bin, 1e-6 .. 1e12 ns", options->bin);
    }
    if (!options->has_range) {
        return ICESTREAM_OK;
    }
    if (!(isfinite(options->low) && isfinite(options->high) && options->low < options->high)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--range: found %.9g:%.9g, expected LOW:HIGH in ns, LOW below HIGH",
                             options->low, options->high);
    }
    const double bins = (options->high - options->low) / options->bin;
    return bins < INT32_MAX
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "--range: found %.9g bins, expected fewer than 2^31", bins);
}

/* Checks the options and the names, and finds whether the bins become text. */
static int check_all(const char *to, const icestream_waveform_options *options, bool *text,
                     icestream_error *error)
{
    const bool is_stream = strcmp(to, "-") == 0;
    *text = is_stream ? !options->stream_npy : ends_with(to, ".csv");
    ICS_TRY(check_options(options, error));
    if (is_stream && !*text) {
        return ics_terminal_check_output("-", error);
    }
    return is_stream || *text || ends_with(to, ".npy")
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "%s: found an unknown ending, expected .npy or .csv", to);
}

int icestream_waveforms(const char *from, const char *to, const icestream_waveform_options *options,
                        FILE *out, icestream_error *error)
{
    bool text = false;
    ICS_DESTROYS(ics_hit_reader_destroy) ics_hit_reader *reader = NULL;
    histogram h = {.rule = {.width = options->bin,
                            .has_range = options->has_range,
                            .low = options->low,
                            .high = options->high},
                   .force = options->force};
    ICS_TRY(check_all(to, options, &text, error));
    ICS_TRY(ics_hit_reader_open(from, true, &reader, error));
    const int status =
        text ? write_text(&h, reader, to, error) : write_table(&h, reader, to, error);
    ics_hit_bins_rows_destroy(h.rows);
    ics_table_writer_destroy(h.table);
    ics_text_output_destroy(h.text);
    free(h.sums);
    ICS_TRY(status);
    fprintf(out, "%s: %" PRIu64 " hits of %" PRIu64 " event%s in %" PRIu64 " bins of %.9g ns",
            strcmp(to, "-") == 0 ? "standard output" : to, h.totals.hits, h.totals.events,
            h.totals.events == 1 ? "" : "s", h.totals.bins, options->bin);
    if (h.outside > 0) {
        fprintf(out, ", %" PRIu64 " hits outside the range", h.outside);
    }
    fputc('\n', out);
    return fflush(out) == 0 && !ferror(out)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: cannot write the report", from);
}
