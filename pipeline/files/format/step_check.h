/* The range of every field of a step (formats.md, Step). */
#ifndef IS_STEP_CHECK_H
#define IS_STEP_CHECK_H

#include "pipeline/icestream.h"

/* Checks steps; `first_row` is the number of the first one and `name` the file's name, for
 * messages. spectrum_count: 1 .. 256. IS_E_INPUT: names the first bad row and its first bad field.
 */
int is_step_check(const is_step *steps, size_t count, uint32_t spectrum_count, const char *name,
                  uint64_t first_row, is_error *error);

/* Makes directions exactly unit vectors, in double precision; (0, 0, 1) where they are ignored. The
 * steps must have passed is_step_check. */
void is_step_normalise(is_step *steps, size_t count);

#endif
