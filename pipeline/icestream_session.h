/* A session simulates photons in memory: arrays of steps go in, arrays of hits come out, and no
 * file is written. icestream.h includes this header; do not include it alone.
 *
 *     icestream_session_open(config, NULL, &session, &error)
 *     icestream_submission work = {.size = sizeof work, .step_size = sizeof *steps,
 *                                  .steps = steps, .step_count = count};
 *     icestream_session_submit(session, &work, &ticket, &error)
 *     icestream_session_wait(session, ticket, -1, &finished, &error)
 *     icestream_session_take(session, ticket, &hits, &hit_count, NULL, &error)
 *     ... hits[0] to hits[hit_count - 1], in the order of a hit file ...
 *     icestream_hits_free(hits)
 *     icestream_session_destroy(session)
 *
 * A submission is what one step file is to `icestream run`: the hits of a ticket are, byte for
 * byte, the rows of the hit file that `icestream run` writes for the same steps and configuration.
 * The models, the device and all checks are those of `icestream run`, and so are the messages.
 *
 * Threads. Any number of threads may use one session at the same time, and any number of sessions
 * may be open in a process: the library has no global state that can be changed. Only
 * icestream_session_destroy() needs the session alone. A session starts threads, which block
 * all signals. The session installs no signal handler, prints nothing and never ends the
 * process. After fork() a session belongs to the parent: in the child every function returns
 * ICESTREAM_E_USAGE, and icestream_session_destroy() does nothing.
 *
 * Owners. The configuration may be destroyed as soon as the session is open. Hits that were taken
 * belong to the caller, to be given to icestream_hits_free(), also after the session is
 * destroyed. Steps are copied, unless they are lent.
 *
 * Errors. A function returns ICESTREAM_OK or a negative ICESTREAM_E_..., and describes the error in
 * *error, which may be NULL. Every function that gets a session can return ICESTREAM_E_USAGE: the
 * session is NULL, or it belongs to another process. The other results are named at the function.
 *
 * Sizes. The first member of each struct that a caller passes is its size: set it to sizeof of the
 * struct, and zero what you do not use. So a program that was compiled for this version of the
 * library goes on to work with later ones, whose structs are longer.
 */
#ifndef ICESTREAM_SESSION_H
#define ICESTREAM_SESSION_H

#ifndef ICESTREAM_H
#error "include icestream.h, which includes this header"
#endif

/* ---- configuration -------------------------------------------------------------------------- */

/* Like icestream_config_load(), but reads `text`, YAML of `length` bytes, as if it were the content
 * of the file `name`. Relative paths in the text begin in the folder of `name`, which need not
 * exist; NULL: "configuration" in the working directory. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. On
 * success the caller owns *out. */
ICESTREAM_PUBLIC int icestream_config_read(const char *name, const char *text, size_t length,
                                           const char *const *sets, size_t set_count,
                                           icestream_config **out, icestream_error *error);

/* ---- opening and closing -------------------------------------------------------------------- */

typedef struct icestream_session icestream_session;

typedef struct icestream_session_options {
    uint32_t size;     /* sizeof(icestream_session_options) */
    uint32_t reserved; /* 0 */
    /* Submissions that are not finished, at most; one more is ICESTREAM_E_UNFINISHED. 0: no limit.
     */
    uint64_t tickets;
    /* Memory of finished tickets that were not taken (bytes): while they have more, a submission is
     * ICESTREAM_E_UNFINISHED. 0: half of the memory of the machine. */
    uint64_t kept_memory;
} icestream_session_options;

/* Reads the ice, the detector and the light of a configuration, and starts the device. `options`
 * may be NULL. The keys of the sections source (but `empty` and `light_mismatch`), sink (but
 * `hits`) and metrics have no meaning here. ICESTREAM_E_CONFIG, ICESTREAM_E_DEVICE,
 * ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED; ICESTREAM_E_USAGE: config or out is NULL, or
 * options->size is wrong. On success the caller owns *out; after an error *out is NULL. */
