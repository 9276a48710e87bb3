/* icestream_waveforms: makes histograms of the times at which light arrived at each module. */
#include "base/error.h"
#include "base/terminal.h"
#include "pipeline/config/schema/number.h"
#include "pipeline/files/hit_reader.h"
#include "pipeline/files/table_writer.h"
#include "pipeline/files/text_output.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096, FIRST_ENTRIES = 1 << 12 };

/* One hit, or several hits in the same bin, of the event that is read now. */
typedef struct entry {
    uint32_t module; /* string << 16 | module number */
    int32_t bin;
    uint64_t order; /* number of the first hit: weights are added in the order of the file */
    uint64_t hits;
    double weight;
} entry;

typedef struct histogram {
    const icestream_waveform_options *options;
    double last; /* number of the last bin of the range */
    uint64_t event;
    entry *entries; /* [count] */
    size_t count, capacity;
    uint64_t order;
    uint64_t hits, outside, bins, events;
    ics_table_writer *table; /* receives the bins; or NULL, and `text` receives them */
    ics_text_output *text;
} histogram;

/* ---- one event ------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
    const entry *left = a, *right = b;
    if (left->module != right->module) {
        return left->module < right->module ? -1 : 1;
    }
    if (left->bin != right->bin) {
        return left->bin < right->bin ? -1 : 1;
    }
    return (left->order > right->order) - (left->order < right->order);
}

/* Sorts the entries by module and bin, and makes one entry of all entries of a bin. */
static void unite(histogram *h)
{
    size_t kept = 0;
    if (h->count > 0) {
        qsort(h->entries, h->count, sizeof *h->entries, compare_entries);
    }
    for (size_t i = 0; i < h->count; ++i) {
        const entry *next = &h->entries[i];
        entry *last = kept > 0 ? &h->entries[kept - 1] : NULL;
        if (last != NULL && last->module == next->module && last->bin == next->bin) {
            last->hits += next->hits;
            last->weight += next->weight;
        } else {
            h->entries[kept++] = *next;
        }
    }
    h->count = kept;
}

/* Makes room for one more entry. Memory is proportional to the bins that an event fills, not to its
 * hits. */
static int make_room(histogram *h, icestream_error *error)
{
    if (h->count < h->capacity) {
        return ICESTREAM_OK;
    }
    unite(h);
    if (h->count < h->capacity / 4 * 3) {
        return ICESTREAM_OK;
    }
    const size_t capacity = h->capacity ? 2 * h->capacity : FIRST_ENTRIES;
    entry *grown = reallocarray(h->entries, capacity, sizeof *grown);
    if (grown == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "waveforms: out of memory for %zu bins",
                             capacity);
    }
    h->entries = grown;
    h->capacity = capacity;
    return ICESTREAM_OK;
}

/* Returns the time (ns) at which bin 0 begins. */
static double origin_of(const histogram *h)
{
    return h->options->has_range ? h->options->low : 0.0;
}

static int add_hit(histogram *h, const icestream_hit *hit, icestream_error *error)
{
    const icestream_waveform_options *options = h->options;
    if (options->has_range && !(hit->t >= options->low && hit->t < options->high)) {
        h->outside += 1;
        return ICESTREAM_OK;
    }
    double bin = floor((hit->t - origin_of(h)) / options->bin);
    if (options->has_range) { /* rounding must not give a bin outside the range */
        bin = fmin(fmax(bin, 0), h->last);
    }
    if (fabs(bin) > INT32_MAX) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "event_id %" PRIu64 ": found a hit at %.9g ns, expected at most 2^31 "
                             "bins of %.9g ns from time 0 (--range LOW:HIGH leaves it out)",
                             hit->event_id, hit->t, options->bin);
    }
    int status = make_room(h, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    h->entries[h->count++] = (entry){.module = (uint32_t)hit->string << 16 | hit->module,
                                     .bin = (int32_t)bin,
                                     .order = h->order++,
                                     .hits = 1,
                                     .weight = hit->weight};
    h->hits += 1;
    return ICESTREAM_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int write_text_bin(histogram *h, const icestream_waveform_bin *bin, icestream_error *error)
{
    char t[ICS_NUMBER_DIGITS], weight[ICS_NUMBER_DIGITS];
    return ics_text_output_put(h->text, error, "%" PRIu64 ",%u,%u,%d,%s,%" PRIu64 ",%s\n",
                               bin->event_id, bin->string, bin->module, bin->bin,
                               ics_number_print(bin->t, t), bin->hits,
                               ics_number_print(bin->weight, weight));
}

static int write_event(histogram *h, icestream_error *error)
{
    int status = ICESTREAM_OK;
    unite(h);
    for (size_t i = 0; status == ICESTREAM_OK && i < h->count; ++i) {
        const entry *from = &h->entries[i];
        const icestream_waveform_bin bin = {.event_id = h->event,
                                            .t = origin_of(h) + from->bin * h->options->bin,
                                            .weight = from->weight,
                                            .hits = from->hits,
                                            .bin = from->bin,
                                            .string = (uint16_t)(from->module >> 16),
                                            .module = (uint16_t)from->module};
        status = h->table != NULL ? ics_table_writer_append(h->table, &bin, 1, error)
                                  : write_text_bin(h, &bin, error);
    }
    h->events += h->count > 0;
    h->bins += h->count;
    h->count = 0;
    return status;
}

static int add_hits(histogram *h, ics_hit_reader *reader, icestream_error *error)
{
    icestream_hit *hits = malloc(BLOCK * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "waveforms: out of memory for hits");
    }
    int status = ICESTREAM_OK;
    for (size_t got = 1; status == ICESTREAM_OK && got > 0;) {
        status = ics_hit_reader_read(reader, hits, BLOCK, &got, error);
        for (size_t i = 0; status == ICESTREAM_OK && i < got; ++i) {
            if (hits[i].event_id != h->event) {
                status = write_event(h, error);
            }
            h->event = hits[i].event_id;
            if (status == ICESTREAM_OK) {
                status = add_hit(h, &hits[i], error);
            }
        }
    }
    free(hits);
    return status == ICESTREAM_OK ? write_event(h, error) : status;
}

