#include "pipeline/commands/split/split.h"

#include "base/error.h"
#include "base/new.h"
#include "base/plural.h"
#include "base/visible_text.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/commands/measure/step_cost.h"
#include "pipeline/commands/split/names.h"
#include "pipeline/commands/split/source.h"
#include "pipeline/photons/files/table_writer.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* One part. */
typedef struct split_part {
    char *path; /* owned by the caller's list */
    uint64_t steps, photons;
    double bounces; /* expected */
} split_part;

typedef struct split_result {
    split_part *parts; /* [count] */
    size_t count;
    uint32_t wanted;  /* parts; there are fewer if single steps cost more than a part */
    double bounces;   /* expected, of all parts */
    double costliest; /* the largest expected number of bounces of one step */
} split_result;

typedef struct split {
    const icestream_config *config;
    const ics_split_options *options;
    ics_split_names names;
    ics_world world;
    ics_step_cost *cost;
    ics_split_source *source;
    uint64_t steps;           /* all of them */
    double done;              /* expected bounces of the steps so far */
    uint32_t number;          /* of the part that is being written, among those that are wanted */
    ics_table_writer *writer; /* NULL: no part is being written */
    split_result result;
} split;

/* ---- the first pass: what all steps cost ----------------------------------------------------- */

static int sum_costs(split *all, icestream_error *error)
{
    split_result *result = &all->result;
    const icestream_step *steps;
    for (size_t count = 1; count > 0;) {
        ICS_TRY(ics_split_source_next(all->source, &steps, &count, error));
        for (size_t i = 0; i < count; ++i) {
            const double bounces = ics_step_cost_bounces(all->cost, &steps[i]);
            result->bounces += bounces;
            result->costliest = fmax(result->costliest, bounces);
        }
        all->steps += count;
    }
    return ICESTREAM_OK;
}

static int choose_parts(split *all, icestream_error *error)
{
    const ics_split_options *options = all->options;
    const double bounces = all->result.bounces;
    if (!(bounces > 0)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "split: found %" PRIu64
                             " steps that cost nothing, expected photons near the modules",
                             all->steps);
    }
    const double parts = options->parts > 0 ? options->parts : ceil(bounces / options->bounces);
    const double most = fmin((double)all->steps, ICS_SPLIT_PARTS_MAX);
    if (parts > most) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "split: found %.0f parts for %" PRIu64
                             " steps with %.4g expected bounces, expected at most %.0f parts",
                             parts, all->steps, bounces, most);
    }
    all->result.wanted = (uint32_t)parts;
    all->result.parts = calloc(all->result.wanted, sizeof *all->result.parts);
    return all->result.parts != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "split: out of memory for parts");
}

/* ---- the second pass: the parts -------------------------------------------------------------- */

static int begin_part(split *all, icestream_error *error)
{
    split_result *result = &all->result;
    split_part *part = &result->parts[result->count];
    part->path = ics_split_names_path(&all->names, (uint32_t)result->count);
    result->count++;
    ICS_TRY(ics_config_check_output(all->config, "--output", part->path, error));
    return ics_table_writer_create(part->path, ics_layout_steps(), all->options->force,
                                   &all->writer, error);
}

static int end_part(split *all, icestream_error *error)
{
    const json_t *light = ics_split_source_light(all->source);
    json_auto_t *metadata =
        ics_new_made(light != NULL ? json_pack("{s:O}", "light", light) : json_object());
    const int status = ics_table_writer_commit(all->writer, metadata, error);
    ics_table_writer_destroy(all->writer);
    all->writer = NULL;
    return status;
}

/* Returns the part of a step: the one in which the middle of its cost lies. So the cost of a part
 * differs from the mean by at most one step. */
static uint32_t part_of(const split *all, double bounces)
{
    const double middle = (all->done + 0.5 * bounces) / all->result.bounces;
    const double number = floor(middle * all->result.wanted);
    return (uint32_t)fmin(number, all->result.wanted - 1);
}

static int add_step(split *all, const icestream_step *step, icestream_error *error)
{
    const double bounces = ics_step_cost_bounces(all->cost, step);
    const uint32_t number = part_of(all, bounces);
    if (all->writer != NULL && number != all->number) {
        ICS_TRY(end_part(all, error));
    }
    if (all->writer == NULL) {
        ICS_TRY(begin_part(all, error));
        all->number = number;
    }
    split_part *part = &all->result.parts[all->result.count - 1];
    part->steps++;
    part->photons += step->photons;
    part->bounces += bounces;
    all->done += bounces;
    return ics_table_writer_append(all->writer, step, 1, error);
}

