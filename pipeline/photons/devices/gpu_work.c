#include "pipeline/photons/devices/gpu_work.h"

#include "base/clock.h"
#include "base/error.h"
#include "graphs/schedule.h"
#include "pipeline/photons/devices/choice.h"

#include <stdlib.h>
#include <string.h>

/* Photons of an emission for schedules whose threads or warps work on one emission at a time: a
 * step of 1e9 photons must not be the work of one thread. With this number 2^24 photons of a batch
 * are 2^16 emissions, half of what a batch may have. */
enum { EMISSION_PHOTONS = 256 };

enum { REPORT_SIZE = sizeof(((ics_device_notes *)0)->choice) };

/* ---- the start ------------------------------------------------------------------------------- */

static int make_gpu(ics_device_gpu_work *work, icestream_error *error)
{
    /* Another GPU, or a trial, may have found the settings for batches without profiles. */
    work->settings.light_profiles |= work->has_profiles;
    work->settings.sums = work->makes_sums ? &work->rule : NULL;
    ICS_TRY(ics_gpu_create(&work->settings, work->parts->tables, &work->gpu, error));
    work->settings = *ics_gpu_options_of(work->gpu);
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
    if (work->parts->options->gets_no_batch) {
        ICS_TRY(ics_gpu_plan_check(&candidate, work->parts->tables, error));
    } else {
        ics_gpu_plan *plan = NULL;
        ICS_TRY(ics_gpu_plan_create(&candidate, work->parts->tables, 0, &plan, error));
        candidate = plan->options;
        ics_gpu_plan_destroy(plan);
    }
    work->settings.math = candidate.math;
    work->settings.batch_emissions = candidate.batch_emissions;
    work->settings.batch_photons = candidate.batch_photons;
    return ICESTREAM_OK;
}

/* Decides where sums of hits are made, and says it. */
static void prepare_sums(ics_device_gpu_work *work)
{
    const ics_hit_models *models = &work->parts->models;
    char text[ICS_DEVICE_GPU_SUMS_TEXT], line[ICS_DEVICE_GPU_SUMS_TEXT + 32];
    if (models->bins.width == 0) {
        return;
    }
    work->makes_sums = ics_device_gpu_sums_wanted(models);
    work->rule = ics_device_gpu_sums_rule(models);
    snprintf(line, sizeof line, "GPU %d: %s", work->settings.ordinal,
             ics_device_gpu_sums_text(models, text));
    work->parts->note(work->parts->note_user, false, line);
}

int ics_device_gpu_work_start(ics_device_gpu_work *work, icestream_error *error)
{
    ics_gpu_device about;
    ICS_TRY(ics_gpu_describe(work->settings.ordinal, &about, error));
    snprintf(work->name, sizeof work->name, "%s", about.name);
    prepare_sums(work);
    return work->settings.schedule == ICS_SCHEDULE_AUTO ? plan_gpu(work, error)
                                                        : make_gpu(work, error);
}

static int choose_and_make_gpu(ics_device_gpu_work *work, const ics_batch *batch,
                               icestream_error *error)
{
    char report[REPORT_SIZE] = "";
    work->settings.light_profiles |= work->has_profiles;
    work->asked = work->settings;
    ICS_TRY(ics_device_choice_make(work->parts->choices, &work->settings, work->parts->tables,
                                   batch, report, sizeof report, error));
    if (ics_device_choice_is_first(work->parts->choices, work->asked.ordinal)) {
        ICS_TRY(ics_gpu_trials_create(&work->asked, work->parts->tables, &work->trials, error));
    }
    work->parts->note(work->parts->note_user, false, report);
    return make_gpu(work, error);
}

/* ---- trials and changes of the schedule ------------------------------------------------------ */

static ics_gpu_usage usage_of(const ics_device_gpu_work *work)
{
    ics_gpu_usage sum = work->before, now = {0};
    if (work->gpu != NULL) {
        ics_gpu_usage_of(work->gpu, &now);
    }
    sum.seconds += now.seconds;
    sum.launches += now.launches;
    sum.waves += now.waves;
    sum.device_bytes = now.device_bytes;
    sum.downloaded_bytes += now.downloaded_bytes;
    sum.trial_seconds = work->trials != NULL ? ics_gpu_trials_seconds(work->trials) : 0;
    for (size_t i = 0; i < sizeof sum.stage_seconds / sizeof *sum.stage_seconds; ++i) {
        sum.stage_seconds[i] += now.stage_seconds[i];
    }
    return sum;
}

