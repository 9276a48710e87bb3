/* The intake claims step files from source.directory and from clients, as long as the run has room
 * for more units. Heartbeats renew its claims, and claims that the run does not use go back to
 * other workers. The I/O thread does everything that waits for a file system. */
#ifndef ICS_RUN_INTAKE_H
#define ICS_RUN_INTAKE_H

#include "pipeline/run/state.h"

/* Opens the spool of the claims, and with source.watch creates the watch of the folder. Without
 * source.directory and source.listen it does nothing. ICESTREAM_E_CONFIG, ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_FAILED, ICESTREAM_E_MEMORY. */
int ics_run_intake_open(ics_run_state *run, icestream_error *error);
/* Begins to look for files and to send heartbeats. The loop calls it when it begins. */
void ics_run_intake_begin_watch(ics_run_state *run);
/* Whether the run leaves files that it has not claimed. Call it after the loop has ended: it looks
 * through the folder if something asked for a look that was not made. A folder that cannot be
 * looked through may have files. */
bool ics_run_intake_left_files(const ics_run_state *run);
/* Frees everything. Call it after the last job of the I/O thread. */
void ics_run_intake_destroy(ics_run_state *run);

extern const ics_run_part ics_run_intake_part;

#endif
