/* icestream_trace: repeats single photons and writes every point of their paths. */
#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/commands/hits/output.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/commands/trace/requests.h"
#include "pipeline/commands/trace/verdict.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/devices/device.h"
#include "pipeline/photons/files/kernels_record.h"
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/photons/provenance/settings.h"
#include "pipeline/photons/replay/backend.h"
#include "pipeline/photons/replay/photon.h"
#include "pipeline/photons/replay/steps.h"
#include "pipeline/photons/session/world.h"
#include "pipeline/production/telemetry/task_progress.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 4096 }; /* points written at a time */

typedef struct tracer {
    const icestream_config *config;
    const icestream_trace_options *options;
    ics_world world;
    ics_hit_models models;
    ice_variants variants;
    ics_origin origin;
    ics_trace_requests requests;
    ics_replay_steps steps;
    bool on_gpu;         /* a GPU follows the photons, */
    ics_gpu_options gpu; /* with these options */
    ics_table_writer *writer;
    icestream_path_point *points; /* [BLOCK]; the first `filled` are not written yet */
    size_t filled;
    icestream_hit *found; /* [found_count], the hits of the photon that is followed now */
    size_t found_count, found_capacity;
    const icestream_step *step; /* the step of that photon */
    ice_emission emission;
    uint32_t photon_id, point;
    size_t hit; /* index of the next chosen hit */
    ics_trace_verdict verdict;
    ics_task_progress progress;
    icestream_error *error;
} tracer;

static const uint16_t point_kinds[] = {
    [ICE_POINT_START] = ICESTREAM_POINT_START, [ICE_POINT_SCATTER] = ICESTREAM_POINT_SCATTER,
    [ICE_POINT_HIT] = ICESTREAM_POINT_HIT,     [ICE_POINT_ABSORBED] = ICESTREAM_POINT_ABSORBED,
    [ICE_POINT_LEFT] = ICESTREAM_POINT_LEFT,   [ICE_POINT_STOPPED] = ICESTREAM_POINT_STOPPED,
};

/* ---- preparing ------------------------------------------------------------------------------- */

/* Decides what follows the photons. The maths is that of the hits; without hits, that of the
 * configuration, and auto is portable. */
static int choose_backend(tracer *t)
{
    const ics_maths_used maths = ics_metadata_maths(t->requests.metadata);
    const bool fast =
        t->requests.metadata != NULL ? maths == ICS_MATHS_FAST : t->gpu.math == ICS_MATH_FAST;
    t->gpu.math = fast ? ICS_MATH_FAST : ICS_MATH_PORTABLE;
    return ics_replay_choose_gpu(t->options->backend, fast, t->requests.count, &t->on_gpu,
                                 t->error);
}

/* Makes all that a photon's path depends on. The path does not depend on the configured device, so
 * this machine need not have that device. */
static int set_up(tracer *t)
{
    ICS_TRY(ics_world_create(t->config, &t->world, t->error));
    ICS_TRY(ics_device_gpu_options_from_config(t->config, &t->gpu, t->error));
    t->variants = t->gpu.variants;
    t->models = (ics_hit_models){.tables = &t->world.tables->device,
                                 .detector = t->world.models->detector,
                                 .light = t->world.models->light,
                                 .detection = t->world.models->detection};
    for (int i = 0; i < ICS_STAGES; ++i) {
        if (!ics_replay_supports(&t->variants) && t->config->stages.custom[i] != NULL) {
            return ics_error_set(t->error, ICESTREAM_E_CONFIG,
                                 "stages.%s: found a header of your own, expected a variant of "
                                 "icestream, because trace follows photons with the built-in "
                                 "stages and does not compile headers; --set stages.%s=VARIANT "
                                 "traces other photons with the same steps, and icestream run "
                                 "--verify checks what the header returns",
                                 ics_stage_name((ics_stage)i), ics_stage_name((ics_stage)i));
        }
    }
    ICS_TRY(ics_origin_create(t->config, t->world.models, &t->origin, t->error));
    t->origin.bins = (ics_bin_rule){.width = 0}; /* a file of paths has no bins */
    return choose_backend(t);
}

/* ---- points ---------------------------------------------------------------------------------- */

static int flush_points(tracer *t)
{
    const size_t count = t->filled;
    t->filled = 0;
    return ics_table_writer_append(t->writer, t->points, count, t->error);
}

