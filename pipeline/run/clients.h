/* Clients that send steps through a socket. What they send becomes files in a folder of this run.
 * The intake claims these files like those of any folder, and the client gets the result as an
 * answer.
 */
#ifndef ICS_RUN_CLIENTS_H
#define ICS_RUN_CLIENTS_H

#include "pipeline/run/state.h"

/* Listens if source.listen is set; before the intake is opened. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY, and the errors of ics_listener_create. */
int ics_run_clients_open(ics_run_state *run, icestream_error *error);
/* Sends the result of a finished unit to its client, if the unit is a message of a client. */
void ics_run_clients_answer(ics_run_state *run, const ics_unit *unit);
/* After the loop. */
void ics_run_clients_destroy(ics_run_state *run);

extern const ics_run_step ics_run_clients_step;

#endif
