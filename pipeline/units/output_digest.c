#include "pipeline/units/output_digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 20 }; /* bytes that are read at a time */

/* Adds the content of an open file. False: it cannot be read to its end. */
static bool add_content(int descriptor, unsigned char *piece, ics_digest *digest)
{
    ssize_t got = 0;
    do {
        got = TEMP_FAILURE_RETRY(read(descriptor, piece, PIECE));
        if (got > 0) {
            ics_digest_add(digest, piece, (size_t)got);
        }
    } while (got > 0);
    return got == 0;
}

void ics_output_digest_of(const char *path, char text[ICS_DIGEST_TEXT])
{
    icestream_error error = {.status = ICESTREAM_OK};
    ics_digest *digest = NULL;
    unsigned char *piece = malloc(PIECE);
    const int descriptor = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
    text[0] = '\0';
    if (piece != NULL && descriptor >= 0 && ics_digest_create(&digest, &error) == ICESTREAM_OK &&
        add_content(descriptor, piece, digest)) {
        ics_digest_text(digest, text);
    }
    ics_digest_destroy(digest);
    if (descriptor >= 0) {
        close(descriptor);
    }
    free(piece);
}
