/* Opening and closing a session, waiting for tickets and handing them over. */
#include "base/clock.h"
#include "base/error.h"
#include "pipeline/photons/config/changes.h"
#include "pipeline/photons/config/table.h"
#include "pipeline/photons/config/waveforms.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/photons/models/oversize.h"
#include "pipeline/photons/session/struct.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SECONDS_MOST 1e9 /* longer waits are for ever */

ICS_CAN_DESTROY(icestream_session, icestream_session_destroy)

/* ---- opening --------------------------------------------------------------------------------- */

/* What `icestream run` logs when it begins. */
static void note_beginning(icestream_session *session)
{
    ics_session_note_warnings(session, &session->world.models->warnings);
    char text[2048];
    const ics_config_change *rows = ics_config_changes;
    while (ics_config_next_change(&rows, session->config, ICS_USE_RUN, text, sizeof text) != NULL) {
        ics_session_note(session, "%s", text);
    }
    ics_oversize_effects effects;
    char oversize[ICS_OVERSIZE_TEXT];
    const ics_models *models = session->world.models;
    if (ics_oversize_effects_of(models->medium, models->detector, &effects)) {
        ics_session_note(session, "detector.oversize %g: %s", models->detector->oversize,
                         ics_oversize_text(&effects, oversize));
    }
    /* The device itself warns of a reason that is a warning. */
    if (session->device_options.reason[0] != '\0' && !session->device_options.warn) {
        ics_session_note(session, "%s", session->device_options.reason);
    }
    if (session->device_options.unused[0] != '\0') {
        ics_session_note(session, "the CPU does not use keys for a GPU: %s",
                         session->device_options.unused);
    }
}

static void receive_warning(void *user, bool of_every_input, const char *text)
{
    (void)of_every_input;
    ics_session_note(user, "warning: %s", text);
}

static int start(icestream_session *session, icestream_error *error)
{
    const icestream_config *config = session->config;
    ICS_TRY(ics_config_table_refuse(config, "session", error));
    ICS_TRY(ics_config_waveforms_refuse(config, "a session", error));
    ICS_TRY(ics_device_options_from_config(config, &session->device_options, error));
    ICS_TRY(ics_world_load_models(config, &session->world.models, error));
    ICS_TRY(ics_world_create_tables(config, session->world.models, &session->world.tables, error));
    ICS_TRY(ics_light_record_create(config, session->world.models, true, &session->record, error));
    note_beginning(session);
    ics_input_warnings_begin(&session->warnings, session->world.models, receive_warning, session);
    session->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (session->descriptor < 0) {
        return ics_error_set(error, ICESTREAM_E_FAILED, "cannot make an event descriptor: %s",
                             strerror(errno));
    }
    session->device_options.cancel = &session->cancel;
    const ics_engine_parts parts = {.device = &session->device_options,
                                    .tables = session->world.tables,
                                    .models = ics_world_hit_models(&session->world),
                                    .batch_photons = config->graph.batch,
                                    .least_beta = session->warnings.least_beta,
                                    .ahead = 1};
    ICS_TRY(ics_engine_create(&parts, &session->engine, error));
    session->engine->owner = ics_session_driver_owner(session);
    ics_device_facts facts;
    ics_device_facts_of(session->engine->device, &facts);
    session->makers = ics_world_makers(&facts);
    const ics_post nowhere = {.post = ics_session_driver_ended};
    ICS_TRY(ics_workers_create("session", 1, 1, NULL, nowhere, &session->driver, error));
    session->drive.run = ics_session_driver_run;
    (void)ics_workers_submit(session->driver, &session->drive); /* there is room for one */
    return ICESTREAM_OK;
}

