/* icestream_generate: makes the steps of particles or of the configured workload, as a step file or
 * as a stream of step messages. */
#include "base/error.h"
#include "base/terminal.h"
#include "pipeline/config/config.h"
#include "pipeline/devices/workers.h"
#include "pipeline/files/format/json_dump.h"
#include "pipeline/files/table_writer.h"
#include "pipeline/models/light_record.h"
#include "pipeline/particles/particle_steps.h"
#include "pipeline/tools/generate/assembly.h"
#include "pipeline/tools/measure/workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes the metadata of a workload, in words of the configuration. */
static int describe(const icestream_config *config, const ics_workload *workload, json_t **out,
                    icestream_error *error)
{
    char event[24];
    /* The event is a text, because integers of JSON end at 2^63. */
    snprintf(event, sizeof event, "%" PRIu64, config->workload.event);
    json_t *description =
        json_pack("{s:s, s:I, s:I, s:s, s:I, s:s}", "kind", ics_workload_name(workload), "steps",
                  (json_int_t)ics_workload_steps(workload), "photons_per_step",
                  (json_int_t)config->workload.photons_per_step, "counts",
                  config->workload.counts == ICS_COUNTS_SHUFFLED ? "shuffled" : "balanced",
                  "photons", (json_int_t)ics_workload_photons(workload), "event", event);
    int failed = description == NULL;
    if (!failed && config->workload.kind == ICS_WORKLOAD_POINT) {
        const double *position = config->workload.position;
        const double *direction = config->workload.direction;
        json_t *heading = config->workload.isotropic
                              ? json_string("isotropic")
                              : json_pack("[f, f, f]", direction[0], direction[1], direction[2]);
        failed |= json_object_set_new(
            description, "position", json_pack("[f, f, f]", position[0], position[1], position[2]));
        failed |= json_object_set_new(description, "time", json_real(config->workload.time));
        failed |= json_object_set_new(description, "direction", heading);
        failed |= json_object_set_new(description, "surface_radius",
                                      json_real(config->workload.surface_radius));
        failed |=
            json_object_set_new(description, "spectrum", json_integer(config->workload.spectrum));
    }
    if (failed) {
        json_decref(description);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for the metadata");
    }
    *out = json_pack("{s:s, s:o}", "producer", "icestream " ICESTREAM_VERSION " generate",
                     "workload", description);
    return *out != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for the metadata");
}

/* Makes the metadata of particles, after all their steps were made. */
static int describe_particles(const icestream_config *config, const ics_particle_totals *totals,
                              json_t **out, icestream_error *error)
{
    static const char *const conventions[] = {"standard", "clsim", "ppc"};
    static const char *const losses[] = {"auto", "none", "simple"};
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, config->run.seed);
    *out =
        json_pack("{s:s, s:{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:b, s:s, s:b}}",
                  "producer", "icestream " ICESTREAM_VERSION " generate", "particles", "source",
                  config->particles.file != NULL ? config->particles.file : "particles.list",
                  "seed", seed, "conventions", conventions[config->particles.conventions], "events",
                  (json_int_t)totals->events, "particles", (json_int_t)totals->particles, "steps",
                  (json_int_t)totals->steps, "photons", (json_int_t)totals->photons, "largest_step",
                  (json_int_t)totals->largest_step, "kind", "particles", "losses",
                  (int)(config->particles.losses == ICS_LOSSES_SIMPLE), "track_losses",
                  losses[config->particles.losses], "stopping", (int)config->particles.stopping);
    return *out != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for the metadata");
}

/* The source of the steps, and where they are written. */
typedef struct maker {
    const icestream_config *config;
    ics_particle_steps *particles; /* NULL: the workload makes the steps */
    ics_workload *workload;        /* NULL: the particles make the steps */
    uint64_t next;                 /* the next step of the workload that is not planned yet */
    ics_table_writer *writer;      /* of the step file; NULL: messages go to standard output */
    json_t *light;                 /* what the light is made with (light_record.h) */
    char *note;                    /* the same as a text for the headers of messages */
} maker;

static int maker_create(const icestream_config *config, maker *out, icestream_error *error)
{
    *out = (maker){.config = config};
    const bool particles = config->particles.file != NULL || config->particles.count > 0;
    int status = particles ? ics_particle_steps_create(config, &out->particles, error)
                           : ics_workload_create(config, &out->workload, error);
    if (status == ICESTREAM_OK) {
        const ics_models *models =
            out->particles != NULL ? ics_particle_steps_models(out->particles) : NULL;
        status = ics_light_record_create(config, models, particles, &out->light, error);
    }
    if (status == ICESTREAM_OK) {
        out->note = ics_json_dump(out->light, JSON_COMPACT | JSON_ENSURE_ASCII);
        if (out->note == NULL) {
            status =
                ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for the metadata");
        }
    }
    return status;
}

static void maker_free(maker *make)
{
    ics_table_writer_destroy(make->writer);
    ics_particle_steps_destroy(make->particles);
    ics_workload_destroy(make->workload);
    json_decref(make->light);
    free(make->note);
}

static int make_description(const maker *make, json_t **out, icestream_error *error)
{
    int status = ICESTREAM_OK;
    if (make->particles == NULL) {
        status = describe(make->config, make->workload, out, error);
    } else {
        const ics_particle_totals totals = ics_particle_steps_totals(make->particles);
        status = describe_particles(make->config, &totals, out, error);
    }
    if (status == ICESTREAM_OK && json_object_set(*out, "light", make->light) != 0) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "generate: no memory for the metadata");
    }
    return status;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Largest number of spans in a piece. A piece with many faint particles stays small in memory, and
 * is still large compared with the cost of passing it to another thread. */
