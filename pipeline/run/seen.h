/* What a run notices in the events of its inputs: events that another input has as well. */
#ifndef ICS_RUN_SEEN_H
#define ICS_RUN_SEEN_H

#include "pipeline/run/state.h"

/* Warns once in a run of an input that has events of an earlier input. The unit is open, and has
 * been read to its end. Memory is limited: the oldest inputs are forgotten. */
void ics_run_seen_look(ics_run_state *run, const ics_unit *unit);
void ics_run_seen_destroy(ics_run_state *run);

#endif
