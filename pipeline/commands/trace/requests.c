#include "pipeline/commands/trace/requests.h"

#include "base/error.h"
#include "pipeline/photons/config/schema/number.h"
#include "pipeline/photons/files/hit_reader.h"
#include "pipeline/photons/models/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384 }; /* hits read at a time */

static int no_memory(size_t count, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "trace: out of memory for %zu photons", count);
}

static int add_request(ics_trace_requests *requests, ics_trace_request request,
                       icestream_error *error)
{
    if (requests->count == requests->capacity) {
        const size_t capacity = requests->capacity ? 2 * requests->capacity : 64;
        ics_trace_request *grown = reallocarray(requests->items, capacity, sizeof *grown);
        if (grown == NULL) {
            return no_memory(capacity, error);
        }
        requests->items = grown;
        requests->capacity = capacity;
    }
    requests->items[requests->count++] = request;
    return ICESTREAM_OK;
}

/* ---- hits ------------------------------------------------------------------------------------ */

static int add_hit(ics_trace_requests *requests, const icestream_hit *hit, icestream_error *error)
{
    if (requests->hit_count == requests->hit_capacity) {
        const size_t capacity = requests->hit_capacity ? 2 * requests->hit_capacity : 64;
        icestream_hit *grown = reallocarray(requests->hits, capacity, sizeof *grown);
        if (grown == NULL) {
            return no_memory(capacity, error);
        }
        requests->hits = grown;
        requests->hit_capacity = capacity;
    }
    requests->hits[requests->hit_count++] = *hit;
    return add_request(requests, (ics_trace_request){hit->event_id, hit->step_id, hit->photon_id},
                       error);
}

static int read_hits(ics_trace_requests *requests, const char *path, icestream_error *error)
{
    ICS_DESTROYS(ics_hit_reader_destroy) ics_hit_reader *reader = NULL;
    ICS_FREES icestream_hit *hits = malloc(BLOCK * sizeof *hits);
    if (hits == NULL) {
        return no_memory(BLOCK, error);
    }
    ICS_TRY(ics_hit_reader_open(path, true, &reader, error));
    for (size_t got = 1; got > 0;) {
        ICS_TRY(ics_hit_reader_read(reader, hits, BLOCK, &got, error));
        for (size_t i = 0; i < got; ++i) {
            ICS_TRY(add_hit(requests, &hits[i], error));
        }
    }
    const json_t *metadata = ics_hit_reader_metadata(reader);
    requests->metadata = json_deep_copy(metadata);
    if (metadata != NULL && requests->metadata == NULL) {
        return no_memory(requests->count, error);
    }
    return requests->hit_count > 0 ? ICESTREAM_OK
                                   : ics_error_set(error, ICESTREAM_E_INPUT,
                                                   "%s: found no hit, expected at least one", path);
}

/* ---- photons that are named ------------------------------------------------------------------ */

/* Reads a whole number, at most `most`. */
static bool parse_part(const char *start, size_t length, uint64_t most, uint64_t *out)
{
    char text[ICS_NUMBER_DIGITS];
    if (length == 0 || length >= sizeof text) {
        return false;
    }
    memcpy(text, start, length);
    text[length] = 0;
    return ics_number_unsigned(text, out) == ICS_NUMBER_OK && *out <= most;
}

/* Reads three whole numbers with colons between them. */
static bool parse_photon(const char *text, size_t length, ics_trace_request *out)
{
    static const uint64_t most[] = {UINT64_MAX, UINT32_MAX, UINT32_MAX};
    uint64_t parts[3];
    for (int i = 0; i < 3; ++i) {
        const char *colon = memchr(text, ':', length);
        const size_t part = colon != NULL ? (size_t)(colon - text) : length;
        if ((i < 2) != (colon != NULL) || !parse_part(text, part, most[i], &parts[i])) {
            return false;
        }
        text += part + 1;
        length -= colon != NULL ? part + 1 : part;
    }
    *out = (ics_trace_request){parts[0], (uint32_t)parts[1], (uint32_t)parts[2]};
    return true;
}

static const char expected_photon[] = "EVENT:STEP:PHOTON, three whole numbers (the last two below "
                                      "2^32)";

