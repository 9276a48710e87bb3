/* icestream: a stream processor that carries photons through ice or water to optical modules.
 *
 * This is the public header of libicestream. A program loads a configuration, calls one of the
 * functions below, and reads the error that the function filled. No function prints: the FILE that
 * it gets receives what it writes. Every function returns 0 or a negative ICESTREAM_E_...
 *
 * Units: metres, nanoseconds, nanometres; origin at the detector's centre, z up.
 */
#ifndef ICESTREAM_H
#define ICESTREAM_H

#include "icestream_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ICESTREAM_VERSION "0.1.0"

/* The one of `count` words that is closest to a mistyped one; NULL: none is close enough. */
ICESTREAM_PUBLIC const char *icestream_suggestion(const char *typed, const char *const *words,
                                                  size_t count);

/* ---- records of step and hit files (files.md 3, 4), little-endian, 64 bytes ---- */

enum {
    ICESTREAM_KIND_TRACK = 0,
    ICESTREAM_KIND_CASCADE = 1,
    ICESTREAM_KIND_FLASHER = 2,
    ICESTREAM_KIND_POINT = 3
};
enum { ICESTREAM_STEP_ISOTROPIC = 1 }; /* icestream_step.flags */

typedef struct icestream_step {
    float x, y, z;    /* start, m, within 10 km */
    float t;          /* ns after the event's t0 */
    float dx, dy, dz; /* unit vector of travel; ignored with ICESTREAM_STEP_ISOTROPIC */
    float length; /* m, >= 0; with ICESTREAM_STEP_ISOTROPIC: radius of the sphere on whose surface
                     the photons start, radially outwards, after length / (c beta) */
    float beta;   /* v/c, in (0, 1] */
    float weight; /* >= 0, copied to the hits */
    uint32_t photons;   /* how many to create; 0 is legal */
    uint32_t source_id; /* particle or device that the light belongs to */
    uint64_t event_id;
    uint32_t step_id; /* unique within its event */
    uint8_t kind;     /* ICS_KIND_... */
    uint8_t spectrum; /* 0: Cherenkov light; k > 0: the k-th spectrum of the run */
    uint16_t flags;   /* ICS_STEP_... */
} icestream_step;

typedef struct icestream_hit {
    uint64_t event_id;
    double t;         /* ns after the event's t0 */
    float x, y, z;    /* impact relative to the module's centre, at its true size, m */
    float dx, dy, dz; /* unit vector of travel at impact */
    float wavelength; /* nm */
    float weight;
    uint32_t step_id;
    uint32_t photon_id; /* index within the step */
    uint16_t string, module;
    int16_t pmt;       /* 0: a photo-electron of the module's PMT; -1: none */
    uint16_t scatters; /* saturates at 65535 */
} icestream_hit;

enum {
    ICESTREAM_POINT_START = 0,
    ICESTREAM_POINT_SCATTER = 1,
    ICESTREAM_POINT_HIT = 2,
    ICESTREAM_POINT_ABSORBED = 3,
    ICESTREAM_POINT_LEFT = 4,
    ICESTREAM_POINT_STOPPED = 5
};

/* A point of a photon's path, as `icestream trace` writes them (72 bytes). */
typedef struct icestream_path_point {
    uint64_t event_id;
    double t;         /* ns after the event's t0 */
    float x, y, z;    /* m, detector centre is the origin */
    float dx, dy, dz; /* unit vector of travel after the point; at an end: before it */
    float path;       /* m, from the photon's start */
    float absorption; /* absorption lengths passed so far */
    float wavelength; /* nm */
    uint32_t step_id;
    uint32_t photon_id;
    uint32_t point;          /* number along the path, from 0 */
    uint16_t string, module; /* of a hit, else 0 */
    uint16_t kind;           /* ICS_POINT_... */
    uint16_t scatters;       /* so far, this point's included; saturates at 65535 */
} icestream_path_point;

/* A bin of a module's waveform that has hits (40 bytes). */
typedef struct icestream_waveform_bin {
    uint64_t event_id;
    double t;      /* lower edge, ns after the event's t0 */
    double weight; /* sum over the hits */
    uint64_t hits;
    int32_t bin; /* counted from where the range begins, or from time 0 */
    uint16_t string, module;
} icestream_waveform_bin;

