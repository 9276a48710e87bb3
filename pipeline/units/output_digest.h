/* The digest of a hit file, for the journal. */
#ifndef ICS_UNITS_OUTPUT_DIGEST_H
#define ICS_UNITS_OUTPUT_DIGEST_H

#include "pipeline/files/format/digest.h"

/* Writes the SHA-256 of a file that was just written. After an error the text is empty, and the
 * file is complete all the same. Any thread; waits for the disk. ICESTREAM_E_OUTPUT: the file
 * cannot be read, the cause says why; ICESTREAM_E_MEMORY. */
int ics_output_digest_of(const char *path, char text[ICS_DIGEST_TEXT], icestream_error *error);

#endif
