/* icestream_bench: measures how fast the schedules of the device simulate the particles or the
 * workload. */
#include "base/error.h"
#include "pipeline/tools/bench/reference.h"
#include "pipeline/tools/measure/report.h"
#include "pipeline/tools/measure/rows.h"
#include "pipeline/tools/measure/schedules.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

enum { REPEATS_DEFAULT = 3, ROWS_MAX = 2 * ICS_SCHEDULE_COUNT };

struct bench {
    const icestream_bench_options *options;
    const icestream_config *config;
    ics_experiment *experiment;
    uint32_t repeats;
    bool has_modules; /* with --reference: the modules are those of detector.file */
    ics_step_list steps;
    ics_row rows[ROWS_MAX];
    size_t count;
    ics_task_progress progress;
    char name[64]; /* what is measured now */
};

/* ---- measuring ------------------------------------------------------------------------------- */

static int compare_numbers(const void *left, const void *right)
{
    double l = *(const double *)left, r = *(const double *)right;
    return (l > r) - (l < r);
}

/* Sorts the values and returns their median: for an even number, the mean of the two in the
 * middle. */
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_numbers);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

/* Runs a trial bench->repeats times. The best run counts, because other work of the machine can
 * only make a run slower. On a GPU one more run comes first and does not count: in it the clocks of
 * the GPU rise, memory is first used, and auto makes its choice. */
static int repeat(struct bench *bench, ics_trial *trial, ics_row *row, icestream_error *error)
{
    double *seconds = calloc(2 * (size_t)bench->repeats, sizeof *seconds);
    if (seconds == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "bench: out of memory");
    }
    double *kernel_seconds = seconds + bench->repeats;
    const bool cold = ics_experiment_on_gpu(bench->experiment) && !bench->options->once;
    const uint32_t warm_up = cold ? 1 : 0;
    int status = ICESTREAM_OK;
    for (uint32_t i = 0; status == ICESTREAM_OK && i < warm_up + bench->repeats; ++i) {
        ics_measurement next = {0};
        char name[96];
        snprintf(name, sizeof name, "%s, %" PRIu32 " of %" PRIu32, bench->name, i + 1,
                 warm_up + bench->repeats);
        ics_task_progress_next(&bench->progress, name);
        status = ics_experiment_trial_run(trial, &bench->steps, &next, error);
        ics_experiment_measurement_free(&next);
        if (status != ICESTREAM_OK || i < warm_up) {
            continue;
        }
        seconds[i - warm_up] = next.seconds;
        kernel_seconds[i - warm_up] = next.gpu.kernel_seconds;
        if (i == warm_up || ics_experiment_time(&next) < ics_experiment_time(&row->best)) {
            row->best = next;
        }
    }
    if (status == ICESTREAM_OK && bench->repeats > 1) {
        row->median_seconds = median(seconds, bench->repeats);
        row->median_kernel_seconds = median(kernel_seconds, bench->repeats);
    }
    free(seconds);
    return status;
}

static int measure(struct bench *bench, ics_schedule schedule, uint32_t threads, ics_row **out,
                   icestream_error *error)
{
    ics_row *row = &bench->rows[bench->count++];
    ics_trial_options options = {.schedule = schedule, .threads = threads};
    ics_trial *trial = NULL;
    snprintf(bench->name, sizeof bench->name, "%s%s", ics_graph_schedule_name(schedule),
             threads == 1 ? ", 1 thread" : "");
    int status = ics_experiment_trial_create(bench->experiment, &options, &trial, error);
    if (status == ICESTREAM_OK) {
        status = repeat(bench, trial, row, error);
    }
    ics_experiment_trial_destroy(trial);
    ics_rows_set_name(row);
    *out = row;
    return status;
}

static int measure_on_gpu(struct bench *bench, ics_schedule schedule, icestream_error *error)
{
    ics_row *row;
    int status = measure(bench, schedule, 0, &row, error);
    const bool profiled = ics_experiment_can_profile(schedule) && !bench->options->once;
    if (status == ICESTREAM_OK && profiled) {
        status = ics_experiment_profile(bench->experiment, schedule, &bench->steps,
                                        row->stage_seconds, error);
    }
    return status;
}

/* Adds a row for one thread and, if the device has more threads, a row for all. */
static int measure_on_cpu(struct bench *bench, ics_schedule schedule, icestream_error *error)
{
    ics_row *all, *one;
    int status = measure(bench, schedule, 0, &all, error);
    all->scaling = 1;
    if (status != ICESTREAM_OK || all->best.threads == 1 || bench->options->once) {
        return status;
    }
    status = measure(bench, schedule, 1, &one, error);
    if (status == ICESTREAM_OK && all->best.seconds > 0) {
        all->scaling = one->best.seconds / all->best.seconds;
    }
    one->scaling = 1;
    ics_row swapped = *all; /* the row of one thread comes first */
    *all = *one;
    *one = swapped;
    return status;
}

