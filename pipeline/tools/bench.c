/* `icestream bench`: how fast the schedules of this device carry the configured workload; all of
 * them, or the one that graph.schedule names. */
#include "pipeline/error.h"
#include "pipeline/tools/experiment.h"

#include <inttypes.h>
#include <jansson.h>

/* The best of so many runs: what else the machine does only ever makes a run slower. */
enum { REPEATS = 3 };

/* One schedule on one thread and on all. */
typedef struct bench_row {
    is_measurement one, all; /* without hits */
} bench_row;

typedef struct bench_table {
    is_step_list steps;
    bench_row rows[IS_SCHEDULE_COUNT];
    size_t count;
} bench_table;

static int measure(const is_experiment *experiment, const is_step_list *steps, is_schedule schedule,
                   uint32_t threads, is_measurement *best, is_error *error)
{
    int status = IS_OK;
    for (int i = 0; status == IS_OK && i < REPEATS; ++i) {
        is_measurement next = {0};
        status = is_experiment_run(experiment, schedule, threads, steps, &next, error);
        is_measurement_free(&next);
        if (status == IS_OK && (i == 0 || next.seconds < best->seconds))
            *best = next;
    }
    return status;
}

static int measure_all(const is_config *config, bench_table *table, is_error *error)
{
    is_experiment *experiment = NULL;
    is_schedule wish = config->graph.schedule;
    int status = is_experiment_create(config, &experiment, error);
    for (int i = IS_SCHEDULE_AUTO + 1; status == IS_OK && i < IS_SCHEDULE_COUNT; ++i) {
        is_schedule schedule = (is_schedule)i;
        bool wanted = wish == IS_SCHEDULE_AUTO ? is_schedule_on_cpu(schedule) : schedule == wish;
        if (!wanted)
            continue;
        bench_row *row = &table->rows[table->count++];
        status = measure(experiment, &table->steps, schedule, 0, &row->all, error);
        row->one = row->all;
        if (status == IS_OK && row->all.threads > 1)
            status = measure(experiment, &table->steps, schedule, 1, &row->one, error);
    }
    is_experiment_destroy(experiment);
    return status;
}

/* How many times faster all threads are than one. */
static double scaling(const bench_row *row)
{
    return row->all.seconds > 0 ? row->one.seconds / row->all.seconds : 0;
}

static void print_row(const is_measurement *m, double faster, FILE *out)
{
    fprintf(out, "%-16s %-9s %7u %9.3f %12.4g %10.1f %9.2f %10.2f %8.2f %12" PRIu64 "\n",
            is_schedule_name(m->schedule), m->instruction_set, m->threads, m->seconds,
            is_measurement_photons_per_second(m), is_measurement_photon_cost(m),
            is_measurement_bounces(m), is_measurement_bounce_cost(m), faster, m->account.hits);
}

static int print_text(const bench_table *table, FILE *out, is_error *error)
{
    fprintf(out, "%" PRIu64 " photons in %zu steps of %s, best of %d\n\n", table->steps.photons,
            table->steps.count, table->steps.origin, REPEATS);
    fprintf(out, "%-16s %-9s %7s %9s %12s %10s %9s %10s %8s %12s\n", "schedule", "code", "threads",
            "seconds", "photons/s", "ns/photon", "bounces", "ns/bounce", "scaling", "hits");
    for (size_t i = 0; i < table->count; ++i) {
        const bench_row *row = &table->rows[i];
        print_row(&row->one, 1, out);
        if (row->all.threads > 1)
            print_row(&row->all, scaling(row), out);
    }
    fputs("\nns/photon and ns/bounce: of one thread; bounces: segments per photon.\n"
          "Instructions per bounce, which no other load disturbs: bench/instructions.sh\n",
          out);
    return fflush(out) == 0 && !ferror(out)
               ? IS_OK
               : is_error_set(error, IS_E_OUTPUT, "bench: cannot write the report");
}

static json_t *measurement_json(const is_measurement *m, double faster)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I}", "schedule",
                     is_schedule_name(m->schedule), "instruction_set", m->instruction_set,
                     "threads", (json_int_t)m->threads, "pool", (json_int_t)m->pool, "seconds",
                     m->seconds, "photons_per_second", is_measurement_photons_per_second(m),
                     "nanoseconds_per_photon_and_thread", is_measurement_photon_cost(m),
                     "nanoseconds_per_bounce_and_thread", is_measurement_bounce_cost(m),
                     "bounces_per_photon", is_measurement_bounces(m), "scaling", faster, "bounces",
                     (json_int_t)m->account.bounces, "hits", (json_int_t)m->account.hits);
}

static int print_json(const bench_table *table, FILE *out, is_error *error)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < table->count; ++i) {
        const bench_row *row = &table->rows[i];
        json_array_append_new(rows, measurement_json(&row->one, 1));
        if (row->all.threads > 1)
            json_array_append_new(rows, measurement_json(&row->all, scaling(row)));
    }
    json_t *report = json_pack("{s:s, s:I, s:I, s:i, s:o}", "steps_from", table->steps.origin,
                               "steps", (json_int_t)table->steps.count, "photons",
                               (json_int_t)table->steps.photons, "best_of", REPEATS, "rows", rows);
    int status = IS_OK;
    if (!report)
        status = is_error_set(error, IS_E_MEMORY, "bench: no memory for the report");
    else if (json_dumpf(report, out, JSON_INDENT(2)) != 0 || fputc('\n', out) == EOF)
        status = is_error_set(error, IS_E_OUTPUT, "bench: cannot write the report");
    json_decref(report);
    return status;
}

int is_bench(const is_config *config, bool json, FILE *out, is_error *error)
{
    bench_table table = {0};
    int status = is_step_list_from_workload(config, &table.steps, error);
    if (status == IS_OK && table.steps.photons == 0)
        status =
            is_error_set(error, IS_E_CONFIG, "bench: the workload has no photons, found %zu steps",
                         table.steps.count);
    if (status == IS_OK)
        status = measure_all(config, &table, error);
    if (status == IS_OK)
        status = json ? print_json(&table, out, error) : print_text(&table, out, error);
    is_step_list_free(&table.steps);
    return status;
}