static int write_parts(split *all, icestream_error *error)
{
    const icestream_step *steps;
    for (size_t count = 1; count > 0;) {
        ICS_TRY(ics_split_source_next(all->source, &steps, &count, error));
        for (size_t i = 0; i < count; ++i) {
            ICS_TRY(add_step(all, &steps[i], error));
        }
    }
    return end_part(all, error);
}

/* ---- the report ------------------------------------------------------------------------------ */

static int print_text(const split_result *result, FILE *out, icestream_error *error)
{
    double least = INFINITY, most = 0;
    uint64_t steps = 0, photons = 0;
    for (size_t i = 0; i < result->count; ++i) {
        least = fmin(least, result->parts[i].bounces);
        most = fmax(most, result->parts[i].bounces);
        steps += result->parts[i].steps;
        photons += result->parts[i].photons;
    }
    ics_visible_printf(out, "%zu part%s, %s to %s\n", result->count, ics_plural_s(result->count),
                       result->parts[0].path, result->parts[result->count - 1].path);
    fprintf(out,
            "%" PRIu64 " step%s, %.4g photon%s, %.4g expected bounces (%.1f per photon); "
            "a part has %.4g to %.4g\n",
            steps, ics_plural_s(steps), (double)photons, ics_plural_s(photons), result->bounces,
            result->bounces / (double)photons, least, most);
    if (result->count < result->wanted) {
        fprintf(out,
                "%" PRIu32 " parts were asked for: a step is never divided, and the costliest "
                "one has %.4g expected bounces\n",
                result->wanted, result->costliest);
    }
    return ics_report_end("split", out, error);
}

static int print_json(const split_result *result, FILE *out, icestream_error *error)
{
    json_t *parts = json_array();
    for (size_t i = 0; i < result->count; ++i) {
        const split_part *part = &result->parts[i];
        json_array_append_new(
            parts, json_pack("{s:o, s:I, s:I, s:f}", "file", json_string_nocheck(part->path),
                             "steps", (json_int_t)part->steps, "photons", (json_int_t)part->photons,
                             "bounces", part->bounces));
    }
    return ics_report_json("split",
                           json_pack("{s:o, s:f, s:f}", "parts", parts, "bounces", result->bounces,
                                     "costliest_step", result->costliest),
                           out, error);
}

/* ---- all of it
 * ------------------------------------------------------------------------------------ */

static int check_names(const split *all, uint32_t count, bool force, icestream_error *error)
{
    return ics_split_names_check(&all->names, count, all->options->input, force, error);
}

static int make(split *all, FILE *out, icestream_error *error)
{
    const ics_split_options *options = all->options;
    ICS_TRY(ics_split_names_read(options->pattern, &all->names, error));
    ICS_TRY(check_names(all, ICS_SPLIT_PARTS_MAX, options->force, error));
    if (options->input == NULL) {
        ICS_TRY(ics_config_check_light(all->config, "split", error));
    }
    ICS_TRY(ics_world_create(all->config, &all->world, error));
    ICS_TRY(ics_step_cost_create(all->config, &all->world, &all->cost, error));
    ICS_TRY(
        ics_split_source_open(all->config, all->world.models, options->input, &all->source, error));
    ICS_TRY(sum_costs(all, error));
    ICS_TRY(choose_parts(all, error));
    ICS_TRY(check_names(all, all->result.wanted, options->force, error));
    ICS_TRY(ics_split_source_rewind(all->source, error));
    ICS_TRY(write_parts(all, error));
    ICS_TRY(check_names(all, (uint32_t)all->result.count, true, error));
    return options->json ? print_json(&all->result, out, error)
                         : print_text(&all->result, out, error);
}

int ics_split(const icestream_config *config, const ics_split_options *options, FILE *out,
              icestream_error *error)
{
    split all = {.config = config, .options = options};
    const int status = make(&all, out, error);
    ics_table_writer_destroy(all.writer);
    ics_split_source_destroy(all.source);
    ics_step_cost_destroy(all.cost);
    ics_world_destroy(&all.world);
    for (size_t i = 0; i < all.result.count; ++i) {
        free(all.result.parts[i].path);
    }
    free(all.result.parts);
    return status;
}
