/* Writes what pipeline/session/input_doubts.h finds into the log and the summary. */
#ifndef ICS_RUN_DOUBTS_H
#define ICS_RUN_DOUBTS_H

#include "pipeline/run/state.h"

/* Once the models are there. */
void ics_run_doubts_begin(ics_run_state *run);
/* Looks at the summary of a unit: of a file when it was checked, of a message when it was read. The
 * first unit with a fault is named, and later ones with the same fault are not. */
void ics_run_doubts_look(ics_run_state *run, const ics_unit *unit);
/* Looks at all steps of a unit that is open and has been read to its end. */
void ics_run_doubts_look_at_all(ics_run_state *run, const ics_unit *unit);
/* Writes a warning about an input into the log, and into the summary at the end. */
void ics_run_doubts_warn(ics_run_state *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* At the end of a run: says in a line that there are no hits or no photo-electrons, or that
 * run.bounce_limit stopped photons, and why that may be. */
void ics_run_doubts_end(ics_run_state *run);
/* Frees the warnings. */
void ics_run_doubts_destroy(ics_run_state *run);
/* All warnings of the run as a list of texts, those about models first. NULL: out of memory. */
json_t *ics_run_doubts_json(const ics_run_state *run);

#endif
