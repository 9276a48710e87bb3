/* Running steps that are held in memory through a device, and timing it: what compare and bench
 * have in common. */
#ifndef IS_EXPERIMENT_H
#define IS_EXPERIMENT_H

#include "pipeline/config/config.h"
#include "pipeline/host/origin.h"

/* Steps in memory. */
typedef struct is_step_list {
    is_step *steps; /* [count] */
    size_t count;
    uint64_t photons;
    char origin[256]; /* for reports: "workload cascade" or "3 step files" */
} is_step_list;

/* The configured workload. IS_E_CONFIG, IS_E_MEMORY. */
int is_step_list_from_workload(const is_config *config, is_step_list *out, is_error *error);
/* All steps of source.files, in the order of their names; out->count is 0 and out->origin empty
 * where no file matches. `spectrum_count`: as in is_step_reader_open. IS_E_INPUT, IS_E_MEMORY;
 * IS_E_USAGE for standard input. */
int is_step_list_from_files(const is_config *config, uint32_t spectrum_count, is_step_list *out,
                            is_error *error);
/* Frees the steps; fine with a zero-initialised list. */
void is_step_list_free(is_step_list *list);

typedef struct is_experiment is_experiment;

/* Builds models and tables of a configuration, which must outlive the experiment. IS_E_CONFIG,
 * IS_E_DEVICE, IS_E_MEMORY. */
int is_experiment_create(const is_config *config, is_experiment **out, is_error *error);
/* Accepts NULL. */
void is_experiment_destroy(is_experiment *experiment);
/* Spectra that steps may refer to. */
uint32_t is_experiment_spectra(const is_experiment *experiment);

/* What hits depend on; lives as long as the experiment. */
const is_run_origin *is_experiment_origin(const is_experiment *experiment);

/* One trip of steps through a device. */
typedef struct is_measurement {
    is_schedule schedule;
    uint32_t threads, pool;
    char instruction_set[16];
    double seconds; /* from the first batch handed over to the sorted hits, without start-up */
    is_account account;
    is_hit *hits; /* [hit_count], in the order of hit files */
    size_t hit_count;
} is_measurement;

/* Carries the steps through a schedule on `threads` threads (0: as configured). The caller frees
 * the hits with is_measurement_free. IS_E_CONFIG: the device does not have the schedule;
 * IS_E_MEMORY, IS_E_FAILED. */
int is_experiment_run(const is_experiment *experiment, is_schedule schedule, uint32_t threads,
                      const is_step_list *steps, is_measurement *out, is_error *error);
/* Frees the hits and keeps the figures; fine with a zero-initialised measurement. */
void is_measurement_free(is_measurement *measurement);

/* Rates of a measurement; 0 where there was nothing to divide by. */
double is_measurement_photons_per_second(const is_measurement *measurement);
/* Thread time per photon or segment, ns: wall time times threads. */
double is_measurement_photon_cost(const is_measurement *measurement);
double is_measurement_bounce_cost(const is_measurement *measurement);
double is_measurement_bounces(const is_measurement *measurement);

#endif
