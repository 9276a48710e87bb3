#include "base/error.h"
#include "bench/lab/lab.h"
#include "bench/lab/sweep/report.h"
#include "pipeline/commands/measure/report.h"

#include <stdlib.h>
#include <string.h>

/* What a sweep needs while it measures. */
typedef struct sweeping {
    ics_bench *bench;
    ics_sweep sweep;
    icestream_account account; /* of the first row: the others must have the same */
    char device[256];
} sweeping;

/* Settings change the speed and nothing else. */
static int check_account(const sweeping *all, const ics_sweep_row *row,
                         const icestream_account *found, icestream_error *error)
{
    const icestream_account *expected = &all->account;
    if (found->bounces == expected->bounces && found->hits == expected->hits) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "sweep: %s with %u threads and %u registers: found %llu bounces "
                         "and %llu hits, expected %llu and %llu as in the first row",
                         ics_graph_schedule_name(row->schedule), row->settings.threads,
                         row->settings.registers, (unsigned long long)found->bounces,
                         (unsigned long long)found->hits, (unsigned long long)expected->bounces,
                         (unsigned long long)expected->hits);
}

/* Measures the schedule with these settings and appends a row. */
static int measure_row(sweeping *all, ics_sweep_row row, const ics_tune *tune,
                       icestream_error *error)
{
    ics_bench *bench = all->bench;
    ics_row *measured;
    bench->count = 0;
    bench->rows[0] = (ics_row){.scaling = 0};
    bench->tune = tune;
    bench->modules[0] = '\0';
    if (row.kernel != ICS_TUNED_COUNT) {
        snprintf(bench->modules, sizeof bench->modules, "%s, %u threads, %u registers",
                 ics_tune_word(row.kernel), row.settings.threads, row.settings.registers);
    }
    ICS_TRY(ics_bench_measure(bench, row.schedule, 0, &measured, error));
    if (all->sweep.count == 0) {
        all->account = measured->best.account;
        snprintf(all->device, sizeof all->device, "%s", measured->best.device);
    }
    ICS_TRY(check_account(all, &row, &measured->best.account, error));
    row.photon_cost = ics_experiment_photon_cost(&measured->best);
    row.bounce_cost = ics_experiment_bounce_cost(&measured->best);
    ics_sweep_row *more =
        realloc(all->sweep.rows, (all->sweep.count + 1) * sizeof *all->sweep.rows);
    if (more == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "sweep: out of memory");
    }
    all->sweep.rows = more;
    all->sweep.rows[all->sweep.count++] = row;
    return ICESTREAM_OK;
}

static int measure_kernel(sweeping *all, ics_schedule schedule, ics_tuned_kernel kernel,
                          icestream_error *error)
{
    ics_kernel_tune points[ICS_SWEEP_POINTS_MAX];
    const ics_tune *configured = &all->bench->config->graph.tune;
    const size_t count = ics_sweep_grid(kernel, configured, points);
    for (size_t i = 0; i < count; ++i) {
        ics_tune tune = *configured;
        tune.kernels[kernel] = points[i];
        const ics_sweep_row row = {.schedule = schedule, .kernel = kernel, .settings = points[i]};
        ICS_TRY(measure_row(all, row, &tune, error));
    }
    return ICESTREAM_OK;
}

/* Measures a schedule as configured, then every kernel of it over the grid, the others as
 * configured. */
static int measure_schedule(sweeping *all, ics_schedule schedule, icestream_error *error)
{
    const ics_gpu_schedule *row = ics_schedule_row(schedule);
    if (row == NULL) {
        return ICESTREAM_OK; /* auto is one of the others */
    }
    const icestream_config *config = all->bench->config;
    const bool joined = config->graph.join && ics_schedule_can_join(row);
    const ics_schedule_kernel *kernels = ics_schedule_kernels(row, joined);
    const ics_sweep_row configured = {.schedule = schedule, .kernel = ICS_TUNED_COUNT};
    ICS_TRY(measure_row(all, configured, NULL, error));
    for (size_t i = 0; kernels[i].name != NULL; ++i) {
        ics_tuned_kernel kernel;
        if (ics_tune_find(kernels[i].name, &kernel)) {
            ICS_TRY(measure_kernel(all, schedule, kernel, error));
        }
    }
    return ICESTREAM_OK;
}

static int measure_all(sweeping *all, icestream_error *error)
{
    ics_schedule_list list;
    ICS_TRY(ics_lab_check_gpu(all->bench->config, "sweep is about blocks and registers of a GPU",
                              error));
    ICS_TRY(ics_bench_open(all->bench, error));
    ICS_TRY(ics_bench_schedules(all->bench, &list, error));
    for (size_t i = 0; i < list.count; ++i) {
        ICS_TRY(measure_schedule(all, list.items[i], error));
    }
    return all->sweep.count > 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "--schedules: found only auto, which chooses one of the schedules; "
                               "expected schedules whose kernels have settings");
}

static int report(const sweeping *all, FILE *out, icestream_error *error)
{
    const ics_bench *bench = all->bench;
    ics_sweep sweep = all->sweep;
    sweep.device = all->device;
    sweep.origin = bench->steps.origin;
    sweep.photons = bench->steps.photons;
    sweep.steps = bench->steps.count;
    sweep.repeats = bench->repeats;
    sweep.configured = &bench->config->graph.tune;
    ics_sweep_compare(&sweep);
    return bench->options->json ? ics_report_json("sweep", ics_sweep_json(&sweep), out, error)
                                : ics_sweep_print(&sweep, bench->options->markdown, out, error);
}

int ics_sweep_measure(const icestream_config *config, const icestream_bench_options *options,
                      FILE *out, icestream_error *error)
{
    ics_lab *lab;
    ICS_TRY(ics_lab_refuse_table(config, "sweep", error));
    ICS_TRY(ics_lab_open(config, options, &lab, error));
    sweeping all = {.bench = &lab->bench};
    int status = measure_all(&all, error);
    ics_task_progress_end(&lab->bench.progress);
    if (status == ICESTREAM_OK) {
        status = report(&all, out, error);
    }
    free(all.sweep.rows);
    ics_bench_close(&lab->bench);
    free(lab);
    return status;
}
