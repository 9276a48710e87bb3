#include "pipeline/tools/experiment.h"
#include "pipeline/error.h"
#include "pipeline/host/device.h"
#include "pipeline/host/progress.h"
#include "pipeline/tools/world.h"

#include <stdlib.h>
#include <string.h>

struct is_experiment {
    is_world world;
    is_run_origin origin;
    is_device_options options; /* as configured */
    uint32_t batch;
};

int is_experiment_create(const is_config *config, is_experiment **out, is_error *error)
{
    is_experiment *experiment = calloc(1, sizeof *experiment);
    if (!experiment)
        return is_error_set(error, IS_E_MEMORY, "out of memory");
    experiment->batch = config->graph.batch;
    int status = is_device_options_from_config(config, &experiment->options, error);
    if (status == IS_OK && experiment->options.cpu_too) {
        char place[1024];
        status = is_error_set(error, IS_E_CONFIG,
                              "%s: error: device.backend: found cuda+cpu, whose kernel times are "
                              "of a part of the photons only; expected cuda or cpu",
                              is_config_place(config, "device.backend", place, sizeof place));
    }
    if (status == IS_OK)
        status = is_world_create(config, &experiment->world, error);
    if (status == IS_OK)
        status = is_run_origin_create(config, experiment->world.models, &experiment->origin, error);
    if (status != IS_OK) {
        is_experiment_destroy(experiment);
        return status;
    }
    *out = experiment;
    return IS_OK;
}

void is_experiment_destroy(is_experiment *experiment)
{
    if (!experiment)
        return;
    is_world_destroy(&experiment->world);
    free(experiment);
}

uint32_t is_experiment_spectra(const is_experiment *experiment)
{
    return (uint32_t)experiment->world.models->light->count;
}

const is_run_origin *is_experiment_origin(const is_experiment *experiment)
{
    return &experiment->origin;
}

bool is_experiment_on_gpu(const is_experiment *experiment)
{
    return experiment->options.backend == IS_BACKEND_CUDA;
}

/* ---- trials ---------------------------------------------------------------------------------- */

struct is_trial {
    const is_experiment *experiment;
    is_device *device;
    bool automatic; /* the schedule is the device's choice */
};

int is_trial_create(const is_experiment *experiment, const is_trial_options *options,
                    is_trial **out, is_error *error)
{
    is_device_options device = experiment->options;
    device.schedule = options->schedule;
    device.gpu.profile = options->profile;
    device.fall_back = false; /* figures are of the device that was asked for, or there are none */
    if (options->threads > 0)
        device.threads = options->threads;
    is_hit_models models = {.tables = &experiment->world.tables->device,
                            .detector = experiment->world.models->detector,
                            .light = experiment->world.models->light,
                            .detection = experiment->world.models->detection};
    is_trial *trial = calloc(1, sizeof *trial);
    if (!trial) {
        is_error_set(error, IS_E_MEMORY, "out of memory");
        return IS_E_MEMORY;
    }
    trial->experiment = experiment;
    trial->automatic = options->schedule == IS_SCHEDULE_AUTO;
    int status = is_device_create(&device, experiment->world.tables, models, (is_post){0},
                                  &trial->device, error);
    if (status != IS_OK) {
        free(trial);
        return status;
    }
    *out = trial;
    return IS_OK;
}

void is_trial_destroy(is_trial *trial)
{
    if (!trial)
        return;
    is_device_destroy(trial->device);
    free(trial);
}

/* The largest kernel of what ran and its traffic, which its plan knows. */
static int add_plan(const is_experiment *experiment, is_gpu_figures *figures, is_error *error)
{
    is_gpu_plan *plan = NULL;
    is_gpu_error problem = {.status = IS_GRAPH_OK};
    int result =
        is_gpu_plan_create(&figures->options, experiment->world.tables, 0, &plan, &problem);
    if (result != IS_GRAPH_OK)
        return is_error_set(error, result == IS_GRAPH_NO_MEMORY ? IS_E_MEMORY : IS_E_DEVICE, "%s",
                            problem.text);
    figures->bytes_per_bounce = plan->bytes_per_bounce;
    for (size_t i = 0; i < plan->kernel_count; ++i) {
        const is_kernel_resources *kernel = &plan->kernels[i].resources;
        if (kernel->registers <= figures->registers)
            continue;
        figures->registers = kernel->registers;
        snprintf(figures->largest, sizeof figures->largest, "%s", kernel->name);
    }
    is_gpu_plan_destroy(plan);
    return IS_OK;
}

