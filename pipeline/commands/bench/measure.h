/* Measures schedules for `icestream bench`, and for the laboratory (bench/lab). */
#ifndef ICS_COMMANDS_BENCH_MEASURE_H
#define ICS_COMMANDS_BENCH_MEASURE_H

#include "pipeline/commands/measure/experiment.h"
#include "pipeline/commands/measure/rows.h"
#include "pipeline/commands/measure/schedules.h"

enum { ICS_BENCH_ROWS_MAX = 2 * ICS_SCHEDULE_COUNT };

/* What is measured, and the rows of what was measured. Zero it before ics_bench_begin(); what is
 * not said to be set there may be set behind it. */
typedef struct ics_bench {
    const icestream_bench_options *options;
    const icestream_config *config;
    ics_experiment *experiment;
    uint32_t repeats;
    ics_step_list steps;
    ics_row rows[ICS_BENCH_ROWS_MAX];
    size_t count; /* of rows */
    ics_task_progress progress;
    bool stages;          /* also time the stages inside schedules with one kernel */
    const ics_tune *tune; /* settings of kernels that are measured; NULL: as configured */
    ics_without without;  /* what these kernels leave out */
    char modules[96]; /* for the progress: which modules or settings are measured; "": those of the
                         run */
    char name[160];   /* what is measured now */
} ics_bench;

/* Sets options, configuration and repeats, and begins the progress. If the options ask for the
 * workload, the particles of the configuration, which is a copy, are left out. Both must outlive
 * the benchmark. */
void ics_bench_begin(ics_bench *bench, icestream_config *config,
                     const icestream_bench_options *options);

/* Measures all schedules, or the table that the configuration makes, and writes the report. Errors
 * as icestream_bench(). */
int ics_bench_report(ics_bench *bench, FILE *out, icestream_error *error);

/* Builds the models of bench->config and makes the steps. Call ics_bench_close also after an error.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_DEVICE, ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_bench_open(ics_bench *bench, icestream_error *error);
/* Frees the models and the steps. The rows stay. */
void ics_bench_close(ics_bench *bench);

/* Finds the schedules that options and configuration ask for. ICESTREAM_E_USAGE: the device does
 * not have one of them. */
int ics_bench_schedules(const ics_bench *bench, ics_schedule_list *out, icestream_error *error);

/* Runs the steps bench->repeats times with a schedule and appends a row. The best run counts,
 * because other work of the machine can only make a run slower. On a GPU one more run comes first
 * and does not count, unless options->once is set: in it the clocks of the GPU rise, memory is
 * first used, and auto makes its choice. `threads`: of a CPU; 0: as configured. Errors as
 * ics_experiment_trial_run. */
int ics_bench_measure(ics_bench *bench, ics_schedule schedule, uint32_t threads, ics_row **out,
                      icestream_error *error);

#endif
