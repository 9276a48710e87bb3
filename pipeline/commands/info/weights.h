/* `icestream info` for files of weights and of derivatives (files.md 14, 15). */
#ifndef ICS_COMMANDS_INFO_WEIGHTS_H
#define ICS_COMMANDS_INFO_WEIGHTS_H

#include "pipeline/commands/info/table.h"

/* Whether a file ends with the trailer of such a file. */
bool ics_info_weights_is(const char *npy);

/* Checks metadata and checksums of the file `npy`, and prints its description with the name `path`.
 * Check ferror(out) afterwards. ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_info_weights(const char *path, const char *npy, ics_info_form form, FILE *out,
                     icestream_error *error);

#endif
