/* icestream_validate: checks all that a run needs before its first photon, and all that `generate`
 * needs before the first step of particles. */
#include "base/error.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/commands/validate/source_survey.h"
#include "pipeline/photons/config/changes.h"
#include "pipeline/photons/devices/device.h"
#include "pipeline/photons/devices/wake.h"
#include "pipeline/photons/files/hit_bins.h"
#include "pipeline/photons/models/models.h"
#include "pipeline/photons/models/plausibility.h"
#include "pipeline/photons/particles/plausibility.h"
#include "pipeline/photons/particles/survey.h"
#include "pipeline/photons/session/world.h"
#include "pipeline/production/queue/claims.h"
#include "pipeline/production/source/listener.h"
#include "pipeline/production/telemetry/metrics_listener.h"
#include "pipeline/production/telemetry/record_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Where the results of the checks go. */
typedef struct findings {
    FILE *text;   /* for people, or NULL */
    json_t *json; /* an object for programs, or NULL */
} findings;

static void describe_unused(const ics_device_options *options, FILE *report)
{
    if (options->unused[0] != '\0') {
        fprintf(report, "           the CPU does not use keys for a GPU: %s\n", options->unused);
    }
}

static void describe_stages(const icestream_config *config, const ics_tables *tables, FILE *report)
{
    fprintf(report, "stages:    %s, %s, %s, %s, %s\n", config->stages.create,
            config->stages.propagate, config->stages.collide, config->stages.scatter,
            config->stages.compact);
    fprintf(report, "tables:    %.1f KiB\n", (double)tables->bytes / 1024.0);
}

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
    describe_unused(options, report);
    while (ics_device_next_note(device, line, sizeof line)) {
        fprintf(report, "           %s\n", line);
    }
    fprintf(report, "schedule:  %s", ics_graph_schedule_name(facts.schedule));
    if (facts.schedule != ICS_SCHEDULE_AUTO) {
        fprintf(report, ", %" PRIu32 " photon slots%s", facts.pool,
                facts.is_gpu ? "" : " per thread");
    }
    fputc('\n', report);
    describe_stages(config, tables, report);
}

static json_t *device_json(const ics_device_options *options, ics_device *device,
                           const ics_tables *tables)
{
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    char line[4096];
    json_t *notes = json_array();
    while (ics_device_next_note(device, line, sizeof line)) {
        json_array_append_new(notes, json_string(line));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o}", "text",
                     ics_device_text(device, line, sizeof line), "reason", options->reason,
                     "unused_keys", options->unused, "schedule",
                     ics_graph_schedule_name(facts.schedule), "threads", (json_int_t)facts.threads,
                     "pool", (json_int_t)facts.pool, "table_bytes", (json_int_t)tables->bytes,
                     "notes", notes);
}

/* Says that the options fit a GPU, which this machine does not have. */
static void describe_assumed(const icestream_config *config, const ics_device_options *options,
                             const ics_tables *tables, const findings *out)
{
    const char *schedule = ics_graph_schedule_name(options->graph.schedule);
    if (out->text != NULL) {
        fprintf(out->text,
                "device:    a GPU, which is not here: its keys were checked, its kernels were not "
                "compiled (`icestream plan` does that)\nschedule:  %s\n",
                schedule);
        describe_stages(config, tables, out->text);
    }
    if (out->json != NULL) {
        json_object_set_new(out->json, "device",
                            json_pack("{s:s, s:b, s:s, s:I}", "text", "a GPU, which is not here",
                                      "assumed", 1, "schedule", schedule, "table_bytes",
                                      (json_int_t)tables->bytes));
    }
}

/* Makes the tables and the device, so that a run with this configuration could start. A GPU that is
 * only assumed cannot be made. */
