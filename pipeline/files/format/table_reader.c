#include "pipeline/files/format/table_reader.h"

#include "base/error.h"
#include "pipeline/files/format/conversion.h"
#include "pipeline/files/format/npy.h"
#include "pipeline/files/format/trailer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct ics_table_reader {
    char *name;  /* of the file or stream */
    char *label; /* name, and in streams the message */
    int descriptor, wake_descriptor;
    bool stream, finished;
    struct stat opened; /* files: as they were when opened */
    uint64_t messages;  /* streams: begun so far */
    uint64_t offset;    /* of the next byte, from the start of the file or message */
    uint64_t row;       /* number of the next one */

    const ics_layout *wanted; /* as given; NULL: any */
    unsigned char *header_bytes;
    ics_npy_header header;
    ics_conversion conversion;
    unsigned char *raw; /* one piece of rows as stored, where they need conversion */

    ics_trailer trailer; /* files that have one */
    ics_trailer_checksums sums;
    ics_digest *digest;
    bool digesting;
};

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Waits until the stream has something to read. */
static int wait_readable(const ics_table_reader *reader, icestream_error *error)
{
    struct pollfd waits[2] = {{.fd = reader->descriptor, .events = POLLIN},
                              {.fd = reader->wake_descriptor, .events = POLLIN}};
    while (poll(waits, 2, -1) < 0) {
        if (errno != EINTR) {
            return ics_error_set(error, ICESTREAM_E_INPUT, "%s: cannot wait for input: %s",
                                 reader->label, strerror(errno));
        }
    }
    if (waits[1].revents) {
        return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted while reading",
                             reader->label);
    }
    return ICESTREAM_OK;
}

/* Reads `size` bytes, fewer only at the end of the input. */
static int read_bytes(ics_table_reader *reader, void *bytes, size_t size, size_t *got,
                      icestream_error *error)
{
    *got = 0;
    while (*got < size) {
        unsigned char *next = (unsigned char *)bytes + *got;
        ssize_t count;
        if (reader->stream) {
            int status = wait_readable(reader, error);
            if (status) {
                return status;
            }
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
            return ics_error_set_cause(error, ICESTREAM_E_INPUT, errno,
                                       "%s: byte %" PRIu64 ": cannot read: %s", reader->label,
                                       reader->offset, strerror(errno));
        }
        *got += (size_t)count;
        reader->offset += (uint64_t)count;
    }
    return ICESTREAM_OK;
}

static int read_exactly(ics_table_reader *reader, void *bytes, size_t size, const char *what,
                        icestream_error *error)
{
    size_t got;
    int status = read_bytes(reader, bytes, size, &got, error);
    if (!status && got < size) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: byte %" PRIu64 ": found the end of the input, expected %zu bytes "
                             "more of %s",
                             reader->label, reader->offset, size - got, what);
    }
    return status;
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
            reader->label);
    }
    int status = ics_conversion_create(reader->label, header->fields, header->field_count,
                                       header->row_bytes, schema, &reader->conversion, error);
    if (status || reader->conversion.identical || reader->raw != NULL) {
        return status;
    }
    reader->raw = malloc(ICS_BLOCK_BYTES);
    return reader->raw != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->label);
}

/* Reads the header, of which the preamble is there already: `got` bytes of it. */
static int read_header(ics_table_reader *reader, const unsigned char preamble[ICS_NPY_PREAMBLE],
                       size_t got, icestream_error *error)
{
    size_t size = 0;
    int status = ics_npy_header_size(reader->label, preamble, got, &size, error);
    if (status) {
        return status;
    }
    unsigned char *grown = realloc(reader->header_bytes, size);
    if (grown == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->label);
    }
    reader->header_bytes = grown;
    memcpy(grown, preamble, ICS_NPY_PREAMBLE);
    if ((status = read_exactly(reader, grown + ICS_NPY_PREAMBLE, size - ICS_NPY_PREAMBLE,
                               "the header", error))) {
        return status;
    }
    ics_npy_header_free(&reader->header);
    if ((status = ics_npy_parse(reader->label, grown, size, &reader->header, error))) {
        return status;
    }
    return match_fields(reader, error);
}

static uint64_t rows_end(const ics_table_reader *reader)
{
    return reader->header.header_bytes + reader->header.rows * reader->header.row_bytes;
}

