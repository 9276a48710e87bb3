/* A run that makes its steps itself, of particles or of a workload. */
#ifndef ICS_PRODUCTION_RUN_GENERATED_STEPS_H
#define ICS_PRODUCTION_RUN_GENERATED_STEPS_H

#include "pipeline/production/run/state.h"

/* When the inputs are known: chooses the file that keeps the steps, and says which light is not
 * used because a source is given. ICESTREAM_E_USAGE, ICESTREAM_E_CONFIG: what steps that the run
 * makes cannot do; ICESTREAM_E_OUTPUT: that file exists; ICESTREAM_E_MEMORY. */
int ics_run_generated_plan(ics_run_state *run, icestream_error *error);
/* Says what the run makes steps of, how many there will be, and what is doubtful about them. The
 * unit was checked. */
void ics_run_generated_log(ics_run_state *run, const ics_unit *unit);
/* Says what is doubtful about the particles of the unit. Of particles that come through a pipe it
 * is known when all were read. */
void ics_run_generated_warn(ics_run_state *run, const ics_unit *unit);

#endif
