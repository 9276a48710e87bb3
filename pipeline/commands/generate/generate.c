/* icestream_generate: makes the steps of particles or of the configured workload, as a step file or
 * as a stream of step messages. */
#include "base/error.h"
#include "base/json_dump.h"
#include "base/plural.h"
#include "base/terminal.h"
#include "base/visible_text.h"
#include "pipeline/photons/config/changes.h"
#include "pipeline/photons/devices/workers.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/generator/forecast.h"
#include "pipeline/photons/generator/step_generator.h"
#include "pipeline/production/telemetry/task_progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the steps go. */
typedef struct output {
    const icestream_config *config;
    const char *path;
    ics_table_writer *writer; /* NULL: messages go to standard output */
    char *note;               /* what the light is made with, for the headers of messages */
    double photons;           /* how many there will be, about; 0: it is not known */
    ics_task_progress progress;
    bool is_measured; /* the size was not known before, so it is checked while it grows */
} output;

static int write_block(const output *to, const icestream_step *steps, size_t count,
                       icestream_error *error)
{
    if (to->writer == NULL) {
        return ics_table_message_write(STDOUT_FILENO, "standard output", ics_layout_steps(),
                                       to->note, steps, count, error);
    }
    if (to->is_measured) {
        const double rows = (double)(ics_table_writer_rows(to->writer) + count);
        ICS_TRY(ics_forecast_check_size(to->config, rows * (double)sizeof *steps, to->path, error));
    }
    return ics_table_writer_append(to->writer, steps, count, error);
}

static uint64_t photons_of(const icestream_step *steps, size_t count)
{
    uint64_t photons = 0;
    for (size_t i = 0; i < count; ++i) {
        photons += steps[i].photons;
    }
    return photons;
}

static int write_steps(output *to, ics_step_generator *generator, icestream_error *error)
{
    const icestream_step *steps;
    ics_progress_state state = {.photons_total = to->photons, .without_hits = true};
    ics_task_progress_next(&to->progress, to->path);
    ICS_TRY(ics_step_generator_start(generator,
                                     ics_workers_thread_count(to->config->device.threads), error));
    for (size_t count = 1; count > 0;) {
        ICS_TRY(ics_step_generator_next(generator, &steps, &count, error));
        if (count > 0) {
            ICS_TRY(write_block(to, steps, count, error));
            state.photons += photons_of(steps, count);
            ics_task_progress_show(&to->progress, &state);
        }
    }
    return ICESTREAM_OK;
}

static int write_all(output *to, ics_step_generator *generator, icestream_error *error)
{
    json_auto_t *metadata = NULL;
    const int status = write_steps(to, generator, error);
    ics_task_progress_end(&to->progress);
    ICS_TRY(status);
    if (to->writer == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_step_generator_describe(generator, &metadata, error));
    return ics_table_writer_commit(to->writer, metadata, error);
}

/* Says how large the file will be, and refuses one that is too large. */
static int foresee(output *to, const ics_models *models, FILE *report, icestream_error *error)
{
    ics_forecast forecast;
    char text[160];
    ICS_TRY(ics_forecast_make(to->config, models, ICS_SURVEY_PARTS, NULL, &forecast, error));
    to->is_measured = !forecast.known;
    to->photons = forecast.photons;
    ICS_TRY(ics_forecast_check(to->config, &forecast, to->path, error));
    if (report != NULL) {
        ics_visible_printf(report, "%s: %s\n", to->path,
                           ics_forecast_text(&forecast, text, sizeof text));
    }
    return ICESTREAM_OK;
}

/* Writes what is doubtful about where the light is. */
static int report_warnings(const icestream_config *config, ics_models *models, FILE *report,
                           icestream_error *error)
{
    const size_t known = models->warnings.count; /* those about ice and detector */
    ics_config_print_changes(config, ICS_USE_GENERATE, "", report);
    if (report == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_forecast_judge(config, models, error));
    ics_warnings_print(&models->warnings, known, "warning: ", report);
    return ICESTREAM_OK;
}

/* Writes how much light the particles make, and what is doubtful about them. */
static int report_light(const icestream_config *config, ics_step_generator *generator, FILE *report,
                        icestream_error *error)
{
    ics_warnings warnings = {0};
    ics_particle_steps *particles = ics_step_generator_particles(generator);
    if (particles == NULL || report == NULL) {
        return ICESTREAM_OK;
    }
    const ics_particle_totals totals = ics_particle_steps_totals(particles);
    const ics_light_totals *light = ics_particle_steps_light(particles);
    fprintf(report,
            "particles  %" PRIu64 " in %" PRIu64 " event%s: %.3g photons in %" PRIu64 " step%s\n",
            totals.particles, totals.events, totals.events == 1 ? "" : "s", (double)totals.photons,
            totals.steps, ics_plural_s(totals.steps));
    ics_light_totals_describe(light, report);
    const ics_particle_source *source = ics_particle_steps_source(particles);
    int status = ics_light_totals_warn(light, source, &warnings);
    if (status == ICESTREAM_OK && ics_particle_list_is_stream(config->particles.file)) {
        status = ics_list_warnings_report(&light->list, source, &warnings);
    }
    ics_warnings_print(&warnings, 0, "warning: ", report);
    ics_warnings_free(&warnings);
    return status == ICESTREAM_OK
               ? status
               : ics_error_set(error, status, "generate: out of memory for warnings");
}

static int check_output(const icestream_config *config, const char *path, icestream_error *error)
{
    ICS_TRY(ics_config_check_output(config, "--output", path, error));
    return ics_output_check_ending("--output", path, ".npy", error);
}

/* Opens the file, or makes ready what the messages on standard output need. */
static int open_output(output *to, bool force, ics_models *models, FILE *report,
                       icestream_error *error)
{
    const bool to_file = strcmp(to->path, "-") != 0;
    if (!to_file) {
        ICS_TRY(ics_terminal_check_output("--output", error));
        return report_warnings(to->config, models, report, error);
    }
    ICS_TRY(ics_table_writer_create(to->path, ics_layout_steps(), force, &to->writer, error));
    ICS_TRY(report_warnings(to->config, models, report, error));
    return foresee(to, models, report, error);
}

static int generate(output *to, bool force, FILE *report, icestream_error *error)
{
    ICS_DESTROYS(ics_models_destroy) ics_models *models = NULL;
    ICS_DESTROYS(ics_step_generator_destroy) ics_step_generator *generator = NULL;
    ICS_TRY(ics_config_check_light(to->config, "generate", error));
    if (strcmp(to->path, "-") != 0) {
        ICS_TRY(check_output(to->config, to->path, error));
    }
    ICS_TRY(ics_models_create(to->config, &models, error));
    ICS_TRY(open_output(to, force, models, report, error));
    ICS_TRY(ics_step_generator_create(to->config, models, -1, &generator, error));
    if (to->writer == NULL) {
        to->note =
            ics_json_dump(ics_step_generator_light(generator), JSON_COMPACT | JSON_ENSURE_ASCII);
        if (to->note == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for messages");
        }
    }
    ICS_TRY(write_all(to, generator, error));
    return report_light(to->config, generator, report, error);
}

int icestream_generate_report(const icestream_config *config, const char *path, bool force,
                              FILE *report, icestream_error *error)
{
    output to = {.config = config, .path = path, .progress = ics_task_progress_begin(report)};
    const int status = generate(&to, force, report, error);
    ics_table_writer_destroy(to.writer);
    free(to.note);
    return status;
}

int icestream_generate(const icestream_config *config, const char *path, bool force,
                       icestream_error *error)
{
    return icestream_generate_report(config, path, force, NULL, error);
}
