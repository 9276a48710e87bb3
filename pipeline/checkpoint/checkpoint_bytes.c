/* Reading bytes of a checkpoint, and the header, which says what the checkpoint belongs to. */
#include "base/error.h"
#include "base/json_read.h"
#include "pipeline/checkpoint/checkpoint_state.h"
#include "pipeline/files/format/crc32c.h"
#include "pipeline/files/format/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ics_checkpoint_failed(const ics_checkpoint *checkpoint, const char *what,
                          icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "%s: %s: %s", checkpoint->path,
                               what, strerror(errno));
}

/* Reads from the checkpoint, or from the file of its rows. */
static int read_bytes(const ics_checkpoint *checkpoint, int file, uint64_t offset, void *bytes,
                      size_t size, icestream_error *error)
{
    char *next = bytes;
    while (size > 0) {
        ssize_t got = TEMP_FAILURE_RETRY(pread(file, next, size, (off_t)offset));
        if (got < 0) {
            return ics_checkpoint_failed(checkpoint, "cannot be read", error);
        }
        if (got == 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: found the end of the file after %" PRIu64
                                 " bytes, expected %zu more",
                                 checkpoint->path, offset, size);
        }
        next += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return ICESTREAM_OK;
}

int ics_checkpoint_read(const ics_checkpoint *checkpoint, uint64_t offset, void *bytes, size_t size,
                        icestream_error *error)
{
    return read_bytes(checkpoint, checkpoint->file, offset, bytes, size, error);
}

bool ics_checkpoint_has_rows(const ics_checkpoint_head *head)
{
    return memcmp(head->magic, ICS_CHECKPOINT_ROWS, sizeof head->magic) == 0;
}

char *ics_checkpoint_rows_path(const char *path)
{
    char *out = NULL;
    return asprintf(&out, "%s.rows", path) >= 0 ? out : NULL;
}

int ics_checkpoint_open_rows(ics_checkpoint *checkpoint, icestream_error *error)
{
    char *path = ics_checkpoint_rows_path(checkpoint->path);
    if (path == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", checkpoint->path);
    }
    checkpoint->rows_file =
        TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    free(path);
    return checkpoint->rows_file >= 0 || errno == ENOENT
               ? ICESTREAM_OK
               : ics_checkpoint_failed(checkpoint, "its rows cannot be opened", error);
}

int ics_checkpoint_read_hits(const ics_checkpoint *checkpoint, uint64_t offset,
                             const ics_checkpoint_head *head, uint64_t first, icestream_hit *hits,
                             size_t count, icestream_error *error)
{
    const uint64_t body = offset + sizeof *head + head->intervals * sizeof(ics_photon_interval);
    const size_t size = count * sizeof *hits;
    ics_checkpoint_rows rows;
    if (!ics_checkpoint_has_rows(head)) {
        return ics_checkpoint_read(checkpoint, body + first * sizeof *hits, hits, size, error);
    }
    ICS_TRY(ics_checkpoint_read(checkpoint, body, &rows, sizeof rows, error));
    if (checkpoint->rows_file < 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: found no file of its rows (%s.rows)",
                             checkpoint->path, checkpoint->path);
    }
    return read_bytes(checkpoint, checkpoint->rows_file,
                      ICS_NPY_OWN_HEADER + (rows.first + first) * sizeof *hits, hits, size, error);
}

int ics_checkpoint_read_origin(ics_checkpoint *checkpoint, json_t **out, icestream_error *error)
{
    ics_checkpoint_header header;
    ICS_TRY(ics_checkpoint_read(checkpoint, 0, &header, sizeof header, error));
    if (memcmp(header.magic, ICS_CHECKPOINT_MAGIC, sizeof header.magic) != 0 ||
        header.length > ICS_CHECKPOINT_ORIGIN) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found another beginning, expected that of a checkpoint (%s)",
                             checkpoint->path, ICS_CHECKPOINT_MAGIC);
    }
    char *text = malloc(header.length + 1);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", checkpoint->path);
    }
    int status = ics_checkpoint_read(checkpoint, sizeof header, text, header.length, error);
    if (status == ICESTREAM_OK && ics_crc32c(0, text, header.length) != header.crc32c) {
        status = ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: found a header that does not have its checksum, expected the "
                               "header that was written",
                               checkpoint->path);
    }
    *out = status == ICESTREAM_OK ? ics_json_read(text, header.length, 0, NULL) : NULL;
    free(text);
    checkpoint->records = checkpoint->end = sizeof header + header.length;
    return status == ICESTREAM_OK && *out == NULL && errno == ENOMEM
               ? ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", checkpoint->path)
               : status;
}
