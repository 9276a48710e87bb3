/* Writes what pipeline/photons/session/input_warnings.h finds into the log and the summary. */
#ifndef ICS_PRODUCTION_RUN_WARNINGS_H
#define ICS_PRODUCTION_RUN_WARNINGS_H

#include "pipeline/production/run/state.h"

/* Once the models are there. */
void ics_run_warnings_begin(ics_run_state *run);
/* Looks at the summary of a unit: of a file when it was checked, of a message when it was read. The
 * first unit with a fault is named, and later ones with the same fault are not. */
void ics_run_warnings_check_first(ics_run_state *run, const ics_unit *unit);
/* Looks at all steps of a unit that is open and has been read to its end. */
void ics_run_warnings_check_all(ics_run_state *run, const ics_unit *unit);
/* Writes a warning about an input into the log, and into the summary at the end. */
void ics_run_warnings_add(ics_run_state *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* At the end of a run: says in a line that there are no hits or no photo-electrons, or that
 * run.bounce_limit stopped photons, and why that may be. */
void ics_run_warnings_check_results(ics_run_state *run);
/* Frees the warnings. */
void ics_run_warnings_destroy(ics_run_state *run);
/* All warnings of the run as a list of texts, those about models first. NULL: out of memory. */
json_t *ics_run_warnings_json(const ics_run_state *run);

#endif
