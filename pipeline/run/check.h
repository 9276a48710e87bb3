/* The first part for a unit: a reader opens and checks it. */
#ifndef ICS_RUN_CHECK_H
#define ICS_RUN_CHECK_H

#include "pipeline/run/state.h"

/* A reader failed, while it checked the unit or cut it into batches. Batches of the unit may still
 * be out; the unit waits for them in its new state. */
void ics_run_read_failed(ics_run_state *run, ics_unit *unit, const icestream_error *error);
/* Counts step files without a record of light, and warns of accepted light. */
void ics_run_note_light(ics_run_state *run, const ics_unit *unit);

extern const ics_run_part ics_run_check_part;

#endif