enum { SPANS = 128 };

typedef struct particle_piece {
    uint32_t count;
    ics_step_span spans[SPANS];
} particle_piece;

static int plan_particles(void *user, uint32_t most, void *out, uint32_t *count,
                          icestream_error *error)
{
    particle_piece *piece = out;
    maker *make = user;
    bool found = true;
    int status = ICESTREAM_OK;
    *count = piece->count = 0;
    while (found && status == ICESTREAM_OK && *count < most && piece->count < SPANS) {
        ics_step_span *span = &piece->spans[piece->count];
        status = ics_particle_steps_plan(make->particles, most - *count, span, &found, error);
        if (status == ICESTREAM_OK && found) {
            *count += span->count;
            ++piece->count;
        }
    }
    return status;
}

static int make_particles(const void *user, const void *of, icestream_step *out,
                          icestream_error *error)
{
    const particle_piece *piece = of;
    const maker *make = user;
    int status = ICESTREAM_OK;
    for (uint32_t i = 0; i < piece->count && status == ICESTREAM_OK; ++i) {
        status = ics_particle_steps_make(make->particles, &piece->spans[i], out, error);
        out += piece->spans[i].count;
    }
    return status;
}

typedef struct workload_piece {
    uint64_t first;
    uint32_t count;
} workload_piece;

static int plan_workload(void *user, uint32_t most, void *out, uint32_t *count,
                         icestream_error *error)
{
    maker *make = user;
    const uint64_t left = ics_workload_steps(make->workload) - make->next;
    (void)error;
    *count = left < most ? (uint32_t)left : most;
    *(workload_piece *)out = (workload_piece){.first = make->next, .count = *count};
    make->next += *count;
    return ICESTREAM_OK;
}

static int make_workload(const void *user, const void *of, icestream_step *out,
                         icestream_error *error)
{
    const workload_piece *piece = of;
    (void)error;
    ics_workload_fill(((const maker *)user)->workload, piece->first, piece->count, out);
    return ICESTREAM_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_block(void *user, const icestream_step *steps, size_t count,
                       icestream_error *error)
{
    const maker *make = user;
    if (make->writer != NULL) {
        return ics_table_writer_append(make->writer, steps, count, error);
    }
    return ics_table_message_write_noted(STDOUT_FILENO, "standard output", ics_layout_steps(),
                                         make->note, steps, count, error);
}

static int write_steps(maker *make, icestream_error *error)
{
    ics_assembly work = {.user = make,
                         .piece_bytes = sizeof(workload_piece),
                         .plan = plan_workload,
                         .make = make_workload,
                         .write = write_block};
    if (make->particles != NULL) {
        work.piece_bytes = sizeof(particle_piece);
        work.plan = plan_particles;
        work.make = make_particles;
    }
    return ics_assembly_run(&work, ics_workers_thread_count(make->config->device.threads), error);
}

static int write_file(maker *make, const char *path, bool force, icestream_error *error)
{
    json_t *metadata = NULL;
    int status = ics_table_writer_create(path, ics_layout_steps(), force, &make->writer, error);
    if (status == ICESTREAM_OK) {
        status = write_steps(make, error);
    }
    if (status == ICESTREAM_OK) {
        status = make_description(make, &metadata, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_table_writer_commit(make->writer, metadata, error);
    }
    json_decref(metadata);
    return status;
}

/* Writes how much light the particles make, and what is doubtful about them. */
static int report_light(const maker *make, FILE *report, icestream_error *error)
{
    ics_warnings warnings = {0};
    if (make->particles == NULL || report == NULL) {
        return ICESTREAM_OK;
    }
    const ics_particle_totals totals = ics_particle_steps_totals(make->particles);
    const ics_light_totals *light = ics_particle_steps_light(make->particles);
    fprintf(report,
            "particles  %" PRIu64 " in %" PRIu64 " event%s: %.3g photons in %" PRIu64 " steps\n",
            totals.particles, totals.events, totals.events == 1 ? "" : "s", (double)totals.photons,
            totals.steps);
    ics_light_totals_describe(light, report);
    const int status =
        ics_light_totals_warn(light, ics_particle_steps_source(make->particles), &warnings);
    for (size_t i = 0; i < warnings.count; ++i) {
        fprintf(report, "warning: %s\n", warnings.items[i]);
    }
    ics_warnings_free(&warnings);
    return status == ICESTREAM_OK
               ? status
               : ics_error_set(error, status, "generate: out of memory for warnings");
}

int icestream_generate_report(const icestream_config *config, const char *path, bool force,
                              FILE *report, icestream_error *error)
{
    maker make;
    int status = maker_create(config, &make, error);
    if (status != ICESTREAM_OK) {
        maker_free(&make);
        return status;
    }
    if (strcmp(path, "-") == 0) {
        status = ics_terminal_check_output("--output", error);
        if (status == ICESTREAM_OK) {
            status = write_steps(&make, error);
        }
    } else {
        status = write_file(&make, path, force, error);
    }
    if (status == ICESTREAM_OK) {
        status = report_light(&make, report, error);
    }
    maker_free(&make);
    return status;
}

int icestream_generate(const icestream_config *config, const char *path, bool force,
                       icestream_error *error)
{
    return icestream_generate_report(config, path, force, NULL, error);
}
