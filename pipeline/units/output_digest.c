#include "pipeline/units/output_digest.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 20 }; /* bytes that are read at a time */

static int cannot_read(const char *path, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                               "%s: cannot be read for its digest: %s", path, strerror(errno));
}

static int add_content(const char *path, unsigned char *piece, ics_digest *digest,
                       icestream_error *error)
{
    const int descriptor = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (descriptor < 0) {
        return cannot_read(path, error);
    }
    ssize_t got = 0;
    while ((got = TEMP_FAILURE_RETRY(read(descriptor, piece, PIECE))) > 0) {
        ics_digest_add(digest, piece, (size_t)got);
    }
    const int status = got == 0 ? ICESTREAM_OK : cannot_read(path, error);
    close(descriptor);
    return status;
}

int ics_output_digest_of(const char *path, char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    ics_digest *digest = NULL;
    unsigned char *piece = malloc(PIECE);
    text[0] = '\0';
    int status = piece != NULL ? ics_digest_create(&digest, error)
                               : ics_error_set(error, ICESTREAM_E_MEMORY,
                                               "%s: out of memory for its digest", path);
    if (status == ICESTREAM_OK) {
        status = add_content(path, piece, digest, error);
    }
    if (status == ICESTREAM_OK) {
        ics_digest_text(digest, text);
    }
    ics_digest_destroy(digest);
    free(piece);
    return status;
}
