#include "pipeline/photons/files/step_reader.h"

#include "base/error.h"
#include "pipeline/photons/files/format/key_runs.h"
#include "pipeline/photons/files/format/step_check.h"
#include "pipeline/photons/files/format/table_reader.h"

#include <inttypes.h>
#include <stdlib.h>

/* Steps read at a time into the memory of the reader: 1 MiB. */
enum { PIECE = ICS_STEP_EXTENT_ROWS };

struct ics_step_reader {
    ics_table_reader *table;
    uint32_t spectrum_count;
    bool stream;
    icestream_step *piece; /* [PIECE] */

    /* About the rows read so far of the file or message. */
    ics_step_summary summary;
    bool collecting; /* keys are collected, to be compared at the end */
    ics_key_runs keys;
    uint64_t last_event; /* event of the previous row */
    uint32_t last_step;
};

/* ---- opening -------------------------------------------------------------------------------- */

static void start_summary(ics_step_reader *reader, bool collect)
{
    reader->summary = (ics_step_summary){.ascending = true};
    reader->collecting = collect;
    reader->keys.count = 0;
}

static int create(uint32_t spectrum_count, bool stream, ics_step_reader **out,
                  icestream_error *error)
{
    ics_step_reader *reader = *out = calloc(1, sizeof *reader);
    if (reader != NULL) {
        reader->piece = malloc(PIECE * sizeof *reader->piece);
    }
    if (reader == NULL || reader->piece == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for reading steps");
    }
    reader->spectrum_count = spectrum_count;
    reader->stream = stream;
    start_summary(reader, stream);
    return ICESTREAM_OK;
}

int ics_step_reader_open(const char *path, uint32_t spectrum_count, ics_step_reader **out,
                         icestream_error *error)
{
    ICS_DESTROYS(ics_step_reader_destroy) ics_step_reader *reader = NULL;
    *out = NULL;
    ICS_TRY(create(spectrum_count, false, &reader, error));
    ICS_TRY(ics_table_reader_open(path, ics_layout_steps(), &reader->table, error));
    *out = ICS_HAND_OVER(reader);
    return ICESTREAM_OK;
}

int ics_step_reader_open_stream(int descriptor, const char *name, uint32_t spectrum_count,
                                int wake_descriptor, ics_step_reader **out, icestream_error *error)
{
    ICS_DESTROYS(ics_step_reader_destroy) ics_step_reader *reader = NULL;
    *out = NULL;
    ICS_TRY(create(spectrum_count, true, &reader, error));
    ICS_TRY(ics_table_reader_open_stream(descriptor, name, ics_layout_steps(), wake_descriptor,
                                         &reader->table, error));
    *out = ICS_HAND_OVER(reader);
    return ICESTREAM_OK;
}

void ics_step_reader_destroy(ics_step_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    ics_table_reader_destroy(reader->table);
    ics_key_runs_free(&reader->keys);
    free(reader->piece);
    free(reader);
}

/* ---- checks --------------------------------------------------------------------------------- */

static bool key_ascends(uint64_t event, uint32_t step, const icestream_step *next)
{
    return (next->event_id > event) | ((next->event_id == event) & (next->step_id > step));
}

/* Adds rows to the summary: photons and the order of keys. Stores the keys if they are collected.
 */
static int add_to_summary(ics_step_reader *reader, const icestream_step *steps, size_t count,
                          icestream_error *error)
{
    ics_step_summary *summary = &reader->summary;
    bool ascending =
        summary->rows == 0 || key_ascends(reader->last_event, reader->last_step, steps);
    uint64_t photons = steps[0].photons; /* a sum over fewer than 2^32 steps does not overflow */
    for (size_t i = 1; i < count; ++i) {
        ascending &= key_ascends(steps[i - 1].event_id, steps[i - 1].step_id, &steps[i]);
        photons += steps[i].photons;
    }
    reader->last_event = steps[count - 1].event_id;
    reader->last_step = steps[count - 1].step_id;
    summary->ascending &= ascending;
    if (summary->rows == 0) {
        ics_step_extent_add(&summary->extent, steps, count);
        summary->extent.is_single = ics_table_reader_is_single(reader->table, "t");
    }
    summary->rows += count;
    summary->photons += photons;
    ICS_TRY(ics_step_check_total(ics_table_reader_name(reader->table), summary->rows - 1,
                                 summary->photons, error));
    return reader->collecting ? ics_key_runs_add(&reader->keys, steps, count, error) : ICESTREAM_OK;
}

/* Reads and checks rows. */
static int read_checked(ics_step_reader *reader, icestream_step *steps, size_t capacity,
                        size_t *got, icestream_error *error)
{
    const uint64_t first = ics_table_reader_position(reader->table);
    ICS_TRY(ics_table_reader_read(reader->table, steps, capacity, got, error));
    return ics_step_check(steps, *got, reader->spectrum_count, ics_table_reader_name(reader->table),
                          first, error);
}

