/* The run as the owner of its engine (pipeline/engine): the engine reads checked units in their
 * order, and their hits go to the writers of the units. */
#ifndef ICS_RUN_PROPAGATE_H
#define ICS_RUN_PROPAGATE_H

#include "pipeline/run/state.h"

/* What the engine asks, and what it reports. */
ics_engine_owner ics_run_propagate_owner(ics_run_state *run);

extern const ics_run_part ics_run_propagate_part;

#endif