/* Replaces the GPU, which has no batch, by one with the settings in *work. What it has done stays
 * in `before`. */
static int remake_gpu(ics_device_gpu_work *work, icestream_error *error)
{
    work->before = usage_of(work);
    ics_gpu_destroy(work->gpu);
    work->gpu = NULL;
    return make_gpu(work, error);
}

/* Whether a pause of the GPU is needed, for a trial or because another schedule should continue:
 * the one in use does not suit steps such as those of this batch, or the first GPU of the kind has
 * changed. */
static bool needs_pause(ics_device_gpu_work *work, const ics_batch *batch)
{
    ics_gpu_options other = work->settings;
    if (work->asked.schedule != ICS_SCHEDULE_AUTO || work->asked.batch_photons == 0) {
        return false; /* a fixed schedule */
    }
    return !ics_gpu_suits(&work->settings, batch->emissions, batch->count) ||
           ics_device_choice_differs(work->parts->choices, &other) ||
           (work->trials != NULL && ics_gpu_trials_due(work->trials, usage_of(work).seconds,
                                                       batch->emissions, batch->count));
}

/* Sets *best to the settings that shall compute this batch and those that follow: after a trial, if
 * one is due. No batch is with the GPU. */
static int find_settings(ics_device_gpu_work *work, const ics_batch *batch, ics_gpu_options *best,
                         icestream_error *error)
{
    const ics_gpu_usage usage = usage_of(work);
    char report[ICS_GPU_REPORT_SIZE] = "";
    int result = ICESTREAM_OK;
    if (work->trials != NULL &&
        ics_gpu_trials_due(work->trials, usage.seconds, batch->emissions, batch->count)) {
        ics_gpu_trials_spend(work->trials, ics_clock_seconds() - work->paused_at);
        result = ics_gpu_trials_run(work->trials, batch->emissions, batch->count,
                                    usage.device_bytes, best, report, error);
    } else if (!ics_gpu_suits(&work->settings, batch->emissions, batch->count)) {
        *best = work->asked;
        best->light_profiles |= work->has_profiles;
        result = ics_gpu_choose(best, work->parts->tables, batch->emissions, batch->count, report,
                                sizeof report, error);
    } else {
        (void)ics_device_choice_differs(work->parts->choices, best);
        return ICESTREAM_OK;
    }
    if (result == ICESTREAM_OK) {
        work->parts->note(work->parts->note_user, false, report);
        ics_device_choice_change(work->parts->choices, best);
    }
    return result;
}

/* Ends a pause: the GPU is empty, and `batch` comes next. */
static int end_pause(ics_device_gpu_work *work, const ics_batch *batch, icestream_error *error)
{
    ics_gpu_options best = work->settings;
    work->pauses = false;
    const int result = find_settings(work, batch, &best, error);
    if (result != ICESTREAM_OK || ics_device_choice_equal(&best, &work->settings)) {
        return result;
    }
    const double start = ics_clock_seconds();
    work->settings = best;
    const int made = remake_gpu(work, error);
    if (work->trials != NULL) {
        ics_gpu_trials_spend(work->trials, ics_clock_seconds() - start);
    }
    return made;
}

void ics_device_gpu_work_end(ics_device_gpu_work *work)
{
    ics_gpu_destroy(work->gpu);
    work->gpu = NULL;
    ics_gpu_trials_destroy(work->trials);
    work->trials = NULL;
}

/* ---- batches --------------------------------------------------------------------------------- */

static int check_size(const ics_device_gpu_work *work, const ics_batch *batch,
                      icestream_error *error)
{
    const ics_gpu_options *settings = &work->settings;
    if (batch->count <= settings->batch_emissions && batch->photons <= settings->batch_photons) {
        return ICESTREAM_OK;
    }
    return ics_error_set(
        error, ICESTREAM_E_CONFIG,
        "internal error: a batch of %u steps and %llu photons for a GPU that takes %u and %u",
        batch->count, (unsigned long long)batch->photons, settings->batch_emissions,
        settings->batch_photons);
}