static icestream_session *create(const icestream_config *config)
{
    icestream_session *session = calloc(1, sizeof *session);
    if (session == NULL) {
        return NULL;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic); /* these cannot fail on Linux */
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    atomic_init(&session->cancel, false);
    TAILQ_INIT(&session->waiting);
    TAILQ_INIT(&session->finished);
    session->descriptor = -1;
    session->process = getpid();
    session->opened = ics_clock_seconds();
    ics_config_hold(config);
    session->config = (icestream_config *)config;
    return session;
}

/* Bytes. */
static uint64_t half_of_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages / 2 * (uint64_t)size : UINT64_MAX;
}

static int open_session(const icestream_config *config, const icestream_session_options *options,
                        icestream_session **out, icestream_error *error)
{
    icestream_session_options given = {.size = sizeof given};
    if (config == NULL || out == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "%s: found NULL, expected %s",
                             config == NULL ? "config" : "out",
                             config == NULL ? "a configuration" : "a pointer to the session");
    }
    if (options != NULL) {
        ICS_TRY(ics_session_copy_in("options", options, sizeof given, sizeof given, &given, error));
    }
    if (given.reserved != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "options.reserved: found %" PRIu32 ", expected 0", given.reserved);
    }
    ICS_DESTROYS(icestream_session_destroy) icestream_session *session = create(config);
    if (session == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a session");
    }
    session->options = given;
    if (given.kept_memory == 0) {
        session->options.kept_memory = half_of_memory();
    }
    ICS_TRY(start(session, error));
    *out = ICS_HAND_OVER(session);
    return ICESTREAM_OK;
}

int icestream_session_open(const icestream_config *config, const icestream_session_options *options,
                           icestream_session **out, icestream_error *error)
{
    icestream_error why = {.status = ICESTREAM_OK};
    if (out != NULL) {
        *out = NULL;
    }
    return ics_session_answer(open_session(config, options, out, &why), &why, error);
}

/* ---- closing --------------------------------------------------------------------------------- */

/* A thread that waits for particles from a pipe goes on. */
static void wake(const ics_ticket *ticket)
{
    const uint64_t one = 1;
    if (ticket->wake >= 0) {
        (void)!write(ticket->wake, &one, sizeof one);
    }
}

static void close_session(icestream_session *session)
{
    ics_ticket *ticket;
    pthread_mutex_lock(&session->lock);
    if (!session->closing) {
        session->closing = true;
        atomic_store(&session->cancel, true);
        TAILQ_FOREACH(ticket, &session->waiting, link)
        {
            wake(ticket);
        }
        ics_engine_wake(session->engine);
    }
    while (!session->has_ended) {
        pthread_cond_wait(&session->changed, &session->lock);
    }
    pthread_mutex_unlock(&session->lock);
}

int icestream_session_close(icestream_session *session, icestream_error *error)
{
    ICS_TRY(ics_session_check(session, error));
    close_session(session);
    return ICESTREAM_OK;
}

void icestream_session_destroy(icestream_session *session)
{
    if (session == NULL || session->process != getpid()) {
        return; /* the parent's threads do not exist in a child */
    }
    if (session->driver != NULL) {
        close_session(session);
        ics_workers_destroy(session->driver);
    }
    ics_engine_destroy(session->engine);
    for (size_t i = 0; i < session->ticket_count; ++i) {
        ics_ticket_destroy(session->tickets[i]);
    }
    free(session->tickets);
    if (session->descriptor >= 0) {
        close(session->descriptor);
    }
    ics_warnings_free(&session->notes);
    json_decref(session->record);
    ics_input_warnings_end(&session->warnings);
    ics_world_destroy(&session->world);
    icestream_config_destroy(session->config);
    pthread_cond_destroy(&session->changed);
    pthread_mutex_destroy(&session->lock);
    free(session);
}

/* ---- tickets --------------------------------------------------------------------------------- */

