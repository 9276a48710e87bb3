/* The state of a session (icestream_session.h), which all files of this folder share.
 *
 * A ticket is the work of one submission. Callers of the public functions make tickets and look at
 * them; one thread, the driver, owns an engine (pipeline/photons/engine), which propagates their
 * steps. The lock protects what a caller and the driver both use; what only the driver uses needs
 * no lock.
 *
 * The files, from the lowest to the highest:
 *   world        models and tables of a configuration, for sessions, runs and commands
 *   seen_events  finds events that two inputs have
 *   input_warnings  what is most likely a mistake in inputs and results, for sessions and runs
 *   session_state  this header: the structs, and the checks that every call begins with
 *   ticket       makes, finishes and frees tickets, and finds them by their numbers
 *   notes        the lines that a run would log
 *   light        the configuration of steps that a session makes itself, and the record of others
 *   ticket_source  the source of a ticket: an array, or light that the session makes
 *   driver       the thread, which names the ticket that is propagated next
 *   session_struct  the structs that callers pass, in other versions than this one
 *   submit       icestream_session_submit
 *   session      opens and closes sessions, waits for tickets and hands them over
 */
#ifndef ICS_PHOTONS_SESSION_STATE_H
#define ICS_PHOTONS_SESSION_STATE_H

#include "base/cleanup.h"
#include "pipeline/photons/engine/engine.h"
#include "pipeline/photons/engine/memory_sink.h"
#include "pipeline/photons/generator/step_generator.h"
#include "pipeline/photons/session/input_warnings.h"
#include "pipeline/photons/session/world.h"

#include <pthread.h>
#include <sys/types.h>

/* Notes that are kept for icestream_session_next_note(), and tickets whose particles are read from
 * pipes at the same time. */
enum { ICS_SESSION_NOTES = 1000, ICS_SESSION_PIPES = 16 };

typedef struct ics_ticket {
    TAILQ_ENTRY(ics_ticket) link; /* of `waiting` or `finished` of the session */
    icestream_session *session;
    uint64_t number;

    /* Constant. */
    char *name;                  /* of the steps, for messages */
    const icestream_step *steps; /* [step_count]; NULL: they are made */
    icestream_step *copy;        /* the same, if they are not lent */
    size_t step_count;
    uint64_t photons;        /* of all steps; UINT64_MAX: not known */
    icestream_config *light; /* what steps are made of; NULL: they were given */
    bool is_late;            /* the particles come through a pipe */
    int wake; /* an eventfd, readable once the ticket is cancelled; -1: steps were given */

    atomic_bool cancelled;

    /* These belong to the driver or, while work->job is out, to the thread that waits for the pipe.
     */
    ics_step_generator *generator;
    ics_step_extent extent; /* of the first steps */
    size_t next_row;        /* of `steps`, or steps that were made */

    /* The driver's. */
    ics_propagation *work; /* NULL: not begun, or ended */
    ics_memory_sink sink;
    ics_workers *reader; /* one thread, for a pipe; NULL: not started, or there is no pipe */
    bool was_looked_at;  /* for warnings about its first steps */
    bool at_end;         /* no more batches are made */
    bool is_read;        /* it is not in `waiting` any more */

    /* Protected by the lock of the session. */
    int state; /* ICESTREAM_TICKET_... */
    ics_error_kept error;
    uint64_t steps_read;
    icestream_account account;
    double submitted, started, finished; /* ics_clock_seconds() (s); 0: not yet */
    double thread_seconds;               /* s */
    icestream_hit *hits;                 /* [hit_count] */
    size_t hit_count;
} ics_ticket;

typedef TAILQ_HEAD(ics_ticket_queue, ics_ticket) ics_ticket_queue;

struct icestream_session {
    pid_t process; /* that opened the session */
    icestream_config *config;
    icestream_session_options options;
    ics_world world;
    json_t *record; /* of the light that suits the session (light_record.h) */
    ics_device_options device_options;
    ics_engine *engine;
    uint32_t makers;    /* threads that make the steps of a ticket */
    atomic_bool cancel; /* batches end early: the session is closed */
    double opened;      /* ics_clock_seconds() (s) */
    int descriptor;     /* an eventfd, readable while `finished` is not empty */

    ics_workers *driver; /* one thread, which runs `drive` until the session is closed */
    ics_job drive;
    /* The driver's. */
    ics_input_warnings warnings;
    uint64_t succeeded; /* tickets */
    uint32_t pipes;     /* tickets that have a reader */