/* Makes the hit of a point and stores it for the comparison with the chosen hits. */
static int keep_hit(tracer *t, const ice_arrival *arrival, icestream_hit *hit)
{
    icestream_step step = *t->step;
    ics_batch batch = {.steps = &step, .emissions = &t->emission, .count = 1};
    ICS_TRY(ics_batch_repeat_hit(&t->models, &batch, arrival, hit, t->error));
    if (t->found_count == t->found_capacity) {
        const size_t capacity = t->found_capacity ? 2 * t->found_capacity : 16;
        icestream_hit *grown = reallocarray(t->found, capacity, sizeof *grown);
        if (grown == NULL) {
            return ics_error_set(t->error, ICESTREAM_E_MEMORY, "trace: out of memory for hits");
        }
        t->found = grown;
        t->found_capacity = capacity;
    }
    t->found[t->found_count++] = *hit;
    return ICESTREAM_OK;
}

static double time_at(const tracer *t, const ice_path_point *point)
{
    const ice_arrival there = {
        .photon_id = t->photon_id, .path = point->path, .wavelength = point->wavelength};
    return t->step->t + ics_tables_arrival_delay(t->models.tables, &t->emission, &there);
}

static int put_point(void *self, const ice_path_point *point)
{
    tracer *t = self;
    icestream_hit hit = {.string = 0};
    if (point->arrival != NULL) {
        ICS_TRY(keep_hit(t, point->arrival, &hit));
    }
    if (t->filled == BLOCK) {
        ICS_TRY(flush_points(t));
    }
    t->points[t->filled++] = (icestream_path_point){
        .event_id = t->step->event_id,
        .t = point->arrival != NULL ? hit.t : time_at(t, point),
        .x = point->x,
        .y = point->y,
        .z = point->z,
        .dx = point->dx,
        .dy = point->dy,
        .dz = point->dz,
        .path = point->path,
        .absorption = point->absorption,
        .wavelength = point->wavelength,
        .step_id = t->step->step_id,
        .photon_id = t->photon_id,
        .point = t->point++,
        .string = hit.string,
        .module = hit.module,
        .kind = point_kinds[point->kind],
        .scatters = (uint16_t)(point->scatters < UINT16_MAX ? point->scatters : UINT16_MAX)};
    return ICESTREAM_OK;
}

/* ---- photons --------------------------------------------------------------------------------- */

static bool is_of(const icestream_hit *hit, const ics_replay_photon *request)
{
    return hit->event_id == request->event_id && hit->step_id == request->step_id &&
           hit->photon_id == request->photon_id;
}

/* Begins with photon `i` of the requests. */
static int begin_photon(void *self, size_t i)
{
    tracer *t = self;
    const ics_progress_state state = {
        .photons = i, .photons_total = (double)t->requests.count, .hits = t->verdict.expected};
    ics_task_progress_show(&t->progress, &state);
    t->step = &t->steps.items[i];
    t->photon_id = t->requests.items[i].photon_id;
    t->emission = ics_batch_step_emission(t->step, t->photon_id, 1);
    t->point = 0;
    t->found_count = 0;
    return ICESTREAM_OK;
}

/* Compares the hits of photon `i` with the chosen ones. Hits and requests are in the same order. */
static int end_photon(void *self, size_t i)
{
    tracer *t = self;
    const ics_trace_requests *requests = &t->requests;
    for (; t->hit < requests->hit_count && is_of(&requests->hits[t->hit], &requests->items[i]);
         ++t->hit) {
        ics_trace_verdict_add(&t->verdict, &requests->hits[t->hit], t->found, t->found_count);
    }
    return ICESTREAM_OK;
}

static int trace_on_cpu(tracer *t)
{
    const ics_replay_follower sink = {.put = put_point, .self = t};
    for (size_t i = 0; i < t->requests.count; ++i) {
        ICS_TRY(begin_photon(t, i));
        ICS_TRY(ics_replay_photon_follow(&t->variants, t->models.tables, &t->emission, t->photon_id,
                                         &sink));
        ICS_TRY(end_photon(t, i));
    }
    return ICESTREAM_OK;
}

