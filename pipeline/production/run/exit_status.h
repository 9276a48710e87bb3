/* Decides the status of a run from the results of its units. */
#ifndef ICS_PRODUCTION_RUN_EXIT_STATUS_H
#define ICS_PRODUCTION_RUN_EXIT_STATUS_H

#include "pipeline/production/run/state.h"

/* Returns the status of the run after its loop has ended. ICESTREAM_OK: every unit has a result,
 * and none is quarantined. Fills `error` (may be NULL) with the reasons. */
int ics_run_decide_status(const ics_run_state *run, icestream_error *error);
/* Returns the number of files that the run leaves: units that were not finished, and files that it
 * has not claimed. */
size_t ics_run_left(const ics_run_state *run);

#endif
