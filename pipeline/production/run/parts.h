/* The parts that lead a unit from its source to the end of its claim, in this order, and what other
 * files ask of them. state.h says what a part is; unit_states.h and disk_full.h are two more. */
#ifndef ICS_PRODUCTION_RUN_PARTS_H
#define ICS_PRODUCTION_RUN_PARTS_H

#include "pipeline/production/run/state.h"

/* ---- clients ---------------------------------------------------------------------------------
 *
 * Clients that send steps through a socket. What they send becomes files in a folder of this run.
 * The intake claims these files like those of any folder, and the client gets the result as an
 * answer. */

/* Makes and locks the folder and listens, if source.listen is set. Call it before
 * ics_run_intake_open(). ICESTREAM_E_CONFIG, ICESTREAM_E_OUTPUT, ICESTREAM_E_FAILED if another run
 * uses the folder, ICESTREAM_E_MEMORY, and the errors of ics_listener_create. */
int ics_run_clients_open(ics_run_state *run, icestream_error *error);
/* Sends the result of a finished unit to its client, if the unit is a message of a client. */
void ics_run_clients_answer(ics_run_state *run, const ics_unit *unit);
/* Frees everything and unlocks the folder. Call it after the loop has ended. */
void ics_run_clients_destroy(ics_run_state *run);

extern const ics_run_part ics_run_clients_part;

/* ---- intake ----------------------------------------------------------------------------------
 *
 * The intake claims step files from source.directory and from clients, as long as the run has room
 * for more units. Heartbeats renew its claims, and claims that the run does not use go back to
 * other workers. The I/O thread does everything that waits for a file system. */

/* Opens the spool of the claims, and with source.watch creates the watch of the folder. Without
 * source.directory and source.listen it does nothing. ICESTREAM_E_CONFIG, ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_FAILED, ICESTREAM_E_MEMORY. */
int ics_run_intake_open(ics_run_state *run, icestream_error *error);
/* Begins to look for files and to send heartbeats. The loop calls it when it begins. */
void ics_run_intake_begin_watch(ics_run_state *run);
/* Counts the files that the run leaves and has not claimed (`left`, `left_error`). Call it after
 * the loop has ended: it looks through the folder if something asked for a look that was not made.
 * A run that ends at once does not wait for the broker of a queue. */
void ics_run_intake_count_left(ics_run_state *run);
/* Frees everything. Call it after the last job of the I/O thread. */
void ics_run_intake_destroy(ics_run_state *run);

extern const ics_run_part ics_run_intake_part;

/* ---- fetch -----------------------------------------------------------------------------------
 *
 * source.fetch: a program of the user that fetches a step file whose name is a URL, before it is
 * checked. It runs while earlier step files are computed. */

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

/* ---- check -----------------------------------------------------------------------------------
 *
 * The first part for a unit: a reader opens and checks it. */

/* A reader failed, while it checked the unit or cut it into batches. Batches of the unit may still
 * be out; the unit waits for them in its new state. */
void ics_run_read_failed(ics_run_state *run, ics_unit *unit, const icestream_error *error);
/* Counts step files without a record of light, and warns of accepted light. */
void ics_run_note_light(ics_run_state *run, const ics_unit *unit);

extern const ics_run_part ics_run_check_part;

/* ---- propagate -------------------------------------------------------------------------------
 *
 * The run as the owner of its engine (pipeline/photons/engine): the engine reads checked units in
 * their order, and their hits go to the writers of the units. */

/* What the engine asks, and what it reports. */
ics_engine_owner ics_run_propagate_owner(ics_run_state *run);

extern const ics_run_part ics_run_propagate_part;

/* ---- write -----------------------------------------------------------------------------------
 *
 * The hits of units whose batches are back: written to a file or a message, or discarded if the
 * input is bad. */

extern const ics_run_part ics_run_write_part;

/* ---- command ---------------------------------------------------------------------------------
 *
 * sink.ship, sink.verify and sink.command: programs of the user for every finished hit file,
 * started without a shell, one after the other.
 *
 * They must succeed (exit status 0) before the claim of a unit is ended, so a worker that finds the
 * claim expired starts them again. If sink.verify fails, the hit file is shipped again. A program
 * that fails is tried again after growing delays: as long as the run lasts if the run waits for
 * files, and otherwise a few times. Then the claim is kept until the run ends and is given back,
 * and the run ends with an error. */

/* The number of step files whose hits are written, and for which the program has failed or was not
 * started before the run ended. They are not done; the result UNDELIVERED is not counted. */
size_t ics_run_command_count_failed(const ics_run_state *run);
/* Frees the list of programs. Call it after the loop has ended. */
void ics_run_command_destroy(ics_run_state *run);

extern const ics_run_part ics_run_command_part;

/* ---- ending ----------------------------------------------------------------------------------
 *
 * The last part for a unit: its claim is ended or given back, on the I/O thread. A unit without a
 * claim only gets its line in the journal there, if it needs one. */

extern const ics_run_part ics_run_ending_part;

/* ---- save ------------------------------------------------------------------------------------
 *
 * Checkpoints of step files: what a run takes over from an earlier one, and what it keeps of units
 * that it cannot finish. */

/* The unit was checked: counts and reports what its checkpoint had. */
void ics_run_save_continue(ics_run_state *run, ics_unit *unit);

/* At the end of the run, writes the hits of unfinished units to their checkpoints, unless the run
 * was cancelled. */
extern const ics_run_part ics_run_save_part;

#endif
