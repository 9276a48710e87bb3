/* What `icestream info --digest` prints. Private to this folder. */
#ifndef ICS_COMMANDS_INFO_DIGESTS_H
#define ICS_COMMANDS_INFO_DIGESTS_H

#include "pipeline/icestream.h"

#include <stdio.h>

/* Writes the digests of any files, without reading them as rows: what sha256sum prints, and of a
 * large file the digest in parts, by which hits, journal and tickets name it. `json`: one object
 * for each file. Files that cannot be read are reported together: ICESTREAM_E_INPUT.
 * ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_info_digests(const char *const *paths, size_t count, bool json, FILE *out,
                     icestream_error *error);

#endif
