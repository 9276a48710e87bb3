/* icestream_session_submit: checks a submission and makes its ticket, on the caller's thread. */
#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/photons/files/format/key_runs.h"
#include "pipeline/photons/files/format/step_check.h"
#include "pipeline/photons/generator/forecast.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/photons/session/struct.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#define STEPS_MAX (UINT64_C(1) << 40)

static int check_form(const icestream_submission *given, icestream_error *error)
{
    if (given->flags & ~(uint32_t)ICESTREAM_SUBMIT_LENT || given->reserved != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "submission.flags: found %" PRIu32 " and %" PRIu32
                             " in submission.reserved, expected ICESTREAM_SUBMIT_LENT or 0, and 0",
                             given->flags, given->reserved);
    }
    if (given->set_count > 0 && (given->sets == NULL || given->steps != NULL)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "submission.sets: found %s with submission.set_count %" PRIu64
                             ", expected texts KEY=VALUE and no steps, or set_count 0",
                             given->sets == NULL ? "NULL" : "texts and steps", given->set_count);
    }
    if (given->light != NULL && given->steps == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "submission.light: found a record and no steps, expected NULL: the "
                             "session makes the light itself");
    }
    if (given->steps == NULL) {
        return given->step_count == 0
                   ? ICESTREAM_OK
                   : ics_error_set(error, ICESTREAM_E_USAGE,
                                   "submission.steps: found NULL with submission.step_count "
                                   "%" PRIu64 ", expected an array, or step_count 0",
                                   given->step_count);
    }
    if (given->step_size != sizeof(icestream_step)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "submission.step_size: found %" PRIu32 ", expected %zu, the bytes of "
                             "an icestream_step",
                             given->step_size, sizeof(icestream_step));
    }
    if ((uintptr_t)given->steps % _Alignof(icestream_step) != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "submission.steps: found the address %p, expected a multiple of %zu",
                             (const void *)given->steps, _Alignof(icestream_step));
    }
    return given->step_count < STEPS_MAX
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "submission.step_count: found %" PRIu64 ", expected less than 2^40",
                               given->step_count);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Finds the row in which a key appears for the second time. */
static int locate_duplicate(const icestream_step *steps, size_t count, const ics_key_run *key,
                            const char *name, icestream_error *error)
{
    size_t rows[2] = {0, 0};
    int found = 0;
    for (size_t i = 0; i < count && found < 2; ++i) {
        if (steps[i].event_id == key->event_id && steps[i].step_id == key->first) {
            rows[found++] = i;
        }
    }
    return ics_step_check_duplicate(name, &steps[rows[0]], rows[1], rows[0], error);
}

static int check_unique(const icestream_step *steps, size_t count, const char *name,
                        icestream_error *error)
{
    ics_key_runs runs = {0};
    ics_key_run key;
    int status = ics_key_runs_add(&runs, steps, count, error);
    if (status == ICESTREAM_OK && ics_key_runs_find_duplicate(&runs, &key)) {
        status = locate_duplicate(steps, count, &key, name, error);
    }
    ics_key_runs_free(&runs);
    return status;
}

static bool ascends(const icestream_step *before, const icestream_step *next)
{
    return (next->event_id > before->event_id) |
           ((next->event_id == before->event_id) & (next->step_id > before->step_id));
}

/* Makes the checks of a step file (ics_step_reader_check()): every field of every step, and that
 * step ids are unique within their events. *photons: the sum over all steps. */
static int check_steps(const icestream_step *steps, size_t count, uint32_t spectrum_count,
                       const char *name, uint64_t *photons, icestream_error *error)
{
    bool ascending = true;
    uint64_t sum = 0;
    *photons = 0;
    ICS_TRY(ics_step_check(steps, count, spectrum_count, name, 0, error));
    for (size_t i = 0; i < count; ++i) {
        ascending = ascending && (i == 0 || ascends(&steps[i - 1], &steps[i]));
        sum += steps[i].photons;
        ICS_TRY(ics_step_check_total(name, i, sum, error));
    }
    *photons = sum;
    return ascending ? ICESTREAM_OK : check_unique(steps, count, name, error);
}

/* Checks steps and their light, and copies those that are not lent. */
static int take_steps(icestream_session *session, const icestream_submission *given,
                      ics_ticket *ticket, icestream_error *error)
{
    ICS_TRY(check_steps(given->steps, given->step_count,
                        (uint32_t)session->world.models->light->count, ticket->name,
                        &ticket->photons, error));
    ICS_TRY(ics_light_record_refuse_empty(session->config, ticket->name, given->step_count,
                                          ticket->photons, error));
    ICS_TRY(ics_session_judge_light(session, given, ticket->name, error));
    ics_step_extent_add(&ticket->extent, given->steps,
                        given->step_count < ICS_STEP_EXTENT_ROWS ? given->step_count
                                                                 : ICS_STEP_EXTENT_ROWS);
    ticket->steps = given->steps;
    ticket->step_count = given->step_count;
    if ((given->flags & ICESTREAM_SUBMIT_LENT) != 0 || given->step_count == 0) {
        return ICESTREAM_OK;
    }
    ticket->copy = malloc(given->step_count * sizeof *ticket->copy);
    if (ticket->copy == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for %" PRIu64 " steps",
                             ticket->name, given->step_count);
    }
    memcpy(ticket->copy, given->steps, given->step_count * sizeof *ticket->copy);
    ticket->steps = ticket->copy;
    return ICESTREAM_OK;
}

