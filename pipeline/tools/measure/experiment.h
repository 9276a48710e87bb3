/* Running steps that are held in memory through a device, and timing it: what compare and bench
 * have in common. */
#ifndef ICS_TOOLS_MEASURE_EXPERIMENT_H
#define ICS_TOOLS_MEASURE_EXPERIMENT_H

#include "pipeline/config/config.h"
#include "pipeline/devices/device.h"
#include "pipeline/tools/measure/step_list.h"
#include "pipeline/units/origin.h"

typedef struct ics_experiment ics_experiment;

/* Builds models and tables of a configuration, which must outlive the experiment.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_DEVICE, ICESTREAM_E_MEMORY. */
int ics_experiment_create(const icestream_config *config, ics_experiment **out,
                          icestream_error *error);
/* Accepts NULL. */
void ics_experiment_destroy(ics_experiment *experiment);
/* Spectra that steps may refer to. */
uint32_t ics_experiment_spectra(const ics_experiment *experiment);
/* Whether its device is a GPU. */
bool ics_experiment_on_gpu(const ics_experiment *experiment);
/* What hits depend on; lives as long as the experiment. */
const ics_origin *ics_experiment_origin(const ics_experiment *experiment);

/* What a GPU adds to a measurement. */
typedef struct ics_gpu_figures {
    ics_gpu_options options; /* in force */
    double kernel_seconds;   /* in which at least one kernel ran */
    uint64_t launches, waves;
    uint64_t device_bytes;   /* device memory taken */
    double stage_seconds[6]; /* with profile: as in ics_gpu_usage */
    char largest[64];        /* the kernel with the most registers */
    uint32_t registers;      /* that it takes per thread, 0: unknown */
    double bytes_per_bounce; /* pool traffic, 0: none, as in ics_gpu_plan */
} ics_gpu_figures;

/* One trip of steps through a device. */
typedef struct ics_measurement {
    ics_schedule schedule; /* that ran: where auto was asked for, its choice */
    bool automatic;        /* auto was asked for */
    bool on_gpu;
    bool fast_math;           /* not the portable one, which a CPU always has */
    uint32_t threads;         /* CPU: that compute; GPU: that make hits */
    uint32_t pool;            /* photon slots: of a CPU thread, of all lanes of a GPU */
    char instruction_set[16]; /* "" on a GPU */
    char device[256];         /* "cpu", or the name of the GPU */
    double seconds;      /* from the first batch handed over to the sorted hits, without start-up */
    ics_gpu_figures gpu; /* zeros on a CPU */
    ics_device_notes notes; /* of the device so far: how auto chose, warnings */
    icestream_account account;
    icestream_hit *hits; /* [hit_count], in the order of hit files */
    size_t hit_count;
} ics_measurement;

typedef struct ics_trial_options {
    ics_schedule schedule;
    uint32_t threads; /* 0: as configured; CPU only */
    bool profile;     /* time every stage (GPU: wavefront and fused), at the cost of speed */
} ics_trial_options;

/* A device set up for one schedule, for any number of trips. */
typedef struct ics_trial ics_trial;

/* The experiment must outlive the trial. ICESTREAM_E_CONFIG: the device does not have the schedule;
 * ICESTREAM_E_DEVICE, ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_experiment_trial_create(const ics_experiment *experiment, const ics_trial_options *options,
                                ics_trial **out, icestream_error *error);
/* Accepts NULL. */
void ics_experiment_trial_destroy(ics_trial *trial);
/* Carries the steps through. The caller frees the hits with ics_experiment_measurement_free.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_DEVICE, ICESTREAM_E_FAILED. */
int ics_experiment_trial_run(ics_trial *trial, const ics_step_list *steps, ics_measurement *out,
                             icestream_error *error);

/* A trial of one trip, without a profile. */
int ics_experiment_run(const ics_experiment *experiment, ics_schedule schedule, uint32_t threads,
                       const ics_step_list *steps, ics_measurement *out, icestream_error *error);

/* Whether the stages of a GPU's schedule can be timed one by one. */
bool ics_experiment_can_profile(ics_schedule schedule);

/* Measures where a GPU's time goes: runs the steps once and times every kernel, as in
 * ics_gpu_usage. Only for schedules that can be profiled. */
int ics_experiment_profile(const ics_experiment *experiment, ics_schedule schedule,
                           const ics_step_list *steps, double stage_seconds[6],
                           icestream_error *error);

/* Frees the hits and keeps the figures; fine with a zero-initialised measurement. */
void ics_experiment_measurement_free(ics_measurement *measurement);

/* Rates of a measurement; 0 where there was nothing to divide by. */

/* The time that photons and bounces are charged with, s: thread time on a CPU (wall time times
 * threads), kernel time on a GPU. */
double ics_experiment_cost(const ics_measurement *measurement);
/* The time that rates are made of, s: wall time on a CPU, kernel time on a GPU. */
double ics_experiment_time(const ics_measurement *measurement);
double ics_experiment_photon_cost(const ics_measurement *measurement); /* ns */
double ics_experiment_bounce_cost(const ics_measurement *measurement); /* ns */
double ics_experiment_photon_rate(const ics_measurement *measurement); /* 1/s */
double ics_experiment_bounce_rate(const ics_measurement *measurement); /* 1/s */
double ics_experiment_bounces(const ics_measurement *measurement);     /* per photon */
/* Bytes per second between the pool and the processors of a GPU, 1e9. */
double ics_experiment_traffic(const ics_measurement *measurement);

#endif
