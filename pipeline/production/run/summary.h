/* summary.json: the result of a run, for programs. */
#ifndef ICS_PRODUCTION_RUN_SUMMARY_H
#define ICS_PRODUCTION_RUN_SUMMARY_H

#include "pipeline/production/run/state.h"

/* Writes the summary; `result` is what icestream_run will return. ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_MEMORY. */
int ics_run_summary(const ics_run_state *run, const icestream_error *result,
                    icestream_error *error);
/* Chooses and locks the names of the summary and of the metrics file, so that runs at the same time
 * do not overwrite each other's, and removes incomplete summaries of killed runs.
 * ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_run_summary_open(ics_run_state *run, icestream_error *error);

#endif
