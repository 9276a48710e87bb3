#include "pipeline/files/step_reader.h"

#include "pipeline/error.h"
#include "pipeline/files/format/key_runs.h"
#include "pipeline/files/format/step_check.h"
#include "pipeline/files/format/table_reader.h"

#include <inttypes.h>
#include <stdlib.h>

#define PHOTONS_MAX (UINT64_C(1) << 62)

enum { PIECE = 16384 }; /* steps read at a time where nobody else gives room: 1 MiB */

struct is_step_reader {
    is_table_reader *table;
    uint32_t spectrum_count;
    bool stream;
    is_step *piece; /* [PIECE] */

    /* Of the rows read so far since the start of the file or message. */
    is_step_summary summary;
    bool collecting; /* keys, to compare them at the end */
    is_key_runs keys;
    uint64_t last_event; /* of the previous row */
    uint32_t last_step;
};

/* ---- opening -------------------------------------------------------------------------------- */

static void start_summary(is_step_reader *reader, bool collect)
{
    reader->summary = (is_step_summary){.ascending = true};
    reader->collecting = collect;
    reader->keys.count = 0;
}

static is_step_reader *create(uint32_t spectrum_count, bool stream, is_error *error)
{
    is_step_reader *reader = calloc(1, sizeof *reader);
    if (reader)
        reader->piece = malloc(PIECE * sizeof *reader->piece);
    if (!reader || !reader->piece) {
        is_step_reader_destroy(reader);
        is_error_set(error, IS_E_MEMORY, "out of memory for reading steps");
        return NULL;
    }
    reader->spectrum_count = spectrum_count;
    reader->stream = stream;
    start_summary(reader, stream);
    return reader;
}

int is_step_reader_open(const char *path, uint32_t spectrum_count, is_step_reader **out,
                        is_error *error)
{
    *out = NULL;
    is_step_reader *reader = create(spectrum_count, false, error);
    if (!reader)
        return IS_E_MEMORY;
    int status = is_table_reader_open(path, is_schema_steps(), &reader->table, error);
    if (status) {
        is_step_reader_destroy(reader);
        return status;
    }
    *out = reader;
    return IS_OK;
}

int is_step_reader_open_stream(int descriptor, const char *name, uint32_t spectrum_count,
                               int wake_descriptor, is_step_reader **out, is_error *error)
{
    *out = NULL;
    is_step_reader *reader = create(spectrum_count, true, error);
    if (!reader)
        return IS_E_MEMORY;
    int status = is_table_reader_open_stream(descriptor, name, is_schema_steps(), wake_descriptor,
                                             &reader->table, error);
    if (status) {
        is_step_reader_destroy(reader);
        return status;
    }
    *out = reader;
    return IS_OK;
}

void is_step_reader_destroy(is_step_reader *reader)
{
    if (!reader)
        return;
    is_table_reader_destroy(reader->table);
    is_key_runs_free(&reader->keys);
    free(reader->piece);
    free(reader);
}

/* ---- checks --------------------------------------------------------------------------------- */

static bool key_ascends(uint64_t event, uint32_t step, const is_step *next)
{
    return (next->event_id > event) | ((next->event_id == event) & (next->step_id > step));
}

/* Adds rows to the summary: photons, order of keys, and the keys themselves where they are kept. */
static int add_to_summary(is_step_reader *reader, const is_step *steps, size_t count,
                          is_error *error)
{
    is_step_summary *summary = &reader->summary;
    bool ascending =
        summary->rows == 0 || key_ascends(reader->last_event, reader->last_step, steps);
    uint64_t photons = steps[0].photons; /* of fewer than 2^32 steps: no overflow */
    for (size_t i = 1; i < count; ++i) {
        ascending &= key_ascends(steps[i - 1].event_id, steps[i - 1].step_id, &steps[i]);
        photons += steps[i].photons;
    }
    reader->last_event = steps[count - 1].event_id;
    reader->last_step = steps[count - 1].step_id;
    summary->ascending &= ascending;
    summary->rows += count;
    summary->photons += photons;
    if (summary->photons >= PHOTONS_MAX)
        return is_error_set(error, IS_E_INPUT,
                            "%s: row %" PRIu64 ", field photons: found %" PRIu64
                            " photons up to here, expected a total below 2^62",
                            is_table_reader_name(reader->table), summary->rows - 1,
                            summary->photons);
    return reader->collecting ? is_key_runs_add(&reader->keys, steps, count, error) : IS_OK;
}

/* Reads and checks; what both phases and streams have in common. */
static int read_checked(is_step_reader *reader, is_step *steps, size_t capacity, size_t *got,
                        is_error *error)
{
    uint64_t first = is_table_reader_position(reader->table);
    int status = is_table_reader_read(reader->table, steps, capacity, got, error);
    if (status || *got == 0)
        return status;
    return is_step_check(steps, *got, reader->spectrum_count, is_table_reader_name(reader->table),
                         first, error);
}

