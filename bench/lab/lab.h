/* What all measurements of icestream-lab share: the checks of a configuration, and the benchmark
 * (pipeline/commands/bench/measure.h) that runs the schedules. */
#ifndef ICS_BENCH_LAB_LAB_H
#define ICS_BENCH_LAB_LAB_H

#include "pipeline/commands/bench/measure.h"
#include "pipeline/commands/bench/options.h"

/* A measurement that has not begun. */
typedef struct ics_lab {
    icestream_config config; /* borrows the texts of the given configuration; never destroyed */
    ics_bench bench;
} ics_lab;

/* Copies the configuration and begins a benchmark of the copy; the options must outlive it. The
 * caller frees *out with free(). ICESTREAM_E_MEMORY. */
int ics_lab_open(const icestream_config *config, const icestream_bench_options *options,
                 ics_lab **out, icestream_error *error);

/* Checks that the configuration makes no table. `name`: the command, for the error.
 * ICESTREAM_E_USAGE. */
int ics_lab_refuse_table(const icestream_config *config, const char *name, icestream_error *error);

/* Checks that the configuration asks for a GPU and that there is one. `reason` says in errors why
 * one is needed: "sweep is about blocks of a GPU". ICESTREAM_E_CONFIG, ICESTREAM_E_DEVICE. */
int ics_lab_check_gpu(const icestream_config *config, const char *reason, icestream_error *error);

#endif
