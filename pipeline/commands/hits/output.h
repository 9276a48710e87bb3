/* The file that a command writes about hits. */
#ifndef ICS_COMMANDS_HITS_OUTPUT_H
#define ICS_COMMANDS_HITS_OUTPUT_H

#include "base/error.h"

/* Checks --output of `command` before it computes: the name is given, ends with ".npy" and is none
 * of inputs[count] (NULL: no input); "-" is standard output, which must not be a terminal.
 * ICESTREAM_E_USAGE. */
int ics_hits_output_check(const char *command, const char *output, const char *const *inputs,
                          size_t count, icestream_error *error);

#endif