ICESTREAM_PUBLIC int icestream_session_open(const icestream_config *config,
                                            const icestream_session_options *options,
                                            icestream_session **out, icestream_error *error);

/* Ends all work: tickets that are not finished end with ICESTREAM_E_INTERRUPTED, and lent steps are
 * not read any more when this returns. Threads that wait for tickets return. Afterwards a
 * submission is ICESTREAM_E_USAGE; finished tickets can still be taken. A second call does nothing.
 */
ICESTREAM_PUBLIC int icestream_session_close(icestream_session *session, icestream_error *error);

/* Closes the session and frees everything but hits that were taken. No other thread may use the
 * session during or after this call. Accepts NULL. */
ICESTREAM_PUBLIC void icestream_session_destroy(icestream_session *session);

/* ---- submitting ----------------------------------------------------------------------------- */

enum { ICESTREAM_SUBMIT_LENT = 1 }; /* icestream_submission.flags */

typedef struct icestream_submission {
    uint32_t size;      /* sizeof(icestream_submission) */
    uint32_t step_size; /* sizeof(icestream_step) with steps, else 0 */
    /* The steps, which are copied. With ICESTREAM_SUBMIT_LENT the session reads this array instead:
     * it must stay as it is until the ticket is finished or the session is closed. The address is a
     * multiple of 8. NULL: the session makes the steps itself, from the particles or the workload
     * of its configuration. */
    const icestream_step *steps;
    uint64_t step_count;
    /* For steps that the session makes: [set_count] texts KEY=VALUE with keys of the sections
     * particles and workload, which replace those of the configuration for this submission:
     * "particles.file=events.f2k", "particles.list=[{type: e-, energy: 1e5, zenith: 50}]",
     * "workload.kind=cascade". Copied. */
    const char *const *sets;
    uint64_t set_count;
    /* What messages call the steps, where `icestream run` has the name of the step file; NULL:
     * "steps". Copied. */
    const char *name;
    uint32_t flags;    /* ICESTREAM_SUBMIT_... */
    uint32_t reserved; /* 0 */
    /* Of given steps: the record of what their light was made with (files.md 2.5), as JSON, which
     * icestream_info() gives of a step file as `light`. Light of other settings is refused, or with
     * source.light_mismatch: accept only noted. NULL: there is none; the session notes what it then
     * assumes. Only read during the call. Since 0.2.0. */
    const char *light;
} icestream_submission;

/* Submits steps, and returns at once: the steps are checked and copied, but no photon is waited
 * for. Submissions are computed in the order in which they came, but those whose particles come
 * through a pipe let later ones pass while they wait; at most 16 pipes are read at a time. Tickets
 * are 1, 2, 3, ...
 *
 * ICESTREAM_E_INPUT: a step has a bad field or a step_id that its event has already, there is no
 * photon and source.empty does not accept that, or the light was made for other settings;
 * ICESTREAM_E_CONFIG: one of `sets` is wrong, or there are neither steps nor particles nor a
 * workload. What is wrong with a list of particles is found while its steps are made, and then
 * becomes the result of the ticket. ICESTREAM_E_USAGE: a size, a flag or the address of the steps
 * is wrong, or the session is closed; ICESTREAM_E_UNFINISHED: options.tickets are not finished, or
 * finished tickets that were not taken have more than options.kept_memory; ICESTREAM_E_MEMORY.
 * After an error there is no ticket. */
ICESTREAM_PUBLIC int icestream_session_submit(icestream_session *session,
                                              const icestream_submission *submission,
                                              uint64_t *ticket, icestream_error *error);

/* Gives a ticket up. Photons that are in flight are waited for; then the ticket is finished with
 * the result ICESTREAM_E_INTERRUPTED. A ticket that is finished already stays as it is.
 * ICESTREAM_E_USAGE: there is no such ticket. */
ICESTREAM_PUBLIC int icestream_session_cancel(icestream_session *session, uint64_t ticket,
                                              icestream_error *error);

/* ---- waiting and results ------------------------------------------------------------------- */

