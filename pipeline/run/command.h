/* sink.command: a program of the user for every finished hit file, started without a shell.
 *
 * The program runs before the claim of the unit is ended: a worker that finds the claim expired
 * starts the program again. */
#ifndef ICS_RUN_COMMAND_H
#define ICS_RUN_COMMAND_H

#include "pipeline/run/state.h"

/* Frees the list of started commands. Call it after the loop has ended. */
void ics_run_command_destroy(ics_run_state *run);

extern const ics_run_part ics_run_command_part;

#endif
