/* Cutting a unit into batches, on a reader's thread. */
#include "base/container.h"
#include "base/error.h"
#include "pipeline/units/unit_generated.h"

/* A small file is cut into smaller batches, so that every thread gets one. */
static uint64_t choose_batch_photons(const ics_unit *unit)
{
    const ics_batch_limits *limits = &unit->work->limits;
    if (unit->common->config->graph.batch != 0) {
        return unit->common->config->graph.batch;
    }
    uint64_t share = unit->summary.photons / limits->shares;
    const bool unknown = unit->input->stream || unit->input->late;
    if (unknown || share > limits->photons) {
        return limits->photons;
    }
    return share > limits->least_photons ? share : limits->least_photons;
}

/* All steps are read. */
static int end_input(ics_unit *unit, icestream_error *error)
{
    if (unit->input->stream) {
        ics_step_reader_summary(unit->work->reader, &unit->summary);
        ICS_TRY(ics_unit_check_late_light(unit, error));
    }
    unit->work->at_end = true;
    return ICESTREAM_OK;
}

/* Of a message that was refused, the rest must be read, so that the next message is found. */
static void skip_rest(ics_unit *unit, icestream_error *error)
{
    ics_batch_destroy(unit->work->batch);
    unit->work->batch = NULL;
    unit->work->at_end = ics_step_reader_skip(unit->work->reader, error) == ICESTREAM_OK;
}

static int fill_batch(ics_unit *unit, icestream_error *error)
{
    bool full = false;
    while (!full) {
        ics_unit_pass_over_finished(unit->work);
        int status = ics_batch_fill(unit->work->batch, &unit->work->cursor, &full, error);
        if (status != ICESTREAM_OK || full) {
            return status;
        }
        size_t got = 0;
        status = unit->input->generated
                     ? ics_unit_generated_read(unit, unit->work->rows, ICS_UNIT_ROWS, &got, error)
                     : ics_step_reader_read(unit->work->reader, unit->work->rows, ICS_UNIT_ROWS,
                                            &got, error);
        if (status != ICESTREAM_OK) {
            return status;
        }
        unit->work->cursor = (ics_step_cursor){
            .steps = unit->work->rows, .count = got, .position = unit->work->cursor.position};
        ics_step_watch_look(&unit->work->watch, unit->common->least_beta, unit->work->rows, got);
        if (got == 0) {
            return end_input(unit, error);
        }
    }
    return ICESTREAM_OK;
}

void ics_unit_fill(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_unit *unit = ICS_CONTAINER_OF(job, ics_unit, reader_job);
    icestream_error *error = &unit->work->read_error;
    error->status = ICESTREAM_OK;
    int status = ICESTREAM_OK;
    if (unit->work->skips) {
        skip_rest(unit, error);
        return;
    }
    if (unit->work->batch == NULL) {
        status = ics_batch_create(&unit->work->limits, choose_batch_photons(unit),
                                  &unit->work->batch, error);
    } else {
        ics_batch_reset(unit->work->batch, &unit->work->limits, choose_batch_photons(unit));
    }
    if (status == ICESTREAM_OK) {
        status = fill_batch(unit, error);
    }
    if (status != ICESTREAM_OK || unit->work->batch->count == 0) {
        ics_batch_destroy(unit->work->batch);
        unit->work->batch = NULL;
    }
}
