/* Cutting a unit into batches, on a reader's thread. */
#include "base/container.h"
#include "base/error.h"
#include "pipeline/units/unit_generated.h"

static uint64_t choose_batch_photons(const ics_unit *unit)
{
    const bool unknown = unit->input->stream || unit->input->late;
    return ics_batch_choose_photons(&unit->work->limits, unit->common->config->graph.batch,
                                    unknown ? UINT64_MAX : unit->summary.photons);
}

/* Of a message that was refused, the rest must be read, so that the next message is found. */
static void skip_rest(ics_unit *unit, icestream_error *error)
{
    ics_batch_destroy(unit->work->batch);
    unit->work->batch = NULL;
    unit->work->feed.at_end = ics_step_reader_skip(unit->work->reader, error) == ICESTREAM_OK;
}

static int read_steps(void *user, icestream_step *steps, size_t capacity, size_t *got,
                      icestream_error *error)
{
    ics_unit *unit = user;
    ics_step_reader *reader = unit->work->reader;
    if (unit->input->generated) {
        return ics_unit_generated_read(unit, steps, capacity, got, error);
    }
    ICS_TRY(ics_step_reader_read(reader, steps, capacity, got, error));
    if (*got > 0) {
        return ICESTREAM_OK;
    }
    if (!unit->input->stream) {
        return ics_unit_await_digest(unit, &unit->common->cancel, error);
    }
    ics_step_reader_summary(reader, &unit->summary);
    return ics_unit_check_late_light(unit, error);
}

static void pass_over(void *user, ics_step_cursor *cursor)
{
    ics_unit_pass_over_finished(((const ics_unit *)user)->work, cursor);
}

void ics_unit_fill(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_unit *unit = ICS_CONTAINER_OF(job, ics_unit, reader_job);
    ics_unit_work *work = unit->work;
    const ics_step_input input = {.read = read_steps, .pass_over = pass_over, .user = unit};
    work->read_error.status = ICESTREAM_OK;
    if (work->skips) {
        skip_rest(unit, &work->read_error);
        return;
    }
    ics_step_feed_fill(&work->feed, &input, &work->limits, choose_batch_photons(unit),
                       unit->common->least_beta, &work->batch, &work->read_error);
}
