/* Units and their states. Only this file changes the state of a unit, by the rules of
 * pipeline/production/units/rules.h; the parts of the loop report events. */
#ifndef ICS_PRODUCTION_RUN_UNIT_STATES_H
#define ICS_PRODUCTION_RUN_UNIT_STATES_H

#include "pipeline/production/run/state.h"

/* Adds a unit behind all others. The run owns it from now on. */
void ics_run_unit_append(ics_run_state *run, ics_unit *unit);
/* Adds a unit directly behind `before`, which must be the last one that was opened, and opens it.
 */
void ics_run_unit_insert(ics_run_state *run, ics_unit *before, ics_unit *unit);
/* Opens a unit, or forgets what was read of an open one, so that it can be checked. None of its
 * jobs may be out. */
void ics_run_unit_open(ics_run_state *run, ics_unit *unit);

/* Frees the memory of a unit whose hits are written. None of its jobs may be out. */
void ics_run_unit_close(ics_run_state *run, ics_unit *unit);

/* Reports an event of a unit: changes its state and does what belongs to the new one. An event that
 * has no rule in the unit's state is an internal error, which ends the run. */
void ics_run_unit_event(ics_run_state *run, ics_unit *unit, ics_unit_event event);
/* The same for an event that decides about the result of the unit. */
void ics_run_unit_decide(ics_run_state *run, ics_unit *unit, ics_unit_event event,
                         ics_unit_result result);
/* Nothing more is done for a unit without a result: a job failed for good, or the run stops. Bad
 * input that is read is discarded all the same. */
void ics_run_unit_give_up(ics_run_state *run, ics_unit *unit);
/* The input of a unit is bad for this reason; the first reason counts. `goes_on`: it is a message
 * whose end can be found, so that it is read on if it is being read. */
void ics_run_unit_refuse(ics_run_state *run, ics_unit *unit, bool goes_on, const char *reason);
/* Whether the hits of the unit will be written, as far as is known now. */
bool ics_run_unit_has_use_for_hits(const ics_unit *unit);
/* A job of a unit failed with `error`: it will be tried again, or the run stops and the unit is
 * left unfinished, or the error ends the run.
 *
 * `blocked`: the name of the output of the unit belongs to something that can neither be used nor
 * moved. The step file is innocent, and so are all others. While the run waits for files, the unit
 * is tried again and again. Otherwise it is left: its claim is kept until the run ends and is given
 * back, and the run goes on and ends with ICESTREAM_E_OUTPUT. With fail_fast the error ends the
 * run. */
void ics_run_unit_trouble(ics_run_state *run, ics_unit *unit, ics_retry_what what, bool blocked,
                          const icestream_error *error);

/* Skips units that need no more of the parts from reading to writing. If units.forgets is set,
 * frees finished units at the front of the list. */
extern const ics_run_part ics_run_unit_part;

#endif
