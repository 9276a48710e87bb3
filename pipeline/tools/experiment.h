/* Running steps that are held in memory through a device, and timing it: what compare and bench
 * have in common. */
#ifndef IS_EXPERIMENT_H
#define IS_EXPERIMENT_H

#include "pipeline/config/config.h"
#include "pipeline/host/device.h"
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
/* Whether its device is a GPU. */
bool is_experiment_on_gpu(const is_experiment *experiment);
/* What hits depend on; lives as long as the experiment. */
const is_run_origin *is_experiment_origin(const is_experiment *experiment);

/* What a GPU adds to a measurement. */
typedef struct is_gpu_figures {
    is_gpu_options options; /* in force */
    double kernel_seconds;  /* in which at least one kernel ran */
    uint64_t launches, waves;
    uint64_t device_bytes;   /* device memory taken */
    double stage_seconds[6]; /* with profile: as in is_gpu_usage */
    char largest[64];        /* the kernel with the most registers */
    uint32_t registers;      /* that it takes per thread, 0: unknown */
    double bytes_per_bounce; /* pool traffic, 0: none, as in is_gpu_plan */
} is_gpu_figures;

/* One trip of steps through a device. */
typedef struct is_measurement {
    is_schedule schedule; /* that ran: where auto was asked for, its choice */
    bool automatic;       /* auto was asked for */
    bool on_gpu;
    bool fast_math;           /* not the portable one, which a CPU always has */
    uint32_t threads;         /* CPU: that compute; GPU: that make hits */
    uint32_t pool;            /* photon slots: of a CPU thread, of all lanes of a GPU */
    char instruction_set[16]; /* "" on a GPU */
    char device[256];         /* "cpu", or the name of the GPU */
    double seconds;     /* from the first batch handed over to the sorted hits, without start-up */
    is_gpu_figures gpu; /* zeros on a CPU */
    is_device_notes notes; /* of the device so far: how auto chose, warnings */
    is_account account;
    is_hit *hits; /* [hit_count], in the order of hit files */
    size_t hit_count;
} is_measurement;

typedef struct is_trial_options {
    is_schedule schedule;
    uint32_t threads; /* 0: as configured; CPU only */
    bool profile;     /* time every stage (GPU: wavefront and fused), at the cost of speed */
} is_trial_options;

/* A device set up for one schedule, for any number of trips. */
typedef struct is_trial is_trial;

/* The experiment must outlive the trial. IS_E_CONFIG: the device does not have the schedule;
 * IS_E_DEVICE, IS_E_MEMORY, IS_E_FAILED. */
int is_trial_create(const is_experiment *experiment, const is_trial_options *options,
                    is_trial **out, is_error *error);
/* Accepts NULL. */
void is_trial_destroy(is_trial *trial);
/* Carries the steps through. The caller frees the hits with is_measurement_free. IS_E_MEMORY,
 * IS_E_DEVICE, IS_E_FAILED. */
int is_trial_run(is_trial *trial, const is_step_list *steps, is_measurement *out, is_error *error);

/* A trial of one trip, without a profile. */
int is_experiment_run(const is_experiment *experiment, is_schedule schedule, uint32_t threads,
                      const is_step_list *steps, is_measurement *out, is_error *error);

/* Where a GPU's time goes: one trip with every kernel timed, as in is_gpu_usage.
 * IS_SCHEDULE_WAVEFRONT or _FUSED. */
int is_experiment_profile(const is_experiment *experiment, is_schedule schedule,
                          const is_step_list *steps, double stage_seconds[6], is_error *error);

/* Frees the hits and keeps the figures; fine with a zero-initialised measurement. */
void is_measurement_free(is_measurement *measurement);

/* Rates of a measurement; 0 where there was nothing to divide by. */

/* The time that photons and bounces are charged with, s: thread time on a CPU (wall time times
 * threads), kernel time on a GPU. */
double is_measurement_cost(const is_measurement *measurement);
/* The time that rates are made of, s: wall time on a CPU, kernel time on a GPU. */
double is_measurement_time(const is_measurement *measurement);
double is_measurement_photon_cost(const is_measurement *measurement); /* ns */
double is_measurement_bounce_cost(const is_measurement *measurement); /* ns */
double is_measurement_photon_rate(const is_measurement *measurement); /* 1/s */
double is_measurement_bounce_rate(const is_measurement *measurement); /* 1/s */
double is_measurement_bounces(const is_measurement *measurement);     /* per photon */
/* Bytes per second between the pool and the processors of a GPU, 1e9. */
double is_measurement_traffic(const is_measurement *measurement);

#endif
