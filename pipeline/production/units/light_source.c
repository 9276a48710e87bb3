/* Light as a source: the run makes the steps of particles or of a workload while it reads them. */
#include "base/error.h"
#include "pipeline/photons/generator/light_digest.h"
#include "pipeline/photons/generator/light_settings.h"
#include "pipeline/production/units/hit_path.h"
#include "pipeline/production/units/sources.h"
#include "pipeline/production/units/unit.h"

#include <inttypes.h>
#include <string.h>

/* What is wrong with a list of particles is a bad input of the run. */
static int as_input(int status, icestream_error *error)
{
    if (status == ICESTREAM_E_CONFIG) {
        status = error->status = ICESTREAM_E_INPUT;
    }
    return status;
}

/* Reads the identity of the list of particles. */
static struct stat list_of(const icestream_config *config)
{
    struct stat about = {0};
    if (config->particles.file == NULL || stat(config->particles.file, &about) != 0) {
        about = (struct stat){0};
    }
    return about;
}

static char *name_output(const icestream_config *config, const ics_input *input, uint64_t message)
{
    (void)input;
    (void)message;
    return ics_hit_path_of_light(config, config->sink.name);
}

/* Checks the particles, and digests everything that the steps depend on. */
static int check_particles(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    ICS_TRY(ics_forecast_make(common->config, common->models, ICS_FORECAST_PARTS,
                              &unit->work->warnings, &unit->work->forecast, error));
    json_decref(unit->light_settings);
    ICS_TRY(ics_light_settings_make(common->config, &unit->light_settings, error));
    return unit->input->source->repeats
               ? ics_light_digest_make(common->config, common->models, unit->summary.digest, error)
               : ICESTREAM_OK;
}

static int open_light(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    ics_unit_work *work = unit->work;
    const ics_forecast *forecast = &work->forecast;
    work->found = true;
    work->list = list_of(common->config);
    ics_warnings_free(&work->warnings);
    ICS_TRY(as_input(check_particles(unit, error), error));
    /* Estimates, until all steps were made. */
    unit->summary.photons = (uint64_t)forecast->photons;
    unit->summary.rows = (uint64_t)forecast->steps;
    return common->keep_steps != NULL
               ? ics_forecast_check(common->config, forecast, common->keep_steps, error)
               : ICESTREAM_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Writes the steps into the file that keeps them, as icestream_generate() does. Runs on a thread
 * that makes steps. */
static int copy_block(void *user, const icestream_step *steps, size_t count, icestream_error *error)
{
    const ics_unit *unit = user;
    ics_table_writer *writer = unit->work->copy;
    if (!unit->work->forecast.known) {
        const double rows = (double)(ics_table_writer_rows(writer) + count);
        ICS_TRY(ics_forecast_check_size(unit->common->config, rows * (double)sizeof *steps,
                                        unit->common->keep_steps, error));
    }
    return ics_table_writer_append(writer, steps, count, error);
}

static int open_copy(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    const bool replace = common->options->force || common->options->resume;
    if (common->keep_steps == NULL) {
        return ICESTREAM_OK;
    }
    ics_step_generator_copy_to(unit->work->generator, copy_block, unit);
    return ics_table_writer_create(common->keep_steps, ics_layout_steps(), replace,
                                   &unit->work->copy, error);
}

static int begin(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    ics_unit_work *work = unit->work;
    ICS_TRY(as_input(ics_step_generator_create(common->config, common->models, common->wake,
                                               &work->generator, error),
                     error));
    ICS_TRY(open_copy(unit, error));
    if (!unit->input->source->repeats) {
        ICS_TRY(ics_digest_create(&work->rows_digest, error));
    }
    ics_step_generator_prepare(work->generator, common->spectrum_count);
    return ics_step_generator_start(work->generator, common->makers, error);
}

/* Of particles that came through a pipe the digest covers the steps. */
static int digest_rows(ics_unit *unit, icestream_error *error)
{
    const ics_unit_common *common = unit->common;
    char light[ICS_DIGEST_TEXT];
    ICS_TRY(ics_light_digest_make(common->config, common->models, light, error));
    ics_digest_add(unit->work->rows_digest, light, strlen(light));
    ics_digest_text(unit->work->rows_digest, unit->summary.digest);
    return ICESTREAM_OK;
}

static int commit_copy(ics_unit *unit, icestream_error *error)
{
    ics_unit_work *work = unit->work;
    json_auto_t *metadata = NULL;
    if (work->copy == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_step_generator_describe(work->generator, &metadata, error));
    return ics_table_writer_commit(work->copy, metadata, error);
}

/* The digest was made of the list before the steps were: it must be the same list. */
static int check_list(const ics_unit *unit, icestream_error *error)
{
    const struct stat *before = &unit->work->list;
    const struct stat now = list_of(unit->common->config);
    const bool same = !unit->input->source->repeats ||
                      (before->st_ino == now.st_ino && before->st_size == now.st_size &&
                       before->st_mtim.tv_sec == now.st_mtim.tv_sec &&
                       before->st_mtim.tv_nsec == now.st_mtim.tv_nsec);
    return same ? ICESTREAM_OK
                : ics_error_set(error, ICESTREAM_E_INPUT,
                                "%s: found a list of particles that changed while it was read, "
                                "expected the same list until all steps were made",
                                unit->name);
}

static int end(ics_unit *unit, icestream_error *error)
{
    const ics_particle_totals totals = ics_step_generator_totals(unit->work->generator);
    unit->summary.rows = totals.steps;
    unit->summary.photons = totals.photons;
    ICS_TRY(check_list(unit, error));
    if (!unit->input->source->repeats) {
        ICS_TRY(digest_rows(unit, error));
        ics_warnings_free(&unit->work->warnings);
        ICS_TRY(ics_step_generator_judge(unit->work->generator, &unit->work->warnings, error));
    }
    return commit_copy(unit, error);
}

static int read_light(ics_unit *unit, icestream_step *steps, size_t capacity, size_t *got,
                      icestream_error *error)
{
    ics_unit_work *work = unit->work;
    *got = 0;
    if (work->generator == NULL) {
        ICS_TRY(begin(unit, error));
    }
    ICS_TRY(ics_step_generator_read(work->generator, unit->common->spectrum_count, steps, capacity,
                                    got, error));
    if (unit->summary.extent.steps == 0 && *got > 0) {
        ics_step_extent_add(&unit->summary.extent, steps, *got);
    }
    if (work->rows_digest != NULL) {
        ics_digest_add(work->rows_digest, steps, *got * sizeof *steps);
    }
    return *got > 0 ? ICESTREAM_OK : end(unit, error);
}

static void close_light(ics_unit *unit)
{
    ics_unit_work *work = unit->work;
    ics_step_generator_destroy(work->generator); /* its threads use the copy */
    ics_table_writer_destroy(work->copy);
    ics_digest_destroy(work->rows_digest);
    ics_warnings_free(&work->warnings);
    work->generator = NULL;
    work->copy = NULL;
    work->rows_digest = NULL;
}

const ics_source ics_source_light = {.repeats = true,
                                     .makes = true,
                                     .nameless = "generated steps",
                                     .output = name_output,
                                     .open = open_light,
                                     .read = read_light,
                                     .close = close_light};

const ics_source ics_source_piped_light = {.makes = true,
                                           .nameless = "standard input",
                                           .output = name_output,
                                           .open = open_light,
                                           .read = read_light,
                                           .close = close_light};
