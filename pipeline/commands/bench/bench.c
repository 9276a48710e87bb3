/* icestream_bench: measures how fast the schedules of the device simulate the particles or the
 * workload. */
#include "base/error.h"
#include "base/plural.h"
#include "pipeline/commands/bench/against.h"
#include "pipeline/commands/bench/measure.h"
#include "pipeline/commands/bench/table_speed.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/photons/config/table.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

enum { REPEATS_DEFAULT = 3 };

/* ---- measuring ------------------------------------------------------------------------------- */

static int measure_on_gpu(ics_bench *bench, ics_schedule schedule, icestream_error *error)
{
    ics_row *row;
    ICS_TRY(ics_bench_measure(bench, schedule, 0, &row, error));
    /* auto is one of the others, and an option would change what it remembers. */
    const bool sampled = bench->stages && schedule != ICS_SCHEDULE_AUTO;
    const bool profiled =
        (ics_experiment_can_profile(schedule) || sampled) && !bench->options->once;
    return profiled ? ics_experiment_profile(bench->experiment, schedule, &bench->steps,
                                             row->stage_seconds, error)
                    : ICESTREAM_OK;
}

/* Adds a row for one thread and, if the device has more threads, a row for all. */
static int measure_on_cpu(ics_bench *bench, ics_schedule schedule, icestream_error *error)
{
    ics_row *all, *one;
    ICS_TRY(ics_bench_measure(bench, schedule, 0, &all, error));
    all->scaling = 1;
    if (all->best.threads == 1 || bench->options->once) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_bench_measure(bench, schedule, 1, &one, error));
    if (all->best.seconds > 0) {
        all->scaling = one->best.seconds / all->best.seconds;
    }
    one->scaling = 1;
    ics_row swapped = *all; /* the row of one thread comes first */
    *all = *one;
    *one = swapped;
    return ICESTREAM_OK;
}

static int measure_all(ics_bench *bench, icestream_error *error)
{
    const bool gpu = ics_experiment_on_gpu(bench->experiment);
    ics_schedule_list list;
    ICS_TRY(ics_bench_schedules(bench, &list, error));
    for (size_t i = 0; i < list.count; ++i) {
        ICS_TRY(gpu ? measure_on_gpu(bench, list.items[i], error)
                    : measure_on_cpu(bench, list.items[i], error));
    }
    return ICESTREAM_OK;
}

/* ---- reports --------------------------------------------------------------------------------- */

static int print_text(const ics_bench *bench, FILE *out, icestream_error *error)
{
    const ics_row *rows[ICS_BENCH_ROWS_MAX];
    for (size_t i = 0; i < bench->count; ++i) {
        rows[i] = &bench->rows[i];
    }
    fprintf(out,
            "%" PRIu64 " photon%s in %zu step%s of %s, oversize %g, on %s; best of %" PRIu32 "\n\n",
            bench->steps.photons, ics_plural_s(bench->steps.photons), bench->steps.count,
            ics_plural_s(bench->steps.count), bench->steps.origin, bench->config->detector.oversize,
            bench->rows[0].best.device, bench->repeats);
    ICS_TRY(ics_rows_print(rows, bench->count, bench->options->markdown, out, error));
    if (!ics_experiment_on_gpu(bench->experiment)) {
        fputs("bench/instructions.sh counts instructions per bounce, which do not depend on other "
              "load.\n",
              out);
    }
    return ICESTREAM_OK;
}

/* Returns the report as JSON; NULL: no memory. */
static json_t *make_json(const ics_bench *bench)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < bench->count; ++i) {
        json_array_append_new(rows, ics_rows_json(&bench->rows[i]));
    }
    return json_pack("{s:o, s:s, s:I, s:I, s:n, s:f, s:b, s:I, s:o}", "machine",
                     ics_against_machine(), "steps_from", bench->steps.origin, "steps",
                     (json_int_t)bench->steps.count, "photons", (json_int_t)bench->steps.photons,
                     "world", "oversize", bench->config->detector.oversize, "shuffled",
                     bench->config->workload.counts == ICS_COUNTS_SHUFFLED, "best_of",
                     (json_int_t)bench->repeats, "rows", rows);
}

/* Prints the report, and the verdicts about an earlier one. */
static int print_report(const ics_bench *bench, const json_t *before, FILE *out,
                        icestream_error *error)
{
    const char *path = bench->options->against;
    json_auto_t *now = make_json(bench), *verdicts = NULL;
    if (before != NULL) {
        ICS_TRY(ics_against_judge(path, before, now, &verdicts, error));
        json_object_set(now, "against", verdicts);
    }
    if (bench->options->json) {
        ICS_TRY(ics_report_json("bench", json_incref(now), out, error));
    } else {
        ICS_TRY(print_text(bench, out, error));
        ICS_TRY(before != NULL
                    ? ics_against_print(path, verdicts, bench->options->markdown, out, error)
                    : ICESTREAM_OK);
        ICS_TRY(ics_report_end("bench", out, error));
    }
    return ics_against_result(path, verdicts, error);
}

/* ---- the command ----------------------------------------------------------------------------- */

void ics_bench_begin(ics_bench *bench, icestream_config *config,
                     const icestream_bench_options *options)
{
    bench->options = options;
    bench->config = config;
    bench->progress = ics_task_progress_begin(options->progress);
    bench->repeats = options->once ? 1 : options->repeats > 0 ? options->repeats : REPEATS_DEFAULT;
    if (options->workload) {
        config->particles.file = NULL;
        config->particles.list = NULL;
    }
}

int ics_bench_report(ics_bench *bench, FILE *out, icestream_error *error)
{
    if (ics_config_tabulate(bench->config) != ICS_TABULATE_NONE) {
        return ics_bench_table(bench, out, error);
    }
    json_auto_t *before = NULL;
    if (bench->options->against != NULL) {
        ICS_TRY(ics_against_read(bench->options->against, &before, error));
    }
    int status = ics_bench_open(bench, error);
    if (status == ICESTREAM_OK) {
        status = measure_all(bench, error);
    }
    ics_task_progress_end(&bench->progress);
    if (status == ICESTREAM_OK) {
        status = print_report(bench, before, out, error);
    }
    ics_bench_close(bench);
    return status;
}

int icestream_bench(const icestream_config *config, const icestream_bench_options *options,
                    FILE *out, icestream_error *error)
{
    icestream_config changed = *config; /* borrows the texts of config; never destroyed */
    ICS_FREES ics_bench *bench = calloc(1, sizeof *bench);
    if (bench == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "bench: out of memory");
    }
    ics_bench_begin(bench, &changed, options);
    return ics_bench_report(bench, out, error);
}
