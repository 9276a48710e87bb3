/* Clients that send steps through a socket. What they send becomes files in a folder of this run.
 * The intake claims these files like those of any folder, and the client gets the result as an
 * answer.
 */
#ifndef ICS_RUN_CLIENTS_H
#define ICS_RUN_CLIENTS_H

#include "pipeline/run/state.h"

/* Makes and locks the folder and listens, if source.listen is set. Call it before
 * ics_run_intake_open(). ICESTREAM_E_CONFIG, ICESTREAM_E_OUTPUT, ICESTREAM_E_FAILED if another run
 * uses the folder, ICESTREAM_E_MEMORY, and the errors of ics_listener_create. */
int ics_run_clients_open(ics_run_state *run, icestream_error *error);
/* Sends the result of a finished unit to its client, if the unit is a message of a client. */
void ics_run_clients_answer(ics_run_state *run, const ics_unit *unit);
/* Frees everything and unlocks the folder. Call it after the loop has ended. */
void ics_run_clients_destroy(ics_run_state *run);

extern const ics_run_part ics_run_clients_part;

#endif
