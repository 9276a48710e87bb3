/* The digest of a hit file, for the journal. */
#ifndef ICS_UNITS_OUTPUT_DIGEST_H
#define ICS_UNITS_OUTPUT_DIGEST_H

#include "pipeline/files/digest.h"

/* Writes the SHA-256 of a file that was just written. The text is empty if the file cannot be read
 * or if there is no memory: the file is complete all the same. Any thread; waits for the disk. */
void ics_output_digest_of(const char *path, char text[ICS_DIGEST_TEXT]);

#endif
