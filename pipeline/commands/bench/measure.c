#include "pipeline/commands/bench/measure.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- models and steps ------------------------------------------------------------------------ */

int ics_bench_open(ics_bench *bench, icestream_error *error)
{
    bench->count = 0;
    ICS_TRY(ics_experiment_create(bench->config, &bench->experiment, error));
    const ics_models *models = ics_experiment_models(bench->experiment);
    ICS_TRY(bench->options->files
                ? ics_step_list_of_run(bench->config, models, &bench->steps, error)
                : ics_step_list_generate(bench->config, models, &bench->steps, error));
    ics_experiment_show(bench->experiment, &bench->progress);
    return ICESTREAM_OK;
}

void ics_bench_close(ics_bench *bench)
{
    ics_experiment_destroy(bench->experiment);
    bench->experiment = NULL;
    ics_step_list_free(&bench->steps);
    bench->steps = (ics_step_list){0};
}

int ics_bench_schedules(const ics_bench *bench, ics_schedule_list *out, icestream_error *error)
{
    const bool gpu = ics_experiment_on_gpu(bench->experiment);
    *out = ics_schedules_of_device(gpu);
    if (bench->options->schedules != NULL) {
        return ics_schedules_parse(bench->options->schedules, gpu, out, error);
    }
    if (bench->config->graph.schedule != ICS_SCHEDULE_AUTO) {
        *out = (ics_schedule_list){.items = {bench->config->graph.schedule}, .count = 1};
    }
    return ICESTREAM_OK;
}

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

/* Runs a trial bench->repeats times. On a GPU one more run comes first, unless options->once is
 * set.
 */
static int repeat(ics_bench *bench, ics_trial *trial, ics_row *row, icestream_error *error)
{
    ICS_FREES double *seconds = calloc(2 * (size_t)bench->repeats, sizeof *seconds);
    if (seconds == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "bench: out of memory");
    }
    double *kernel_seconds = seconds + bench->repeats;
    const bool cold = ics_experiment_on_gpu(bench->experiment) && !bench->options->once;
    const uint32_t warm_up = cold ? 1 : 0;
    for (uint32_t i = 0; i < warm_up + bench->repeats; ++i) {
        ics_measurement next = {0};
        char name[192];
        snprintf(name, sizeof name, "%s, %" PRIu32 " of %" PRIu32, bench->name, i + 1,
                 warm_up + bench->repeats);
        ics_task_progress_next(&bench->progress, name);
        const int status = ics_experiment_trial_run(trial, &bench->steps, &next, error);
        ics_experiment_measurement_free(&next);
        ICS_TRY(status);
        if (i < warm_up) {
            continue;
        }
        seconds[i - warm_up] = next.seconds;
        kernel_seconds[i - warm_up] = next.gpu.kernel_seconds;
        if (i == warm_up || ics_experiment_time(&next) < ics_experiment_time(&row->best)) {
            row->best = next;
        }
    }
    if (bench->repeats > 1) {
        row->median_seconds = median(seconds, bench->repeats);
        row->median_kernel_seconds = median(kernel_seconds, bench->repeats);
    }
    return ICESTREAM_OK;
}

int ics_bench_measure(ics_bench *bench, ics_schedule schedule, uint32_t threads, ics_row **out,
                      icestream_error *error)
{
    ics_row *row = &bench->rows[bench->count++];
    ics_trial_options options = {
        .schedule = schedule, .threads = threads, .tune = bench->tune, .without = bench->without};
    ICS_DESTROYS(ics_experiment_trial_destroy) ics_trial *trial = NULL;
    snprintf(bench->name, sizeof bench->name, "%s%s%s%s", bench->modules,
             bench->modules[0] != '\0' ? ", " : "", ics_graph_schedule_name(schedule),
             threads == 1 ? ", 1 thread" : "");
    *out = row;
    ICS_TRY(ics_experiment_trial_create(bench->experiment, &options, &trial, error));
    ICS_TRY(repeat(bench, trial, row, error));
    ics_rows_set_name(row);
    return ICESTREAM_OK;
}