/* Sets *steps to what the GPU needs for sums of the hits of a batch; NULL: the batch gets hits. */
static int find_steps(ics_device_gpu_work *work, const ics_batch *batch,
                      const ics_hit_sum_step **steps, icestream_error *error)
{
    *steps = NULL;
    if (!work->makes_sums) {
        return ICESTREAM_OK;
    }
    if (work->steps == NULL) {
        work->steps = malloc(work->settings.batch_emissions * sizeof *work->steps);
    }
    if (work->steps == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %u steps of a batch",
                             work->settings.batch_emissions);
    }
    if (ics_device_gpu_sums_steps(&work->parts->models, batch, work->steps)) {
        *steps = work->steps;
    } else if (!work->noted_pulse) {
        char line[256];
        work->noted_pulse = true;
        snprintf(line, sizeof line,
                 "GPU %d: waveforms: the host makes the sums of batches with pulses of LEDs, whose "
                 "times it draws",
                 work->settings.ordinal);
        work->parts->note(work->parts->note_user, false, line);
    }
    return ICESTREAM_OK;
}

static int give_batch(ics_device_gpu_work *work, ics_batch *batch, icestream_error *error)
{
    const ics_hit_sum_step *steps;
    ICS_TRY(find_steps(work, batch, &steps, error));
    return ics_gpu_submit(work->gpu, batch->emissions, steps, batch->count, batch, error);
}

bool ics_device_gpu_work_has_room(const ics_device_gpu_work *work)
{
    return work->count == 0 || (work->gpu != NULL && !work->pauses && !work->holds_batch &&
                                work->count < ics_gpu_credits(work->gpu));
}

int ics_device_gpu_work_release(ics_device_gpu_work *work, icestream_error *error)
{
    if (!work->holds_batch || work->count > 1) {
        return ICESTREAM_OK;
    }
    work->holds_batch = false;
    ICS_TRY(remake_gpu(work, error));
    ics_batch *batch = work->batches[0];
    return give_batch(work, batch, error);
}

int ics_device_gpu_work_submit(ics_device_gpu_work *work, ics_batch *batch, icestream_error *error)
{
    work->batches[work->count++] = batch;
    work->has_profiles |= batch->has_profile;
    if (work->gpu == NULL) {
        ICS_TRY(choose_and_make_gpu(work, batch, error));
    } else if (work->pauses && work->count == 1) {
        ICS_TRY(end_pause(work, batch, error));
    }
    ICS_TRY(ics_device_loss_check(&work->parts->options->simulated, work->settings.ordinal,
                                  &work->submitted, error));
    ICS_TRY(check_size(work, batch, error));
    if (work->has_profiles && !work->settings.light_profiles) {
        work->holds_batch = true;
        return ics_device_gpu_work_release(work, error);
    }
    ICS_TRY(give_batch(work, batch, error));
    if (!work->pauses && needs_pause(work, batch)) {
        work->pauses = true;
        work->paused_at = ics_clock_seconds();
    }
    return ICESTREAM_OK;
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
    batch->sums = result.sums;
    batch->ended = result.account;
    memcpy(batch->photon_cells, result.photon_cells, sizeof batch->photon_cells);
    batch->large_cells = result.large_cells;
    batch->maths = work->settings.math == ICS_MATH_PORTABLE ? ICS_MATHS_PORTABLE : ICS_MATHS_FAST;
    batch->kernels = ics_gpu_kernels_of(work->gpu);
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
    const ics_gpu_schedule *row = made ? ics_schedule_row(settings->schedule) : NULL;
    out->limits = (ics_batch_limits){.steps = settings->batch_emissions,
                                     .emission_photons =
                                         row == NULL || row->takes_steps ? EMISSION_PHOTONS : 0,
                                     .photons = settings->batch_photons,
                                     .most_photons = settings->batch_photons,
                                     .least_photons = settings->batch_photons,
                                     .shares = 1};
    out->usage = usage_of(work);
}
