/* icestream: a stream processor that carries photons through ice or water to optical modules.
 *
 * This is the one public header of libicestream. A program loads a configuration, calls one of the
 * is_..._command functions below, and reads the error that it filled. Nothing here prints; what a
 * function writes goes to the FILE it was given. Every function returns 0 or a negative IS_E...
 *
 * Units: metres, nanoseconds, nanometres; origin at the detector's centre, z up.
 */
#ifndef ICESTREAM_H
#define ICESTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IS_VERSION "0.1.0"

/* ---- errors -------------------------------------------------------------------------------- */

/* The single list of results: name, value, exit status of the program, text. */
#define IS_STATUS_LIST(X)                                                                          \
    X(IS_OK, 0, 0, "done")                                                                         \
    X(IS_E_FAILED, -1, 1, "the run failed")                                                        \
    X(IS_E_USAGE, -2, 2, "wrong usage")                                                            \
    X(IS_E_CONFIG, -3, 2, "invalid configuration")                                                 \
    X(IS_E_INPUT, -4, 3, "invalid input file")                                                     \
    X(IS_E_OUTPUT, -5, 74, "cannot write output")                                                  \
    X(IS_E_MEMORY, -6, 1, "out of memory")                                                         \
    X(IS_E_DEVICE, -7, 1, "no such device")                                                        \
    X(IS_E_DIFFERENT, -8, 1, "results differ")                                                     \
    X(IS_E_UNFINISHED, -9, 75, "stopped with work left")                                           \
    X(IS_E_INTERRUPTED, -10, 130, "interrupted")                                                   \
    X(IS_E_TERMINATED, -11, 143, "terminated")

typedef enum is_status {
#define X(name, value, exit_status, text) name = value,
    IS_STATUS_LIST(X)
#undef X
} is_status;

/* What went wrong and where: "run.yaml:12:9: error: ..." or "a.steps.npy: row 17, field beta: ...".
 * Several errors of one file are separated by newlines. */
typedef struct is_error {
    int status; /* an is_status */
    int cause;  /* the errno behind it, where a system call failed; else 0 */
    char text[8192];
} is_error;

/* The sentence for an is_status, never NULL. */
const char *is_status_text(int status);
/* The program's exit status for an is_status; 1 for values that are not in the list. */
int is_status_exit(int status);
/* The one of `count` words that is closest to a mistyped one; NULL: none is close enough. */
const char *is_suggestion(const char *typed, const char *const *words, size_t count);

/* ---- records of step and hit files (formats.md), little-endian, 64 bytes ----------------------
 */

enum { IS_KIND_TRACK = 0, IS_KIND_CASCADE = 1, IS_KIND_FLASHER = 2, IS_KIND_POINT = 3 };
enum { IS_STEP_ISOTROPIC = 1 }; /* is_step.flags */

typedef struct is_step {
    float x, y, z;    /* start, m, within 10 km */
    float t;          /* ns after the event's t0 */
    float dx, dy, dz; /* unit vector of travel; ignored with IS_STEP_ISOTROPIC */
    float length;     /* m, >= 0; with IS_STEP_ISOTROPIC: radius of the sphere on whose surface the
                         photons start, radially outwards, after length / (c beta) */
    float beta;       /* v/c, in (0, 1] */
    float weight;     /* >= 0, copied to the hits */
    uint32_t photons; /* how many to create; 0 is legal */
    uint32_t source_id; /* particle or device that the light belongs to */
    uint64_t event_id;
    uint32_t step_id; /* unique within its event */
    uint8_t kind;     /* IS_KIND_... */
    uint8_t spectrum; /* 0: Cherenkov light; k > 0: the k-th spectrum of the run */
    uint16_t flags;   /* IS_STEP_... */
} is_step;

typedef struct is_hit {
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
} is_hit;

enum {
    IS_POINT_START = 0,
    IS_POINT_SCATTER = 1,
    IS_POINT_HIT = 2,
    IS_POINT_ABSORBED = 3,
    IS_POINT_LEFT = 4,
    IS_POINT_STOPPED = 5
};