static int measure_all(struct bench *bench, icestream_error *error)
{
    bool gpu = ics_experiment_on_gpu(bench->experiment);
    ics_schedule_list list = ics_schedules_of_device(gpu);
    int status = ICESTREAM_OK;
    if (bench->options->schedules != NULL) {
        status = ics_schedules_parse(bench->options->schedules, gpu, &list, error);
    } else if (bench->config->graph.schedule != ICS_SCHEDULE_AUTO) {
        list = (ics_schedule_list){.items = {bench->config->graph.schedule}, .count = 1};
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < list.count; ++i) {
        status = gpu ? measure_on_gpu(bench, list.items[i], error)
                     : measure_on_cpu(bench, list.items[i], error);
    }
    return status;
}

/* ---- reports --------------------------------------------------------------------------------- */

static const char *world_of(const struct bench *bench)
{
    if (bench->options->reference == NULL) {
        return "";
    }
    return bench->has_modules ? ", clsim's ice, modules of detector.file"
                              : ", clsim's ice and modules";
}

static int print_text(const struct bench *bench, FILE *out, icestream_error *error)
{
    const ics_row *rows[ROWS_MAX];
    for (size_t i = 0; i < bench->count; ++i) {
        rows[i] = &bench->rows[i];
    }
    fprintf(out,
            "%" PRIu64 " photons in %zu steps of %s%s, oversize %g, on %s; best of %" PRIu32 "\n\n",
            bench->steps.photons, bench->steps.count, bench->steps.origin, world_of(bench),
            bench->config->detector.oversize, bench->rows[0].best.device, bench->repeats);
    int status = ics_rows_print(rows, bench->count, bench->options->markdown, out, error);
    if (!ics_experiment_on_gpu(bench->experiment)) {
        fputs("bench/instructions.sh counts instructions per bounce, which do not depend on other "
              "load.\n",
              out);
    }
    return status == ICESTREAM_OK ? ics_report_end("bench", out, error) : status;
}

static int print_json(const struct bench *bench, FILE *out, icestream_error *error)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < bench->count; ++i) {
        json_array_append_new(rows, ics_rows_json(&bench->rows[i]));
    }
    return ics_report_json("bench",
                           json_pack("{s:s, s:I, s:I, s:s?, s:f, s:b, s:I, s:o}", "steps_from",
                                     bench->steps.origin, "steps", (json_int_t)bench->steps.count,
                                     "photons", (json_int_t)bench->steps.photons, "reference",
                                     bench->options->reference, "oversize",
                                     bench->config->detector.oversize, "shuffled",
                                     bench->config->workload.counts == ICS_COUNTS_SHUFFLED,
                                     "best_of", (json_int_t)bench->repeats, "rows", rows),
                           out, error);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run(struct bench *bench, FILE *out, icestream_error *error)
{
    int status = ics_experiment_create(bench->config, &bench->experiment, error);
    if (status == ICESTREAM_E_CONFIG && bench->options->reference != NULL) {
        ics_error_add(error, status, "(ice and light are made from the tables in %s)",
                      bench->options->reference);
    }
    if (status == ICESTREAM_OK) {
        const ics_models *models = ics_experiment_models(bench->experiment);
        status = bench->options->files
                     ? ics_step_list_of_run(bench->config, models, &bench->steps, error)
                     : ics_step_list_generate(bench->config, models, &bench->steps, error);
    }
    if (status == ICESTREAM_OK) {
        ics_experiment_show(bench->experiment, &bench->progress);
        status = measure_all(bench, error);
    }
    ics_task_progress_end(&bench->progress);
    if (status == ICESTREAM_OK) {
        status =
            bench->options->json ? print_json(bench, out, error) : print_text(bench, out, error);
    }
    ics_experiment_destroy(bench->experiment);
    ics_step_list_free(&bench->steps);
    return status;
}

int icestream_bench(const icestream_config *config, const icestream_bench_options *options,
                    FILE *out, icestream_error *error)
{
    struct bench *all = calloc(1, sizeof *all);
    if (all == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "bench: out of memory");
    }
    all->options = options;
    all->progress = ics_task_progress_begin(options->progress);
    all->repeats = options->repeats > 0 ? options->repeats : REPEATS_DEFAULT;
    all->repeats = options->once ? 1 : all->repeats;
    ics_reference reference;
    icestream_config changed = *config; /* borrows the texts of config; never destroyed */
    int status = ICESTREAM_OK;
    if (options->reference != NULL) {
        status = ics_reference_open(options->reference, &reference, error);
        if (status == ICESTREAM_OK) {
            status = ics_reference_check(config, options->reference, error);
        }
        if (status == ICESTREAM_OK) {
            ics_reference_apply(&reference, &changed);
            all->has_modules = changed.detector.file != reference.modules;
        }
    }
    if (options->workload || options->reference != NULL) {
        changed.particles.file = NULL;
        changed.particles.list = NULL;
        changed.particles.count = 0;
    }
    all->config = &changed;
    if (status == ICESTREAM_OK) {
        status = run(all, out, error);
    }
    if (options->reference != NULL) {
        ics_reference_close(&reference);
    }
    free(all);
    return status;
}