/* Finds a ticket. The caller holds the lock. NULL: there is none, which is ICESTREAM_E_USAGE. */
static ics_ticket *find(const icestream_session *session, uint64_t number, icestream_error *error)
{
    ics_ticket *ticket = ics_ticket_find(session, number);
    if (ticket == NULL) {
        ics_error_set(error, ICESTREAM_E_USAGE,
                      "found ticket %" PRIu64 ", expected a submission of this session that was "
                      "not taken yet",
                      number);
    }
    return ticket;
}

int icestream_session_cancel(icestream_session *session, uint64_t number, icestream_error *error)
{
    ICS_TRY(ics_session_check(session, error));
    pthread_mutex_lock(&session->lock);
    ics_ticket *ticket = find(session, number, error);
    if (ticket != NULL && ticket->state != ICESTREAM_TICKET_FINISHED) {
        atomic_store(&ticket->cancelled, true);
        wake(ticket);
        session->cancels = true;
        ics_engine_wake(session->engine);
    }
    pthread_mutex_unlock(&session->lock);
    return ticket != NULL ? ICESTREAM_OK : ICESTREAM_E_USAGE;
}

/* Since the session was opened (s); -1: not yet. */
static double since_opened(const icestream_session *session, double time)
{
    return time > 0 ? time - session->opened : -1.0;
}

/* The caller holds the lock. */
static icestream_ticket describe(const icestream_session *session, const ics_ticket *ticket)
{
    return (icestream_ticket){.state = ticket->state,
                              .status = ticket->error.status,
                              .ticket = ticket->number,
                              .steps =
                                  ticket->light == NULL ? ticket->step_count : ticket->steps_read,
                              .account = ticket->account,
                              .submitted = since_opened(session, ticket->submitted),
                              .started = since_opened(session, ticket->started),
                              .finished = since_opened(session, ticket->finished),
                              .thread_seconds = ticket->thread_seconds,
                              .hits = ticket->hits,
                              .hit_count = ticket->hit_count};
}

int icestream_session_poll(icestream_session *session, uint64_t number, icestream_ticket *out,
                           icestream_error *error)
{
    icestream_ticket about;
    ICS_TRY(ics_session_check(session, error));
    ICS_TRY(ics_session_check_out("ticket", out, sizeof about, error));
    pthread_mutex_lock(&session->lock);
    const ics_ticket *ticket = find(session, number, error);
    if (ticket != NULL) {
        about = describe(session, ticket);
        ics_session_copy_out(&about, sizeof about, out);
    }
    pthread_mutex_unlock(&session->lock);
    return ticket != NULL ? ICESTREAM_OK : ICESTREAM_E_USAGE;
}

/* Finds the ticket that a caller waits for, if it is finished. *goes_on: it may still come. The
 * caller holds the lock. */
static int look(const icestream_session *session, uint64_t number, ics_ticket **out, bool *goes_on,
                icestream_error *error)
{
    ics_ticket *ticket = TAILQ_FIRST(&session->finished);
    if (number != 0) {
        ticket = find(session, number, error);
        if (ticket == NULL) {
            return ICESTREAM_E_USAGE;
        }
        if (ticket->state != ICESTREAM_TICKET_FINISHED) {
            ticket = NULL;
        }
    }
    *out = ticket;
    *goes_on = ticket == NULL && session->unfinished > 0;
    return ICESTREAM_OK;
}

int icestream_session_wait(icestream_session *session, uint64_t number, double seconds,
                           uint64_t *finished, icestream_error *error)
{
    ics_ticket *ticket = NULL;
    bool goes_on = true;
    int failure = 0;
    ICS_TRY(ics_session_check(session, error));
    if (finished == NULL || isnan(seconds)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             finished == NULL ? "finished: found NULL, expected a number"
                                              : "seconds: found NaN, expected a time (s)");
    }
    *finished = 0;
    const bool for_ever = seconds < 0 || seconds > SECONDS_MOST;
    const struct timespec until = ics_clock_deadline(for_ever ? 0 : seconds);
    pthread_mutex_lock(&session->lock);
    int status = look(session, number, &ticket, &goes_on, error);
    while (status == ICESTREAM_OK && goes_on && failure == 0 && seconds != 0) {
        failure = for_ever ? pthread_cond_wait(&session->changed, &session->lock)
                           : pthread_cond_timedwait(&session->changed, &session->lock, &until);
        status = look(session, number, &ticket, &goes_on, error);
    }
    if (status == ICESTREAM_OK && ticket != NULL) {
        *finished = ticket->number;
    }
    pthread_mutex_unlock(&session->lock);
    return status;
}