/* A point of a photon's path, as `icestream trace` writes them (72 bytes). */
typedef struct is_path_point {
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
    uint16_t kind;           /* IS_POINT_... */
    uint16_t scatters;       /* so far, this point's included; saturates at 65535 */
} is_path_point;

/* A bin of a module's waveform that has hits (40 bytes). */
typedef struct is_waveform_bin {
    uint64_t event_id;
    double t;      /* lower edge, ns after the event's t0 */
    double weight; /* sum over the hits */
    uint64_t hits;
    int32_t bin; /* counted from where the range begins, or from time 0 */
    uint16_t string, module;
} is_waveform_bin;

/* What became of the photons; closes exactly: created = absorbed + detected + left + stopped. */
typedef struct is_account {
    uint64_t created;  /* photons started */
    uint64_t absorbed; /* by the ice or by an excluded module */
    uint64_t detected; /* ended on a module */
    uint64_t left; /* crossed an absorbing boundary of the world, or could not reach any module */
    uint64_t stopped; /* by the bounce limit */
    uint64_t hits;    /* hits recorded; more than detected where photons go on after a hit */
    uint64_t bounces; /* segments flown, for rates */
    uint64_t photo_electrons; /* hits that were detected; 0 with stages.detect: none */
    uint64_t undetected;      /* hits that are in no file because they were not (sink.hits: pe) */
} is_account;

/* ---- configuration -------------------------------------------------------------------------- */

typedef struct is_config is_config;

/* Reads a run's YAML file; NULL: all defaults. `sets` are `path=value` overrides, applied in order.
 * All errors of the file are reported together. IS_E_CONFIG, IS_E_MEMORY. On success the caller
 * owns *out. */
int is_config_load(const char *path, const char *const *sets, size_t set_count, is_config **out,
                   is_error *error);
/* Accepts NULL. */
void is_config_destroy(is_config *config);
/* Writes the effective configuration as YAML that is_config_load accepts. IS_E_OUTPUT. */
int is_config_print(const is_config *config, FILE *out, is_error *error);

/* ---- commands ------------------------------------------------------------------------------- */

/* Checks configuration, ice, detector and light without running photons, and describes them on
 * `report` (may be NULL). IS_E_CONFIG. */
int is_validate(const is_config *config, FILE *report, is_error *error);

typedef struct is_run_options {
    bool force;               /* overwrite existing hit files */
    bool resume;              /* skip outputs that are complete and match; recompute the rest */
    bool quiet;               /* no progress */
    bool fail_fast;           /* a full disk or another trouble that may pass ends the run */
    bool log_json;            /* progress as JSON, an object per line */
    FILE *progress;           /* people read this; NULL: none */
    const char *summary_path; /* NULL: summary.json in the sink's directory */
    const char *metrics_path; /* instead of metrics.file, or NULL */
    double time_limit;        /* s after which the run stops as after a signal; 0: none */
    bool tell_unfinished;     /* a signal that leaves work is IS_E_UNFINISHED, too */
} is_run_options;

/* Runs the configured sources through to hit files. SIGINT and SIGTERM drain and end the run with
 * IS_E_INTERRUPTED / IS_E_TERMINATED; IS_E_INPUT: finished, but some files were set aside;
 * IS_E_UNFINISHED: the time limit came first. What may pass (a full disk, EIO, ESTALE, ...) is
 * tried again, for a full disk as long as it takes. SIGUSR1 tells how far the run is, SIGHUP opens
 * the journal anew. */
int is_run(const is_config *config, const is_run_options *options, is_error *error);

/* Makes a step file of the configured particles, or of the workload where there are none; "-":
 * messages on standard output. IS_E_CONFIG: also a list of particles that cannot be read. */
int is_generate(const is_config *config, const char *path, bool force, is_error *error);

/* Describes a step or hit file; `verify`: reads all of it and checks digests, fields and order. */
int is_info(const char *path, bool verify, bool json, FILE *out, is_error *error);

/* Says how the runs that write into a sink's folder are doing, also while they do: what run.journal
 * tells of files and workers, which files are really there, what was set aside and why, and how old
 * the claims of its spool are. IS_E_INPUT: no such folder, or one that cannot be read; IS_E_OUTPUT,
 * IS_E_MEMORY. */