enum {
    ICESTREAM_TICKET_WAITING = 0,
    ICESTREAM_TICKET_RUNNING = 1, /* photons are in flight, or steps are made */
    ICESTREAM_TICKET_FINISHED = 2
};

typedef struct icestream_ticket {
    uint32_t size;  /* sizeof(icestream_ticket) */
    int32_t state;  /* ICESTREAM_TICKET_... */
    int32_t status; /* the result, an icestream_status; ICESTREAM_OK until the end */
    uint32_t reserved;
    uint64_t ticket;
    uint64_t steps;            /* steps that were given, or made so far */
    icestream_account account; /* account of the photons that have ended so far */
    /* Times since the session was opened (s); negative: not yet. */
    double submitted, started, finished;
    double thread_seconds; /* time that threads of the host computed or made hits (s) */
    /* The hits of a finished ticket. They belong to the session until the ticket is taken; then the
     * caller gets this same array. NULL: none yet, or none at all. */
    const icestream_hit *hits;
    uint64_t hit_count;
} icestream_ticket;

/* Reports how far a ticket is. ICESTREAM_E_USAGE: there is no such ticket (any more). */
ICESTREAM_PUBLIC int icestream_session_poll(icestream_session *session, uint64_t ticket,
                                            icestream_ticket *out, icestream_error *error);

/* Waits until a ticket is finished, at most `seconds` (s; 0: does not wait; negative: for ever).
 * *finished: the ticket; 0: the time is over first. Ticket 0 stands for any: *finished is the
 * ticket that finished first of those that were not taken, or 0 at once if there is no ticket.
 * ICESTREAM_E_USAGE: there is no such ticket. The result of the ticket itself is no error here. */
ICESTREAM_PUBLIC int icestream_session_wait(icestream_session *session, uint64_t ticket,
                                            double seconds, uint64_t *finished,
                                            icestream_error *error);

/* Takes a finished ticket out of the session. Ticket 0: the one that finished first. *hits: its
 * hits, which the caller gives to icestream_hits_free(); NULL if there are none. `about` may be
 * NULL. Does not wait and copies no hit. Returns the result of the ticket, whose message is in
 * *error; after ICESTREAM_E_INTERRUPTED and other errors the ticket is taken, too, and has no hits.
 * ICESTREAM_E_USAGE: there is no such ticket, or with ticket 0 no ticket at all;
 * ICESTREAM_E_UNFINISHED: it is not finished, or with ticket 0 none is. After these two nothing is
 * taken, and about->ticket is 0. */
ICESTREAM_PUBLIC int icestream_session_take(icestream_session *session, uint64_t ticket,
                                            icestream_hit **hits, uint64_t *hit_count,
                                            icestream_ticket *about, icestream_error *error);

/* Frees hits that were taken. Accepts NULL. */
ICESTREAM_PUBLIC void icestream_hits_free(icestream_hit *hits);

/* Returns a file descriptor for poll(2), epoll(7) and event loops: it is readable while a finished
 * ticket has not been taken. Do not read it; it belongs to the session. -1: the session is NULL or
 * belongs to another process. */
ICESTREAM_PUBLIC int icestream_session_descriptor(const icestream_session *session);

/* ---- facts ---------------------------------------------------------------------------------- */

/* Writes what computes into buffer[size]: "cpu, 2 threads, avx512, wavefront schedule". A text that
 * does not fit is cut. Returns its length; 0: the session is NULL or belongs to another process. */
ICESTREAM_PUBLIC size_t icestream_session_describe(icestream_session *session, char *buffer,
                                                   size_t size);

/* Copies the next line that `icestream run` would log and that was not returned yet: warnings about
 * the configuration, about light that no module can see, steps that make no light and events that
 * two submissions have, about a GPU that is lost, how a schedule was chosen; once the session is
 * closed, whether there were no hits or photons were stopped, and why. A line that does not fit is
 * cut. If nobody asks, the session keeps the first 1000 lines. Returns false if there is none. */
ICESTREAM_PUBLIC bool icestream_session_next_note(icestream_session *session, char *line,
                                                  size_t size);

#endif