static int unfinished(const icestream_session *session, uint64_t number, icestream_error *error)
{
    return number != 0
               ? ics_error_set(error, ICESTREAM_E_UNFINISHED,
                               "found ticket %" PRIu64 ", expected one that is finished", number)
           : session->unfinished > 0
               ? ics_error_set(error, ICESTREAM_E_UNFINISHED,
                               "found %zu submissions that are not finished, expected one that is",
                               session->unfinished)
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "found no submission, expected one that was not taken yet");
}

/* Removes a finished ticket from the session. */
static int remove_ticket(icestream_session *session, uint64_t number, ics_ticket **out,
                         icestream_ticket *about, icestream_error *error)
{
    bool goes_on;
    pthread_mutex_lock(&session->lock);
    int status = look(session, number, out, &goes_on, error);
    if (status == ICESTREAM_OK && *out == NULL) {
        status = unfinished(session, number, error);
    } else if (status == ICESTREAM_OK) {
        *about = describe(session, *out);
        ics_ticket_remove(session, *out);
    }
    pthread_mutex_unlock(&session->lock);
    return status;
}

int icestream_session_take(icestream_session *session, uint64_t number, icestream_hit **hits,
                           uint64_t *hit_count, icestream_ticket *about, icestream_error *error)
{
    ics_ticket *ticket = NULL;
    icestream_ticket filled = {0};
    ICS_TRY(ics_session_check(session, error));
    if (hits == NULL || hit_count == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "%s: found NULL, expected a pointer",
                             hits == NULL ? "hits" : "hit_count");
    }
    if (about != NULL) {
        ICS_TRY(ics_session_check_out("about", about, sizeof filled, error));
    }
    *hits = NULL;
    *hit_count = 0;
    int status = remove_ticket(session, number, &ticket, &filled, error);
    if (about != NULL) {
        ics_session_copy_out(&filled, sizeof filled, about);
    }
    if (status != ICESTREAM_OK || ticket == NULL) { /* without a ticket there is an error */
        return status;
    }
    *hits = ticket->hits;
    *hit_count = ticket->hit_count;
    ticket->hits = NULL;
    status = ticket->error.status;
    if (status != ICESTREAM_OK) {
        ics_error_copy_kept(error, &ticket->error);
    }
    ics_ticket_destroy(ticket);
    return status;
}

void icestream_hits_free(icestream_hit *hits)
{
    free(hits);
}

int icestream_session_descriptor(const icestream_session *session)
{
    return ics_session_check(session, NULL) == ICESTREAM_OK ? session->descriptor : -1;
}

/* ---- facts ----------------------------------------------------------------------------------- */

size_t icestream_session_describe(icestream_session *session, char *buffer, size_t size)
{
    if (size > 0 && buffer != NULL) {
        buffer[0] = '\0';
    }
    if (ics_session_check(session, NULL) != ICESTREAM_OK || buffer == NULL || size == 0) {
        return 0;
    }
    return strlen(ics_device_text(session->engine->device, buffer, size));
}

bool icestream_session_next_note(icestream_session *session, char *line, size_t size)
{
    if (ics_session_check(session, NULL) != ICESTREAM_OK || line == NULL || size == 0) {
        return false;
    }
    return ics_session_next_note(session, line, size) ||
           ics_device_next_note(session->engine->device, line, size);
}