/* Reads the file again to find the row in which a key appears for the second time. */
static int locate_duplicate(ics_step_reader *reader, const ics_key_run *key, icestream_error *error)
{
    const char *name = ics_table_reader_name(reader->table);
    uint64_t first_row = UINT64_MAX;
    ICS_TRY(ics_table_reader_rewind(reader->table, false, error));
    for (size_t got = 1; got > 0;) {
        const uint64_t row = ics_table_reader_position(reader->table);
        ICS_TRY(ics_table_reader_read(reader->table, reader->piece, PIECE, &got, error));
        for (size_t i = 0; i < got; ++i) {
            const icestream_step *step = &reader->piece[i];
            if (step->event_id != key->event_id || step->step_id != key->first) {
                continue;
            }
            if (first_row != UINT64_MAX) {
                return ics_step_check_duplicate(name, step, row + i, first_row, error);
            }
            first_row = row + i;
        }
    }
    const icestream_step gone = {.event_id = key->event_id, .step_id = key->first};
    return ics_step_check_duplicate(name, &gone, first_row, first_row, error);
}

/* One pass over the file in pieces. */
static int pass(ics_step_reader *reader, bool digest, bool collect, const atomic_bool *cancel,
                icestream_error *error)
{
    start_summary(reader, collect);
    ICS_TRY(digest ? ics_table_reader_rewind_with_digest(reader->table, error)
                   : ics_table_reader_rewind(reader->table, false, error));
    for (size_t got = 1; got > 0;) {
        if (cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed)) {
            return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted while checking",
                                 ics_table_reader_name(reader->table));
        }
        ICS_TRY(read_checked(reader, reader->piece, PIECE, &got, error));
        ICS_TRY(got > 0 ? add_to_summary(reader, reader->piece, got, error) : ICESTREAM_OK);
    }
    return ICESTREAM_OK;
}

/* Ends the summary of a file or message that has been read to its end. */
static int add_digest(ics_step_reader *reader, icestream_error *error)
{
    return ics_table_reader_digest(reader->table, reader->summary.digest)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its digest",
                               ics_table_reader_name(reader->table));
}

int ics_step_reader_check_rows(ics_step_reader *reader, ics_step_summary *out,
                               const atomic_bool *cancel, icestream_error *error)
{
    ICS_TRY(pass(reader, true, false, cancel, error));
    if (!ics_table_reader_has_late_digest(reader->table)) {
        ICS_TRY(add_digest(reader, error));
    }
    *out = reader->summary;
    if (!out->ascending) {
        /* Keys do not ascend, so a second pass has to collect them. */
        ics_key_run duplicate;
        ICS_TRY(pass(reader, false, true, cancel, error));
        if (ics_key_runs_find_duplicate(&reader->keys, &duplicate)) {
            return locate_duplicate(reader, &duplicate, error);
        }
        ics_key_runs_free(&reader->keys);
    }
    start_summary(reader, false);
    return ics_table_reader_rewind(reader->table, false, error);
}

int ics_step_reader_await_digest(ics_step_reader *reader, const atomic_bool *cancel,
                                 char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error)
{
    return ics_table_reader_await_digest(reader->table, cancel, text, error);
}

int ics_step_reader_plain_digest(ics_step_reader *reader, const atomic_bool *cancel,
                                 char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error)
{
    return ics_table_reader_plain_digest(reader->table, cancel, text, error);
}

int ics_step_reader_check(ics_step_reader *reader, ics_step_summary *out, const atomic_bool *cancel,
                          icestream_error *error)
{
    ICS_TRY(ics_step_reader_check_rows(reader, out, cancel, error));
    return ics_step_reader_await_digest(reader, cancel, out->digest, error);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The end of a message: checks that its keys are unique. Its rows cannot be read again, so the
 * error names the key and not the row. */
static int finish_message(ics_step_reader *reader, icestream_error *error)
{
    ics_key_run key;
    ICS_TRY(add_digest(reader, error));
    if (reader->summary.ascending || !ics_key_runs_find_duplicate(&reader->keys, &key)) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: field step_id: found %" PRIu32 " twice in event %" PRIu64
                         ", expected it once per event",
                         ics_table_reader_name(reader->table), key.first, key.event_id);
}

int ics_step_reader_read(ics_step_reader *reader, icestream_step *steps, size_t capacity,
                         size_t *got, icestream_error *error)
{
    ICS_TRY(read_checked(reader, steps, capacity, got, error));
    if (reader->stream) {
        ICS_TRY(*got > 0 ? add_to_summary(reader, steps, *got, error)
                         : finish_message(reader, error));
    }
    ics_step_normalise(steps, *got);
    return ICESTREAM_OK;
}

int ics_step_reader_next(ics_step_reader *reader, bool *found, icestream_error *error)
{
    *found = false;
    for (size_t got = 1; got > 0;) {
        ICS_TRY(ics_step_reader_read(reader, reader->piece, PIECE, &got, error));
    }
    start_summary(reader, true);
    return ics_table_reader_next(reader->table, found, error);
}

int ics_step_reader_skip(ics_step_reader *reader, icestream_error *error)
{
    start_summary(reader, true);
    return ics_table_reader_skip(reader->table, error);
}

bool ics_step_reader_can_skip(const ics_step_reader *reader)
{
    return ics_table_reader_can_skip(reader->table);
}

uint64_t ics_step_reader_rows(const ics_step_reader *reader)
{
    return ics_table_reader_rows(reader->table);
}

const json_t *ics_step_reader_light(const ics_step_reader *reader)
{
    return ics_table_reader_light(reader->table);
}

bool ics_step_reader_awaits_trailer(const ics_step_reader *reader)
{
    return ics_table_reader_awaits_trailer(reader->table);
}

const json_t *ics_step_reader_late_light(const ics_step_reader *reader)
{
    return ics_table_reader_late_light(reader->table);
}

void ics_step_reader_summary(const ics_step_reader *reader, ics_step_summary *out)
{
    *out = reader->summary;
}
