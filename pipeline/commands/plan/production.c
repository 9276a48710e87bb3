#include "pipeline/commands/plan/production.h"

#include "base/error.h"
#include "base/plural.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/commands/measure/step_cost.h"
#include "pipeline/photons/devices/workers.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/photons/generator/forecast.h"
#include "pipeline/photons/generator/step_generator.h"

#include <inttypes.h>
#include <jansson.h>

/* One step file. */
typedef struct one_file {
    double steps, photons, bounces;
} one_file;

/* What the plan says. */
typedef struct plan {
    const ics_production_options *options;
    one_file file;
    double rate;       /* bounces per second of one GPU, 1/s */
    double hits;       /* per photon; negative: not known */
    double seconds;    /* of a file on a GPU, s */
    double step_bytes; /* of a file */
    double hit_bytes;  /* of a file; negative: not known */
    double tickets;    /* files that begin per second, 1/s */
} plan;

static int sum_steps(const ics_step_cost *cost, ics_step_generator *generator, uint32_t threads,
                     one_file *out, icestream_error *error)
{
    const icestream_step *steps;
    ICS_TRY(ics_step_generator_start(generator, threads, error));
    for (size_t count = 1; count > 0;) {
        ICS_TRY(ics_step_generator_next(generator, &steps, &count, error));
        for (size_t i = 0; i < count; ++i) {
            out->photons += steps[i].photons;
            out->bounces += ics_step_cost_bounces(cost, &steps[i]);
        }
        out->steps += (double)count;
    }
    return ICESTREAM_OK;
}

/* Loads the world, which the caller destroys. */
static int measure_file(const icestream_config *config, ics_world *world, one_file *out,
                        icestream_error *error)
{
    ICS_DESTROYS(ics_step_cost_destroy) ics_step_cost *cost = NULL;
    ICS_DESTROYS(ics_step_generator_destroy) ics_step_generator *generator = NULL;
    ICS_TRY(ics_world_create(config, world, error));
    ICS_TRY(ics_step_cost_create(config, world, &cost, error));
    ICS_TRY(ics_step_generator_create(config, world->models, -1, &generator, error));
    return sum_steps(cost, generator, ics_workers_thread_count(config->device.threads), out, error);
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : 0;
}

/* Takes the rate of the fastest row of a report of bench, and its hits per photon. */
static int read_bench(const char *path, plan *out, icestream_error *error)
{
    json_error_t fault;
    json_auto_t *root = json_load_file(path, 0, &fault);
    if (root == NULL) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "--bench: %s: line %d: %s, expected what `icestream bench --json` "
                             "writes",
                             path, fault.line, fault.text);
    }
    const json_t *rows = json_object_get(root, "rows");
    const double photons = number_of(root, "photons");
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t *row = json_array_get(rows, i);
        const double seconds = number_of(row, "seconds"), bounces = number_of(row, "bounces");
        if (seconds > 0 && photons > 0 && bounces / seconds > out->rate) {
            out->rate = bounces / seconds;
            out->hits = number_of(row, "hits") / photons;
        }
    }
    return out->rate > 0 ? ICESTREAM_OK
                         : ics_error_set(error, ICESTREAM_E_INPUT,
                                         "--bench: %s: found no rows with seconds and bounces, "
                                         "expected what `icestream bench --json` writes",
                                         path);
}

static void derive(plan *all)
{
    const ics_production_options *options = all->options;
    const ics_forecast steps = {.steps = all->file.steps};
    all->seconds = all->file.bounces / all->rate + options->overhead;
    all->step_bytes = ics_forecast_bytes(&steps);
    all->hit_bytes =
        all->hits >= 0 ? ICS_NPY_OWN_HEADER + all->file.photons * all->hits * ICS_HIT_BYTES : -1;
    all->tickets = options->gpus / all->seconds;
}

static int print_text(const plan *all, FILE *out, icestream_error *error)
{
    const ics_production_options *options = all->options;
    const double files = (double)options->files, hours = files * all->seconds / 3600;
    fprintf(out, "a file      %.4g steps, %.4g photons, %.4g expected bounces (%.1f per photon)\n",
            all->file.steps, all->file.photons, all->file.bounces,
            all->file.bounces / all->file.photons);
    fprintf(out, "a GPU       %.4g bounces/s: %.4g s for a file, %.4g s of it overhead\n",
            all->rate, all->seconds, options->overhead);
    fprintf(out, "production  %" PRIu64 " file%s: %.4g GPU hours, %.4g h on %" PRIu32 " GPU%s\n",
            options->files, ics_plural_s(options->files), hours, hours / options->gpus,
            options->gpus, ics_plural_s(options->gpus));
    fprintf(out, "tickets     %.4g per second\n", all->tickets);
    fprintf(out, "step files  %.4g GB, %.4g MB/s\n", 1e-9 * files * all->step_bytes,
            1e-6 * all->tickets * all->step_bytes);
    if (all->hit_bytes >= 0) {
        fprintf(out, "hit files   %.4g GB, %.4g MB/s, with %.4g hits per photon\n",
                1e-9 * files * all->hit_bytes, 1e-6 * all->tickets * all->hit_bytes, all->hits);
    } else {
        fprintf(out, "hit files   unknown without --hits or --bench\n");
    }
    return ics_report_end("plan", out, error);
}

static int print_json(const plan *all, FILE *out, icestream_error *error)
{
    const ics_production_options *options = all->options;
    const double files = (double)options->files, hours = files * all->seconds / 3600;
    const bool known = all->hit_bytes >= 0;
    json_t *file = json_pack("{s:f, s:f, s:f, s:f, s:f, s:o}", "steps", all->file.steps, "photons",
                             all->file.photons, "bounces", all->file.bounces, "seconds",
                             all->seconds, "step_bytes", all->step_bytes, "hit_bytes",
                             known ? json_real(all->hit_bytes) : json_null());
    return ics_report_json(
        "plan",
        json_pack("{s:o, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "file", file, "files",
                  (json_int_t)options->files, "gpus", (json_int_t)options->gpus,
                  "bounces_per_second", all->rate, "overhead_seconds", options->overhead,
                  "gpu_hours", hours, "hours", hours / options->gpus, "tickets_per_second",
                  all->tickets, "step_bytes", files * all->step_bytes, "hit_bytes",
                  known ? json_real(files * all->hit_bytes) : json_null()),
        out, error);
}

int ics_production_plan(const icestream_config *config, const ics_production_options *options,
                        FILE *out, icestream_error *error)
{
    plan all = {.options = options, .hits = -1};
    if (options->bench != NULL) {
        ICS_TRY(read_bench(options->bench, &all, error));
    } else {
        all.rate = options->rate;
    }
    if (options->hits >= 0) {
        all.hits = options->hits;
    }
    ICS_TRY(ics_config_check_light(config, "plan --production", error));
    ics_world world = {0};
    const int status = measure_file(config, &world, &all.file, error);
    ics_world_destroy(&world);
    ICS_TRY(status);
    derive(&all);
    return options->json ? print_json(&all, out, error) : print_text(&all, out, error);
}
