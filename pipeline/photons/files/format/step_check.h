/* The range of every field of a step (files.md 3.1). */
#ifndef ICS_PHOTONS_FILES_FORMAT_STEP_CHECK_H
#define ICS_PHOTONS_FILES_FORMAT_STEP_CHECK_H

#include "pipeline/icestream.h"

/* Checks steps; `first_row` is the number of the first one and `name` the file's name, for
 * error texts. spectrum_count: 1 .. 256. ICESTREAM_E_INPUT: names the first bad row and its first
 * bad field.
 */
int ics_step_check(const icestream_step *steps, size_t count, uint32_t spectrum_count,
                   const char *name, uint64_t first_row, icestream_error *error);

/* Normalises directions in double precision, and sets those that are ignored to (0, 0, 1). The
 * steps must have passed ics_step_check(). */
void ics_step_normalise(icestream_step *steps, size_t count);

/* The error of a step_id that is there twice in an event: in `row`, and before in `first_row`.
 * ICESTREAM_E_INPUT. */
int ics_step_check_duplicate(const char *name, const icestream_step *step, uint64_t row,
                             uint64_t first_row, icestream_error *error);

/* Checks the photons of all rows up to `row`. ICESTREAM_E_INPUT: 2^62 or more. */
int ics_step_check_total(const char *name, uint64_t row, uint64_t photons, icestream_error *error);

#endif
