/* The source of a ticket: an array of steps, or light that the session makes. */
#include "base/error.h"
#include "pipeline/photons/files/format/step_check.h"
#include "pipeline/photons/session/state.h"

#include <stdlib.h>
#include <string.h>

/* Copies the next steps of an array. They are checked again, because a lent array may have been
 * changed. */
static int read_array(void *user, icestream_step *rows, size_t capacity, size_t *got,
                      icestream_error *error)
{
    ics_ticket *ticket = user;
    const size_t left = ticket->step_count - ticket->next_row;
    *got = left < capacity ? left : capacity;
    memcpy(rows, ticket->steps + ticket->next_row, *got * sizeof *rows);
    ICS_TRY(ics_step_check(rows, *got, (uint32_t)ticket->session->world.models->light->count,
                           ticket->name, ticket->next_row, error));
    ics_step_normalise(rows, *got);
    ticket->next_row += *got;
    return ICESTREAM_OK;
}

/* What is odd about particles that came through a pipe is known at their end only. */
static int note_late_warnings(ics_ticket *ticket, icestream_error *error)
{
    ics_warnings warnings = {0};
    const int status = ics_step_generator_judge(ticket->generator, &warnings, error);
    ics_session_note_warnings(ticket->session, &warnings);
    ics_warnings_free(&warnings);
    return status;
}

static int begin_light(ics_ticket *ticket, icestream_error *error)
{
    const icestream_session *session = ticket->session;
    ICS_TRY(ics_step_generator_create(ticket->light, session->world.models, ticket->wake,
                                      &ticket->generator, error));
    ics_step_generator_prepare(ticket->generator, (uint32_t)session->world.models->light->count);
    return ics_step_generator_start(ticket->generator, session->makers, error);
}

static int read_light(void *user, icestream_step *rows, size_t capacity, size_t *got,
                      icestream_error *error)
{
    ics_ticket *ticket = user;
    *got = 0;
    if (ticket->generator == NULL) {
        ICS_TRY(begin_light(ticket, error));
    }
    int status = ics_step_generator_read(ticket->generator,
                                         (uint32_t)ticket->session->world.models->light->count,
                                         rows, capacity, got, error);
    if (status == ICESTREAM_E_INPUT) { /* the particles are a part of the configuration */
        status = error->status = ICESTREAM_E_CONFIG;
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    if (ticket->extent.steps == 0) {
        ics_step_extent_add(&ticket->extent, rows, *got);
    }
    ticket->next_row += *got;
    return *got == 0 && ticket->is_late ? note_late_warnings(ticket, error) : ICESTREAM_OK;
}

/* Particles that come through a pipe have another thread, so that other tickets go on. */
static int start_reader(icestream_session *session, ics_ticket *ticket, icestream_error *error)
{
    ICS_TRY(ics_workers_create("pipe", 1, 1, NULL, ics_engine_post(session->engine),
                               &ticket->reader, error));
    session->pipes++;
    ics_engine_allow_more(session->engine, 1); /* the batch of a silent pipe is in nobody's way */
    return ICESTREAM_OK;
}

int ics_ticket_begin(icestream_session *session, ics_ticket *ticket, icestream_error *error)
{
    ics_propagation *work = calloc(1, sizeof *work);
    ticket->work = work;
    if (work == NULL || ics_engine_begin_reading(work) != ICESTREAM_OK) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its steps",
                             ticket->name);
    }
    if (ticket->is_late) {
        ICS_TRY(start_reader(session, ticket, error));
    }
    work->name = ticket->sink.name = ticket->name;
    work->user = ticket;
    work->source.read = ticket->light == NULL ? read_array : read_light;
    work->source.user = ticket;
    work->sink = (ics_hit_sink){.add = ics_memory_sink_add, .user = &ticket->sink};
    work->reader = ticket->reader;
    work->photons = ticket->photons;
    return ICESTREAM_OK;
}

void ics_ticket_end(ics_ticket *ticket)
{
    if (ticket->reader != NULL) {
        ics_workers_destroy(ticket->reader);
        ticket->reader = NULL;
        ticket->session->pipes--;
        ics_engine_allow_more(ticket->session->engine, -1);
    }
    ics_step_generator_destroy(ticket->generator);
    ticket->generator = NULL;
    if (ticket->work != NULL) {
        ics_engine_end_reading(ticket->work);
    }
    free(ticket->work);
    ticket->work = NULL;
}
