#include "pipeline/photons/files/format/table_input.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/json_read.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Waits until the stream has something to read. */
static int wait_readable(const ics_table_reader *reader, icestream_error *error)
{
    struct pollfd waits[2] = {{.fd = reader->descriptor, .events = POLLIN},
                              {.fd = reader->wake_descriptor, .events = POLLIN}};
    while (poll(waits, 2, -1) < 0) {
        if (errno != EINTR) {
            return ics_error_set(error, ics_error_of_input(errno), "%s: cannot wait for input: %s",
                                 reader->title, strerror(errno));
        }
    }
    if (waits[1].revents) {
        return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted while reading",
                             reader->title);
    }
    return ICESTREAM_OK;
}

static int read_bytes(ics_table_reader *reader, void *bytes, size_t size, size_t *got,
                      icestream_error *error)
{
    *got = 0;
    while (*got < size) {
        unsigned char *next = (unsigned char *)bytes + *got;
        ssize_t count;
        if (reader->stream) {
            ICS_TRY(wait_readable(reader, error));
            count = read(reader->descriptor, next, size - *got);
        } else {
            count = pread(reader->descriptor, next, size - *got, (off_t)reader->offset);
        }
        if (count == 0) {
            break;
        }
        if (count < 0) {
            if (errno == EINTR || (reader->stream && errno == EAGAIN)) {
                continue;
            }
            return ics_error_set_cause(error, ics_error_of_input(errno), errno,
                                       "%s: byte %" PRIu64 ": cannot read: %s", reader->title,
                                       reader->offset, strerror(errno));
        }
        *got += (size_t)count;
        reader->offset += (uint64_t)count;
    }
    return ICESTREAM_OK;
}

int ics_table_input_read(ics_table_reader *reader, void *bytes, size_t size, size_t *got,
                         icestream_error *error)
{
    const int status = read_bytes(reader, bytes, size, got, error);
    reader->lost |= status != ICESTREAM_OK;
    return status;
}

int ics_table_input_read_exactly(ics_table_reader *reader, void *bytes, size_t size,
                                 const char *what, icestream_error *error)
{
    size_t got;
    ICS_TRY(ics_table_input_read(reader, bytes, size, &got, error));
    reader->lost |= got < size;
    return got == size ? ICESTREAM_OK
                       : ics_error_set(error, ICESTREAM_E_INPUT,
                                       "%s: byte %" PRIu64
                                       ": found the end of the input, expected %zu bytes "
                                       "more of %s",
                                       reader->title, reader->offset, size - got, what);
}

/* ---- header and trailer --------------------------------------------------------------------- */

static int match_fields(ics_table_reader *reader, icestream_error *error)
{
    const ics_npy_header *header = &reader->header;
    const ics_layout *schema = reader->wanted;
    if (schema == NULL) {
        schema = ics_conversion_recognise(header->fields, header->field_count);
    }
    if (schema == NULL) {
        return ics_error_set(
            error, ICESTREAM_E_INPUT,
            "%s: header: found neither field photons nor field photon_id, expected "
            "the fields of steps or hits",
            reader->title);
    }
    ICS_TRY(ics_conversion_create(reader->title, header->fields, header->field_count,
                                  header->row_bytes, schema, &reader->conversion, error));
    if (!reader->conversion.identical && reader->raw == NULL) {
        reader->raw = malloc(ICS_BLOCK_BYTES);
    }
    return reader->conversion.identical || reader->raw != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->title);
}

/* Reads the record of light in the header. */
static int read_note(ics_table_reader *reader, icestream_error *error)
{
    const char *text = reader->header.note;
    json_error_t reason;
    json_decref(reader->note);
    reader->note = NULL;
    if (text == NULL) {
        return ICESTREAM_OK;
    }
    reader->note = ics_json_read_text(text, JSON_REJECT_DUPLICATES, &reason);
    if (reader->note == NULL && errno == ENOMEM) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->title);
    }
    return reader->note != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: header: byte %d of the record of light: %s, expected a JSON "
                               "object",
                               reader->title, reason.position, reason.text);
}

/* Adds to the error that a file of steps is no .npy what the user can do with such a file. */
static int add_remedy(const ics_table_reader *reader, const unsigned char *bytes, size_t size,
                      icestream_error *error)
{
    const char *kind = ics_file_kind((const char *)bytes, size);
    const bool wants_steps = reader->wanted == ics_layout_steps();
    const char *remedy = kind == NULL && wants_steps && ics_file_is_text(bytes, size)
                             ? ", and lists of particles are given as particles.file"
                         : kind != NULL && strstr(kind, "HDF5") != NULL
                             ? ", of which icestream.convert.from_hdf5() in Python makes .npy"
                             : NULL;
    if (error != NULL && remedy != NULL) {
        const size_t length = strlen(error->text);
        snprintf(error->text + length, sizeof error->text - length, "%s", remedy);
    }
    return ICESTREAM_E_INPUT;
}

int ics_table_input_header(ics_table_reader *reader, const unsigned char preamble[ICS_NPY_PREAMBLE],
                           size_t got, icestream_error *error)
{
    size_t size = 0;
    const int status = ics_npy_header_size(reader->title, preamble, got, &size, error);
    if (status != ICESTREAM_OK) {
        return add_remedy(reader, preamble, got, error);
    }
    unsigned char *grown = realloc(reader->header_bytes, size);
    if (grown == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->title);
    }
    reader->header_bytes = grown;
    memcpy(grown, preamble, ICS_NPY_PREAMBLE);
    ICS_TRY(ics_table_input_read_exactly(reader, grown + ICS_NPY_PREAMBLE, size - ICS_NPY_PREAMBLE,
                                         "the header", error));
    ics_npy_header_free(&reader->header);
    ICS_TRY(ics_npy_parse(reader->title, grown, size, &reader->header, error));
    reader->lost = false; /* the size of the message is known, whatever else is wrong */
    reader->trailer_due = reader->stream && reader->header.has_trailer;
    ICS_TRY(read_note(reader, error));
    return match_fields(reader, error);
}

