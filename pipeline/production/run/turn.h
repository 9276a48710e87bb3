/* One turn of the loop. */
#ifndef ICS_PRODUCTION_RUN_TURN_H
#define ICS_PRODUCTION_RUN_TURN_H

#include "pipeline/production/run/state.h"

/* Calls all parts of the loop in turn, so that they begin everything that can be begun now. False:
 * nothing is left to do, and the run ends. True: a job will come back, or a part waits for
 * something else; the loop must turn again then, and at jobs.wake_at. */
bool ics_run_turn(ics_run_state *run);

#endif