/* Reads and checks metadata, whose place the tail gives; the input stands at their start. */
static int read_metadata(ics_table_reader *reader, const ics_tail *tail, icestream_error *error)
{
    char *text = malloc((size_t)tail->length + 1);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "%s: out of memory for %" PRIu64 " bytes of metadata", reader->label,
                             tail->length);
    }
    int status = read_exactly(reader, text, (size_t)tail->length, "the metadata", error);
    if (!status) {
        status = ics_trailer_parse(reader->label, text, tail, reader->conversion.schema,
                                   reader->header.rows, reader->header.row_bytes, &reader->trailer,
                                   error);
    }
    free(text);
    return status;
}

static int read_file_trailer(ics_table_reader *reader, icestream_error *error)
{
    uint64_t size = (uint64_t)reader->opened.st_size, end = rows_end(reader);
    if (size < end) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %" PRIu64 " complete rows, expected %" PRIu64
                             " as the header says (cut short)",
                             reader->label,
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
    int status = read_exactly(reader, bytes, tail_bytes, "the trailer", error);
    if (status ||
        (status = ics_trailer_tail_parse(reader->label, bytes, end, size, &tail, error))) {
        return status;
    }
    reader->offset = end;
    return read_metadata(reader, &tail, error);
}

static int begin_rows(ics_table_reader *reader, bool digest, icestream_error *error)
{
    reader->row = 0;
    reader->offset = reader->header.header_bytes;
    reader->finished = false;
    reader->digesting = digest;
    ics_trailer_checksums_reset(&reader->sums);
    if (digest && reader->digest == NULL) {
        int status = ics_digest_create(&reader->digest, error);
        if (status) {
            return status;
        }
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
        reader->label = strdup(name);
    }
    if (reader == NULL || reader->name == NULL || reader->label == NULL) {
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

static int open_file(ics_table_reader *reader, icestream_error *error)
{
    /* Without O_NONBLOCK, opening a named pipe would wait for a writer. */
    reader->descriptor =
        TEMP_FAILURE_RETRY(open(reader->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (reader->descriptor < 0 || fstat(reader->descriptor, &reader->opened) < 0) {
        /* What this process or the system has run out of is no fault of the file. */
        bool ours = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        return ics_error_set_cause(error, ours ? ICESTREAM_E_FAILED : ICESTREAM_E_INPUT, errno,
                                   "%s: cannot open: %s", reader->name, strerror(errno));
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
    int status = read_bytes(reader, preamble, sizeof preamble, &got, error);
    if (status || (status = read_header(reader, preamble, got, error)) ||
        (status = read_file_trailer(reader, error))) {
        return status;
    }
    return begin_rows(reader, false, error);
}

int ics_table_reader_open(const char *path, const ics_layout *schema, ics_table_reader **out,
                          icestream_error *error)
{
    *out = NULL;
    ics_table_reader *reader = create(path, schema, error);
    if (reader == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    int status = open_file(reader, error);
    if (status) {
        ics_table_reader_destroy(reader);
        return status;
    }
    *out = reader;
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
    reader->finished = true; /* nothing begun */
    reader->descriptor = descriptor;
    reader->wake_descriptor = wake_descriptor;
    return ICESTREAM_OK;
}

void ics_table_reader_destroy(ics_table_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    if (!reader->stream && reader->descriptor >= 0) {
        close(reader->descriptor);
    }
    ics_npy_header_free(&reader->header);
    ics_trailer_free(&reader->trailer);
    ics_trailer_checksums_free(&reader->sums);
    ics_digest_destroy(reader->digest);
    free(reader->header_bytes);
    free(reader->raw);
    free(reader->label);
    free(reader->name);
    free(reader);
}

int ics_table_reader_rewind(ics_table_reader *reader, bool digest, icestream_error *error)
{
    return begin_rows(reader, digest, error);
}

/* ---- messages ------------------------------------------------------------------------------- */

/* A file that was copied into the stream brings its trailer: a JSON object, whose end only its
 * brackets tell, and the tail. `{` has been read. Byte by byte, so as not to read beyond it. */
static int read_message_trailer(ics_table_reader *reader, icestream_error *error)
{
    size_t length = 1, capacity = 4096;
    int status = ICESTREAM_OK, depth = 1;
    bool quoted = false, escaped = false;
    char *text = malloc(capacity);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->label);
    }
    for (text[0] = '{'; depth > 0; ++length) {
        if (length == capacity) {
            char *grown = capacity < ICS_METADATA_MAX ? realloc(text, capacity *= 2) : NULL;
            if (grown == NULL) {
                free(text);
                return ics_error_set(error, ICESTREAM_E_INPUT,
                                     "%s: trailer: found metadata without an end, expected at most "
                                     "%d bytes",
                                     reader->label, ICS_METADATA_MAX);
            }
            text = grown;
        }
        if ((status = read_exactly(reader, text + length, 1, "the metadata", error))) {
            free(text);
            return status;
        }
        char character = text[length];
        if (!quoted) {
            depth += (character == '{') - (character == '}');
        }
        if (character == '"' && !escaped) {
            quoted = !quoted;
        }
        escaped = quoted && character == '\\' && !escaped;
    }
    unsigned char bytes[ICS_TAIL_BYTES];
    ics_tail tail;
    ics_trailer trailer = {0};
    uint64_t end = rows_end(reader);
    status = read_exactly(reader, bytes, sizeof bytes, "the trailer", error);
    if (!status) {
        status = ics_trailer_tail_parse(reader->label, bytes, end, end + length + ICS_TAIL_BYTES,
                                        &tail, error);
    }
    if (!status) {
        status = ics_trailer_parse(reader->label, text, &tail, reader->conversion.schema,
                                   reader->header.rows, reader->header.row_bytes, &trailer, error);
    }
    if (!status) {
        status = ics_trailer_verify(&trailer, reader->label, &reader->sums,
                                    reader->header.row_bytes, error);
    }
    ics_trailer_free(&trailer);
    free(text);
    return status;
}

int ics_table_reader_next(ics_table_reader *reader, bool *found, icestream_error *error)
{
    *found = false;
    if (!reader->stream) {
        return ICESTREAM_OK;
    }
    unsigned char preamble[ICS_NPY_PREAMBLE];
    size_t got = 0, rest = 0;
    int status = read_bytes(reader, preamble, 1, &got, error);
    if (!status && got == 1 && preamble[0] == '{' && reader->messages > 0) {
        status = read_message_trailer(reader, error);
        if (!status) {
            status = read_bytes(reader, preamble, 1, &got, error);
        }
    }
    if (status || got == 0) {
        return status;
    }
    free(reader->label);
    if (asprintf(&reader->label, "%s, message %" PRIu64, reader->name, ++reader->messages) < 0) {
        reader->label = NULL;
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", reader->name);
    }
    reader->offset = 1;
    if ((status = read_bytes(reader, preamble + 1, sizeof preamble - 1, &rest, error)) ||
        (status = read_header(reader, preamble, 1 + rest, error)) ||
        (status = begin_rows(reader, true, error))) {
        return status;
    }
    *found = true;
    return ICESTREAM_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The end of a file: what follows the rows enters the digest, then everything must fit. */
static int finish_file(ics_table_reader *reader, icestream_error *error)
{
    int status = ICESTREAM_OK;
    unsigned char bytes[4096];
    size_t got = reader->digesting ? sizeof bytes : 0;
    while (got == sizeof bytes) {
        if ((status = read_bytes(reader, bytes, sizeof bytes, &got, error))) {
            return status;
        }
        ics_digest_add(reader->digest, bytes, got);
    }
    struct stat now;
    if (fstat(reader->descriptor, &now) < 0 || now.st_size != reader->opened.st_size ||
        now.st_mtim.tv_sec != reader->opened.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != reader->opened.st_mtim.tv_nsec) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: the file was changed while it was read",
                             reader->label);
    }
    return ics_trailer_verify(&reader->trailer, reader->label, &reader->sums,
                              reader->header.row_bytes, error);
}

/* One piece of at most 1 MiB, which stays in cache for checksum, digest and conversion. */
static int read_piece(ics_table_reader *reader, void *rows, size_t count, icestream_error *error)
{
    void *raw = reader->conversion.identical ? rows : reader->raw;
    size_t bytes = count * reader->header.row_bytes;
    int status = read_exactly(reader, raw, bytes, "the rows", error);
    if (!status) {
        status = ics_trailer_checksums_add(&reader->sums, raw, bytes, error);
    }
    if (status) {
        return status;
    }
    if (reader->digesting) {
        ics_digest_add(reader->digest, raw, bytes);
    }
    if (!reader->conversion.identical) {
        status = ics_conversion_rows(&reader->conversion, reader->label, reader->row, raw, count,
                                     rows, error);
    }
    reader->row += count;
    return status;
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
        int status =
            read_piece(reader, (unsigned char *)rows + *got * reader->conversion.schema->row_bytes,
                       count, error);
        if (status) {
            return status;
        }
        *got += count;
    }
    if (*got > 0) {
        return ICESTREAM_OK;
    }
    reader->finished = true;
    int status = ics_trailer_checksums_finish(&reader->sums, error);
    return status || reader->stream ? status : finish_file(reader, error);
}

/* ---- what is known -------------------------------------------------------------------------- */

const char *ics_table_reader_name(const ics_table_reader *reader)
{
    return reader->label;
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

const json_t *ics_table_reader_metadata(const ics_table_reader *reader)
{
    return reader->trailer.metadata;
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
