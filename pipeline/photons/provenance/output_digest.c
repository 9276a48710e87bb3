#include "pipeline/photons/provenance/output_digest.h"

#include "base/disk.h"
#include "base/error.h"
#include "base/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 20 }; /* bytes that are read at a time */

/* A file that is read, also by several threads. */
typedef struct input {
    const char *path;
    int descriptor;
    uint64_t bytes;
} input;

static int cannot_read(const char *path, const char *why, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                               "%s: cannot be read for its digest: %s", path, why);
}

static int open_input(const char *path, input *out, icestream_error *error)
{
    struct stat about;
    const char *why;
    *out = (input){.path = path};
    out->descriptor = ics_disk_open_regular(path, &why);
    if (out->descriptor < 0) {
        return cannot_read(path, why, error);
    }
    if (fstat(out->descriptor, &about) != 0) {
        const int status = cannot_read(path, strerror(errno), error);
        close(out->descriptor);
        return status;
    }
    out->bytes = (uint64_t)about.st_size;
    return ICESTREAM_OK;
}

/* ---- one range of bytes ---------------------------------------------------------------------- */

/* What one thread needs to digest bytes. */
typedef struct reader {
    unsigned char *piece; /* [PIECE] */
    ics_digest *digest;
} reader;

static void end_reader(reader *reading)
{
    free(reading->piece);
    ics_digest_destroy(reading->digest);
}

static int begin_reader(const char *path, reader *out, icestream_error *error)
{
    *out = (reader){.piece = malloc(PIECE)};
    if (out->piece == NULL || ics_digest_create(&out->digest, error) != ICESTREAM_OK) {
        end_reader(out);
        ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its digest", path);
        return ICESTREAM_E_MEMORY;
    }
    return ICESTREAM_OK;
}

/* Writes the SHA-256 of the bytes from `at` to `end`; a file that has become shorter ends there. */
static int digest_range(const input *file, reader *reading, uint64_t at, uint64_t end,
                        char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    ics_digest_reset(reading->digest);
    while (at < end) {
        const size_t wanted = end - at < PIECE ? (size_t)(end - at) : PIECE;
        const ssize_t got =
            TEMP_FAILURE_RETRY(pread(file->descriptor, reading->piece, wanted, (off_t)at));
        if (got < 0) {
            return cannot_read(file->path, strerror(errno), error);
        }
        if (got == 0) {
            break;
        }
        ics_digest_add(reading->digest, reading->piece, (size_t)got);
        at += (uint64_t)got;
    }
    ics_digest_text(reading->digest, text);
    return text[0] != '\0' ? ICESTREAM_OK
                           : ics_error_set(error, ICESTREAM_E_MEMORY,
                                           "%s: out of memory for its digest", file->path);
}

/* The SHA-256 of the whole file. */
static int digest_whole(const input *file, char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    reader reading;
    ICS_TRY(begin_reader(file->path, &reading, error));
    const int status = digest_range(file, &reading, 0, file->bytes, text, error);
    end_reader(&reading);
    return status;
}

int ics_output_digest_of(const char *path, char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    input file;
    text[0] = '\0';
    ICS_TRY(open_input(path, &file, error));
    const int status = digest_whole(&file, text, error);
    close(file.descriptor);
    if (status != ICESTREAM_OK) {
        text[0] = '\0';
    }
    return status;
}

/* ---- parts on several threads ---------------------------------------------------------------- */

/* What the threads share. */
typedef struct shares {
    const input *file;
    uint64_t parts;
    atomic_uint_fast64_t next;      /* the first part that no thread has */
    char (*texts)[ICS_DIGEST_TEXT]; /* [parts] */
    icestream_error errors[ICS_PARTS_MAX];
} shares;

static void digest_parts(void *user, size_t thread)
{
    shares *all = user;
    const uint64_t bytes = all->file->bytes;
    icestream_error *error = &all->errors[thread];
    reader reading;
    int status = begin_reader(all->file->path, &reading, error);
    if (status != ICESTREAM_OK) {
        return;
    }
    for (uint64_t part; status == ICESTREAM_OK && (part = all->next++) < all->parts;) {
        const uint64_t at = part * ICS_OUTPUT_PART;
        const uint64_t end = bytes - at < ICS_OUTPUT_PART ? bytes : at + ICS_OUTPUT_PART;
        status = digest_range(all->file, &reading, at, end, all->texts[part], error);
    }
    end_reader(&reading);
}

/* Returns the first error. */
static int digest_all_parts(shares *all, icestream_error *error)
{
    ics_parts_run(ics_parts_count(all->parts, 1), digest_parts, all);
    for (size_t i = 0; i < ICS_PARTS_MAX; ++i) {
        if (all->errors[i].status != ICESTREAM_OK) {
            return ics_error_copy(error, &all->errors[i]);
        }
    }
    return ICESTREAM_OK;
}

/* Writes the digest of the lines of the parts, and their number. */
static int digest_lines(const shares *all, char text[ICS_OUTPUT_DIGEST_TEXT],
                        icestream_error *error)
{
    static const char after[] = "  -\n"; /* sha256sum names its standard input so */
    char whole[ICS_DIGEST_TEXT];
    ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    for (uint64_t part = 0; part < all->parts; ++part) {
        ics_digest_add(digest, all->texts[part], ICS_DIGEST_TEXT - 1);
        ics_digest_add(digest, after, sizeof after - 1);
    }
    ics_digest_text(digest, whole);
    ics_digest_destroy(digest);
    if (whole[0] == '\0') {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a digest");
    }
    snprintf(text, ICS_OUTPUT_DIGEST_TEXT, "%s-%" PRIu64, whole, all->parts);
    return ICESTREAM_OK;
}

static int digest_large(const input *file, char text[ICS_OUTPUT_DIGEST_TEXT],
                        icestream_error *error)
{
    shares all = {.file = file, .parts = (file->bytes - 1) / ICS_OUTPUT_PART + 1};
    all.texts = calloc(all.parts, sizeof *all.texts);
    if (all.texts == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its digest",
                             file->path);
    }
    int status = digest_all_parts(&all, error);
    if (status == ICESTREAM_OK) {
        status = digest_lines(&all, text, error);
    }
    free(all.texts);
    return status;
}

int ics_output_digest_in_parts(const char *path, char text[ICS_OUTPUT_DIGEST_TEXT],
                               icestream_error *error)
{
    input file;
    text[0] = '\0';
    ICS_TRY(open_input(path, &file, error));
    const int status = file.bytes <= ICS_OUTPUT_PART ? digest_whole(&file, text, error)
                                                     : digest_large(&file, text, error);
    close(file.descriptor);
    if (status != ICESTREAM_OK) {
        text[0] = '\0';
    }
    return status;
}