/* What became of the photons; closes exactly: created = absorbed + detected + left + stopped. */
typedef struct icestream_account {
    uint64_t created;  /* photons started */
    uint64_t absorbed; /* by the ice or by an excluded module */
    uint64_t detected; /* ended on a module */
    uint64_t left; /* crossed an absorbing boundary of the world, or could not reach any module */
    uint64_t stopped; /* by the bounce limit */
    uint64_t hits;    /* hits recorded; more than detected where photons go on after a hit */
    uint64_t bounces; /* segments flown, for rates */
    uint64_t photo_electrons; /* hits that were detected; 0 with stages.detect: none */
    uint64_t undetected;      /* hits that are in no file because they were not (sink.hits: pe) */
} icestream_account;

/* ---- configuration -------------------------------------------------------------------------- */

typedef struct icestream_config icestream_config;

/* Reads a run's YAML file; NULL: all defaults. `sets` are `path=value` overrides, applied in order.
 * All errors of the file are reported together. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. On success
 * the caller owns *out. */
ICESTREAM_PUBLIC int icestream_config_load(const char *path, const char *const *sets,
                                           size_t set_count, icestream_config **out,
                                           icestream_error *error);
/* Accepts NULL. */
ICESTREAM_PUBLIC void icestream_config_destroy(icestream_config *config);
/* Writes the effective configuration as YAML that icestream_config_load accepts.
 * ICESTREAM_E_OUTPUT. */
ICESTREAM_PUBLIC int icestream_config_print(const icestream_config *config, FILE *out,
                                            icestream_error *error);

/* ---- commands ------------------------------------------------------------------------------- */

/* Checks configuration, ice, detector and light without running photons, and describes them on
 * `report` (may be NULL). ICESTREAM_E_CONFIG. */
ICESTREAM_PUBLIC int icestream_validate(const icestream_config *config, FILE *report,
                                        icestream_error *error);

typedef struct icestream_run_options {
    bool force;               /* overwrite existing hit files */
    bool resume;              /* skip outputs that are complete and match; recompute the rest */
    bool quiet;               /* no progress */
    bool fail_fast;           /* a full disk or another trouble that may pass ends the run */
    bool log_json;            /* progress as JSON, an object per line */
    FILE *progress;           /* people read this; NULL: none */
    const char *summary_path; /* NULL: summary.json in the sink's directory */
    const char *metrics_path; /* instead of metrics.file, or NULL */
    double time_limit;        /* s after which the run stops as after a signal; 0: none */
    bool tell_unfinished;     /* a signal that leaves work is ICESTREAM_E_UNFINISHED, too */
} icestream_run_options;

/* Runs the configured sources through to hit files. SIGINT and SIGTERM drain and end the run with
 * ICESTREAM_E_INTERRUPTED / ICESTREAM_E_TERMINATED; ICESTREAM_E_INPUT: finished, but some files
 * were set aside; ICESTREAM_E_UNFINISHED: the time limit came first. What may pass (a full disk,
 * EIO, ESTALE, ...) is tried again, for a full disk as long as it takes. SIGUSR1 tells how far the
 * run is, SIGHUP opens the journal anew. */
ICESTREAM_PUBLIC int icestream_run(const icestream_config *config,
                                   const icestream_run_options *options, icestream_error *error);

/* Makes a step file of the configured particles, or of the workload where there are none; "-":
 * messages on standard output. ICESTREAM_E_CONFIG: also a list of particles that cannot be read. */
ICESTREAM_PUBLIC int icestream_generate(const icestream_config *config, const char *path,
                                        bool force, icestream_error *error);

/* Describes a step or hit file; `verify`: reads all of it and checks digests, fields and order. */
ICESTREAM_PUBLIC int icestream_info(const char *path, bool verify, bool json, FILE *out,
                                    icestream_error *error);

/* Says how the runs that write into a sink's folder are doing, also while they do: what run.journal
 * tells of files and workers, which files are really there, what was set aside and why, and how old
 * the claims of its spool are. ICESTREAM_E_INPUT: no such folder, or one that cannot be read;
 * ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_folder_status(const char *folder, bool json, FILE *out,
                                             icestream_error *error);

/* Converts between .npy and HDF5, by the files' endings; from a hit file in .npy to .txt: the text
 * that ppc prints. */
