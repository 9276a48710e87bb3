/* `icestream bench`: how fast the schedules of this device carry the configured workload. */
#include "pipeline/error.h"
#include "pipeline/tools/reference.h"
#include "pipeline/tools/report.h"
#include "pipeline/tools/rows.h"
#include "pipeline/tools/schedules.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

enum { REPEATS_DEFAULT = 3, ROWS_MAX = 2 * IS_SCHEDULE_COUNT };

struct bench {
    const is_bench_options *options;
    const is_config *config;
    is_experiment *experiment;
    uint32_t repeats;
    is_step_list steps;
    is_row rows[ROWS_MAX];
    size_t count;
};

/* ---- measuring ------------------------------------------------------------------------------- */

static int compare_numbers(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

/* Sorts the values; the mean of the two in the middle where their number is even. */
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_numbers);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* Runs a trial so many times. The best counts: what else the machine does only ever makes a run
 * slower. On a GPU a first run is not counted: it wakes clocks and memory, and auto makes its
 * choice in it. */
static int repeat(const struct bench *bench, is_trial *trial, is_row *row, is_error *error)
{
    double *seconds = calloc(2 * (size_t)bench->repeats, sizeof *seconds);
    if (!seconds)
        return is_error_set(error, IS_E_MEMORY, "bench: out of memory");
    double *kernel_seconds = seconds + bench->repeats;
    uint32_t warm_up = is_experiment_on_gpu(bench->experiment) ? 1 : 0;
    int status = IS_OK;
    for (uint32_t i = 0; status == IS_OK && i < warm_up + bench->repeats; ++i) {
        is_measurement next = {0};
        status = is_trial_run(trial, &bench->steps, &next, error);
        is_measurement_free(&next);
        if (status != IS_OK || i < warm_up)
            continue;
        seconds[i - warm_up] = next.seconds;
        kernel_seconds[i - warm_up] = next.gpu.kernel_seconds;
        if (i == warm_up || is_measurement_time(&next) < is_measurement_time(&row->best))
            row->best = next;
    }
    if (status == IS_OK && bench->repeats > 1) {
        row->median_seconds = median(seconds, bench->repeats);
        row->median_kernel_seconds = median(kernel_seconds, bench->repeats);
    }
    free(seconds);
    return status;
}

static int measure(struct bench *bench, is_schedule schedule, uint32_t threads, is_row **out,
                   is_error *error)
{
    is_row *row = &bench->rows[bench->count++];
    is_trial_options options = {.schedule = schedule, .threads = threads};
    is_trial *trial = NULL;
    int status = is_trial_create(bench->experiment, &options, &trial, error);
    if (status == IS_OK)
        status = repeat(bench, trial, row, error);
    is_trial_destroy(trial);
    is_row_set_name(row);
    *out = row;
    return status;
}

static int measure_on_gpu(struct bench *bench, is_schedule schedule, is_error *error)
{
    is_row *row;
    int status = measure(bench, schedule, 0, &row, error);
    if (status == IS_OK && (schedule == IS_SCHEDULE_WAVEFRONT || schedule == IS_SCHEDULE_FUSED))
        status = is_experiment_profile(bench->experiment, schedule, &bench->steps,
                                       row->stage_seconds, error);
    return status;
}

/* One row for one thread and, where there are more, one for all. */
static int measure_on_cpu(struct bench *bench, is_schedule schedule, is_error *error)
{
    is_row *all, *one;
    int status = measure(bench, schedule, 0, &all, error);
    all->scaling = 1;
    if (status != IS_OK || all->best.threads == 1)
        return status;
    status = measure(bench, schedule, 1, &one, error);
    if (status == IS_OK && all->best.seconds > 0)
        all->scaling = one->best.seconds / all->best.seconds;
    one->scaling = 1;
    is_row swapped = *all; /* one thread comes first */
    *all = *one;
    *one = swapped;
    return status;
}

