/* How far a run is, for people and for monitoring. */
#ifndef ICS_PRODUCTION_RUN_PROGRESS_H
#define ICS_PRODUCTION_RUN_PROGRESS_H

#include "pipeline/production/run/state.h"

/* Notes whether the run waits for steps from now on: such time is no part of its speed. To be
 * called after every turn. */
void ics_run_progress_note_waiting(ics_run_state *run);
/* Shows the progress in the log and to the service manager. */
void ics_run_progress_show(ics_run_state *run);
/* Publishes the metrics, and now and then writes them to their file, on the I/O thread. To be
 * called every second. */
void ics_run_progress_publish(ics_run_state *run);
/* Writes a sample into the journal if it is time for one, or, when the loop has ended, the `last`
 * one.
 */
void ics_run_progress_sample(ics_run_state *run, bool last);
/* Writes the last metrics to their file and publishes them, on the caller's thread: the loop has
 * ended. */
void ics_run_progress_publish_last(ics_run_state *run, int exit_status);

#endif
