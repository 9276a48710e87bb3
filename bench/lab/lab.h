/* What all measurements of icestream-lab share: their options, the ice, light and modules of
 * --reference, and the benchmark (pipeline/tools/bench/measure.h) that runs the schedules. */
#ifndef ICS_BENCH_LAB_LAB_H
#define ICS_BENCH_LAB_LAB_H

#include "bench/lab/reference.h"
#include "pipeline/tools/bench/bench_options.h"
#include "pipeline/tools/bench/measure.h"

/* The options of every command; its own ones follow from ICS_LAB_OPTIONS on. */
enum { ICS_LAB_REFERENCE = ICS_BENCH_OPTIONS, ICS_LAB_OPTIONS };

/* clang-format off */
#define ICS_LAB_OPTION_ROWS                                                                        \
    ICS_BENCH_OPTION_ROWS,                                                                         \
    [ICS_LAB_REFERENCE] = {                                                                        \
        .name = "reference", .type = ICS_OPTION_TEXT, .value = "DIR",                              \
        .help = "take ice, light and modules from clsim's tables in this folder; "                 \
                "--set detector.file=FILE gives other modules",                                    \
        .initial = "those of CONFIG"}
/* clang-format on */

typedef struct ics_lab_options {
    icestream_bench_options bench;
    const char *reference; /* the folder of --reference, or NULL */
} ics_lab_options;

/* Returns what the options say. `bench.repeats` and `bench.once` stay 0. */
ics_lab_options ics_lab_options_of(const ics_arguments *given);

/* A measurement that has not begun. */
typedef struct ics_lab {
    icestream_config config; /* borrows the texts of the given configuration; never destroyed */
    icestream_bench_options options;
    ics_reference reference;
    bool has_reference;
    ics_bench bench;
} ics_lab;

/* Applies the reference to a copy of the configuration, and begins a benchmark of it. `name`: the
 * command, for errors, if it cannot measure a table; otherwise NULL. The caller closes *out.
 * ICESTREAM_E_USAGE: the configuration makes a table. ICESTREAM_E_CONFIG: the reference cannot be
 * used (reference.h). ICESTREAM_E_MEMORY. */
int ics_lab_open(const icestream_config *config, const ics_lab_options *options, const char *name,
                 ics_lab **out, icestream_error *error);
/* Accepts NULL. */
void ics_lab_close(ics_lab *lab);

/* Checks that the configuration asks for a GPU and that there is one. `reason` says in errors why
 * one is needed: "sweep is about blocks of a GPU". ICESTREAM_E_CONFIG, ICESTREAM_E_DEVICE. */
int ics_lab_check_gpu(const icestream_config *config, const char *reason, icestream_error *error);

#endif
