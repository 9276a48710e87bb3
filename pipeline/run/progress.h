/* How far a run is, for people and for monitoring. */
#ifndef ICS_RUN_PROGRESS_H
#define ICS_RUN_PROGRESS_H

#include "pipeline/run/state.h"

/* Shows the progress in the log and to the service manager. */
void ics_run_progress_show(ics_run_state *run);
/* Publishes the metrics and writes them to their file, on the I/O thread. */
void ics_run_progress_publish(ics_run_state *run);
/* Writes the metrics to their file, on the caller's thread: the loop has ended. */
void ics_run_progress_publish_last(ics_run_state *run);

#endif