int is_folder_status(const char *folder, bool json, FILE *out, is_error *error);

/* Converts between .npy and HDF5, by the files' endings; from a hit file in .npy to .txt: the text
 * that ppc prints. */
int is_convert(const char *from, const char *to, bool force, is_error *error);

typedef struct is_waveform_options {
    double bin;       /* width of a bin, ns, 1e-6 .. 1e12 */
    bool has_range;   /* only hits of a range of times, bins counted from `low` on */
    double low, high; /* ns, low <= t < high */
    bool force;       /* overwrite an existing file */
} is_waveform_options;

/* Makes histograms of arrival times of a hit file, one per event and module, as .npy
 * (is_waveform_bin) or .csv; says on `out` how many hits are in them. IS_E_USAGE, IS_E_INPUT,
 * IS_E_OUTPUT, IS_E_MEMORY. */
int is_waveforms(const char *from, const char *to, const is_waveform_options *options, FILE *out,
                 is_error *error);

typedef struct is_compare_options {
    const char *schedules;    /* "wavefront,monolithic"; NULL: every schedule of the device, or with
                                 `against` the one that each configuration names */
    const is_config *against; /* a second configuration, or NULL */
    bool json;
    bool markdown; /* tables as Markdown */
} is_compare_options;

/* Runs the same steps through several schedules or configurations and holds the hits against each
 * other. IS_E_DIFFERENT where the expectation (identical or compatible) does not hold. */
int is_compare(const is_config *config, const is_compare_options *options, FILE *out,
               is_error *error);

typedef struct is_trace_options {
    const char *hits;           /* a hit file whose photons are followed, or NULL */
    const char *select;         /* those hits only: "module==34 && string==63"; NULL: all */
    const char *const *photons; /* [photon_count], "EVENT:STEP:PHOTON", or "@FILE" with such */
    size_t photon_count;
    const char *steps;  /* the step file; NULL: those of the configuration's source */
    const char *output; /* where the points go, an .npy file of is_path_point */
    bool force;         /* overwrite it */
} is_trace_options;

/* Carries single photons through once more, on the CPU, and writes every point of their paths; says
 * on `out` whether the hits that they were chosen by came about again. IS_E_DIFFERENT: they did
 * not, although portable maths made them; the paths are written nevertheless. IS_E_USAGE,
 * IS_E_CONFIG (also where a stage is the user's own header); IS_E_INPUT: a bad file, a photon that
 * no step has; IS_E_OUTPUT, IS_E_MEMORY. */
int is_trace(const is_config *config, const is_trace_options *options, FILE *out, is_error *error);

/* Lists stages and variants: parameters, what they read and write, bytes per photon. */
int is_stages(bool json, FILE *out, is_error *error);

typedef struct is_bench_options {
    const char *schedules; /* "fused,auto"; NULL: the one that graph.schedule names, or with auto
                              all of the device */
    const char *reference; /* a folder with clsim's ice, light and modules as CSV tables, which
                              replace the configured ones; or NULL */
    uint32_t repeats;      /* of which the best counts; 0: 3 */
    bool json;
    bool markdown; /* tables as Markdown */
} is_bench_options;

/* Measures the configured workload: tables, or JSON. IS_E_USAGE: schedules that the device does not
 * have; IS_E_CONFIG, IS_E_DEVICE, IS_E_MEMORY, IS_E_FAILED, IS_E_OUTPUT. */
int is_bench(const is_config *config, const is_bench_options *options, FILE *out, is_error *error);

typedef struct is_plan_options {
    int architecture; /* plan for this GPU architecture (90: sm_90); 0: that of the device, or 90
                         where there is none */
    bool json;
} is_plan_options;

/* Says what a run would take, without running photons: registers, memory and occupancy of every
 * kernel on a GPU, threads and memory on the CPU. IS_E_CONFIG; IS_E_DEVICE: kernels were asked for
 * and cannot be made here; IS_E_MEMORY, IS_E_OUTPUT. */
int is_plan(const is_config *config, const is_plan_options *options, FILE *out, is_error *error);

#ifdef __cplusplus
}
#endif

#endif
