/* How a run is stopped, and which error stopped it. */
#ifndef ICS_PRODUCTION_RUN_STOP_H
#define ICS_PRODUCTION_RUN_STOP_H

#include "pipeline/production/run/state.h"

/* Whether no more work is begun. Batches that are made are still finished. */
bool ics_run_is_stopping(const ics_run_state *run);
/* Whether the run is cancelled: nothing more is computed or written. */
bool ics_run_is_cancelled(const ics_run_state *run);
/* Stops the run: no more work is begun. May be called again. */
void ics_run_stop_reading(ics_run_state *run);
/* Stops and cancels the run. May be called again. */
void ics_run_cancel(ics_run_state *run);
/* Cancels the run because of an error. The first error counts. ICESTREAM_E_INTERRUPTED is ignored,
 * because a thread returns it when it obeys a stop. */
void ics_run_fail(ics_run_state *run, const icestream_error *cause);

#endif