static int take_light(icestream_session *session, const icestream_submission *given,
                      ics_ticket *ticket, icestream_error *error)
{
    ics_forecast forecast;
    ics_warnings warnings = {0};
    ICS_TRY(ics_session_light(session, given->sets, given->set_count, &ticket->light, error));
    const int status = ics_forecast_make(ticket->light, session->world.models, ICS_FORECAST_PARTS,
                                         &warnings, &forecast, error);
    if (status == ICESTREAM_OK) {
        ics_session_note_warnings(session, &warnings);
    }
    ics_warnings_free(&warnings);
    ICS_TRY(status);
    ticket->is_late = !forecast.known;
    ticket->photons = forecast.known ? (uint64_t)forecast.photons : UINT64_MAX;
    ticket->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return ticket->wake >= 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_FAILED, "cannot make an event descriptor: %s",
                               strerror(errno));
}

/* ---- tickets --------------------------------------------------------------------------------- */

static int make_ticket(icestream_session *session, const icestream_submission *given,
                       ics_ticket **out, icestream_error *error)
{
    ICS_DESTROYS(ics_ticket_destroy) ics_ticket *ticket = NULL;
    ICS_TRY(ics_ticket_create(&ticket, error));
    ticket->session = session;
    const char *name = given->name != NULL ? given->name : "steps";
    const size_t size = ICS_VISIBLE_MOST * strlen(name) + 1;
    ticket->name = malloc(size);
    if (ticket->name == NULL) {
        return ics_error_no_memory(error, "submission");
    }
    ics_visible_text(name, false, ticket->name, size); /* it is in the texts of errors */
    ICS_TRY(given->steps != NULL ? take_steps(session, given, ticket, error)
                                 : take_light(session, given, ticket, error));
    *out = ICS_HAND_OVER(ticket);
    return ICESTREAM_OK;
}

/* Whether the session takes another submission. The caller holds the lock. */
static int check_open(const icestream_session *session, icestream_error *error)
{
    const uint64_t most = session->options.tickets;
    if (session->closing) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "found a session that is closed, expected an open one");
    }
    if (most != 0 && session->unfinished >= most) {
        return ics_error_set(error, ICESTREAM_E_UNFINISHED,
                             "found %zu submissions that are not finished, expected fewer than "
                             "options.tickets, %" PRIu64,
                             session->unfinished, most);
    }
    return session->kept <= session->options.kept_memory
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_UNFINISHED,
                               "found finished submissions with %" PRIu64 " bytes that nobody has "
                               "taken, expected at most options.kept_memory, %" PRIu64,
                               session->kept, session->options.kept_memory);
}

static int add_ticket(icestream_session *session, ics_ticket *ticket, uint64_t *number,
                      icestream_error *error)
{
    pthread_mutex_lock(&session->lock);
    int status = check_open(session, error);
    if (status == ICESTREAM_OK) {
        status = ics_ticket_add(session, ticket, error);
    }
    if (status == ICESTREAM_OK) {
        *number = ticket->number;
        ics_engine_wake(session->engine);
    }
    pthread_mutex_unlock(&session->lock);
    return status;
}

static int submit(icestream_session *session, const icestream_submission *submission,
                  uint64_t *number, icestream_error *error)
{
    icestream_submission given;
    ICS_DESTROYS(ics_ticket_destroy) ics_ticket *ticket = NULL;
    ICS_TRY(ics_session_check(session, error));
    if (number == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "ticket: found NULL, expected a number");
    }
    ICS_TRY(ics_session_copy_in("submission", submission, offsetof(icestream_submission, light),
                                sizeof given, &given, error));
    ICS_TRY(check_form(&given, error));
    pthread_mutex_lock(&session->lock);
    const int status = check_open(session, error); /* before work that would be in vain */
    pthread_mutex_unlock(&session->lock);
    ICS_TRY(status);
    ICS_TRY(make_ticket(session, &given, &ticket, error));
    ICS_TRY(add_ticket(session, ticket, number, error));
    ticket = NULL; /* it belongs to the session */
    return ICESTREAM_OK;
}

int icestream_session_submit(icestream_session *session, const icestream_submission *submission,
                             uint64_t *ticket, icestream_error *error)
{
    icestream_error why = {.status = ICESTREAM_OK};
    return ics_session_answer(submit(session, submission, ticket, &why), &why, error);
}