ICESTREAM_PUBLIC int icestream_convert(const char *from, const char *to, bool force,
                                       icestream_error *error);

typedef struct icestream_waveform_options {
    double bin;       /* width of a bin, ns, 1e-6 .. 1e12 */
    bool has_range;   /* only hits of a range of times, bins counted from `low` on */
    double low, high; /* ns, low <= t < high */
    bool force;       /* overwrite an existing file */
} icestream_waveform_options;

/* Makes histograms of arrival times of a hit file, one per event and module, as .npy
 * (icestream_waveform_bin) or .csv; says on `out` how many hits are in them. ICESTREAM_E_USAGE,
 * ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_waveforms(const char *from, const char *to,
                                         const icestream_waveform_options *options, FILE *out,
                                         icestream_error *error);

typedef struct icestream_compare_options {
    const char *schedules; /* "wavefront,monolithic"; NULL: every schedule of the device, or with
                              `against` the one that each configuration names */
    const icestream_config *against; /* a second configuration, or NULL */
    bool json;
    bool markdown; /* tables as Markdown */
} icestream_compare_options;

/* Runs the same steps through several schedules or configurations and holds the hits against each
 * other. ICESTREAM_E_DIFFERENT where the expectation (identical or compatible) does not hold. */
ICESTREAM_PUBLIC int icestream_compare(const icestream_config *config,
                                       const icestream_compare_options *options, FILE *out,
                                       icestream_error *error);

typedef struct icestream_trace_options {
    const char *hits;           /* a hit file whose photons are followed, or NULL */
    const char *select;         /* those hits only: "module==34 && string==63"; NULL: all */
    const char *const *photons; /* [photon_count], "EVENT:STEP:PHOTON", or "@FILE" with such */
    size_t photon_count;
    const char *steps;  /* the step file; NULL: those of the configuration's source */
    const char *output; /* where the points go, an .npy file of icestream_path_point */
    bool force;         /* overwrite it */
} icestream_trace_options;

/* Carries single photons through once more, on the CPU, and writes every point of their paths; says
 * on `out` whether the hits that they were chosen by came about again. ICESTREAM_E_DIFFERENT: they
 * did not, although portable maths made them; the paths are written nevertheless.
 * ICESTREAM_E_USAGE, ICESTREAM_E_CONFIG (also where a stage is the user's own header);
 * ICESTREAM_E_INPUT: a bad file, a photon that no step has; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY.
 */
ICESTREAM_PUBLIC int icestream_trace(const icestream_config *config,
                                     const icestream_trace_options *options, FILE *out,
                                     icestream_error *error);

/* Lists stages and variants: parameters, what they read and write, bytes per photon. */
ICESTREAM_PUBLIC int icestream_stages(bool json, FILE *out, icestream_error *error);

typedef struct icestream_bench_options {
    const char *schedules; /* "fused,auto"; NULL: the one that graph.schedule names, or with auto
                              all of the device */
    const char *reference; /* a folder with clsim's ice, light and modules as CSV tables, which
                              replace the configured ones; or NULL */
    uint32_t repeats;      /* of which the best counts; 0: 3 */
    bool json;
    bool markdown; /* tables as Markdown */
} icestream_bench_options;

/* Measures the configured workload: tables, or JSON. ICESTREAM_E_USAGE: schedules that the device
 * does not have; ICESTREAM_E_CONFIG, ICESTREAM_E_DEVICE, ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED,
 * ICESTREAM_E_OUTPUT. */
ICESTREAM_PUBLIC int icestream_bench(const icestream_config *config,
                                     const icestream_bench_options *options, FILE *out,
                                     icestream_error *error);

typedef struct icestream_plan_options {
    int architecture; /* plan for this GPU architecture (90: sm_90); 0: that of the device, or 90
                         where there is none */
    bool json;
} icestream_plan_options;

/* Says what a run would take, without running photons: registers, memory and occupancy of every
 * kernel on a GPU, threads and memory on the CPU. ICESTREAM_E_CONFIG; ICESTREAM_E_DEVICE: kernels
 * were asked for and cannot be made here; ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
ICESTREAM_PUBLIC int icestream_plan(const icestream_config *config,
                                    const icestream_plan_options *options, FILE *out,
                                    icestream_error *error);

#ifdef __cplusplus
}
#endif

#endif