/* What happened between two readings of the usage. */
static void add_usage(const is_gpu_usage *before, const is_gpu_usage *after, is_gpu_figures *out)
{
    out->kernel_seconds = after->seconds - before->seconds;
    out->launches = after->launches - before->launches;
    out->waves = after->waves - before->waves;
    out->device_bytes = after->device_bytes;
    for (size_t i = 0; i < sizeof out->stage_seconds / sizeof *out->stage_seconds; ++i)
        out->stage_seconds[i] = after->stage_seconds[i] - before->stage_seconds[i];
}

int is_trial_run(is_trial *trial, const is_step_list *steps, is_measurement *out, is_error *error)
{
    is_device_facts before, after;
    *out = (is_measurement){.automatic = trial->automatic};
    is_device_facts_of(trial->device, &before);
    double start = is_seconds();
    int status =
        is_device_run_steps(trial->device, steps->steps, steps->count, trial->experiment->batch,
                            &out->hits, &out->hit_count, &out->account, error);
    out->seconds = is_seconds() - start;
    is_device_facts_of(trial->device, &after);
    out->schedule = after.schedule;
    out->on_gpu = after.is_gpu;
    out->fast_math = after.is_gpu && after.gpu.math != IS_MATH_PORTABLE;
    out->threads = after.threads;
    out->pool = after.pool;
    memcpy(out->instruction_set, after.instruction_set, sizeof out->instruction_set);
    memcpy(out->device, after.name, sizeof out->device);
    is_device_notes_of(trial->device, &out->notes);
    if (!after.is_gpu)
        return status;
    out->gpu.options = after.gpu;
    add_usage(&before.usage, &after.usage, &out->gpu);
    return status == IS_OK ? add_plan(trial->experiment, &out->gpu, error) : status;
}

int is_experiment_run(const is_experiment *experiment, is_schedule schedule, uint32_t threads,
                      const is_step_list *steps, is_measurement *out, is_error *error)
{
    is_trial_options options = {.schedule = schedule, .threads = threads};
    is_trial *trial = NULL;
    int status = is_trial_create(experiment, &options, &trial, error);
    if (status == IS_OK)
        status = is_trial_run(trial, steps, out, error);
    is_trial_destroy(trial);
    return status;
}

int is_experiment_profile(const is_experiment *experiment, is_schedule schedule,
                          const is_step_list *steps, double stage_seconds[6], is_error *error)
{
    is_trial_options options = {.schedule = schedule, .profile = true};
    is_trial *trial = NULL;
    is_measurement measurement = {0};
    int status = is_trial_create(experiment, &options, &trial, error);
    if (status == IS_OK)
        status = is_trial_run(trial, steps, &measurement, error);
    is_measurement_free(&measurement);
    is_trial_destroy(trial);
    for (int i = 0; i < 6; ++i)
        stage_seconds[i] = measurement.gpu.stage_seconds[i];
    return status;
}

/* ---- figures --------------------------------------------------------------------------------- */

void is_measurement_free(is_measurement *measurement)
{
    free(measurement->hits);
    measurement->hits = NULL;
    measurement->hit_count = 0;
}

static double ratio(double numerator, double denominator)
{
    return denominator > 0 ? numerator / denominator : 0;
}

double is_measurement_cost(const is_measurement *m)
{
    return m->on_gpu ? m->gpu.kernel_seconds : m->seconds * m->threads;
}

double is_measurement_time(const is_measurement *m)
{
    return m->on_gpu ? m->gpu.kernel_seconds : m->seconds;
}

double is_measurement_photon_cost(const is_measurement *m)
{
    return ratio(1e9 * is_measurement_cost(m), (double)m->account.created);
}

double is_measurement_bounce_cost(const is_measurement *m)
{
    return ratio(1e9 * is_measurement_cost(m), (double)m->account.bounces);
}

double is_measurement_photon_rate(const is_measurement *m)
{
    return ratio((double)m->account.created, is_measurement_time(m));
}

double is_measurement_bounce_rate(const is_measurement *m)
{
    return ratio((double)m->account.bounces, is_measurement_time(m));
}

double is_measurement_bounces(const is_measurement *m)
{
    return ratio((double)m->account.bounces, (double)m->account.created);
}

double is_measurement_traffic(const is_measurement *m)
{
    return ratio(1e-9 * m->gpu.bytes_per_bounce * (double)m->account.bounces,
                 m->gpu.kernel_seconds);
}