static int trace_on_gpu(tracer *t)
{
    const ics_replay_gpu_paths wanted = {.options = t->gpu,
                                         .kernels = ics_kernels_record_get(t->requests.metadata),
                                         .tables = t->world.tables,
                                         .photons = t->requests.items,
                                         .steps = t->steps.items,
                                         .count = t->requests.count,
                                         .begin = begin_photon,
                                         .end = end_photon,
                                         .follower = {.put = put_point, .self = t}};
    return ics_replay_follow_on_gpu(&wanted, t->error);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int make_metadata(const tracer *t, json_t **out)
{
    const ics_trace_verdict *verdict = &t->verdict;
    ICS_TRY(ics_origin_metadata(&t->origin, NULL, out, t->error));
    ICS_TRY(ics_metadata_set_maths(
        *out, t->gpu.math == ICS_MATH_FAST && t->on_gpu ? ICS_MATHS_FAST : ICS_MATHS_PORTABLE,
        t->error));
    int failed = json_object_set(*out, "inputs", t->steps.inputs);
    failed |= json_object_set_new(*out, "photons", json_integer((json_int_t)t->requests.count));
    if (verdict->expected > 0) {
        failed |= json_object_set_new(
            *out, "hits",
            json_pack("{s:I, s:I, s:I, s:I}", "expected", (json_int_t)verdict->expected,
                      "identical", (json_int_t)verdict->identical, "moved",
                      (json_int_t)verdict->moved, "lost", (json_int_t)verdict->lost));
    }
    return failed ? ics_error_set(t->error, ICESTREAM_E_MEMORY, "trace: out of memory for metadata")
                  : ICESTREAM_OK;
}

static int write_paths(tracer *t)
{
    json_auto_t *metadata = NULL;
    t->points = malloc(BLOCK * sizeof *t->points);
    if (t->points == NULL) {
        return ics_error_set(t->error, ICESTREAM_E_MEMORY, "trace: out of memory for points");
    }
    ICS_TRY(ics_table_writer_create(t->options->output, ics_layout_paths(), t->options->force,
                                    &t->writer, t->error));
    ics_task_progress_next(&t->progress, "following photons");
    ICS_TRY(t->on_gpu ? trace_on_gpu(t) : trace_on_cpu(t));
    ICS_TRY(flush_points(t));
    ICS_TRY(make_metadata(t, &metadata));
    return ics_table_writer_commit(t->writer, metadata, t->error);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* Lists the settings that differ between the run of the hits and the configuration, with both
 * values: "run.seed (1, 2)". The steps were compared when they were read. */
static int list_other_settings(const tracer *t, char *text, size_t size)
{
    json_auto_t *settings = NULL, *ours = NULL;
    text[0] = '\0';
    if (t->requests.metadata == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_origin_settings(t->config, t->world.models, &settings, t->error));
    ics_origin origin = t->origin;
    origin.settings = settings;
    ICS_TRY(ics_origin_metadata(&origin, NULL, &ours, t->error));
    return ics_settings_list(t->requests.metadata, ours, text, size, t->error);
}

static int report(const tracer *t, FILE *out)
{
    char others[1024];
    const ics_maths_used maths = ics_metadata_maths(t->requests.metadata);
    ICS_TRY(list_other_settings(t, others, sizeof others));
    const bool is_stream = strcmp(t->options->output, "-") == 0;
    ics_visible_printf(out, "%s: %llu points of %zu photon%s\n",
                       is_stream ? "standard output" : t->options->output,
                       (unsigned long long)ics_table_writer_rows(t->writer), t->requests.count,
                       t->requests.count == 1 ? "" : "s");
    if (t->steps.foreign) {
        ics_visible_printf(out, "  the hits are those of another step file than %s\n",
                           t->options->steps);
    }
    ics_trace_verdict_print(&t->verdict, maths, others, out);
    ICS_TRY(ics_report_end("trace", out, t->error));
    /* The GPU has repeated fast maths, so that all hits must be the same. */
    return ics_trace_verdict_status(&t->verdict, t->on_gpu ? ICS_MATHS_PORTABLE : maths,
                                    t->options->output, t->error);
}

/* Refuses to replace a file that the trace reads, and to write binary data to a terminal. */
static int check_output(const icestream_config *config, const icestream_trace_options *options,
                        icestream_error *error)
{
    const char *const inputs[] = {options->hits, options->steps};
    ICS_TRY(ics_hits_output_check("trace", options->output, inputs, 2, error));
    return strcmp(options->output, "-") == 0
               ? ICESTREAM_OK
               : ics_config_check_output(config, "--output", options->output, error);
}

static int trace(tracer *t, FILE *out)
{
    const icestream_config *config = t->config;
    ICS_TRY(check_output(config, t->options, t->error));
    ICS_TRY(ics_trace_requests_create(t->options, &t->requests, t->error));
    ICS_TRY(set_up(t));
    const ics_replay_photons photons = {t->requests.items, t->requests.count, t->requests.metadata};
    ICS_TRY(ics_replay_steps_find(config, t->options->steps, &photons, t->world.models, &t->steps,
                                  t->error));
    const int status = write_paths(t);
    ics_task_progress_end(&t->progress);
    ICS_TRY(status);
    return report(t, out);
}

int icestream_trace(const icestream_config *config, const icestream_trace_options *options,
                    FILE *out, icestream_error *error)
{
    tracer t = {.config = config,
                .options = options,
                .progress = ics_task_progress_begin(options->progress),
                .error = error};
    const int status = trace(&t, out);
    ics_table_writer_destroy(t.writer);
    free(t.points);
    free(t.found);
    ics_replay_steps_free(&t.steps);
    ics_trace_requests_free(&t.requests);
    ics_world_destroy(&t.world);
    return status;
}