static int measure_all(struct bench *bench, is_error *error)
{
    bool gpu = is_experiment_on_gpu(bench->experiment);
    is_schedule_list list = is_schedules_of_device(gpu);
    int status = IS_OK;
    if (bench->options->schedules)
        status = is_schedules_parse(bench->options->schedules, gpu, &list, error);
    else if (bench->config->graph.schedule != IS_SCHEDULE_AUTO)
        list = (is_schedule_list){.items = {bench->config->graph.schedule}, .count = 1};
    for (size_t i = 0; status == IS_OK && i < list.count; ++i)
        status = gpu ? measure_on_gpu(bench, list.items[i], error)
                     : measure_on_cpu(bench, list.items[i], error);
    return status;
}

/* ---- reports --------------------------------------------------------------------------------- */

static const char *world_of(const struct bench *bench)
{
    return bench->options->reference ? ", clsim's ice and modules" : "";
}

static int print_text(const struct bench *bench, FILE *out, is_error *error)
{
    const is_row *rows[ROWS_MAX];
    for (size_t i = 0; i < bench->count; ++i)
        rows[i] = &bench->rows[i];
    fprintf(out,
            "%" PRIu64 " photons in %zu steps of %s%s, oversize %g, on %s; best of %" PRIu32 "\n\n",
            bench->steps.photons, bench->steps.count, bench->steps.origin, world_of(bench),
            bench->config->detector.oversize, bench->rows[0].best.device, bench->repeats);
    int status = is_rows_print(rows, bench->count, bench->options->markdown, out, error);
    if (!is_experiment_on_gpu(bench->experiment))
        fputs("Instructions per bounce, which no other load disturbs: bench/instructions.sh\n",
              out);
    return status == IS_OK ? is_report_end("bench", out, error) : status;
}

static int print_json(const struct bench *bench, FILE *out, is_error *error)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < bench->count; ++i)
        json_array_append_new(rows, is_row_json(&bench->rows[i]));
    return is_report_json("bench",
                          json_pack("{s:s, s:I, s:I, s:s?, s:f, s:b, s:I, s:o}", "steps_from",
                                    bench->steps.origin, "steps", (json_int_t)bench->steps.count,
                                    "photons", (json_int_t)bench->steps.photons, "reference",
                                    bench->options->reference, "oversize",
                                    bench->config->detector.oversize, "shuffled",
                                    (int)bench->config->workload.shuffled, "best_of",
                                    (json_int_t)bench->repeats, "rows", rows),
                          out, error);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run(struct bench *bench, FILE *out, is_error *error)
{
    int status = is_step_list_from_workload(bench->config, &bench->steps, error);
    if (status == IS_OK && bench->steps.photons == 0)
        status =
            is_error_set(error, IS_E_CONFIG, "bench: the workload has no photons, found %zu steps",
                         bench->steps.count);
    if (status == IS_OK) {
        status = is_experiment_create(bench->config, &bench->experiment, error);
        if (status == IS_E_CONFIG && bench->options->reference)
            is_error_add(error, status, "(ice and light are made from the tables in %s)",
                         bench->options->reference);
    }
    if (status == IS_OK)
        status = measure_all(bench, error);
    if (status == IS_OK)
        status =
            bench->options->json ? print_json(bench, out, error) : print_text(bench, out, error);
    is_experiment_destroy(bench->experiment);
    is_step_list_free(&bench->steps);
    return status;
}

int is_bench(const is_config *config, const is_bench_options *options, FILE *out, is_error *error)
{
    struct bench *all = calloc(1, sizeof *all);
    if (!all)
        return is_error_set(error, IS_E_MEMORY, "bench: out of memory");
    all->options = options;
    all->repeats = options->repeats > 0 ? options->repeats : REPEATS_DEFAULT;
    is_reference reference;
    is_config changed = *config; /* only looked at */
    int status = IS_OK;
    if (options->reference) {
        status = is_reference_open(options->reference, &reference, error);
        if (status == IS_OK)
            is_reference_apply(&reference, &changed);
    }
    all->config = &changed;
    if (status == IS_OK)
        status = run(all, out, error);
    if (options->reference)
        is_reference_close(&reference);
    free(all);
    return status;
}
