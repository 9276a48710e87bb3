/* icestream_reweight: the weights of hits in other ices. */
#include "base/clock.h"
#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/commands/hits/output.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/photons/devices/device.h"
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/files/weight_sum.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/photons/replay/made_run.h"
#include "pipeline/photons/replay/target_light.h"
#include "pipeline/photons/replay/targets.h"
#include "pipeline/production/telemetry/task_progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1000 }; /* hits of --dry-run */

typedef struct target {
    const char *name; /* as given, without folders */
    icestream_config *config;
    ics_world world;
    ics_origin origin;
    ics_target_light *light;
    json_t *differences; /* keys with both values */
    ics_weight_sum sum;
    double largest;
} target;

typedef struct reweighter {
    const icestream_reweight_options *options;
    ics_made_run run;
    target *targets; /* [options->target_count] */
    ics_replay_target *others;
    ics_weight_sum own;
    ics_table_writer *writer; /* NULL: --dry-run */
    unsigned char *row;       /* one row of the file */
    double seconds;           /* that the replay took */
    ics_task_progress progress;
    icestream_error *error;
} reweighter;

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "reweight: out of memory");
}

static double share_of(const reweighter *r, const target *t)
{
    const double own = ics_weight_sum_estimate(&r->own).effective;
    return own > 0 ? ics_weight_sum_estimate(&t->sum).effective / own : 0;
}

/* ---- targets --------------------------------------------------------------------------------- */

static int make_target(reweighter *r, size_t i)
{
    const char *text = r->options->targets[i], *slash = strrchr(text, '/');
    const bool is_set = strchr(text, '=') != NULL;
    target *t = &r->targets[i];
    ics_gpu_options stages;
    t->name = slash != NULL && !is_set ? slash + 1 : text;
    ICS_TRY(ics_targets_config(r->run.config, text, &t->config, r->error));
    ICS_TRY(ics_targets_check_keys(r->run.config, t->config, &t->differences, r->error));
    ICS_TRY(ics_world_create(t->config, &t->world, r->error));
    ICS_TRY(ics_targets_check_models(t->config, r->run.world.models, t->world.models, t->name,
                                     r->error));
    ICS_TRY(ics_origin_create(t->config, t->world.models, &t->origin, r->error));
    ICS_TRY(ics_device_gpu_options_from_config(t->config, &stages, r->error));
    r->others[i] = (ics_replay_target){t->world.tables, stages.variants.scatter, t->name};
    ICS_TRY(ics_replay_check_target(r->run.world.tables, &r->others[i], r->error));
    const ics_target_hits hits = {r->run.steps, r->run.list.count,
                                  ics_config_content(r->run.config)};
    return ics_target_light_create(r->run.world.models, t->world.models, &hits, t->name, &t->light,
                                   r->error);
}

