/* `icestream info` for a checkpoint: how much of a step file is computed, and where it was begun.
 */
#ifndef ICS_COMMANDS_INFO_CHECKPOINT_H
#define ICS_COMMANDS_INFO_CHECKPOINT_H

#include "pipeline/icestream.h"

/* Prints the description, as text or as one JSON object, with `is_list` in one line. Check
 * ferror(out) afterwards. ICESTREAM_E_INPUT: the checkpoint cannot be read; ICESTREAM_E_MEMORY. */
int ics_info_checkpoint(const char *path, bool json, bool is_list, FILE *out,
                        icestream_error *error);

#endif
