/* icestream_validate: checks all that a run needs before its first photon, and all that `generate`
 * needs before the first step of particles. */
#include "base/error.h"
#include "pipeline/devices/device.h"
#include "pipeline/models/plausibility.h"
#include "pipeline/particles/particle_plausibility.h"
#include "pipeline/particles/particle_survey.h"
#include "pipeline/source/listener.h"
#include "pipeline/telemetry/metrics_listener.h"
#include "pipeline/tools/measure/world.h"

#include <inttypes.h>

static void describe_device(const icestream_config *config, const ics_device_options *options,
                            ics_device *device, const ics_tables *tables, FILE *report)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    char line[4096];
    fprintf(report, "device:    %s\n", ics_device_text(device, line, sizeof line));
    if (options->reason[0] != '\0' && !options->warn) {
        fprintf(report, "           %s\n", options->reason);
    }
    while (ics_device_next_note(device, line, sizeof line)) {
        fprintf(report, "           %s\n", line);
    }
    fprintf(report, "schedule:  %s", ics_graph_schedule_name(facts.schedule));
    if (facts.schedule != ICS_SCHEDULE_AUTO) {
        fprintf(report, ", %" PRIu32 " photon slots%s", facts.pool,
                facts.is_gpu ? "" : " per thread");
    }
    fputc('\n', report);
    fprintf(report, "stages:    %s, %s, %s, %s, %s\n", config->stages.create,
            config->stages.propagate, config->stages.collide, config->stages.scatter,
            config->stages.compact);
    fprintf(report, "tables:    %.1f KiB\n", (double)tables->bytes / 1024.0);
}

/* Makes the tables and the device, so that a run with this configuration could start. */
static int try_device(const icestream_config *config, const ics_device_options *options,
                      ics_models *models, FILE *report, icestream_error *error)
{
    ics_world world = {.models = models};
    ICS_TRY(ics_world_create_tables(config, models, &world.tables, error));
    ics_device *device = NULL;
    int status = ics_device_create(options, world.tables, ics_world_hit_models(&world),
                                   (ics_post){0}, &device, error);
    if (status == ICESTREAM_OK && report != NULL) {
        describe_device(config, options, device, world.tables, report);
    }
    ics_device_destroy(device);
    ics_tables_destroy(world.tables);
    return status;
}

static void describe_particles(const icestream_config *config, const ics_particle_survey *survey,
                               FILE *report)
{
    const char *from = config->particles.file != NULL ? config->particles.file : "particles.list";
    if (survey->is_stream) {
        fprintf(report, "particles  from a stream, %s, which validate does not read\n", from);
        return;
    }
    fprintf(report, "particles  %" PRIu64 " in %" PRIu64 " event%s of %s\n", survey->particles,
            survey->events, survey->events == 1 ? "" : "s", from);
    fprintf(report, "  light    about %.6g photons in %.6g steps", survey->photons, survey->steps);
    if (survey->counted < survey->particles) {
        fprintf(report, ", if all have as much as the first %" PRIu64, survey->counted);
    }
    fputc('\n', report);
    ics_light_totals_describe(&survey->light, report);
    for (size_t i = 0; i < survey->warnings.count; ++i) {
        fprintf(report, "warning    %s\n", survey->warnings.items[i]);
    }
}

/* Checks the particles, if there are any. Only `icestream generate` uses them. */
static int check_particles(const icestream_config *config, ics_models *models, FILE *report,
                           icestream_error *error)
{
    if (config->particles.file == NULL && config->particles.count == 0) {
        return ICESTREAM_OK;
    }
    ics_light_setup *setup = NULL;
    ics_particle_survey survey = {0};
    int status = ics_light_setup_create(config, models->medium, models->detector, models->light,
                                        &setup, error);
    if (status == ICESTREAM_OK) {
        status = ics_particle_survey_take(config, setup, ICS_SURVEY_PARTS, &survey, error);
    }
    if (status == ICESTREAM_OK && report != NULL) {
        describe_particles(config, &survey, report);
    }
    const size_t described = models->warnings.count;
    if (status == ICESTREAM_OK) {
        status = ics_particle_plausibility_check(config, setup, models, error);
    }
    for (size_t i = described; report != NULL && i < models->warnings.count; ++i) {
        fprintf(report, "warning    %s\n", models->warnings.items[i]);
    }
    ics_particle_survey_free(&survey);
    ics_light_setup_destroy(setup);
    return status;
}

/* Checks the addresses to listen on, without listening. */
static int check_addresses(const icestream_config *config, icestream_error *error)
{
    int status = ICESTREAM_OK;
    if (config->source.listen != NULL) {
        status = ics_listener_check(config->source.listen, config->source.token, error);
        ics_config_blame(config, "source.listen", error);
    }
    if (status == ICESTREAM_OK && config->metrics.listen != NULL) {
        status = ics_metrics_address_check(config->metrics.listen, error);
        ics_config_blame(config, "metrics.listen", error);
    }
    return status;
}

/* Adds warnings about values that are probably mistakes. The workload counts only where there are
 * no particles. */
static int judge_plausibility(const icestream_config *config, ics_models *models)
{
    ICS_TRY(ics_plausibility_check(config, models));
    return config->particles.file == NULL && config->particles.count == 0
               ? ics_plausibility_check_workload(config, models)
               : ICESTREAM_OK;
}

int icestream_validate(const icestream_config *config, FILE *report, icestream_error *error)
{
    ics_device_options options;
    ics_models *models = NULL;
    int status = check_addresses(config, error);
    if (status == ICESTREAM_OK) {
        status = ics_device_options_from_config(config, &options, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_models_create(config, &models, error);
    }
    if (status == ICESTREAM_OK && judge_plausibility(config, models) != ICESTREAM_OK) {
        ics_models_destroy(models);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    if (report != NULL) {
        ics_models_describe(models, report);
    }
    status = check_particles(config, models, report, error);
    if (status == ICESTREAM_OK) {
        status = try_device(config, &options, models, report, error);
    }
    ics_models_destroy(models);
    if (status == ICESTREAM_OK && report != NULL && ferror(report)) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT, "cannot write the report");
    }
    return status;
}