/* Makes the metadata: how the hits were made, and how the bins were filled. */
static int make_metadata(const histogram *h, const json_t *hits, json_t **out,
                         icestream_error *error)
{
    static const char *const kept[] = {"seed", "random_numbers", "digests", "inputs", "math"};
    const icestream_waveform_options *options = h->options;
    json_t *metadata = json_pack("{s:f, s:I, s:I}", "bin_ns", options->bin, "hits",
                                 (json_int_t)h->hits, "outside", (json_int_t)h->outside);
    int failed = metadata == NULL;
    if (options->has_range) {
        failed |= json_object_set_new(metadata, "range_ns",
                                      json_pack("[f, f]", options->low, options->high));
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
        json_t *value = json_object_get(hits, kept[i]);
        failed |= value != NULL && json_object_set(metadata, kept[i], value);
    }
    *out = metadata;
    return failed
               ? ics_error_set(error, ICESTREAM_E_MEMORY, "waveforms: out of memory for metadata")
               : ICESTREAM_OK;
}

static int write_table(histogram *h, ics_hit_reader *reader, const char *to, icestream_error *error)
{
    json_t *metadata = NULL;
    int status =
        ics_table_writer_create(to, ics_layout_waveforms(), h->options->force, &h->table, error);
    if (status == ICESTREAM_OK) {
        status = add_hits(h, reader, error);
    }
    if (status == ICESTREAM_OK) {
        status = make_metadata(h, ics_hit_reader_metadata(reader), &metadata, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_table_writer_commit(h->table, metadata, error);
    }
    json_decref(metadata);
    ics_table_writer_destroy(h->table);
    return status;
}

static int write_text(histogram *h, ics_hit_reader *reader, const char *to, icestream_error *error)
{
    int status = ics_text_output_create(to, h->options->force, &h->text, error);
    if (status == ICESTREAM_OK) {
        status = ics_text_output_put(h->text, error, "event_id,string,module,bin,t,hits,weight\n");
    }
    if (status == ICESTREAM_OK) {
        status = add_hits(h, reader, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_text_output_commit(h->text, error);
    }
    ics_text_output_destroy(h->text);
    return status;
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

int icestream_waveforms(const char *from, const char *to, const icestream_waveform_options *options,
                        FILE *out, icestream_error *error)
{
    const bool is_stream = strcmp(to, "-") == 0;
    const bool text = is_stream ? !options->stream_npy : ends_with(to, ".csv");
    int status = check_options(options, error);
    if (status == ICESTREAM_OK && is_stream && !text) {
        status = ics_terminal_check_output("-", error);
    }
    if (status == ICESTREAM_OK && !is_stream && !text && !ends_with(to, ".npy")) {
        status = ics_error_set(error, ICESTREAM_E_USAGE,
                               "%s: found an unknown ending, expected .npy or .csv", to);
    }
    if (status == ICESTREAM_OK && (ends_with(from, ".h5") || ends_with(from, ".hdf5"))) {
        status = ics_error_set(error, ICESTREAM_E_USAGE,
                               "%s: found an HDF5 file, expected hits in .npy for --waveforms; "
                               "'icestream convert' makes .npy of .h5",
                               from);
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_hit_reader *reader = NULL;
    histogram h = {.options = options,
                   .last = ceil((options->high - options->low) / options->bin * (1 - 1e-12)) - 1};
    status = ics_hit_reader_open(from, true, &reader, error);
    if (status == ICESTREAM_OK) {
        status = text ? write_text(&h, reader, to, error) : write_table(&h, reader, to, error);
    }
    ics_hit_reader_destroy(reader);
    free(h.entries);
    if (status != ICESTREAM_OK) {
        return status;
    }
    fprintf(out, "%s: %" PRIu64 " hits of %" PRIu64 " event%s in %" PRIu64 " bins of %.9g ns",
            is_stream ? "standard output" : to, h.hits, h.events, h.events == 1 ? "" : "s", h.bins,
            options->bin);
    if (h.outside > 0) {
        fprintf(out, ", %" PRIu64 " hits outside the range", h.outside);
    }
    fputc('\n', out);
    return fflush(out) == 0 && !ferror(out)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: cannot write the report", from);
}
