#include "pipeline/commands/measure/experiment.h"

#include "base/clock.h"
#include "base/error.h"
#include "graphs/schedule.h"
#include "pipeline/photons/config/table.h"
#include "pipeline/photons/devices/device.h"
#include "pipeline/photons/session/world.h"

#include <stdlib.h>
#include <string.h>

struct ics_experiment {
    ics_world world;
    ics_origin origin;
    ics_device_options options; /* as configured */
    uint32_t batch;
    ics_task_progress *progress; /* NULL: none is shown */
};

static int prepare(ics_experiment *experiment, const icestream_config *config,
                   icestream_error *error)
{
    char place[1024];
    ICS_TRY(ics_config_table_refuse(config, "compare", error));
    ICS_TRY(ics_device_options_from_config(config, &experiment->options, error));
    if (experiment->options.cpu_too) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: error: device.backend: found cuda+cpu, but kernel times would be "
                             "those of a part of the photons; expected cuda or cpu",
                             ics_config_place(config, "device.backend", place, sizeof place));
    }
    ICS_TRY(ics_world_create(config, &experiment->world, error));
    return ics_origin_create(config, experiment->world.models, &experiment->origin, error);
}

int ics_experiment_create(const icestream_config *config, ics_experiment **out,
                          icestream_error *error)
{
    ICS_DESTROYS(ics_experiment_destroy) ics_experiment *experiment = calloc(1, sizeof *experiment);
    if (experiment == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
    }
    experiment->batch = config->graph.batch;
    ICS_TRY(prepare(experiment, config, error));
    *out = ICS_HAND_OVER(experiment);
    return ICESTREAM_OK;
}

void ics_experiment_destroy(ics_experiment *experiment)
{
    if (experiment == NULL) {
        return;
    }
    ics_world_destroy(&experiment->world);
    free(experiment);
}

uint32_t ics_experiment_spectra(const ics_experiment *experiment)
{
    return (uint32_t)experiment->world.models->light->count;
}

const ics_models *ics_experiment_models(const ics_experiment *experiment)
{
    return experiment->world.models;
}

const ics_origin *ics_experiment_origin(const ics_experiment *experiment)
{
    return &experiment->origin;
}

void ics_experiment_show(ics_experiment *experiment, ics_task_progress *progress)
{
    experiment->progress = progress;
}

bool ics_experiment_can_profile(ics_schedule schedule)
{
    return ics_schedule_can_profile(schedule);
}

bool ics_experiment_on_gpu(const ics_experiment *experiment)
{
    return experiment->options.backend == ICS_BACKEND_CUDA;
}

/* ---- trials ---------------------------------------------------------------------------------- */

struct ics_trial {
    const ics_experiment *experiment;
    ics_engine *engine;
    bool automatic; /* the schedule is the device's choice */
};

int ics_experiment_trial_create(const ics_experiment *experiment, const ics_trial_options *options,
                                ics_trial **out, icestream_error *error)
{
    ics_device_options device = experiment->options;
    device.graph.schedule = options->schedule;
    device.graph.profile = options->profile;
    device.graph.check = device.graph.check || options->check;
    device.graph.without = options->without;
    device.graph.tune = options->tune != NULL ? *options->tune : device.graph.tune;
    device.fall_back = false; /* figures of another device would be wrong */
    if (options->threads > 0) {
        device.threads = options->threads;
    }
    ICS_DESTROYS(ics_experiment_trial_destroy) ics_trial *trial = calloc(1, sizeof *trial);
    if (trial == NULL) {
        return ics_error_no_memory(error, "a measurement");
    }
    trial->experiment = experiment;
    trial->automatic = options->schedule == ICS_SCHEDULE_AUTO;
    const ics_engine_parts parts = {.device = &device,
                                    .tables = experiment->world.tables,
                                    .models = ics_world_hit_models(&experiment->world),
                                    .batch_photons = experiment->batch,
                                    .ahead = 1};
    ICS_TRY(ics_engine_create(&parts, &trial->engine, error));
    *out = ICS_HAND_OVER(trial);
    return ICESTREAM_OK;
}

void ics_experiment_trial_destroy(ics_trial *trial)
{
    if (trial == NULL) {
        return;
    }
    ics_engine_destroy(trial->engine);
    free(trial);
}

/* Adds the largest kernel and the pool traffic of the options that ran, from their plan. */
static int add_plan(const ics_experiment *experiment, ics_gpu_figures *figures,
                    icestream_error *error)
{
    ics_gpu_plan *plan = NULL;
    ICS_TRY(ics_gpu_plan_create(&figures->options, experiment->world.tables, 0, &plan, error));
    figures->bytes_per_bounce = plan->bytes_per_bounce;
    for (size_t i = 0; i < plan->kernel_count; ++i) {
        const ics_kernel_resources *kernel = &plan->kernels[i].resources;
        if (kernel->registers <= figures->registers) {
            continue;
        }
        figures->registers = kernel->registers;
        snprintf(figures->largest, sizeof figures->largest, "%s", kernel->name);
    }
    ics_gpu_plan_destroy(plan);
    return ICESTREAM_OK;
}

/* Stores the differences between two readings of the usage. */
static void add_usage(const ics_gpu_usage *before, const ics_gpu_usage *after, ics_gpu_figures *out)
{
    out->kernel_seconds = after->seconds - before->seconds;
    out->launches = after->launches - before->launches;
    out->waves = after->waves - before->waves;
    out->device_bytes = after->device_bytes;
    for (size_t i = 0; i < sizeof out->stage_seconds / sizeof *out->stage_seconds; ++i) {
        out->stage_seconds[i] = after->stage_seconds[i] - before->stage_seconds[i];
    }
}