static int read_list(ics_trace_requests *requests, const char *path, icestream_error *error)
{
    ics_text text;
    int status = ics_text_read(path, &text, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    icestream_error found = {.status = ICESTREAM_OK};
    ics_text_reader reader = ics_text_open(&text, ' ', &found);
    ics_text_line line;
    while (status == ICESTREAM_OK && ics_text_next(&reader, &line)) {
        for (size_t i = 0; status == ICESTREAM_OK && i < line.count && i < ICS_TEXT_FIELDS_MAX;
             ++i) {
            const ics_text_field *field = &line.fields[i];
            ics_trace_request request;
            char shown[48];
            if (parse_photon(field->start, field->length, &request)) {
                status = add_request(requests, request, error);
            } else {
                ics_text_fault(&reader, line.number, field->column, "photon: found %s, expected %s",
                               ics_text_field_show(field, shown), expected_photon);
            }
        }
        if (line.count > ICS_TEXT_FIELDS_MAX) {
            ics_text_fault(&reader, line.number, 0,
                           "found %zu photons in a line, expected at most %d", line.count,
                           ICS_TEXT_FIELDS_MAX);
        }
    }
    ics_text_free(&text);
    return status != ICESTREAM_OK ? status : ics_error_copy(error, found.status ? &found : NULL);
}

static int add_photon(ics_trace_requests *requests, const char *text, icestream_error *error)
{
    ics_trace_request request;
    if (text[0] == '@') {
        return read_list(requests, text + 1, error);
    }
    if (!parse_photon(text, strlen(text), &request)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--photon: found '%.64s', expected %s, or @FILE with a list of these",
                             text, expected_photon);
    }
    return add_request(requests, request, error);
}

/* ---- all together ---------------------------------------------------------------------------- */

static int compare_requests(const void *a, const void *b)
{
    const ics_trace_request *left = a, *right = b;
    if (left->event_id != right->event_id) {
        return left->event_id < right->event_id ? -1 : 1;
    }
    if (left->step_id != right->step_id) {
        return left->step_id < right->step_id ? -1 : 1;
    }
    return (left->photon_id > right->photon_id) - (left->photon_id < right->photon_id);
}

/* Sorts the requests and removes repeated ones. */
static void sort_and_unite(ics_trace_requests *requests)
{
    size_t kept = 0;
    qsort(requests->items, requests->count, sizeof *requests->items, compare_requests);
    for (size_t i = 0; i < requests->count; ++i) {
        if (kept == 0 || compare_requests(&requests->items[kept - 1], &requests->items[i]) != 0) {
            requests->items[kept++] = requests->items[i];
        }
    }
    requests->count = kept;
}

static int collect(const icestream_trace_options *options, ics_trace_requests *out,
                   icestream_error *error)
{
    if (options->hits == NULL && options->photon_count == 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "trace: expected photons: --hits FILE, --photon EVENT:STEP:PHOTON");
    }
    for (size_t i = 0; i < options->photon_count; ++i) {
        ICS_TRY(add_photon(out, options->photons[i], error));
    }
    if (options->hits != NULL) {
        ICS_TRY(read_hits(out, options->hits, error));
    }
    return out->count > 0 ? ICESTREAM_OK
                          : ics_error_set(error, ICESTREAM_E_USAGE,
                                          "trace: found no photon in the lists, expected at least "
                                          "one");
}

int ics_trace_requests_create(const icestream_trace_options *options, ics_trace_requests *out,
                              icestream_error *error)
{
    *out = (ics_trace_requests){.items = NULL};
    const int status = collect(options, out, error);
    if (status != ICESTREAM_OK) {
        ics_trace_requests_free(out);
        return status;
    }
    sort_and_unite(out);
    return ICESTREAM_OK;
}

void ics_trace_requests_free(ics_trace_requests *requests)
{
    free(requests->items);
    free(requests->hits);
    json_decref(requests->metadata);
    *requests = (ics_trace_requests){.items = NULL};
}

size_t ics_trace_requests_find(const ics_trace_requests *requests, uint64_t event_id,
                               uint32_t step_id)
{
    const ics_trace_request first = {event_id, step_id, 0};
    size_t low = 0, high = requests->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_requests(&requests->items[middle], &first) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