    pthread_mutex_t lock;     /* protects what follows */
    pthread_cond_t changed;   /* a ticket is finished, or the session is closed */
    bool closing;             /* no more submissions */
    bool has_ended;           /* the driver has ended all tickets */
    bool cancels;             /* a ticket that is not finished was cancelled */
    uint64_t numbers;         /* the number of the last ticket */
    uint64_t kept;            /* memory of the tickets in `finished` (bytes) */
    ics_ticket_queue waiting; /* tickets whose steps are not all in batches */
    ics_ticket_queue finished;
    ics_ticket **tickets; /* [ticket_count], all, by ascending numbers */
    size_t ticket_count, ticket_capacity, unfinished;
    ics_warnings notes;  /* for icestream_session_next_note */
    size_t notes_read;   /* how many of them were returned */
    uint64_t notes_lost; /* for which there was no room or no memory */
    bool noted_no_record, noted_mismatch;
};

/* Begins every public function: the session exists and belongs to this process. ICESTREAM_E_USAGE.
 */
int ics_session_check(const icestream_session *session, icestream_error *error);
/* Ends a public function: copies the error to the caller, unless NULL was given. Returns the
 * status. */
int ics_session_answer(int status, const icestream_error *why, icestream_error *error);

/* ---- ticket ---------------------------------------------------------------------------------- */

/* Makes an empty ticket. The caller frees it, or adds it to a session. ICESTREAM_E_MEMORY. */
int ics_ticket_create(ics_ticket **out, icestream_error *error);
/* Frees a ticket with its hits. Accepts NULL. */
void ics_ticket_destroy(ics_ticket *ticket);
ICS_CAN_DESTROY(ics_ticket, ics_ticket_destroy)

/* Gives the ticket its number and adds it to `waiting`. The caller holds the lock.
 * ICESTREAM_E_MEMORY. */
int ics_ticket_add(icestream_session *session, ics_ticket *ticket, icestream_error *error);
/* Finds a ticket; NULL: there is none with this number. The caller holds the lock. */
ics_ticket *ics_ticket_find(const icestream_session *session, uint64_t number);
/* Takes a finished ticket out of the session. The caller holds the lock. */
void ics_ticket_remove(icestream_session *session, ics_ticket *ticket);

/* Keeps the first error of a ticket, which gets no more batches. On the driver. */
void ics_ticket_fail(icestream_session *session, ics_ticket *ticket, const icestream_error *error);
/* Ends a ticket because the session is closed. On the driver. */
void ics_ticket_interrupt(icestream_session *session, ics_ticket *ticket);
/* Puts the hits together and makes the ticket known as finished. On the driver; no batch of the
 * ticket is out. */
void ics_ticket_finish(icestream_session *session, ics_ticket *ticket);

/* ---- notes ----------------------------------------------------------------------------------- */

/* Keeps a line for icestream_session_next_note(), which any thread may do. If nobody reads the
 * lines, those after the first ones are only counted. */
void ics_session_note(icestream_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Keeps warnings. */
void ics_session_note_warnings(icestream_session *session, const ics_warnings *warnings);
/* Gives the next line. Returns false if there is none. */
bool ics_session_next_note(icestream_session *session, char *line, size_t size);

/* ---- light ----------------------------------------------------------------------------------- */

/* Compares the record of the light of given steps with that of the session. Notes once what is
 * assumed of steps without a record, and once that other light is accepted. `name`: of the steps.
 * ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_session_judge_light(icestream_session *session, const icestream_submission *given,
                            const char *name, icestream_error *error);

/* Makes the configuration of steps that the session makes: its own one with `sets`. *out is for the
 * caller to destroy. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_session_light(const icestream_session *session, const char *const *sets, size_t set_count,
                      icestream_config **out, icestream_error *error);

/* ---- source of a ticket ---------------------------------------------------------------------- */

/* Makes ticket->work. ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. On the driver. */
int ics_ticket_begin(icestream_session *session, ics_ticket *ticket, icestream_error *error);
/* Frees it, with everything that only reading needs. No job of the ticket is out. */
void ics_ticket_end(ics_ticket *ticket);

/* ---- driver ---------------------------------------------------------------------------------- */

/* What the engine asks, and what it reports. */
ics_engine_owner ics_session_driver_owner(icestream_session *session);
/* Receives the driver's job when it has ended, and does nothing: an ics_post.post. */
void ics_session_driver_ended(void *nothing, ics_job *job);
/* The thread: runs until the session is closing and all tickets are finished. */
void ics_session_driver_run(ics_job *job, void *thread_state);

#endif