static int make_targets(reweighter *r)
{
    const size_t count = r->options->target_count;
    if (count == 0 || count > ICS_REPLAY_TARGETS_MAX) {
        return ics_error_set(r->error, ICESTREAM_E_USAGE,
                             "--to: found %zu targets, expected 1 to %d", count,
                             ICS_REPLAY_TARGETS_MAX);
    }
    r->targets = calloc(count, sizeof *r->targets);
    r->others = calloc(count, sizeof *r->others);
    r->row = calloc(1, ICS_MADE_RUN_HEAD + count * sizeof(double));
    if (r->targets == NULL || r->others == NULL || r->row == NULL) {
        return no_memory(r->error);
    }
    for (size_t i = 0; i < count; ++i) {
        ICS_TRY(make_target(r, i));
    }
    r->run.replay.targets = r->others;
    r->run.replay.target_count = count;
    return ICESTREAM_OK;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Adds a hit whose weight is multiplied by `factor`. */
static void add(ics_weight_sum *sum, const icestream_hit *hit, double factor)
{
    icestream_hit empty = *hit;
    empty.weight = 0;
    ics_weight_sum_add(sum, &empty); /* ends the photon before this one */
    sum->photon += factor * (double)hit->weight;
}

static int put(void *self, const ics_replay_result *result)
{
    reweighter *r = self;
    const icestream_hit *hit = &r->run.list.hits[result->hit];
    const ics_progress_state state = {
        .photons = result->hit, .photons_total = (double)r->run.list.count, .hits = result->hit};
    ics_task_progress_show(&r->progress, &state);
    ics_made_run_head(hit, r->row);
    add(&r->own, hit, 1);
    for (size_t i = 0; i < r->options->target_count; ++i) {
        target *t = &r->targets[i];
        const double light = ics_target_light_weight(t->light, hit, &r->run.steps[result->hit]);
        const double weight = light * exp(result->log_weights[i]);
        if (!isfinite(weight)) {
            return ics_error_set(r->error, ICESTREAM_E_CONFIG,
                                 "%s: hit %" PRIu64 ":%u:%u: found a weight with the logarithm "
                                 "%g of its path and the factor %g of its light (%g nm), expected "
                                 "a finite weight; the target is too different",
                                 t->name, hit->event_id, hit->step_id, hit->photon_id,
                                 result->log_weights[i], light, (double)hit->wavelength);
        }
        add(&t->sum, hit, weight);
        t->largest = fmax(t->largest, weight);
        memcpy(r->row + ICS_MADE_RUN_HEAD + i * sizeof weight, &weight, sizeof weight);
    }
    return r->writer != NULL ? ics_table_writer_append(r->writer, r->row, 1, r->error)
                             : ICESTREAM_OK;
}

static int replay(reweighter *r)
{
    const ics_replay_sink sink = {put, r};
    const double start = ics_clock_seconds();
    ics_task_progress_next(&r->progress, "replaying hits");
    const int status = ics_replay_hits(&r->run.replay, r->run.list.hits, r->run.steps,
                                       r->run.list.count, &sink, r->error);
    ics_task_progress_end(&r->progress);
    r->seconds = ics_clock_seconds() - start;
    ics_weight_sum_end(&r->own);
    for (size_t i = 0; i < r->options->target_count; ++i) {
        ics_weight_sum_end(&r->targets[i].sum);
    }
    return status;
}

/* ---- metadata -------------------------------------------------------------------------------- */

static json_t *json_of_sum(const ics_weight_sum *sum)
{
    const ics_weight_estimate estimate = ics_weight_sum_estimate(sum);
    return json_pack("{s:f, s:f, s:f}", "sum", estimate.sum, "error", estimate.error, "effective",
                     estimate.effective);
}

static json_t *json_of_target(const reweighter *r, const target *t)
{
    json_t *made = json_of_sum(&t->sum);
    int failed = made == NULL || json_object_set_new(made, "name", json_string(t->name)) != 0;
    failed |=
        json_object_set_new(made, "digests",
                            json_pack("{s:s, s:s, s:s}", "configuration", t->origin.configuration,
                                      "ice", t->origin.ice, "detector", t->origin.detector)) != 0;
    failed |= json_object_set(made, "differences", t->differences) != 0;
    failed |= json_object_set_new(made, "share", json_real(share_of(r, t))) != 0;
    failed |= json_object_set_new(made, "largest", json_real(t->largest)) != 0;
    if (failed) {
        json_decref(made);
    }
    return failed ? NULL : made;
}

static int make_metadata(const reweighter *r, json_t **out)
{
    json_auto_t *made = NULL, *targets = json_array();
    ICS_TRY(ics_made_run_metadata(&r->run, &made, r->error));
    int failed = json_object_set_new(made, "own", json_of_sum(&r->own)) != 0;
    for (size_t i = 0; i < r->options->target_count; ++i) {
        failed |= json_array_append_new(targets, json_of_target(r, &r->targets[i])) != 0;
    }
    failed |= json_object_set(made, "targets", targets) != 0;
    if (r->writer == NULL) {
        const double all = r->seconds * (double)r->run.hit_count / (double)r->run.list.count;
        failed |=
            json_object_set_new(made, "sample", json_integer((json_int_t)r->run.list.count)) != 0 ||
            json_object_set_new(made, "seconds", json_real(all)) != 0;
    }
    *out = json_incref(made);
    return failed ? no_memory(r->error) : ICESTREAM_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void print_row(ics_report *table, const char *name, const ics_weight_sum *sum)
{
    const ics_weight_estimate estimate = ics_weight_sum_estimate(sum);
    ics_report_cell(table, "%s", name);
    ics_report_cell(table, "%.6g", estimate.sum);
    ics_report_cell(table, "%.3g", estimate.error);
    ics_report_cell(table, "%.0f", estimate.effective);
}

static void print_differences(const target *t, FILE *out)
{
    const json_t *item;
    size_t i;
    ics_visible_printf(out, "  %s:%s", t->name,
                       json_array_size(t->differences) == 0 ? " the same settings" : "");
    json_array_foreach(t->differences, i, item)
    {
        ics_visible_printf(out, "%s %s %s (hits: %s)", i > 0 ? "," : "",
                           json_string_value(json_object_get(item, "key")),
                           json_string_value(json_object_get(item, "target")),
                           json_string_value(json_object_get(item, "own")));
    }
    fputc('\n', out);
}

static int print(const reweighter *r, FILE *out)
{
    static const char *const headings[] = {"ice",       "sum of weights", "error",
                                           "effective", "share %",        "largest"};
    ICS_DESTROYS(ics_report_destroy) ics_report *table = ics_report_create(headings, 6);
    print_row(table, "own", &r->own);
    ics_report_cell(table, "100.0");
    ics_report_cell(table, "1");
    for (size_t i = 0; i < r->options->target_count; ++i) {
        const target *t = &r->targets[i];
        print_row(table, t->name, &t->sum);
        ics_report_cell(table, "%.1f", 100 * share_of(r, t));
        ics_report_cell(table, "%.4g", t->largest);
    }
    if (r->writer != NULL) {
        ics_visible_printf(
            out,
            "%s: ", strcmp(r->options->output, "-") == 0 ? "standard output" : r->options->output);
    }
    fprintf(out, "%" PRIu64 " hits of %" PRIu64 " photons\n", r->run.hit_count,
            r->run.photon_count);
    if (r->writer == NULL) {
        fprintf(out, "  from a sample of %zu hits; all hits need about %.3g s\n", r->run.list.count,
                r->seconds * (double)r->run.hit_count / (double)r->run.list.count);
    }
    ICS_TRY(ics_report_print(table, false, 2, out, r->error));
    for (size_t i = 0; i < r->options->target_count; ++i) {
        print_differences(&r->targets[i], out);
    }
    return ics_report_end("reweight", out, r->error);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int write_file(reweighter *r, json_t **metadata)
{
    ics_layout_field fields[ICS_MADE_RUN_HEAD_FIELDS + 1];
    const uint32_t count = (uint32_t)r->options->target_count;
    const ics_layout layout = {.name = "icestream.weights",
                               .short_name = "weights",
                               .version = 1,
                               .row_bytes = ICS_MADE_RUN_HEAD + count * (uint32_t)sizeof(double),
                               .coordinates = "none",
                               .fields = fields,
                               .field_count = ICS_MADE_RUN_HEAD_FIELDS + 1};
    ics_made_run_fields("weights", count, fields);
    ICS_TRY(ics_table_writer_create(r->options->output, &layout, r->options->force, &r->writer,
                                    r->error));
    ICS_TRY(replay(r));
    ICS_TRY(make_metadata(r, metadata));
    return ics_table_writer_commit(r->writer, *metadata, r->error);
}

static int reweight(reweighter *r, const icestream_config *config, FILE *out)
{
    json_auto_t *metadata = NULL;
    const icestream_reweight_options *options = r->options;
    const ics_made_run_options made = {.hits = options->hits,
                                       .hit_count = options->hit_count,
                                       .steps = options->steps,
                                       .backend = options->backend,
                                       .sample = options->dry_run ? SAMPLE : 0};
    if (!options->dry_run) {
        ICS_TRY(ics_hits_output_check("reweight", options->output, options->hits,
                                      options->hit_count, r->error));
    }
    ICS_TRY(ics_made_run_create(config, &made, &r->run, r->error));
    ICS_TRY(make_targets(r));
    if (options->dry_run) {
        ICS_TRY(replay(r));
        ICS_TRY(make_metadata(r, &metadata));
    } else {
        ICS_TRY(write_file(r, &metadata));
    }
    return options->json ? ics_report_json("reweight", json_incref(metadata), out, r->error)
                         : print(r, out);
}

int icestream_reweight(const icestream_config *config, const icestream_reweight_options *options,
                       FILE *out, icestream_error *error)
{
    reweighter r = {
        .options = options, .progress = ics_task_progress_begin(options->progress), .error = error};
    const int status = reweight(&r, config, out);
    ics_table_writer_destroy(r.writer);
    for (size_t i = 0; r.targets != NULL && i < options->target_count; ++i) {
        json_decref(r.targets[i].differences);
        ics_target_light_destroy(r.targets[i].light);
        ics_world_destroy(&r.targets[i].world);
        icestream_config_destroy(r.targets[i].config);
    }
    free(r.targets);
    free(r.others);
    free(r.row);
    ics_made_run_free(&r.run);
    return status;
}
