/* sink.ship, sink.verify and sink.command: programs of the user for every finished hit file,
 * started without a shell, one after the other.
 *
 * They must succeed (exit status 0) before the claim of a unit is ended, so a worker that finds the
 * claim expired starts them again. If sink.verify fails, the hit file is shipped again. A program
 * that fails is tried again after
 * growing delays: as long as the run lasts if the run waits for files, and otherwise a few times.
 * Then the claim is kept until the run ends and is given back, and the run ends with an error. */
#ifndef ICS_RUN_COMMAND_H
#define ICS_RUN_COMMAND_H

#include "pipeline/run/state.h"

/* The number of step files whose hits are written, and for which the program has failed or was not
 * started before the run ended. They are not done; the result UNDELIVERED is not counted. */
size_t ics_run_command_count_failed(const ics_run_state *run);
/* Frees the list of programs. Call it after the loop has ended. */
void ics_run_command_destroy(ics_run_state *run);

extern const ics_run_part ics_run_command_part;

#endif
