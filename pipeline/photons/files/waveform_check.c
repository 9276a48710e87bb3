#include "pipeline/photons/files/waveform_check.h"

#include "base/error.h"
#include "pipeline/photons/files/format/table_reader.h"
#include "pipeline/photons/files/metadata.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { PIECE = 16384 /* rows */ };

bool ics_waveform_check_is(const char *path)
{
    ICS_DESTROYS(ics_table_reader_destroy) ics_table_reader *reader = NULL;
    icestream_error ignored = {.status = ICESTREAM_OK};
    return ics_table_reader_open(path, NULL, &reader, &ignored) == ICESTREAM_OK &&
           ics_table_reader_layout(reader) == ics_layout_waveforms();
}

/* Reads a count of the trailer. */
static int read_count(const char *path, const json_t *metadata, const char *key, uint64_t *out,
                      icestream_error *error)
{
    const json_t *value = json_object_get(metadata, key);
    *out = (uint64_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: trailer: %s: found none, expected a whole number", path, key);
}

static int check_trailer(const char *path, const json_t *metadata, uint64_t *hits,
                         icestream_error *error)
{
    icestream_account account;
    uint64_t outside = 0;
    if (metadata == NULL || !(json_number_value(json_object_get(metadata, "bin_ns")) > 0)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: bin_ns: found none, expected the width of a bin in ns",
                             path);
    }
    ICS_TRY(read_count(path, metadata, "hits", hits, error));
    ICS_TRY(read_count(path, metadata, "outside", &outside, error));
    if (json_object_get(metadata, "account") == NULL) {
        return ICESTREAM_OK; /* of hits that another program made */
    }
    if (!ics_metadata_account(metadata, &account) || !ics_metadata_account_closes(&account) ||
        account.hits - account.undetected != *hits + outside) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: account: found one that is incomplete, does not close, "
                             "or has other hits than the waveforms, expected %" PRIu64 " hits",
                             path, *hits + outside);
    }
    return ICESTREAM_OK;
}

static int compare_rows(const icestream_waveform_bin *left, const icestream_waveform_bin *right)
{
    if (left->event_id != right->event_id) {
        return left->event_id < right->event_id ? -1 : 1;
    }
    if (left->string != right->string) {
        return left->string < right->string ? -1 : 1;
    }
    if (left->module != right->module) {
        return left->module < right->module ? -1 : 1;
    }
    return (left->bin > right->bin) - (left->bin < right->bin);
}

static int check_row(const char *path, uint64_t number, const icestream_waveform_bin *row,
                     const icestream_waveform_bin *before, icestream_error *error)
{
    if (row->hits == 0 || !(row->weight >= 0 && isfinite(row->weight)) || !isfinite(row->t)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: row %" PRIu64 ": found %" PRIu64
                             " hits of weight %.9g at %.9g ns, expected hits and finite values",
                             path, number, row->hits, row->weight, row->t);
    }
    if (before != NULL && compare_rows(before, row) >= 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: row %" PRIu64 ": found a bin that does not come after the "
                             "previous one, expected order by event_id, string, module, bin",
                             path, number);
    }
    return ICESTREAM_OK;
}

static int check_rows(const char *path, ics_table_reader *reader, uint64_t expected,
                      icestream_error *error)
{
    ICS_FREES icestream_waveform_bin *rows = malloc(PIECE * sizeof *rows);
    icestream_waveform_bin last = {.hits = 0};
    uint64_t number = 0, hits = 0;
    if (rows == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for rows", path);
    }
    for (size_t got = 1; got > 0;) {
        ICS_TRY(ics_table_reader_read(reader, rows, PIECE, &got, error));
        for (size_t i = 0; i < got; ++i) {
            ICS_TRY(check_row(path, number, &rows[i], number > 0 ? &last : NULL, error));
            last = rows[i];
            hits += rows[i].hits;
            ++number;
        }
    }
    return hits == expected ? ICESTREAM_OK
                            : ics_error_set(error, ICESTREAM_E_INPUT,
                                            "%s: trailer: hits: found %" PRIu64
                                            ", expected %" PRIu64 ", the hits of all rows",
                                            path, expected, hits);
}

int ics_waveform_check_file(const char *path, bool thorough, json_t **metadata,
                            icestream_error *error)
{
    ICS_DESTROYS(ics_table_reader_destroy) ics_table_reader *reader = NULL;
    uint64_t hits = 0;
    if (metadata != NULL) {
        *metadata = NULL;
    }
    ICS_TRY(ics_table_reader_open(path, ics_layout_waveforms(), &reader, error));
    ICS_TRY(check_trailer(path, ics_table_reader_metadata(reader), &hits, error));
    if (thorough) {
        ICS_TRY(check_rows(path, reader, hits, error));
    }
    if (metadata == NULL) {
        return ICESTREAM_OK;
    }
    *metadata = json_deep_copy(ics_table_reader_metadata(reader));
    return *metadata != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for metadata", path);
}
