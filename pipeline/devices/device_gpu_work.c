#include "pipeline/devices/device_gpu_work.h"

#include "pipeline/devices/device_choice.h"

#include <string.h>

/* ---- the start ------------------------------------------------------------------------------- */

static int make_gpu(ics_device_gpu_work *work, icestream_error *error)
{
    int result = ics_gpu_create(&work->settings, work->parts->tables, &work->gpu, error);
    if (result != ICESTREAM_OK) {
        return result;
    }
    /* The paths of stage headers stay those of the configuration, which outlive the GPU. */
    ics_gpu_options settings = *ics_gpu_options_of(work->gpu);
    memcpy(settings.custom, work->settings.custom, sizeof settings.custom);
    work->settings = settings;
    ics_gpu_on_event(work->gpu, work->event, work->event_user);
    work->parts->note(work->parts->note_user, true, ics_gpu_warnings(work->gpu));
    return ICESTREAM_OK;
}

/* Plans one of the candidates for schedule AUTO. The plan gives the limits of batches, and fails if
 * no schedule could run. */
static int plan_gpu(ics_device_gpu_work *work, icestream_error *error)
{
    ics_gpu_options candidate = work->settings;
    candidate.schedule = ICS_SCHEDULE_MONOLITHIC;
    ics_gpu_plan *plan = NULL;
    int result = ics_gpu_plan_create(&candidate, work->parts->tables, 0, &plan, error);
    if (result != ICESTREAM_OK) {
        return result;
    }
    work->settings.math = plan->options.math;
    work->settings.batch_emissions = plan->options.batch_emissions;
    work->settings.batch_photons = plan->options.batch_photons;
    ics_gpu_plan_destroy(plan);
    return ICESTREAM_OK;
}

int ics_device_gpu_work_start(ics_device_gpu_work *work, icestream_error *error)
{
    ics_gpu_device about;
    int result = ics_gpu_describe(work->settings.ordinal, &about, error);
    if (result != ICESTREAM_OK) {
        return result;
    }
    snprintf(work->name, sizeof work->name, "%s", about.name);
    return work->settings.schedule == ICS_SCHEDULE_AUTO ? plan_gpu(work, error)
                                                        : make_gpu(work, error);
}

static int choose_and_make_gpu(ics_device_gpu_work *work, const ics_batch *batch,
                               icestream_error *error)
{
    char report[sizeof(((ics_device_notes *)0)->choice)] = "";
    int result = ics_device_choice_make(work->parts->choices, &work->settings, work->parts->tables,
                                        batch, report, sizeof report, error);
    if (result != ICESTREAM_OK) {
        return result;
    }
    work->parts->note(work->parts->note_user, false, report);
    return make_gpu(work, error);
}

void ics_device_gpu_work_end(ics_device_gpu_work *work)
{
    ics_gpu_destroy(work->gpu);
    work->gpu = NULL;
}

/* ---- batches --------------------------------------------------------------------------------- */

static int check_size(const ics_device_gpu_work *work, const ics_batch *batch,
                      icestream_error *error)
{
    const ics_gpu_options *settings = &work->settings;
    if (batch->count <= settings->batch_emissions && batch->photons <= settings->batch_photons) {
        return ICESTREAM_OK;
    }
    snprintf(error->text, sizeof error->text,
             "internal error: a batch of %u steps and %llu photons for a GPU that takes %u and %u",
             batch->count, (unsigned long long)batch->photons, settings->batch_emissions,
             settings->batch_photons);
    return error->status = ICESTREAM_E_CONFIG;
}

/* Fails if the loss of this GPU is simulated and its number of batches is reached. */
static int check_simulation(ics_device_gpu_work *work, icestream_error *error)
{
    const ics_device_loss *loss = &work->parts->options->simulated;
    if (loss->batches == 0 || loss->ordinal != work->settings.ordinal ||
        ++work->submitted <= loss->batches) {
        return ICESTREAM_OK;
    }
    snprintf(error->text, sizeof error->text,
             "GPU %d: treated as lost after %u batches, as the environment variable "
             "ICESTREAM_GPU_FAIL asks for",
             loss->ordinal, loss->batches);
    return error->status = ICESTREAM_E_FAILED;
}

bool ics_device_gpu_work_has_room(const ics_device_gpu_work *work)
{
    return work->gpu == NULL || work->count < ics_gpu_credits(work->gpu);
}

int ics_device_gpu_work_submit(ics_device_gpu_work *work, ics_batch *batch, icestream_error *error)
{
    int result = ICESTREAM_OK;
    work->batches[work->count++] = batch;
    if (work->gpu == NULL) {
        result = choose_and_make_gpu(work, batch, error);
    }
    if (result == ICESTREAM_OK) {
        result = check_simulation(work, error);
    }
    if (result == ICESTREAM_OK) {
        result = check_size(work, batch, error);
    }
    return result == ICESTREAM_OK
               ? ics_gpu_submit(work->gpu, batch->emissions, batch->count, batch, error)
               : result;
}

ics_batch *ics_device_gpu_work_take(ics_device_gpu_work *work)
{
    ics_gpu_result result;
    if (!ics_gpu_take(work->gpu, &result)) {
        return NULL;
    }
    ics_batch *batch = result.tag;
    for (uint32_t i = 0; i < work->count; ++i) {
        if (work->batches[i] == batch) {
            work->batches[i] = work->batches[--work->count];
            break;
        }
    }
    batch->arrivals = result.arrivals;
    batch->ended = result.account;
    batch->maths = work->settings.math == ICS_MATH_PORTABLE ? ICS_MATHS_PORTABLE : ICS_MATHS_FAST;
    return batch;
}

/* ---- facts ----------------------------------------------------------------------------------- */

void ics_device_gpu_work_facts(ics_device_gpu_work *work, ics_device_facts *out)
{
    const ics_gpu_options *settings = &work->settings;
    const bool made = work->gpu != NULL;
    out->is_gpu = true;
    memcpy(out->name, work->name, sizeof out->name);
    out->schedule = made ? settings->schedule : ICS_SCHEDULE_AUTO;
    out->maths = settings->math == ICS_MATH_PORTABLE ? ICS_MATHS_PORTABLE : ICS_MATHS_FAST;
    out->pool = made ? settings->pool : 0;
    out->gpu = *settings;
    out->limits = (ics_batch_limits){.steps = settings->batch_emissions,
                                     .photons = settings->batch_photons,
                                     .most_photons = settings->batch_photons,
                                     .least_photons = settings->batch_photons,
                                     .shares = 1};
    if (made) {
        ics_gpu_usage_of(work->gpu, &out->usage);
    }
}
