/* The result of a run. */
#ifndef ICS_RUN_SUMMARY_H
#define ICS_RUN_SUMMARY_H

#include "pipeline/run/state.h"

/* The status of the run, from what became of its units (end.c). */
int ics_run_judge(const ics_run_state *run, icestream_error *error);
/* Number of finished units with a result (end.c). */
size_t ics_run_count(const ics_run_state *run, ics_unit_result result);
/* Number of units that were not finished (end.c). */
size_t ics_run_unfinished(const ics_run_state *run);

/* Writes summary.json; `result` is what icestream_run will return. ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_MEMORY. */
int ics_run_summary(const ics_run_state *run, const icestream_error *result,
                    icestream_error *error);
/* Removes the incomplete summaries of runs that were killed. ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_MEMORY. */
int ics_run_summary_clean(const ics_run_state *run, icestream_error *error);

/* With --resume, when the device is made: a hit file that the run would keep, and that was computed
 * with other maths than this device's, is ICESTREAM_E_OUTPUT; the error names all of them. Where
 * device.fallback allows to mix maths, a warning names them instead (resume.c).
 * ICESTREAM_E_MEMORY. */
int ics_run_check_maths(ics_run_state *run, icestream_error *error);

#endif
