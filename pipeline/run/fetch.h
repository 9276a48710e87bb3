/* source.fetch: a program of the user that fetches a step file whose name is a URL, before it is
 * checked. It runs while earlier step files are computed. */
#ifndef ICS_RUN_FETCH_H
#define ICS_RUN_FETCH_H

#include "pipeline/run/state.h"

/* If inputs are URLs, makes the folder for their files and gives them paths in it.
 * ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_run_fetch_open(ics_run_state *run, icestream_error *error);

/* Whether the file of the unit has to be fetched first: then the program is started, and `then` is
 * called when it has ended. If that failed, unit->work->read_error says why, and
 * unit->work->blocked is set. */
bool ics_run_fetch_begin(ics_run_state *run, ics_unit *unit,
                         void (*then)(ics_run_state *run, ics_unit *unit));

/* Removes the folder. Call it after the loop has ended. */
void ics_run_fetch_destroy(ics_run_state *run);

extern const ics_run_part ics_run_fetch_part;

#endif