/* What a line of progress needs. */
typedef struct watched {
    ics_task_progress *progress; /* NULL: none is shown */
    uint64_t photons;            /* of all steps */
} watched;

static void show(void *user, const icestream_account *account)
{
    const watched *run = user;
    if (run->progress != NULL) {
        const ics_progress_state state = {.photons = account->created,
                                          .photons_total = (double)run->photons,
                                          .hits = account->hits};
        ics_task_progress_show(run->progress, &state);
    }
}

int ics_experiment_trial_run(ics_trial *trial, const ics_step_list *steps, ics_measurement *out,
                             icestream_error *error)
{
    ics_device_facts before, after;
    ics_engine_hits computed;
    *out = (ics_measurement){.automatic = trial->automatic};
    ics_device_facts_of(trial->engine->device, &before);
    double start = ics_clock_seconds();
    watched run = {.progress = trial->experiment->progress, .photons = steps->photons};
    const ics_engine_watch watch = {.done = show, .user = &run};
    int status = ics_engine_run_steps(
        trial->engine, (ics_step_cursor){.steps = steps->steps, .count = steps->count}, &watch,
        &computed, error);
    out->seconds = ics_clock_seconds() - start;
    out->hits = computed.hits;
    out->hit_count = computed.count;
    out->account = computed.account;
    ics_device_facts_of(trial->engine->device, &after);
    out->schedule = after.schedule;
    out->on_gpu = after.is_gpu;
    out->fast_math = after.maths == ICS_MATHS_FAST;
    out->threads = after.threads;
    out->pool = after.pool;
    memcpy(out->instruction_set, after.instruction_set, sizeof out->instruction_set);
    memcpy(out->device, after.name, sizeof out->device);
    ics_device_notes_of(trial->engine->device, &out->notes);
    if (!after.is_gpu) {
        return status;
    }
    out->gpu.options = after.gpu;
    add_usage(&before.usage, &after.usage, &out->gpu);
    return status == ICESTREAM_OK ? add_plan(trial->experiment, &out->gpu, error) : status;
}

/* Creates a trial and runs it once. */
static int run_once(const ics_experiment *experiment, const ics_trial_options *options,
                    const ics_step_list *steps, ics_measurement *out, icestream_error *error)
{
    ICS_DESTROYS(ics_experiment_trial_destroy) ics_trial *trial = NULL;
    ICS_TRY(ics_experiment_trial_create(experiment, options, &trial, error));
    return ics_experiment_trial_run(trial, steps, out, error);
}

int ics_experiment_run(const ics_experiment *experiment, ics_schedule schedule, uint32_t threads,
                       const ics_step_list *steps, ics_measurement *out, icestream_error *error)
{
    const ics_trial_options options = {.schedule = schedule, .threads = threads};
    return run_once(experiment, &options, steps, out, error);
}

int ics_experiment_check(const ics_experiment *experiment, ics_schedule schedule,
                         const ics_step_list *steps, icestream_error *error)
{
    const ics_trial_options options = {.schedule = schedule, .check = true};
    ics_measurement measurement = {0};
    const int status = run_once(experiment, &options, steps, &measurement, error);
    ics_experiment_measurement_free(&measurement);
    return status;
}

int ics_experiment_profile(const ics_experiment *experiment, ics_schedule schedule,
                           const ics_step_list *steps, double stage_seconds[6],
                           icestream_error *error)
{
    const ics_trial_options options = {.schedule = schedule, .profile = true};
    ics_measurement measurement = {0};
    const int status = run_once(experiment, &options, steps, &measurement, error);
    ics_experiment_measurement_free(&measurement);
    memcpy(stage_seconds, measurement.gpu.stage_seconds, sizeof measurement.gpu.stage_seconds);
    return status;
}

/* ---- figures --------------------------------------------------------------------------------- */

void ics_experiment_measurement_free(ics_measurement *measurement)
{
    free(measurement->hits);
    measurement->hits = NULL;
    measurement->hit_count = 0;
}

static double ratio(double numerator, double denominator)
{
    return denominator > 0 ? numerator / denominator : 0;
}

double ics_experiment_cost(const ics_measurement *m)
{
    return m->on_gpu ? m->gpu.kernel_seconds : m->seconds * m->threads;
}

double ics_experiment_time(const ics_measurement *m)
{
    return m->on_gpu ? m->gpu.kernel_seconds : m->seconds;
}

double ics_experiment_photon_cost(const ics_measurement *m)
{
    return ratio(1e9 * ics_experiment_cost(m), (double)m->account.created);
}

double ics_experiment_bounce_cost(const ics_measurement *m)
{
    return ratio(1e9 * ics_experiment_cost(m), (double)m->account.bounces);
}

double ics_experiment_photon_rate(const ics_measurement *m)
{
    return ratio((double)m->account.created, ics_experiment_time(m));
}

double ics_experiment_bounce_rate(const ics_measurement *m)
{
    return ratio((double)m->account.bounces, ics_experiment_time(m));
}

double ics_experiment_bounces(const ics_measurement *m)
{
    return ratio((double)m->account.bounces, (double)m->account.created);
}

double ics_experiment_traffic(const ics_measurement *m)
{
    return ratio(1e-9 * m->gpu.bytes_per_bounce * (double)m->account.bounces,
                 m->gpu.kernel_seconds);
}
