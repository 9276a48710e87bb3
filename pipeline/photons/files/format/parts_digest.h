/* The digest of a large file in parts, which several threads read at the same time: SHA-256 of one
 * stream of bytes cannot be divided, and a thread needs longer for it than a GPU for the photons.
 *
 * A file of at most ICS_DIGEST_PART bytes has a plain SHA-256, as sha256sum prints it. A larger one
 * of N parts (the last one may be shorter) has the SHA-256 of the lines that `sha256sum` prints of
 * the parts, each read from its standard input, then "-N" (docs/telemetry.md). */
#ifndef ICS_PHOTONS_FILES_FORMAT_PARTS_DIGEST_H
#define ICS_PHOTONS_FILES_FORMAT_PARTS_DIGEST_H

#include "pipeline/photons/files/format/digest.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    ICS_DIGEST_PART = 16 << 20, /* bytes */
    /* A SHA-256, "-", a number of parts, and the terminating zero. */
    ICS_PARTS_DIGEST_TEXT = ICS_DIGEST_TEXT + 21
};

/* Whether a text is a SHA-256 in 64 lower-case hexadecimal digits, with or without "-N". */
bool ics_parts_digest_is_text(const char *text, size_t size);
/* Whether such a text has "-N". */
bool ics_parts_digest_has_parts(const char *text);

/* A file to digest. */
typedef struct ics_parts_digest_order {
    int descriptor;
    const char *name; /* in error texts */
    uint64_t bytes;   /* size of the file; if it has become shorter, parts end where it ends */
    size_t threads;   /* largest number of threads, >= 1 */
    void *user;
    /* Gets everything that is read, in ascending order within a part, on any of the threads. NULL:
     * nothing does. */
    void (*take)(void *user, uint64_t offset, const unsigned char *bytes, size_t size);
    /* Returns true if the digest is wanted no more; NULL: it is. */
    bool (*is_stopped)(void *user);
} ics_parts_digest_order;

/* Writes the digest. Any thread; waits for the disk. After an error the text is empty.
 * ICESTREAM_E_INPUT: the file cannot be read, the cause says why; ICESTREAM_E_INTERRUPTED;
 * ICESTREAM_E_MEMORY. */
int ics_parts_digest_of(const ics_parts_digest_order *order, char text[ICS_PARTS_DIGEST_TEXT],
                        icestream_error *error);
/* Writes the SHA-256 of all bytes, as sha256sum prints it, whatever the size. The same errors. */
int ics_parts_digest_plain(const ics_parts_digest_order *order, char text[ICS_DIGEST_TEXT],
                           icestream_error *error);

#endif