static int duplicate_error(const is_step_reader *reader, const is_key_run *key, uint64_t row,
                           uint64_t first_row, is_error *error)
{
    return is_error_set(
        error, IS_E_INPUT,
        "%s: row %" PRIu64 ", field step_id: found %" PRIu32 " again in event %" PRIu64
        " (as in row %" PRIu64 "), expected it once per event",
        is_table_reader_name(reader->table), row, key->first, key->event_id, first_row);
}

/* Goes through the file again to say where a key is the second time. */
static int locate_duplicate(is_step_reader *reader, const is_key_run *key, is_error *error)
{
    uint64_t first_row = UINT64_MAX;
    size_t got = 0;
    int status = is_table_reader_rewind(reader->table, false, error);
    while (!status) {
        uint64_t row = is_table_reader_position(reader->table);
        status = is_table_reader_read(reader->table, reader->piece, PIECE, &got, error);
        if (got == 0)
            break;
        for (size_t i = 0; i < got && !status; ++i) {
            const is_step *step = &reader->piece[i];
            if (step->event_id != key->event_id || step->step_id != key->first)
                continue;
            if (first_row != UINT64_MAX)
                return duplicate_error(reader, key, row + i, first_row, error);
            first_row = row + i;
        }
    }
    return status ? status : duplicate_error(reader, key, first_row, first_row, error);
}

/* One pass over the file in pieces. */
static int pass(is_step_reader *reader, bool digest, bool collect, const atomic_bool *cancel,
                is_error *error)
{
    size_t got = 1;
    start_summary(reader, collect);
    int status = is_table_reader_rewind(reader->table, digest, error);
    while (!status && got > 0) {
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            return is_error_set(error, IS_E_INTERRUPTED, "%s: interrupted while checking",
                                is_table_reader_name(reader->table));
        status = read_checked(reader, reader->piece, PIECE, &got, error);
        if (!status && got > 0)
            status = add_to_summary(reader, reader->piece, got, error);
    }
    return status;
}

/* Ends the summary of a file or message that has been read to its end. */
static int add_digest(is_step_reader *reader, is_error *error)
{
    return is_table_reader_digest(reader->table, reader->summary.digest)
               ? IS_OK
               : is_error_set(error, IS_E_MEMORY, "%s: out of memory for its digest",
                              is_table_reader_name(reader->table));
}

int is_step_reader_check(is_step_reader *reader, is_step_summary *out, const atomic_bool *cancel,
                         is_error *error)
{
    int status = pass(reader, true, false, cancel, error);
    if (status || (status = add_digest(reader, error)))
        return status;
    *out = reader->summary;
    if (!out->ascending) {
        /* Only now it is known that the keys have to be kept. */
        is_key_run duplicate;
        if ((status = pass(reader, false, true, cancel, error)))
            return status;
        if (is_key_runs_find_duplicate(&reader->keys, &duplicate))
            return locate_duplicate(reader, &duplicate, error);
        is_key_runs_free(&reader->keys);
    }
    start_summary(reader, false);
    return is_table_reader_rewind(reader->table, false, error);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The end of a message: its keys are all there. The rows are gone, so the error names the key. */
static int finish_message(is_step_reader *reader, is_error *error)
{
    is_key_run key;
    int status = add_digest(reader, error);
    if (status)
        return status;
    if (reader->summary.ascending || !is_key_runs_find_duplicate(&reader->keys, &key))
        return IS_OK;
    return is_error_set(error, IS_E_INPUT,
                        "%s: field step_id: found %" PRIu32 " twice in event %" PRIu64
                        ", expected it once per event",
                        is_table_reader_name(reader->table), key.first, key.event_id);
}

int is_step_reader_read(is_step_reader *reader, is_step *steps, size_t capacity, size_t *got,
                        is_error *error)
{
    int status = read_checked(reader, steps, capacity, got, error);
    if (status)
        return status;
    if (reader->stream)
        status =
            *got > 0 ? add_to_summary(reader, steps, *got, error) : finish_message(reader, error);
    if (!status)
        is_step_normalise(steps, *got);
    return status;
}

int is_step_reader_next(is_step_reader *reader, bool *found, is_error *error)
{
    *found = false;
    for (size_t got = 1; got > 0;) {
        int status = is_step_reader_read(reader, reader->piece, PIECE, &got, error);
        if (status)
            return status;
    }
    start_summary(reader, true);
    return is_table_reader_next(reader->table, found, error);
}

uint64_t is_step_reader_rows(const is_step_reader *reader)
{
    return is_table_reader_rows(reader->table);
}

void is_step_reader_summary(const is_step_reader *reader, is_step_summary *out)
{
    *out = reader->summary;
}
