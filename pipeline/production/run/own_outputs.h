/* What a run writes about itself, and names in the folder of the step files that belong to outputs
 * of runs, and are never claimed: hit files, and the journal, the summary and the metrics of this
 * run if they are in this folder. */
#ifndef ICS_PRODUCTION_RUN_OWN_OUTPUTS_H
#define ICS_PRODUCTION_RUN_OWN_OUTPUTS_H

#include "pipeline/production/run/state.h"

/* Returns DIRECTORY/NAME in sink.directory, or a copy of the name that is configured instead (NULL:
 * none), for the caller to free. */
char *ics_run_name_in_sink(const ics_run_state *run, const char *configured, const char *name);
/* Names the journal, the summary and the metrics (run->records), and checks that they destroy no
 * file that is something else. Called before the run writes anything. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_USAGE (the name is that of an option). */
int ics_run_own_outputs_check(ics_run_state *run, icestream_error *error);
/* Finds out which outputs of the run are in the folder of the step files. ICESTREAM_E_MEMORY. */
int ics_run_own_outputs_find(ics_run_state *run, icestream_error *error);
/* Frees the names. */
void ics_run_own_outputs_destroy(ics_run_state *run);

#endif