static int try_device(const icestream_config *config, const ics_device_options *options,
                      bool assumed, ics_models *models, const findings *out, icestream_error *error)
{
    ics_world world = {.models = models};
    ICS_TRY(ics_world_create_tables(config, models, &world.tables, error));
    if (assumed && options->backend == ICS_BACKEND_CUDA) {
        describe_assumed(config, options, world.tables, out);
        ics_tables_destroy(world.tables);
        return ICESTREAM_OK;
    }
    ics_device *device = NULL;
    ics_device_options described = *options;
    described.gets_no_batch = true;
    int status = ics_device_create(&described, world.tables, ics_world_hit_models(&world),
                                   (ics_post){0}, &device, error);
    if (status == ICESTREAM_OK && out->text != NULL) {
        describe_device(config, options, device, world.tables, out->text);
    }
    if (status == ICESTREAM_OK && out->json != NULL) {
        json_object_set_new(out->json, "device", device_json(options, device, world.tables));
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
    fprintf(report, "  light    about %.6g photons in %.6g step%s", survey->photons, survey->steps,
            survey->steps == 1 ? "" : "s");
    if (survey->counted < survey->particles) {
        fprintf(report, ", if all have as much as the first %" PRIu64, survey->counted);
    }
    fputc('\n', report);
    ics_light_totals_describe(&survey->light, report);
}

static json_t *particles_json(const ics_particle_survey *survey)
{
    return json_pack("{s:b, s:I, s:I, s:f, s:f, s:I}", "stream", survey->is_stream, "particles",
                     (json_int_t)survey->particles, "events", (json_int_t)survey->events, "photons",
                     survey->photons, "steps", survey->steps, "counted",
                     (json_int_t)survey->counted);
}

/* Checks the particles, if there are any, and that a run without a source has some light. */
static int check_particles(const icestream_config *config, ics_models *models, const findings *out,
                           icestream_error *error)
{
    if (ics_config_generates(config)) {
        ICS_TRY(ics_config_check_light(config, "validate", error));
    }
    if (!ics_config_has_particles(config)) {
        return ICESTREAM_OK;
    }
    const ics_light_setup setup = ics_light_setup_of(config, models);
    ics_particle_survey survey = {0};
    int status = ics_particle_survey_take(config, &setup, ICS_SURVEY_PARTS, &survey, error);
    if (status == ICESTREAM_OK && out->text != NULL) {
        describe_particles(config, &survey, out->text);
    }
    if (status == ICESTREAM_OK && out->json != NULL) {
        json_object_set_new(out->json, "particles", particles_json(&survey));
    }
    const size_t described = models->warnings.count;
    if (status == ICESTREAM_OK) {
        ics_warnings_add_all(&models->warnings, &survey.warnings);
        status = ics_warnings_status(&models->warnings, error);
    }
    /* Also if the survey failed: a particle without light may be the reason. */
    icestream_error why = {.status = ICESTREAM_OK};
    ics_particle_plausibility_check(config, &setup, models, &why);
    status = status == ICESTREAM_OK ? ics_error_copy(error, &why) : status;
    if (out->text != NULL) {
        ics_warnings_print(&models->warnings, described, "warning    ", out->text);
    }
    ics_particle_survey_free(&survey);
    return status;
}

/* Checks the addresses to listen on, without listening, and the programs of sink.command and other
 * keys, without running them. */
static int check_outside(const icestream_config *config, icestream_error *error)
{
    for (ics_user_program program = 0; program < ICS_PROGRAMS; ++program) {
        ICS_FREES char *path = NULL;
        ICS_TRY(ics_config_find_program(config, program, &path, error));
    }
    if (config->source.listen != NULL &&
        ics_listener_check(config->source.listen, config->source.token, error) != ICESTREAM_OK) {
        return ics_config_blame(config, "source.listen", error);
    }
    const ics_queue_claims_options options = ics_queue_claims_options_of(config, NULL, NULL);
    if (config->source.queue != NULL && ics_queue_check(&options.login, error) != ICESTREAM_OK) {
        return ics_config_blame(config, "source.queue", error);
    }
    const ics_metrics_listener_options metrics = {.address = config->metrics.listen,
                                                  .token_file = config->metrics.token};
    return config->metrics.listen == NULL ||
                   ics_metrics_listener_check(&metrics, error) == ICESTREAM_OK
               ? ICESTREAM_OK
               : ics_config_blame(config, "metrics.listen", error);
}

/* Checks the names of files that a run would append to or replace. */
static int check_records(const icestream_config *config, icestream_error *error)
{
    const struct {
        ics_record kind;
        const char *key, *path;
    } records[] = {{ICS_RECORD_JOURNAL, "sink.journal", config->sink.journal},
                   {ICS_RECORD_METRICS, "metrics.file", config->metrics.file}};
    for (size_t i = 0; i < sizeof records / sizeof *records; ++i) {
        if (records[i].path != NULL &&
            ics_record_file_check(records[i].kind, records[i].key, records[i].path, error) !=
                ICESTREAM_OK) {
            return ics_config_blame(config, records[i].key, error);
        }
    }
    return ICESTREAM_OK;
}

/* Adds warnings about values that are probably mistakes. The workload counts only where there are
 * no particles. */
static int judge_plausibility(const icestream_config *config, ics_models *models)
{
    ICS_TRY(ics_plausibility_check(config, models));
    return ics_config_has_particles(config) ? ICESTREAM_OK
                                            : ics_plausibility_check_workload(config, models);
}

/* Says what a run writes instead of hits. */
static void describe_bins(const icestream_config *config, FILE *out)
{
    const ics_bin_rule rule = ics_hit_bins_rule_of(config);
    if (rule.width == 0) {
        return;
    }
    fprintf(out, "output     waveforms instead of hits, in bins of %.9g ns", rule.width);
    if (rule.has_range) {
        fprintf(out, " from %.9g to %.9g ns", rule.low, rule.high);
    }
    fputc('\n', out);
}

/* Checks the step files. */
static int check_source(const icestream_config *config, const ics_models *models,
                        const findings *out, icestream_error *error)
{
    ics_source_survey survey;
    ICS_TRY(ics_source_survey_find(config, models, &survey, error));
    if (out->text != NULL) {
        ics_source_survey_describe(config, &survey, out->text);
        describe_bins(config, out->text);
    }
    if (out->json != NULL) {
        json_object_set_new(out->json, "source", ics_source_survey_json(&survey));
    }
    return ICESTREAM_OK;
}

/* The lines about defaults that changed. */
static json_t *changes_json(const icestream_config *config)
{
    char text[2048];
    json_t *lines = json_array();
    const ics_config_change *rows = ics_config_changes;
    while (ics_config_next_change(&rows, config, ics_config_use_of(config), text, sizeof text) !=
           NULL) {
        json_array_append_new(lines, json_string(text));
    }
    return lines;
}

static void add_models_json(const icestream_config *config, const ics_models *models, json_t *json)
{
    const ice_detector *detector = models->detector;
    json_object_set_new(json, "valid", json_true());
    json_object_set_new(json, "changed_defaults", changes_json(config));
    json_object_set_new(json, "configuration",
                        config->path != NULL ? json_string(config->path) : json_null());
    json_object_set_new(json, "ice",
                        json_pack("{s:s, s:I, s:s}", "name", models->medium->name, "layers",
                                  (json_int_t)models->medium->layer_count, "digest",
                                  models->ice_digest));
    json_object_set_new(json, "detector",
                        json_pack("{s:s, s:I, s:f, s:f, s:s}", "name", detector->name, "modules",
                                  (json_int_t)detector->module_count, "radius", detector->radius,
                                  "oversize", detector->oversize, "digest",
                                  models->detector_digest));
    json_object_set_new(json, "light",
                        json_pack("{s:I, s:f, s:s}", "spectra", (json_int_t)models->light->count,
                                  "photons_per_metre", models->light->photons_per_metre, "digest",
                                  models->light_digest));
}

/* Reports the models and makes the checks that need them. */
static int check_with_models(const icestream_config *config, const ics_device_options *options,
                             bool assumed, ics_models *models, const findings *out,
                             icestream_error *error)
{
    if (out->text != NULL) {
        ics_models_describe(models, out->text);
        ics_config_print_changes(config, ics_config_use_of(config), "default    ", out->text);
    }
    if (out->json != NULL) {
        add_models_json(config, models, out->json);
    }
    ICS_TRY(check_particles(config, models, out, error));
    ICS_TRY(check_source(config, models, out, error));
    if (out->json != NULL) {
        json_t *warnings = json_array();
        ics_warnings_append_json(&models->warnings, warnings);
        json_object_set_new(out->json, "warnings", warnings);
    }
    return try_device(config, options, assumed, models, out, error);
}

/* Returns whether `name` (NULL: this machine) is known. */
static bool find_machine(const char *name, ics_device_machine *out)
{
    *out = name == NULL                ? ICS_MACHINE_HERE
           : strcmp(name, "cuda") == 0 ? ICS_MACHINE_WITH_GPU
                                       : ICS_MACHINE_WITHOUT_GPU;
    return *out != ICS_MACHINE_WITHOUT_GPU || strcmp(name, "cpu") == 0;
}

int icestream_validate_with(const icestream_config *config,
                            const icestream_validate_options *options, FILE *report,
                            icestream_error *error)
{
    ics_device_machine machine;
    ics_device_options device;
    ics_models *models = NULL;
    bool assumed = false;
    if (!find_machine(options->machine, &machine)) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "found machine '%s', expected cuda or cpu",
                             options->machine);
    }
    ICS_TRY(check_outside(config, error));
    ICS_TRY(check_records(config, error));
    ICS_TRY(ics_device_options_for_machine(config, machine, &device, &assumed, error));
    const bool is_made = !assumed || device.backend != ICS_BACKEND_CUDA;
    ics_device_wake *wake = is_made ? ics_device_wake_begin(&device) : NULL;
    int status = ics_models_create(config, &models, error);
    ics_device_wake_end(wake);
    if (status != ICESTREAM_OK) {
        return status;
    }
    const findings out = {.text = options->json ? NULL : report,
                          .json = options->json && report != NULL ? json_object() : NULL};
    status = judge_plausibility(config, models) == ICESTREAM_OK
                 ? check_with_models(config, &device, assumed, models, &out, error)
                 : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory");
    if (status == ICESTREAM_OK && out.json != NULL) {
        status = ics_report_json("validate", json_incref(out.json), report, error);
    }
    json_decref(out.json);
    ics_models_destroy(models);
    if (status == ICESTREAM_OK && report != NULL && ferror(report)) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT, "cannot write the report");
    }
    return status;
}

int icestream_validate(const icestream_config *config, FILE *report, icestream_error *error)
{
    const icestream_validate_options options = {.json = false};
    return icestream_validate_with(config, &options, report, error);
}
