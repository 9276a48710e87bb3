/* Files from source.directory and from clients. They are claimed while there is room for units and
 * kept alive by heartbeats. Claims that are not used go back to other workers. Everything that
 * waits for a file system is done by the I/O thread. */
#ifndef ICS_RUN_INTAKE_H
#define ICS_RUN_INTAKE_H

#include "pipeline/run/state.h"

/* Becomes the owner of the claims, and watches the folder. Without source.directory and
 * source.listen it does nothing. ICESTREAM_E_CONFIG, ICESTREAM_E_OUTPUT, ICESTREAM_E_FAILED,
 * ICESTREAM_E_MEMORY. */
int ics_run_intake_open(ics_run_state *run, icestream_error *error);
/* The loop begins: looks for files, and sends heartbeats. */
void ics_run_intake_begin_watch(ics_run_state *run);
/* Whether there may be files that the run has not claimed. */
bool ics_run_intake_expects_files(const ics_run_state *run);
/* After the last job of the I/O thread. */
void ics_run_intake_destroy(ics_run_state *run);

extern const ics_run_step ics_run_intake_step;

#endif
