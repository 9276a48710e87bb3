/* Checkpoints of step files: what a run takes over from an earlier one, and what it keeps of units
 * that it cannot finish. */
#ifndef ICS_RUN_SAVE_H
#define ICS_RUN_SAVE_H

#include "pipeline/run/state.h"

/* The unit was checked: counts and reports what its checkpoint had. */
void ics_run_save_continue(ics_run_state *run, ics_unit *unit);

/* At the end of the run, writes the hits of unfinished units to their checkpoints, unless the run
 * was cancelled. */
extern const ics_run_part ics_run_save_part;

#endif
