#include "pipeline/photons/files/format/table_reader.h"

#include "base/error.h"
#include "pipeline/photons/files/format/table_input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Goes to the first row of a file or message. */
int ics_table_reader_rewind(ics_table_reader *reader, bool digest, icestream_error *error)
{
    reader->row = 0;
    reader->offset = reader->header.header_bytes;
    reader->finished = false;
    reader->digesting = digest;
    ics_trailer_checksums_reset(&reader->sums);
    if (digest && reader->digest == NULL) {
        ICS_TRY(ics_digest_create(&reader->digest, error));
    }
    if (digest) {
        ics_digest_reset(reader->digest);
        ics_digest_add(reader->digest, reader->header_bytes, reader->header.header_bytes);
    }
    return ICESTREAM_OK;
}

/* ---- opening -------------------------------------------------------------------------------- */

static ics_table_reader *create(const char *name, const ics_layout *schema, icestream_error *error)
{
    ics_table_reader *reader = calloc(1, sizeof *reader);
    if (reader != NULL) {
        reader->descriptor = reader->wake_descriptor = -1;
        reader->wanted = schema;
        reader->name = strdup(name);
        reader->title = strdup(name);
    }
    if (reader == NULL || reader->name == NULL || reader->title == NULL) {
        ics_table_reader_destroy(reader);
        ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", name);
        return NULL;
    }
    return reader;
}

static const char *file_type(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISFIFO(mode) ? "a pipe"
           : S_ISCHR(mode)  ? "a device"
           : S_ISBLK(mode)  ? "a disk device"
                            : "something else";
}

static int report_open(const char *path, int cause, icestream_error *error)
{
    char target[256];
    const ssize_t length = cause == ENOENT ? readlink(path, target, sizeof target) : -1;
    if (length >= 0) {
        return ics_error_set_cause(
            error, ICESTREAM_E_INPUT, cause,
            "%s: found a link to %.*s, which leads to no file, expected a file", path, (int)length,
            target);
    }
    return ics_error_set_cause(error, ics_error_of_input(cause), cause, "%s: cannot open: %s", path,
                               strerror(cause));
}

