/* Runs steps from memory through a device and measures the time. For compare and bench. */
#ifndef ICS_COMMANDS_MEASURE_EXPERIMENT_H
#define ICS_COMMANDS_MEASURE_EXPERIMENT_H

#include "base/cleanup.h"
#include "pipeline/commands/measure/step_list.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/engine/engine.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/production/telemetry/task_progress.h"

typedef struct ics_experiment ics_experiment;

/* Builds models and tables of a configuration, which must outlive the experiment. The caller
 * destroys *out. ICESTREAM_E_CONFIG, ICESTREAM_E_DEVICE, ICESTREAM_E_MEMORY. */
int ics_experiment_create(const icestream_config *config, ics_experiment **out,
                          icestream_error *error);
/* Accepts NULL. */
void ics_experiment_destroy(ics_experiment *experiment);
ICS_CAN_DESTROY(ics_experiment, ics_experiment_destroy)
/* Returns the number of spectra that steps may refer to. */
uint32_t ics_experiment_spectra(const ics_experiment *experiment);
/* Returns its models, which live as long as the experiment. */
const ics_models *ics_experiment_models(const ics_experiment *experiment);
/* Whether its device is a GPU. */
bool ics_experiment_on_gpu(const ics_experiment *experiment);
/* Returns what hits depend on. It lives as long as the experiment. */
const ics_origin *ics_experiment_origin(const ics_experiment *experiment);

/* Shows the progress of all runs of the experiment from now on. `progress` must outlive it; NULL:
 * none. The caller names what runs (ics_task_progress_next). */
void ics_experiment_show(ics_experiment *experiment, ics_task_progress *progress);

/* What is measured only on a GPU. */
typedef struct ics_gpu_figures {
    ics_gpu_options options; /* the options that were used, with the choices of auto */
    double kernel_seconds;   /* time (s) in which at least one kernel ran */
    uint64_t launches, waves;
    uint64_t device_bytes;   /* allocated device memory (bytes) */
    double stage_seconds[6]; /* time per stage (s) as in ics_gpu_usage; 0 without profile */
    char largest[64];        /* the kernel with the most registers */
    uint32_t registers;      /* registers of that kernel per thread; 0: unknown */
    double bytes_per_bounce; /* pool traffic as in ics_gpu_plan (bytes); 0: none */
} ics_gpu_figures;

/* What one run of the steps through a device gave. */
typedef struct ics_measurement {
    ics_schedule schedule; /* the schedule that ran; with auto the one that auto chose */
    bool automatic;        /* whether auto was asked for */
    bool on_gpu;
    bool fast_math;           /* fast maths; a CPU always has portable maths */
    uint32_t threads;         /* on a CPU the threads that compute, on a GPU those that make hits */
    uint32_t pool;            /* photon slots of a CPU thread, or of all lanes of a GPU */
    char instruction_set[16]; /* "" on a GPU */
    char device[256];         /* "cpu", or the name of the GPU */
    double seconds; /* time (s) from the first batch given to the device to the sorted hits; the
                       start of the device does not count */
    ics_gpu_figures gpu;    /* zeros on a CPU */
    ics_device_notes notes; /* of the device since its start: how auto chose, warnings */
    icestream_account account;
    icestream_hit *hits; /* [hit_count], in the order of hit files */
    size_t hit_count;
} ics_measurement;

typedef struct ics_trial_options {
    ics_schedule schedule;
    uint32_t threads;     /* threads of a CPU; 0: as configured */
    bool profile;         /* time every stage of a GPU's schedule, which makes the run slower */
    bool check;           /* check what every stage returns, as device.check does */
    const ics_tune *tune; /* settings of kernels; NULL: as configured */
    ics_without without;  /* of kernels of a GPU; not with auto, which would remember the times */
} ics_trial_options;

/* A device for one schedule, for any number of runs. */
typedef struct ics_trial ics_trial;

/* The experiment must outlive the trial. ICESTREAM_E_CONFIG: the device does not have the schedule;
 * ICESTREAM_E_DEVICE, ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_experiment_trial_create(const ics_experiment *experiment, const ics_trial_options *options,
                                ics_trial **out, icestream_error *error);
/* Accepts NULL. */
void ics_experiment_trial_destroy(ics_trial *trial);
ICS_CAN_DESTROY(ics_trial, ics_experiment_trial_destroy)
/* Runs the steps once. The caller frees the hits with ics_experiment_measurement_free.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_DEVICE, ICESTREAM_E_FAILED. */
int ics_experiment_trial_run(ics_trial *trial, const ics_step_list *steps, ics_measurement *out,
                             icestream_error *error);

/* Creates a trial, runs it once without a profile, and destroys it. */
int ics_experiment_run(const ics_experiment *experiment, ics_schedule schedule, uint32_t threads,
                       const ics_step_list *steps, ics_measurement *out, icestream_error *error);

/* Runs the steps once with device.check. ICESTREAM_E_CONFIG: a stage returned what it must not; the
 * error names the stage, the value and what was expected. */
int ics_experiment_check(const ics_experiment *experiment, ics_schedule schedule,
                         const ics_step_list *steps, icestream_error *error);

/* Whether the stages of a GPU's schedule can be timed one by one. */
bool ics_experiment_can_profile(ics_schedule schedule);

/* Measures where a GPU's time goes: runs the steps once and times every kernel of a loop, or
 * samples the stages of a schedule with one kernel, as in ics_gpu_usage. Not for auto. */
int ics_experiment_profile(const ics_experiment *experiment, ics_schedule schedule,
                           const ics_step_list *steps, double stage_seconds[6],
                           icestream_error *error);

/* Frees the hits and keeps the figures. Accepts a measurement of zeros. */
void ics_experiment_measurement_free(ics_measurement *measurement);

/* Rates of a measurement. A rate is 0 if its denominator is 0. */

/* The time (s) that photons and bounces cost: thread time on a CPU (wall time times threads),
 * kernel time on a GPU. */
double ics_experiment_cost(const ics_measurement *measurement);
/* The time (s) that rates are divided by: wall time on a CPU, kernel time on a GPU. */
double ics_experiment_time(const ics_measurement *measurement);
double ics_experiment_photon_cost(const ics_measurement *measurement); /* (ns) */
double ics_experiment_bounce_cost(const ics_measurement *measurement); /* (ns) */
double ics_experiment_photon_rate(const ics_measurement *measurement); /* (1/s) */
double ics_experiment_bounce_rate(const ics_measurement *measurement); /* (1/s) */
double ics_experiment_bounces(const ics_measurement *measurement);     /* bounces per photon */
/* Traffic between the pool and the processors of a GPU (1e9 bytes/s). */
double ics_experiment_traffic(const ics_measurement *measurement);

#endif
