#include "pipeline/commands/info/description.h"

#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_text.h"
#include "base/visible_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 16384, LINE = 160 /* characters of a line that people read */ };

/* The fields whose ranges are printed, if the schema has them. */
static const char *const range_names[ICS_DESCRIPTION_RANGES] = {"t", "x", "y", "z"};

/* ---- reading -------------------------------------------------------------------------------- */

/* Event ids; consecutive rows with the same id are one entry. */
typedef struct event_list {
    uint64_t *items;
    size_t count, capacity;
} event_list;

static int add_event(event_list *events, uint64_t event, icestream_error *error)
{
    if (events->count > 0 && events->items[events->count - 1] == event) {
        return ICESTREAM_OK;
    }
    if (events->count == events->capacity) {
        size_t capacity = events->capacity ? 2 * events->capacity : 1024;
        uint64_t *grown = reallocarray(events->items, capacity, sizeof *grown);
        if (grown == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu events",
                                 capacity);
        }
        events->items = grown;
        events->capacity = capacity;
    }
    events->items[events->count++] = event;
    return ICESTREAM_OK;
}

static int compare_events(const void *a, const void *b)
{
    uint64_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

static uint64_t count_events(event_list *events)
{
    uint64_t different = events->count > 0;
    if (events->count > 0) {
        qsort(events->items, events->count, sizeof *events->items, compare_events);
    }
    for (size_t i = 1; i < events->count; ++i) {
        different += events->items[i] != events->items[i - 1];
    }
    return different;
}

static double field_value(const ics_layout_field *field, const unsigned char *row)
{
    float single;
    double value;
    if (field->type.bytes == sizeof value) {
        memcpy(&value, row + field->offset, sizeof value);
        return value;
    }
    memcpy(&single, row + field->offset, sizeof single);
    return single;
}

static void start_ranges(ics_description *about)
{
    for (int i = 0; i < ICS_DESCRIPTION_RANGES; ++i) {
        for (size_t k = 0; k < about->schema->field_count; ++k) {
            if (strcmp(about->schema->fields[k].name, range_names[i]) == 0) {
                about->ranges[i].field = &about->schema->fields[k];
                about->ranges[i].low = about->ranges[i].high = NAN;
            }
        }
    }
}

static void add_weight(ics_description *about, const unsigned char *row)
{
    if (about->schema == ics_layout_hits()) {
        icestream_hit hit;
        memcpy(&hit, row, sizeof hit);
        ics_weight_sum_add(&about->weights, &hit);
    } else if (about->schema == ics_layout_waveforms()) {
        icestream_waveform_bin bin;
        memcpy(&bin, row, sizeof bin);
        about->weights.photons_sum += bin.weight;
    }
}

static int add_rows(ics_description *about, event_list *events, const unsigned char *rows,
                    size_t count, icestream_error *error)
{
    bool steps = about->schema == ics_layout_steps();
    for (size_t i = 0; i < count; ++i) {
        const unsigned char *row = rows + i * about->schema->row_bytes;
        uint64_t event;
        uint32_t photons;
        memcpy(&event,
               row +
                   (steps ? offsetof(icestream_step, event_id) : offsetof(icestream_hit, event_id)),
               sizeof event); /* in paths and waveforms the first field, as in hits */
        ICS_TRY(add_event(events, event, error));
        if (steps) {
            memcpy(&photons, row + offsetof(icestream_step, photons), sizeof photons);
            about->photons += photons;
        }
        add_weight(about, row);
        for (int k = 0; k < ICS_DESCRIPTION_RANGES; ++k) {
            if (about->ranges[k].field == NULL) {
                continue;
            }
            double value = field_value(about->ranges[k].field, row);
            about->ranges[k].low = fmin(about->ranges[k].low, value);
            about->ranges[k].high = fmax(about->ranges[k].high, value);
        }
    }
    return ICESTREAM_OK;
}

static int describe_rows(ics_table_reader *reader, ics_description *about, icestream_error *error)
{
    event_list events = {0};
    ICS_FREES unsigned char *rows = malloc((size_t)PIECE * ICS_ROW_BYTES_MAX);
    if (rows == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for reading rows");
    }
    int status = ics_table_reader_rewind(reader, true, error);
    for (size_t got = 1; got > 0 && status == ICESTREAM_OK;) {
        status = ics_table_reader_read(reader, rows, PIECE, &got, error);
        if (status == ICESTREAM_OK) {
            status = add_rows(about, &events, rows, got, error);
        }
    }
    about->events = count_events(&events);
    free(events.items);
    return status;
}

int ics_description_read(const char *path, ics_description *about, icestream_error *error)
{
    ICS_DESTROYS(ics_table_reader_destroy) ics_table_reader *reader = NULL;
    ICS_TRY(ics_table_reader_open(path, NULL, &reader, error));
    about->schema = ics_table_reader_layout(reader);
    about->rows = ics_table_reader_rows(reader);
    about->packed = ics_table_reader_packed(reader);
    start_ranges(about);
    ICS_TRY(describe_rows(reader, about, error));
    if (!ics_table_reader_digest(reader, about->digest)) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its digest", path);
    }
    about->light = json_incref((json_t *)(uintptr_t)ics_table_reader_light(reader));
    const json_t *metadata = ics_table_reader_metadata(reader);
    about->metadata = json_copy((json_t *)(uintptr_t)metadata);
    json_object_del(about->metadata, "crc32c");
    return metadata == NULL || about->metadata != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
}