/* Reads what comes before the rows of the open file. */
static int begin_file(ics_table_reader *reader, icestream_error *error)
{
    if (reader->descriptor < 0 || fstat(reader->descriptor, &reader->opened) < 0) {
        return report_open(reader->name, errno, error);
    }
    if (!S_ISREG(reader->opened.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %s, expected a regular file (streams are read from "
                             "standard input, as -)",
                             reader->name, file_type(reader->opened.st_mode));
    }
    (void)posix_fadvise(reader->descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    unsigned char preamble[ICS_NPY_PREAMBLE];
    size_t got;
    ICS_TRY(ics_table_input_read(reader, preamble, sizeof preamble, &got, error));
    ICS_TRY(ics_table_input_header(reader, preamble, got, error));
    ICS_TRY(ics_table_input_file_trailer(reader, error));
    return ics_table_reader_rewind(reader, false, error);
}

int ics_table_reader_open(const char *path, const ics_layout *schema, ics_table_reader **out,
                          icestream_error *error)
{
    ICS_DESTROYS(ics_table_reader_destroy) ics_table_reader *reader = create(path, schema, error);
    *out = NULL;
    if (reader == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    /* Without O_NONBLOCK, opening a named pipe would wait for a writer. */
    reader->descriptor =
        TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    ICS_TRY(begin_file(reader, error));
    *out = ICS_HAND_OVER(reader);
    return ICESTREAM_OK;
}

int ics_table_reader_open_stream(int descriptor, const char *name, const ics_layout *schema,
                                 int wake_descriptor, ics_table_reader **out,
                                 icestream_error *error)
{
    ics_table_reader *reader = *out = create(name, schema, error);
    if (reader == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    reader->stream = true;
    reader->finished = true; /* no message was begun */
    reader->descriptor = descriptor;
    reader->wake_descriptor = wake_descriptor;
    return ICESTREAM_OK;
}

void ics_table_reader_destroy(ics_table_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    ics_file_digest_destroy(reader->file_digest);
    if (!reader->stream && reader->descriptor >= 0) {
        close(reader->descriptor);
    }
    ics_npy_header_free(&reader->header);
    ics_trailer_free(&reader->trailer);
    json_decref(reader->note);
    json_decref(reader->late);
    ics_trailer_checksums_free(&reader->sums);
    ics_trailer_checksums_free(&reader->checked);
    ics_digest_destroy(reader->digest);
    free(reader->header_bytes);
    free(reader->raw);
    free(reader->title);
    free(reader->name);
    free(reader);
}

static ics_file_digest_order digest_order(const ics_table_reader *reader)
{
    const ics_npy_header *header = &reader->header;
    return (ics_file_digest_order){.descriptor = reader->descriptor,
                                   .name = reader->title,
                                   .header = reader->header_bytes,
                                   .header_bytes = header->header_bytes,
                                   .rows_end =
                                       header->header_bytes + header->rows * header->row_bytes,
                                   .opened = reader->opened};
}

int ics_table_reader_rewind_with_digest(ics_table_reader *reader, icestream_error *error)
{
    const ics_file_digest_order order = digest_order(reader);
    const bool is_large = reader->opened.st_size > ICS_DIGEST_PART;
    ics_file_digest_destroy(reader->file_digest);
    reader->file_digest = NULL;
    ics_trailer_checksums_reset(&reader->checked);
    if (is_large) {
        ICS_TRY(ics_file_digest_begin(&order, &reader->file_digest, error));
    }
    return ics_table_reader_rewind(reader, !is_large, error);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* Names the next message in error texts. */
static int begin_title(ics_table_reader *reader, icestream_error *error)
{
    free(reader->title);
    if (asprintf(&reader->title, "%s, message %" PRIu64, reader->name, reader->messages++) < 0) {
        reader->title = NULL;
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->name);
    }
    return ICESTREAM_OK;
}

int ics_table_reader_next(ics_table_reader *reader, bool *found, icestream_error *error)
{
    *found = false;
    if (reader->trailer_due) {
        ICS_TRY(ics_table_input_message_trailer(reader, true, error));
    }
    if (!reader->stream || reader->ended) {
        return ICESTREAM_OK;
    }
    unsigned char preamble[ICS_NPY_PREAMBLE];
    size_t got = 1, rest = 0;
    json_decref(reader->late);
    reader->late = NULL;
    preamble[0] = reader->pending;
    if (!reader->has_pending) {
        ICS_TRY(ics_table_input_read(reader, preamble, 1, &got, error));
    }
    if (got == 0) {
        return ICESTREAM_OK;
    }
    ICS_TRY(begin_title(reader, error));
    reader->has_pending = reader->finished = false;
    reader->lost = true; /* until the header is read */
    reader->offset = 1;
    if (preamble[0] == '{' && reader->messages > 1) {
        return ics_npy_unannounced_trailer(reader->title, error);
    }
    ICS_TRY(ics_table_input_read(reader, preamble + 1, sizeof preamble - 1, &rest, error));
    ICS_TRY(ics_table_input_header(reader, preamble, 1 + rest, error));
    ICS_TRY(ics_table_reader_rewind(reader, true, error));
    *found = true;
    return ICESTREAM_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static int report_change(const ics_table_reader *reader, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_INPUT, "%s: the file was changed while it was read",
                         reader->title);
}

/* Keeps the checksums of the rows that were read first. Rows that are read later must be the same.
 */
static int compare_with_first(ics_table_reader *reader, icestream_error *error)
{
    if (reader->checked.count > 0) {
        return ics_trailer_checksums_same(&reader->sums, &reader->checked)
                   ? ICESTREAM_OK
                   : report_change(reader, error);
    }
    const ics_trailer_checksums empty = reader->checked;
    reader->checked = reader->sums;
    reader->sums = empty;
    return ICESTREAM_OK;
}

/* The end of a file: adds what follows the rows to the digest, then checks file and checksums. */
static int finish_file(ics_table_reader *reader, icestream_error *error)
{
    unsigned char bytes[4096];
    size_t got = reader->digesting ? sizeof bytes : 0;
    while (got == sizeof bytes) {
        ICS_TRY(ics_table_input_read(reader, bytes, sizeof bytes, &got, error));
        ics_digest_add(reader->digest, bytes, got);
    }
    if (!ics_file_digest_is_unchanged(reader->descriptor, &reader->opened)) {
        return report_change(reader, error);
    }
    ICS_TRY(ics_trailer_verify(&reader->trailer, reader->title, &reader->sums,
                               reader->header.row_bytes, error));
    return reader->file_digest != NULL ? compare_with_first(reader, error) : ICESTREAM_OK;
}

/* Reads at most 1 MiB of rows, so that they stay in the cache for checksum, digest and conversion.
 */
static int read_piece(ics_table_reader *reader, void *rows, size_t count, icestream_error *error)
{
    void *raw = reader->conversion.identical ? rows : reader->raw;
    const size_t bytes = count * reader->header.row_bytes;
    ICS_TRY(ics_table_input_read_exactly(reader, raw, bytes, "the rows", error));
    ICS_TRY(ics_trailer_checksums_add(&reader->sums, raw, bytes, error));
    if (reader->digesting) {
        ics_digest_add(reader->digest, raw, bytes);
    }
    if (!reader->conversion.identical) {
        ICS_TRY(ics_conversion_rows(&reader->conversion, reader->title, reader->row, raw, count,
                                    rows, error));
    }
    reader->row += count;
    return ICESTREAM_OK;
}

int ics_table_reader_read(ics_table_reader *reader, void *rows, size_t capacity, size_t *got,
                          icestream_error *error)
{
    *got = 0;
    if (reader->finished) {
        return ICESTREAM_OK;
    }
    size_t piece_rows = ICS_BLOCK_BYTES / reader->header.row_bytes;
    while (*got < capacity && reader->row < reader->header.rows) {
        uint64_t left = reader->header.rows - reader->row;
        size_t count = capacity - *got < piece_rows ? capacity - *got : piece_rows;
        if (left < count) {
            count = (size_t)left;
        }
        ICS_TRY(read_piece(reader,
                           (unsigned char *)rows + *got * reader->conversion.schema->row_bytes,
                           count, error));
        *got += count;
    }
    if (*got > 0) {
        return ICESTREAM_OK;
    }
    reader->finished = true;
    ICS_TRY(ics_trailer_checksums_finish(&reader->sums, error));
    if (!reader->stream) {
        return finish_file(reader, error);
    }
    return reader->trailer_due && ics_table_reader_awaits_trailer(reader)
               ? ics_table_input_message_trailer(reader, true, error)
               : ICESTREAM_OK;
}

bool ics_table_reader_can_skip(const ics_table_reader *reader)
{
    return reader->stream && !reader->lost;
}

int ics_table_reader_skip(ics_table_reader *reader, icestream_error *error)
{
    unsigned char forgotten[16384];
    const ics_npy_header *header = &reader->header;
    if (reader->finished) {
        return ICESTREAM_OK;
    }
    const uint64_t end = header->header_bytes + header->rows * header->row_bytes;
    while (reader->offset < end) {
        const uint64_t left = end - reader->offset;
        const size_t size = left < sizeof forgotten ? (size_t)left : sizeof forgotten;
        ICS_TRY(ics_table_input_read_exactly(reader, forgotten, size, "the rows", error));
    }
    reader->finished = true;
    return reader->trailer_due ? ics_table_input_message_trailer(reader, false, error)
                               : ICESTREAM_OK;
}

/* ---- what is known -------------------------------------------------------------------------- */

const char *ics_table_reader_name(const ics_table_reader *reader)
{
    return reader->title;
}

const ics_layout *ics_table_reader_layout(const ics_table_reader *reader)
{
    return reader->conversion.schema;
}

uint64_t ics_table_reader_rows(const ics_table_reader *reader)
{
    return reader->header.rows;
}

uint64_t ics_table_reader_position(const ics_table_reader *reader)
{
    return reader->row;
}

bool ics_table_reader_packed(const ics_table_reader *reader)
{
    return reader->conversion.identical;
}

bool ics_table_reader_is_single(const ics_table_reader *reader, const char *field)
{
    return ics_conversion_is_single(&reader->conversion, field);
}

const json_t *ics_table_reader_metadata(const ics_table_reader *reader)
{
    return reader->trailer.metadata;
}

const json_t *ics_table_reader_light(const ics_table_reader *reader)
{
    const json_t *record = json_object_get(reader->trailer.metadata, "light");
    return record != NULL ? record : reader->note;
}

bool ics_table_reader_awaits_trailer(const ics_table_reader *reader)
{
    return reader->stream && reader->header.has_trailer &&
           reader->conversion.schema == ics_layout_steps();
}

const json_t *ics_table_reader_late_light(const ics_table_reader *reader)
{
    return reader->late;
}

/* Waits for the digest of the rows that were read first. */
static int await_digest(const ics_table_reader *reader, ics_file_digest *digest,
                        const atomic_bool *cancel, char text[ICS_PARTS_DIGEST_TEXT],
                        icestream_error *error)
{
    ICS_TRY(ics_file_digest_await(digest, cancel, text, error));
    return ics_trailer_checksums_same(ics_file_digest_checksums(digest), &reader->checked)
               ? ICESTREAM_OK
               : report_change(reader, error);
}

int ics_table_reader_await_digest(ics_table_reader *reader, const atomic_bool *cancel,
                                  char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error)
{
    if (reader->file_digest != NULL) {
        return await_digest(reader, reader->file_digest, cancel, text, error);
    }
    return ics_table_reader_digest(reader, text)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its digest",
                               reader->title);
}

int ics_table_reader_plain_digest(ics_table_reader *reader, const atomic_bool *cancel,
                                  char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error)
{
    ICS_DESTROYS(ics_file_digest_destroy) ics_file_digest *digest = NULL;
    ics_file_digest_order order = digest_order(reader);
    order.is_plain = true;
    ICS_TRY(ics_file_digest_begin(&order, &digest, error));
    return await_digest(reader, digest, cancel, text, error);
}

bool ics_table_reader_has_late_digest(const ics_table_reader *reader)
{
    return reader->file_digest != NULL;
}

bool ics_table_reader_digest(const ics_table_reader *reader, char text[ICS_DIGEST_TEXT])
{
    text[0] = 0;
    if (reader->digest == NULL) {
        return true;
    }
    ics_digest_text(reader->digest, text);
    return text[0] != 0;
}
