/* Creates what a run needs before its loop begins, and frees it after the loop has ended: models,
 * tables, the device, workers, the list of units. */
#ifndef ICS_PRODUCTION_RUN_SETUP_H
#define ICS_PRODUCTION_RUN_SETUP_H

#include "pipeline/production/run/state.h"

/* Loads models, builds tables, plans inputs and outputs, starts device and workers. After a failure
 * ics_run_teardown() must still be called. */
int ics_run_setup(ics_run_state *run, icestream_error *error);
/* Stops the workers and frees everything. */
void ics_run_teardown(ics_run_state *run);

#endif
