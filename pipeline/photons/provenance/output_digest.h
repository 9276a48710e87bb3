/* The digest of a hit file, for the journal. */
#ifndef ICS_PHOTONS_PROVENANCE_OUTPUT_DIGEST_H
#define ICS_PHOTONS_PROVENANCE_OUTPUT_DIGEST_H

#include "pipeline/photons/files/format/parts_digest.h"

/* Writes the SHA-256 of a file, as sha256sum prints it. After an error the text is empty. Any
 * thread; waits for the disk. ICESTREAM_E_OUTPUT: the file cannot be read, the cause says why;
 * ICESTREAM_E_MEMORY. */
int ics_output_digest_of(const char *path, char text[ICS_DIGEST_TEXT], icestream_error *error);

/* Writes the digest of a file that was just written, of a large one in parts (parts_digest.h).
 * Errors as of ics_output_digest_of(); the file is complete all the same. */
int ics_output_digest_in_parts(const char *path, char text[ICS_PARTS_DIGEST_TEXT],
                               icestream_error *error);

#endif
