#include "pipeline/tools/experiment.h"
#include "pipeline/error.h"
#include "pipeline/host/device.h"
#include "pipeline/models/models.h"

#include <stdlib.h>
#include <time.h>

struct is_experiment {
    is_models *models;
    is_tables *tables;
    is_run_origin origin;
    is_device_options options; /* as configured */
    uint32_t batch;
};

static int make_tables(const is_config *config, is_experiment *experiment, is_error *error)
{
    const is_models *models = experiment->models;
    is_table_options options = {.seed = config->run.seed,
                                .bounce_limit = config->run.bounce_limit,
                                .reach_cull = config->graph.reach_cull};
    char why[512] = "";
    if (is_tables_create(models->medium, models->detector, models->light, &options,
                         &experiment->tables, why, sizeof why) != 0)
        return is_error_set(error, IS_E_CONFIG, "%s", why);
    return IS_OK;
}

int is_experiment_create(const is_config *config, is_experiment **out, is_error *error)
{
    is_experiment *experiment = calloc(1, sizeof *experiment);
    if (!experiment)
        return is_error_set(error, IS_E_MEMORY, "out of memory");
    experiment->batch = config->graph.batch;
    int status = is_device_options_from_config(config, &experiment->options, error);
    if (status == IS_OK)
        status = is_models_create(config, &experiment->models, error);
    if (status == IS_OK)
        status = make_tables(config, experiment, error);
    if (status == IS_OK)
        status = is_run_origin_create(config, experiment->models, &experiment->origin, error);
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
    is_tables_destroy(experiment->tables);
    is_models_destroy(experiment->models);
    free(experiment);
}

uint32_t is_experiment_spectra(const is_experiment *experiment)
{
    return (uint32_t)experiment->models->light->count;
}

const is_run_origin *is_experiment_origin(const is_experiment *experiment)
{
    return &experiment->origin;
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int is_experiment_run(const is_experiment *experiment, is_schedule schedule, uint32_t threads,
                      const is_step_list *steps, is_measurement *out, is_error *error)
{
    is_device_options options = experiment->options;
    options.schedule = schedule;
    if (threads > 0)
        options.threads = threads;
    is_hit_models models = {.tables = &experiment->tables->device,
                            .detector = experiment->models->detector,
                            .light = experiment->models->light};
    is_device *device = NULL;
    int status =
        is_device_create(&options, experiment->tables, models, (is_post){0}, &device, error);
    if (status != IS_OK)
        return status;
    *out = (is_measurement){.schedule = is_device_schedule(device),
                            .threads = is_device_threads(device),
                            .pool = is_device_pool(device)};
    snprintf(out->instruction_set, sizeof out->instruction_set, "%s",
             is_device_instruction_set(device));
    double start = now_seconds();
    status = is_device_run_steps(device, steps->steps, steps->count, experiment->batch, &out->hits,
                                 &out->hit_count, &out->account, error);
    out->seconds = now_seconds() - start;
    is_device_destroy(device);
    return status;
}

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

double is_measurement_photons_per_second(const is_measurement *measurement)
{
    return ratio((double)measurement->account.created, measurement->seconds);
}

double is_measurement_photon_cost(const is_measurement *measurement)
{
    return ratio(1e9 * measurement->seconds * measurement->threads,
                 (double)measurement->account.created);
}

double is_measurement_bounce_cost(const is_measurement *measurement)
{
    return ratio(1e9 * measurement->seconds * measurement->threads,
                 (double)measurement->account.bounces);
}

double is_measurement_bounces(const is_measurement *measurement)
{
    return ratio((double)measurement->account.bounces, (double)measurement->account.created);
}
