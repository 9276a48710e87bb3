/* Checks of a whole array of steps, those that ics_step_reader_check() makes of a file. */
#ifndef ICS_SESSION_STEP_ARRAY_H
#define ICS_SESSION_STEP_ARRAY_H

#include "pipeline/icestream.h"

/* Checks every field of every step, and that step ids are unique within their events. *photons:
 * the sum over all steps. `spectrum_count`: 1 .. 256. `name`: of the steps, for messages.
 * ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_step_array_check(const icestream_step *steps, size_t count, uint32_t spectrum_count,
                         const char *name, uint64_t *photons, icestream_error *error);

#endif
