/* Measures schedules for `icestream bench`. */
#ifndef ICS_TOOLS_BENCH_MEASURE_H
#define ICS_TOOLS_BENCH_MEASURE_H

#include "pipeline/tools/measure/experiment.h"
#include "pipeline/tools/measure/rows.h"
#include "pipeline/tools/measure/schedules.h"

enum { ICS_BENCH_ROWS_MAX = 2 * ICS_SCHEDULE_COUNT };

/* What is measured, and the rows of what was measured. */
typedef struct ics_bench {
    const icestream_bench_options *options;
    const icestream_config *config;
    ics_experiment *experiment;
    uint32_t repeats;
    bool has_modules; /* with --reference: the modules are those of detector.file */
    ics_step_list steps;
    ics_row rows[ICS_BENCH_ROWS_MAX];
    size_t count; /* of rows */
    ics_task_progress progress;
    const ics_tune *tune; /* settings of kernels that are measured; NULL: as configured */
    ics_without without;  /* what these kernels leave out */
    char modules[96]; /* for the progress: which modules or settings are measured; "": those of the
                         run */
    char name[160];   /* what is measured now */
} ics_bench;

/* Checks that the configuration asks for a GPU and that there is one. `reason` says in errors why
 * one is needed: "--sweep is about blocks of a GPU". ICESTREAM_E_CONFIG, ICESTREAM_E_DEVICE. */
int ics_bench_check_gpu(const icestream_config *config, const char *reason, icestream_error *error);

/* Does what icestream_bench() does, with kernels of a GPU that leave something out. With anything
 * but ICS_WITHOUT_NOTHING, the options or the configuration name schedules other than auto, and the
 * configuration has a GPU and no table. */
int ics_bench_write(const icestream_config *config, const icestream_bench_options *options,
                    ics_without without, FILE *out, icestream_error *error);

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
