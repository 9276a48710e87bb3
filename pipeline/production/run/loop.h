/* The loop of a run, its signals and its timers. */
#ifndef ICS_PRODUCTION_RUN_LOOP_H
#define ICS_PRODUCTION_RUN_LOOP_H

#include "pipeline/production/run/state.h"

/* Makes the loop and its mailbox, and listens for signals: a signal that comes before
 * ics_run_loop_run() is handled there. ICESTREAM_E_FAILED, ICESTREAM_E_MEMORY. */
int ics_run_loop_open(ics_run_state *run, icestream_error *error);
/* Runs until nothing is left to do or the run was stopped. */
void ics_run_loop_run(ics_run_state *run);
/* Closes the loop. Call it after all workers have ended. Accepts a loop that was never opened. */
void ics_run_loop_close(ics_run_state *run);

#endif