static uint64_t rows_end(const ics_table_reader *reader)
{
    return reader->header.header_bytes + reader->header.rows * reader->header.row_bytes;
}

static ics_trailer_table table_of(const ics_table_reader *reader)
{
    return (ics_trailer_table){.schema = reader->conversion.schema,
                               .rows = reader->header.rows,
                               .row_bytes = reader->header.row_bytes};
}

/* Reads and checks the metadata of a file, which begin at reader->offset. */
static int read_metadata(ics_table_reader *reader, const ics_tail *tail, icestream_error *error)
{
    const ics_trailer_table table = table_of(reader);
    ICS_FREES char *text = malloc((size_t)tail->length + 1);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "%s: out of memory for %" PRIu64 " bytes of metadata", reader->title,
                             tail->length);
    }
    ICS_TRY(
        ics_table_input_read_exactly(reader, text, (size_t)tail->length, "the metadata", error));
    return ics_trailer_parse(reader->title, text, tail, &table, &reader->trailer, error);
}

int ics_table_input_file_trailer(ics_table_reader *reader, icestream_error *error)
{
    uint64_t size = (uint64_t)reader->opened.st_size, end = rows_end(reader);
    if (size < end) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %" PRIu64 " complete rows, expected %" PRIu64
                             " as the header says (cut short)",
                             reader->title,
                             (size - reader->header.header_bytes) / reader->header.row_bytes,
                             reader->header.rows);
    }
    if (size == end) {
        return ICESTREAM_OK;
    }
    unsigned char bytes[ICS_TAIL_BYTES] = {0};
    ics_tail tail;
    size_t tail_bytes = size - end < ICS_TAIL_BYTES ? (size_t)(size - end) : ICS_TAIL_BYTES;
    reader->offset = size - tail_bytes;
    ICS_TRY(ics_table_input_read_exactly(reader, bytes, tail_bytes, "the trailer", error));
    ICS_TRY(ics_trailer_tail_parse(reader->title, bytes, end, size, &tail, error));
    reader->offset = end;
    return read_metadata(reader, &tail, error);
}

/* Reads the metadata of a message byte by byte, because they end where their outermost bracket is
 * closed and nothing after that may be read. The first byte, '{', has been read. The caller frees
 * *text. */
static int read_message_metadata(ics_table_reader *reader, char **text, size_t *length,
                                 icestream_error *error)
{
    ics_trailer_scan scan = {.depth = 0};
    size_t capacity = 4096;
    *text = malloc(capacity);
    if (*text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->title);
    }
    (*text)[0] = '{';
    for (*length = 1; !ics_trailer_scan_ends(&scan, (*text)[*length - 1]); ++*length) {
        if (*length == capacity) {
            char *grown = capacity < ICS_METADATA_MAX ? realloc(*text, capacity *= 2) : NULL;
            if (grown == NULL) {
                return ics_error_set(error, ICESTREAM_E_INPUT,
                                     "%s: trailer: found metadata without an end, expected at most "
                                     "%d bytes",
                                     reader->title, ICS_METADATA_MAX);
            }
            *text = grown;
        }
        ICS_TRY(ics_table_input_read_exactly(reader, *text + *length, 1, "the metadata", error));
    }
    return ICESTREAM_OK;
}

/* Compares metadata and tail with the rows. */
static int check_message_trailer(ics_table_reader *reader, const char *text, const ics_tail *tail,
                                 icestream_error *error)
{
    ics_trailer trailer;
    const ics_trailer_table table = table_of(reader);
    ICS_TRY(ics_trailer_parse(reader->title, text, tail, &table, &trailer, error));
    const int status =
        ics_trailer_verify(&trailer, reader->title, &reader->sums, reader->header.row_bytes, error);
    reader->late = json_incref(json_object_get(trailer.metadata, "light"));
    ics_trailer_free(&trailer);
    return status;
}

/* Reads a trailer whose first byte has been read. If its tail is right, the next message begins
 * behind it, whatever else is wrong. */
static int read_message_trailer(ics_table_reader *reader, bool is_checked, char **text,
                                icestream_error *error)
{
    unsigned char bytes[ICS_TAIL_BYTES];
    size_t length = 0;
    ics_tail tail;
    const uint64_t end = rows_end(reader);
    reader->lost = true;
    ICS_TRY(read_message_metadata(reader, text, &length, error));
    ICS_TRY(ics_table_input_read_exactly(reader, bytes, sizeof bytes, "the trailer", error));
    ICS_TRY(ics_trailer_tail_parse(reader->title, bytes, end, end + length + ICS_TAIL_BYTES, &tail,
                                   error));
    reader->lost = false;
    if (!is_checked) {
        return ICESTREAM_OK;
    }
    if (reader->digesting) {
        ics_digest_add(reader->digest, *text, length);
        ics_digest_add(reader->digest, bytes, sizeof bytes);
    }
    return check_message_trailer(reader, *text, &tail, error);
}

int ics_table_input_message_trailer(ics_table_reader *reader, bool is_checked,
                                    icestream_error *error)
{
    ICS_FREES char *text = NULL;
    size_t got = 0;
    reader->trailer_due = false;
    ICS_TRY(ics_table_input_read(reader, &reader->pending, 1, &got, error));
    reader->ended = got == 0;
    reader->has_pending = got > 0 && reader->pending != '{';
    if (reader->ended || reader->has_pending) {
        return ICESTREAM_OK;
    }
    return read_message_trailer(reader, is_checked, &text, error);
}
