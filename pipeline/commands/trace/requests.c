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

static int add_request(ics_trace_requests *requests, ics_replay_photon request,
                       icestream_error *error)
{
    if (requests->count == requests->capacity) {
        const size_t capacity = requests->capacity ? 2 * requests->capacity : 64;
        ics_replay_photon *grown = reallocarray(requests->items, capacity, sizeof *grown);
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
    return add_request(requests, (ics_replay_photon){hit->event_id, hit->step_id, hit->photon_id},
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
static bool parse_photon(const char *text, size_t length, ics_replay_photon *out)
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
    *out = (ics_replay_photon){parts[0], (uint32_t)parts[1], (uint32_t)parts[2]};
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
            ics_replay_photon request;
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
    ics_replay_photon request;
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
    out->count = ics_replay_photons_unite(out->items, out->count);
    return ICESTREAM_OK;
}

void ics_trace_requests_free(ics_trace_requests *requests)
{
    free(requests->items);
    free(requests->hits);
    json_decref(requests->metadata);
    *requests = (ics_trace_requests){.items = NULL};
}
