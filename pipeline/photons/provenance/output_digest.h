/* The digest of a hit file, for the journal. */
#ifndef ICS_PHOTONS_PROVENANCE_OUTPUT_DIGEST_H
#define ICS_PHOTONS_PROVENANCE_OUTPUT_DIGEST_H

#include "pipeline/photons/files/format/digest.h"

enum {
    /* Files up to this size have a plain SHA-256; parts of larger files have this size (bytes). */
    ICS_OUTPUT_PART = 16 << 20,
    /* A SHA-256, "-", a number of parts, and the terminating zero. */
    ICS_OUTPUT_DIGEST_TEXT = ICS_DIGEST_TEXT + 21
};

/* Writes the SHA-256 of a file, as sha256sum prints it. After an error the text is empty. Any
 * thread; waits for the disk. ICESTREAM_E_OUTPUT: the file cannot be read, the cause says why;
 * ICESTREAM_E_MEMORY. */
int ics_output_digest_of(const char *path, char text[ICS_DIGEST_TEXT], icestream_error *error);

/* Writes the digest of a file that was just written. A file of at most ICS_OUTPUT_PART bytes: its
 * SHA-256. A larger file of N parts (the last one may be shorter): the SHA-256 of the lines that
 * `sha256sum` prints of the parts, each read from its standard input, then "-N". The parts are read
 * on several threads at the same time, because one thread needs longer for the SHA-256 of many hits
 * than a GPU needs for their photons. Errors as of ics_output_digest_of(); the file is complete all
 * the same. */
int ics_output_digest_in_parts(const char *path, char text[ICS_OUTPUT_DIGEST_TEXT],
                               icestream_error *error);

#endif
