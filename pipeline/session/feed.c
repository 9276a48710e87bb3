/* Reading the steps of a ticket and cutting them into batches. */
#include "base/error.h"
#include "pipeline/files/format/step_check.h"
#include "pipeline/session/session_state.h"

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

/* What is doubtful about particles that came through a pipe is known at their end only. */
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

static int begin(ics_ticket *ticket, icestream_error *error)
{
    ticket->feed = calloc(1, sizeof *ticket->feed);
    return ticket->feed != NULL && ics_step_feed_begin(ticket->feed) == ICESTREAM_OK
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its steps",
                               ticket->name);
}

int ics_session_feed(ics_ticket *ticket, icestream_error *error)
{
    const icestream_session *session = ticket->session;
    const ics_batch_limits limits = ics_device_batch_limits(session->device);
    const uint64_t photons =
        ics_batch_choose_photons(&limits, session->config->graph.batch, ticket->photons);
    const ics_step_input input = {.read = ticket->light == NULL ? read_array : read_light,
                                  .user = ticket};
    if (ticket->feed == NULL) {
        ICS_TRY(begin(ticket, error));
    }
    ICS_TRY(ics_step_feed_fill(ticket->feed, &input, &limits, photons, session->warnings.least_beta,
                               &ticket->batch, error));
    if (ticket->batch != NULL) {
        ticket->batch->owner = ticket;
        ticket->batch->index = ticket->batches++;
    }
    return ICESTREAM_OK;
}

void ics_session_feed_end(ics_ticket *ticket)
{
    if (ticket->reader != NULL) {
        ics_workers_destroy(ticket->reader);
        ticket->reader = NULL;
        ticket->session->pipes--;
    }
    ics_step_generator_destroy(ticket->generator);
    ticket->generator = NULL;
    ics_batch_destroy(ticket->batch);
    ticket->batch = NULL;
    if (ticket->feed != NULL) {
        ics_step_feed_end(ticket->feed);
    }
    free(ticket->feed);
    ticket->feed = NULL;
    free(ticket->read_error);
    ticket->read_error = NULL;
}
