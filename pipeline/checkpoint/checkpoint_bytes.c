/* Reading bytes of a checkpoint, and the header, which says what the checkpoint belongs to. */
#include "base/error.h"
#include "base/json_read.h"
#include "pipeline/checkpoint/checkpoint_state.h"
#include "pipeline/files/format/crc32c.h"

#include <errno.h>
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

int ics_checkpoint_read(const ics_checkpoint *checkpoint, uint64_t offset, void *bytes, size_t size,
                        icestream_error *error)
{
    char *next = bytes;
    while (size > 0) {
        ssize_t got = TEMP_FAILURE_RETRY(pread(checkpoint->file, next, size, (off_t)offset));
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