void ics_description_free(ics_description *about)
{
    json_decref(about->metadata);
    json_decref(about->light);
    about->metadata = about->light = NULL;
}

/* ---- printing ------------------------------------------------------------------------------- */

static const char *what_was_verified(const ics_layout *schema)
{
    return schema == ics_layout_steps() ? "checksums, every field of every row, unique step ids"
           : schema == ics_layout_hits()
               ? "checksums, every field of every row, order, each hit once, photon account"
               : "checksums";
}

/* Prints what histograms count: "time (100 bins), string (86 bins) by module (60 bins)". */
static void print_histograms(const json_t *histograms, FILE *out)
{
    size_t i, k;
    const json_t *histogram, *axis;
    json_array_foreach(histograms, i, histogram)
    {
        fputs(i > 0 ? ", " : "", out);
        json_array_foreach(json_object_get(histogram, "axes"), k, axis)
        {
            const char *name =
                json_string_value(json_object_get(json_object_get(axis, "metadata"), "name"));
            const size_t edges = json_array_size(json_object_get(axis, "edges"));
            const json_int_t bins = edges > 0 ? (json_int_t)edges - 1
                                              : json_integer_value(json_object_get(axis, "bins"));
            fputs(k > 0 ? " by " : "", out);
            ics_visible_print(out, name != NULL ? name : "?");
            fprintf(out, " (%" JSON_INTEGER_FORMAT " bin%s)", bins, bins == 1 ? "" : "s");
        }
    }
    fputc('\n', out);
}

static size_t count_values(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i, count = 0;
    if (!json_is_object(value) && !json_is_array(value)) {
        return 1;
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        count += count_values(member);
    }
    json_array_foreach(value, i, member)
    {
        count += count_values(member);
    }
    return count;
}

/* Prints a value of the metadata in one line. Long lists and objects are only counted. */
static void print_metadata(const char *key, const json_t *value, FILE *out)
{
    fprintf(out, "  %-14s ", key);
    if (json_is_array(value) && strcmp(key, "histograms") == 0) {
        print_histograms(value, out);
    } else if (json_is_array(value) && strcmp(key, "inputs") == 0) { /* thousands of digests */
        fprintf(out, "%zu step file%s\n", json_array_size(value),
                json_array_size(value) == 1 ? "" : "s");
    } else {
        ICS_FREES char *text = ics_json_dump(value, JSON_ENCODE_ANY);
        if (text != NULL && strlen(text) > LINE && !json_is_string(value)) {
            fprintf(out, "%zu values (--json prints them)", count_values(value));
        } else {
            ics_visible_print(out, json_is_string(value) ? json_string_value(value)
                                   : text != NULL        ? text
                                                         : "?");
        }
        fputc('\n', out);
    }
}

void ics_description_print(const char *path, const ics_description *about, FILE *out)
{
    bool steps = about->schema == ics_layout_steps();
    ics_visible_print(out, path);
    fprintf(out, ": %s\n", about->schema->short_name);
    fprintf(out, "  %-14s %" PRIu64 "%s\n", "rows", about->rows,
            about->packed ? "" : " (in another layout, converted)");
    if (steps) {
        fprintf(out, "  %-14s %" PRIu64 "\n", "photons", about->photons);
    }
    fprintf(out, "  %-14s %" PRIu64 "\n", "events", about->events);
    if (about->schema == ics_layout_hits()) {
        char text[ICS_WEIGHT_TEXT];
        fprintf(out, "  %-14s %s\n", "weights",
                ics_weight_estimate_text(ics_weight_sum_estimate(&about->weights), text));
    } else if (about->schema == ics_layout_waveforms()) {
        fprintf(out, "  %-14s %.6g (hits have errors, their sums in bins do not)\n", "weights",
                about->weights.photons_sum);
    }
    for (int i = 0; i < ICS_DESCRIPTION_RANGES && about->rows > 0; ++i) {
        if (about->ranges[i].field != NULL) {
            const int digits = about->ranges[i].field->type.bytes == 8 ? 15 : 9;
            fprintf(out, "  %-14s %.*g .. %.*g %s\n", range_names[i], digits, about->ranges[i].low,
                    digits, about->ranges[i].high, about->ranges[i].field->unit);
        }
    }
    fprintf(out, "  %-14s %s\n", "SHA-256", about->digest);
    if (about->metadata == NULL) {
        fprintf(out, "  no trailer\n");
        if (about->light != NULL) {
            print_metadata("light", about->light, out);
        }
    }
    const char *key;
    json_t *value;
    json_object_foreach(about->metadata, key, value)
    {
        if (strcmp(key, "rows") != 0) {
            print_metadata(key, value, out);
        }
    }
    if (about->verified) {
        fprintf(out, "  verified: %s\n", what_was_verified(about->schema));
    }
}

/* JSON has no NaN and no infinity: they become null. */
static json_t *real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* The sum of weights; of waveforms its error is not known. */
static json_t *weights_json(const ics_description *about)
{
    const ics_weight_estimate all = ics_weight_sum_estimate(&about->weights);
    return about->schema == ics_layout_hits()
               ? json_pack("{s:f, s:f, s:f}", "sum", all.sum, "error", all.error, "effective",
                           all.effective)
               : json_pack("{s:f, s:n, s:n}", "sum", all.sum, "error", "effective");
}

static json_t *make_json(const char *path, const ics_description *about)
{
    json_t *ranges = json_object();
    for (int i = 0; i < ICS_DESCRIPTION_RANGES; ++i) {
        if (about->ranges[i].field != NULL) {
            json_object_set_new(ranges, range_names[i],
                                json_pack("[o, o]", real_or_null(about->ranges[i].low),
                                          real_or_null(about->ranges[i].high)));
        }
    }
    json_t *json = json_pack(
        "{s:o, s:s, s:s, s:I, s:I, s:o, s:b, s:s, s:b, s:O?}", "file", ics_json_text(path),
        "format", "npy", "kind", about->schema->short_name, "rows", (json_int_t)about->rows,
        "events", (json_int_t)about->events, "ranges", ranges, "packed", about->packed, "sha256",
        about->digest, "verified", about->verified, "metadata", about->metadata);
    if (json != NULL && about->schema == ics_layout_steps()) {
        json_object_set_new(json, "photons", json_integer((json_int_t)about->photons));
        json_object_set(json, "light", about->light != NULL ? about->light : json_null());
    }
    if (json != NULL &&
        (about->schema == ics_layout_hits() || about->schema == ics_layout_waveforms())) {
        json_object_set_new(json, "weights", weights_json(about));
    }
    return json;
}

/* `is_line`: the object is one line. */
int ics_description_print_json(const char *path, const ics_description *about, bool is_line,
                               FILE *out, icestream_error *error)
{
    json_auto_t *json = make_json(path, about);
    if (json == NULL || json_dumpf(json, out, is_line ? JSON_COMPACT : JSON_INDENT(2)) != 0) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: its description cannot be written as JSON", path);
    }
    fputc('\n', out);
    return ICESTREAM_OK;
}
