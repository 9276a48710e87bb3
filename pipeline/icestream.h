/* icestream simulates photons in ice or water, from steps of light to the hits on optical modules.
 *
 * This is the public header of libicestream. A program loads a configuration, calls one of the
 * functions below, and reads the error that the function filled. A function that has something to
 * print writes it to the FILE that the caller passes. A function that can fail returns 0 or a
 * negative ICESTREAM_E_... and describes the error in *error.
 *
 * Units: metres, nanoseconds, nanometres. The origin is the centre of the detector; z points up.
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

#define ICESTREAM_VERSION "0.3.0"

/* Returns the word that is closest to a mistyped one, or NULL if no word is close enough. */
ICESTREAM_PUBLIC const char *icestream_suggestion(const char *typed, const char *const *words,
                                                  size_t count);

/* Writes what this library was built from and with, one "name: value" in a line: version, commit,
 * instruction sets, compiler, CUDA, libraries ("none" without one). ICESTREAM_E_OUTPUT. */
ICESTREAM_PUBLIC int icestream_build_print(FILE *out, icestream_error *error);

/* ---- records of step and hit files (files.md 3, 4), little-endian, 72 and 64 bytes ---- */

enum {
    ICESTREAM_KIND_TRACK = 0,
    ICESTREAM_KIND_CASCADE = 1,
    ICESTREAM_KIND_FLASHER = 2,
    ICESTREAM_KIND_POINT = 3
};
/* icestream_step.flags: light in all directions; the number of photons is that of the source, and
 * not the share of it that thinning kept. Only the weight of hits depends on the second. */
enum { ICESTREAM_STEP_ISOTROPIC = 1, ICESTREAM_STEP_NOT_THINNED = 2 };
/* Further flags: a step may have a profile, and beams among the profiles a pulse. Then each photon
 * draws its own start, direction and time, and the step is a whole cascade or a whole pulse of an
 * LED. files.md 3.4 has the meaning of each profile and of `length` and `beta` in it. */
#define ICESTREAM_STEP_PROFILE(number)   ((number) << 2)
#define ICESTREAM_STEP_PULSE(number)     ((number) << 6)
#define ICESTREAM_STEP_PROFILE_OF(flags) ((unsigned)(flags) >> 2 & 15u)
#define ICESTREAM_STEP_PULSE_OF(flags)   ((unsigned)(flags) >> 6 & 3u)
enum {
    ICESTREAM_PROFILE_NONE = 0,
    ICESTREAM_PROFILE_CASCADE = 1,
    ICESTREAM_PROFILE_CLOUD = 2,
    ICESTREAM_PROFILE_GAUSS = 3,
    ICESTREAM_PROFILE_LAB_AVERAGE = 4,
    ICESTREAM_PROFILE_LAB_HORIZONTAL = 5,
    ICESTREAM_PROFILE_LAB_TILTED = 6,
    ICESTREAM_PROFILE_CLSIM = 7,
    ICESTREAM_PROFILE_CLSIM_TILTED = 8,
    ICESTREAM_PROFILE_LINEAR = 9,
    ICESTREAM_PROFILE_ISOTROPIC = 10,
    ICESTREAM_PROFILE_EXACT = 11,
    ICESTREAM_PROFILE_CONE = 12
};
enum { ICESTREAM_PULSE_INSTANT = 0, ICESTREAM_PULSE_LED = 1, ICESTREAM_PULSE_RECTANGLE = 2 };
/* Beams start on the surface of a module; light of an LED leaves its module as in ppc. */
enum { ICESTREAM_STEP_SURFACE = 256, ICESTREAM_STEP_GLASS = 512 };

/* The largest time of a step (ns), 2^43: up to it a hit keeps its time to within 0.001 ns. */
#define ICESTREAM_TIME_MAX 8796093022208.0

typedef struct icestream_step {
    float x, y, z;    /* start (m), within 10 km of the origin */
    uint32_t photons; /* number of photons to create; 0 is legal */
    float dx, dy, dz; /* unit vector of travel; ignored with ICESTREAM_STEP_ISOTROPIC */
    float length;     /* (m), >= 0; with ICESTREAM_STEP_ISOTROPIC the radius of the sphere on whose
                         surface the photons start, radially outwards, after length / (c beta); with
                         a profile: files.md 3.4 */
    float beta;       /* v/c, in (0, 1]; with a profile: files.md 3.4 */
    float weight;     /* >= 0, a factor of the weight of the hits */
    double t;         /* time after the event's t0 (ns), within ICESTREAM_TIME_MAX of it */
    uint64_t event_id;
    uint32_t step_id;   /* unique within the event */
    uint8_t kind;       /* ICESTREAM_KIND_... */
    uint8_t spectrum;   /* 0: Cherenkov light; k > 0: the k-th spectrum of the run */
    uint16_t flags;     /* ICESTREAM_STEP_... */
    uint64_t source_id; /* the particle or light source that makes the light */
} icestream_step;

typedef struct icestream_hit {
    uint64_t event_id;
    double t;         /* time after the event's t0 (ns) */
    float x, y, z;    /* impact relative to the centre of the module, at its true size (m) */
    float dx, dy, dz; /* unit vector of travel at the impact */
    float wavelength; /* (nm) */
    float weight;     /* the sum over hits estimates the photons (in files of photo-electrons: the
                         photo-electrons) that modules of true size would get */
    uint32_t step_id;
    uint32_t photon_id; /* index within the step */
    uint16_t string, module;
    int16_t pmt;       /* -1: a photon; from 0: a photo-electron of this PMT of the module */
    uint16_t scatters; /* scatters before the hit; saturates at 65535 */
} icestream_hit;

enum {
    ICESTREAM_POINT_START = 0,
    ICESTREAM_POINT_SCATTER = 1,
    ICESTREAM_POINT_HIT = 2,
    ICESTREAM_POINT_ABSORBED = 3,
    ICESTREAM_POINT_LEFT = 4,
    ICESTREAM_POINT_STOPPED = 5
};

/* A point of a photon's path, as `icestream trace` writes it (72 bytes). */
typedef struct icestream_path_point {
    uint64_t event_id;
    double t;         /* time after the event's t0 (ns) */
    float x, y, z;    /* position (m) */
    float dx, dy, dz; /* unit vector of travel after the point; at the end of the path, before it */
    float path;       /* path length from the photon's start (m) */
    float absorption; /* absorption lengths passed so far */
    float wavelength; /* (nm) */
    uint32_t step_id;
    uint32_t photon_id;
    uint32_t point;          /* number of the point along the path, from 0 */
    uint16_t string, module; /* the module of a hit; 0 at other points */
    uint16_t kind;           /* ICESTREAM_POINT_... */
    uint16_t scatters;       /* scatters so far, with this point; saturates at 65535 */
} icestream_path_point;

/* A bin of a module's waveform (40 bytes). Bins without hits are not stored. */
typedef struct icestream_waveform_bin {
    uint64_t event_id;
    double t;      /* lower edge of the bin: time after the event's t0 (ns) */
    double weight; /* sum of the weights of the hits */
    uint64_t hits;
    int32_t bin; /* counted from the beginning of the range, or from time 0 without a range */
    uint16_t string, module;
} icestream_waveform_bin;

/* The photon account: how photons ended. created = absorbed + detected + left + stopped. */
typedef struct icestream_account {
    uint64_t created;  /* photons that were started */
    uint64_t absorbed; /* absorbed by the ice or by an excluded module */
    uint64_t detected; /* ended on a module */
    uint64_t left; /* crossed an absorbing boundary of the world, or could not reach any module */
    uint64_t stopped; /* stopped by the bounce limit */
    uint64_t hits;    /* recorded hits; more than `detected` if photons continue after a hit */
    uint64_t bounces; /* simulated segments, for rates */
    uint64_t photo_electrons; /* hits that became photo-electrons; 0 with stages.detect: none */
    uint64_t undetected; /* hits without a photo-electron, which sink.hits: pe does not store */
} icestream_account;

/* ---- configuration -------------------------------------------------------------------------- */

typedef struct icestream_config icestream_config;

/* Reads the YAML file of a run. If `path` is NULL, every key has its default. `sets` are texts
 * KEY=VALUE, which are applied in order. All errors of the file are reported together.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. On success the caller owns *out. */
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

/* Checks the configuration, its step files, ice, detector, light and device without running
 * photons, and describes them on `report`, which may be NULL. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_INPUT, ICESTREAM_E_DEVICE, ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
ICESTREAM_PUBLIC int icestream_validate(const icestream_config *config, FILE *report,
                                        icestream_error *error);

typedef struct icestream_validate_options {
    bool json; /* write one JSON object instead of text */
    /* Check for a machine with a GPU ("cuda") or without one ("cpu"), whatever this machine has.
     * Kernels are not compiled for a GPU that is not here. NULL: this machine. */
    const char *machine;
} icestream_validate_options;

/* The same with options. ICESTREAM_E_USAGE: another machine than "cuda" or "cpu". */
ICESTREAM_PUBLIC int icestream_validate_with(const icestream_config *config,
                                             const icestream_validate_options *options,
                                             FILE *report, icestream_error *error);

typedef struct icestream_run_options {
    bool force;     /* overwrite existing hit files */
    bool resume;    /* keep hit files that are complete and match; make the others */
    bool quiet;     /* write only warnings and faults to `progress` */
    bool fail_fast; /* end the run on a full disk or another error that may pass */
    bool log_json;  /* write progress as JSON, one object per line */
    FILE *progress; /* where progress and messages for people go; NULL: nowhere */
    /* If another run writes one of these files at the moment, this run puts the name of its worker
     * into the name of the file: summary-WORKER.json. */
    const char *summary_path; /* NULL: summary.json in sink.directory */
    const char *metrics_path; /* replaces metrics.file; NULL: metrics.file */
    double time_limit;        /* time (s) after which the run stops as after a signal; 0: none */
    bool unfinished_after_signal; /* a signal that leaves work is ICESTREAM_E_UNFINISHED */
    /* A run that makes its steps itself (particles or a workload, and no source) also writes them
     * into this step file; "": NAME.steps.npy in sink.directory; NULL: it keeps no steps. */
    const char *keep_steps;
    /* The process ends with the result of the run: the signals that a run handles (below) stay
     * ignored after the run, so that none of them can replace the exit status. If false, they get
     * the dispositions that they had before the run. */
    bool ends_process;
    /* What the process will return for ICESTREAM_E_UNFINISHED, for journal, summary and log; 0: the
     * usual exit status, 75. */
    int unfinished_exit;
} icestream_run_options;

/* Simulates the photons of the configured source and writes hit files. If no source is given and
 * there are particles or a workload, it makes their steps while it runs.
 *
 * Results: ICESTREAM_E_INPUT: the run finished, but some step files were quarantined;
 * ICESTREAM_E_UNFINISHED: the time limit was reached and work is left; ICESTREAM_E_INTERRUPTED,
 * ICESTREAM_E_TERMINATED: SIGINT or SIGTERM stopped the run after it had drained; other results
 * describe the error that ended the run. File operations whose error may pass (EIO, ESTALE, ...)
 * are repeated; on a full disk the run waits until there is room. SIGUSR1 makes the run report its
 * progress, SIGHUP makes it open the journal again. Without memory for something small the process
 * ends with the exit status of ICESTREAM_E_MEMORY; no file is damaged by that. */
ICESTREAM_PUBLIC int icestream_run(const icestream_config *config,
                                   const icestream_run_options *options, icestream_error *error);

/* Makes a step file of the configured particles, or of the workload if there are no particles. The
 * path "-" stands for messages on standard output. ICESTREAM_E_CONFIG: also a list of particles
 * that cannot be read; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
ICESTREAM_PUBLIC int icestream_generate(const icestream_config *config, const char *path,
                                        bool force, icestream_error *error);
/* The same, and writes to `report` (NULL: nothing) its progress if it is a terminal, how large the
 * file will be, before its first step, then how much light each type of particle makes, and a line
 * for each warning about the tracks of the list. A file above particles.file_limit is
 * ICESTREAM_E_CONFIG. */
ICESTREAM_PUBLIC int icestream_generate_report(const icestream_config *config, const char *path,
                                               bool force, FILE *report, icestream_error *error);

/* Describes a file of steps, hits, paths or waveforms, or a photon table (.npy).
 * `verify`: reads all rows and checks digests, fields and order; a table is always checked.
 * ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_info(const char *path, bool verify, bool json, FILE *out,
                                    icestream_error *error);

/* Describes several files, each with its name, and then their sums by kind; `json`: one object per
 * line, without sums. A file that cannot be used is an error, and the next file follows: `error`
 * has a line for each, and the status is the worst one. Errors as icestream_info. */
ICESTREAM_PUBLIC int icestream_info_files(const char *const *paths, size_t count, bool verify,
                                          bool json, FILE *out, icestream_error *error);

/* Reports how the runs that write into a sink's folder are doing, also while they work: what
 * run.journal records of files and workers, which files exist, which files were quarantined and
 * why, and how old the claims of the spool are. ICESTREAM_E_INPUT: the folder does not exist or
 * cannot be read; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_folder_status(const char *folder, bool json, FILE *out,
                                             icestream_error *error);

typedef struct icestream_convert_options {
    bool force;         /* overwrite an existing file */
    const char *format; /* format of standard output: "txt" or "csv"; NULL: "txt" */
} icestream_convert_options;

/* Converts hits in .npy, as the ending of `to` says: to .txt, the text that ppc prints, or to .csv
 * with all fields. The path "-" is standard input or output. ICESTREAM_E_USAGE, ICESTREAM_E_INPUT,
 * ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_convert_with(const char *from, const char *to,
                                            const icestream_convert_options *options,
                                            icestream_error *error);
/* The same with HIT lines on standard output. */
ICESTREAM_PUBLIC int icestream_convert(const char *from, const char *to, bool force,
                                       icestream_error *error);

typedef struct icestream_waveform_options {
    double bin;       /* width of a bin (ns), from 1e-6 to 1e12 */
    bool has_range;   /* use only hits of a range of times, and count bins from `low` */
    double low, high; /* the range (ns): low <= t < high */
    bool force;       /* overwrite an existing file */
    bool stream_npy;  /* standard output gets .npy instead of .csv */
} icestream_waveform_options;

/* Makes histograms of the arrival times in a hit file, one per event and module, as .npy
 * (icestream_waveform_bin) or .csv, and reports on `out` how many hits are in them. The paths "-"
 * are standard input and output. ICESTREAM_E_USAGE, ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_waveforms(const char *from, const char *to,
                                         const icestream_waveform_options *options, FILE *out,
                                         icestream_error *error);

typedef struct icestream_compare_options {
    const char *schedules; /* for example "wavefront,monolithic"; NULL: every schedule of the
                              device, or with `against` graph.schedule of each configuration */
    const icestream_config *against; /* a second configuration, or NULL */
    bool json;
    bool markdown;  /* write tables as Markdown */
    FILE *progress; /* if it is a terminal, it shows the progress; NULL: nothing */
} icestream_compare_options;

/* Runs the same steps through several schedules or two configurations and compares the hits. If the
 * configurations make the light of the same particles differently, each gets its own steps, and
 * sums of weights are compared. Other particles in the second configuration are ICESTREAM_E_CONFIG,
 * and steps that do not suit it ICESTREAM_E_INPUT. ICESTREAM_E_DIFFERENT: hits differ that should
 * be identical, or hits are not compatible; ICESTREAM_E_USAGE, ICESTREAM_E_CONFIG,
 * ICESTREAM_E_INPUT, ICESTREAM_E_DEVICE, ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED,
 * ICESTREAM_E_OUTPUT. */
ICESTREAM_PUBLIC int icestream_compare(const icestream_config *config,
                                       const icestream_compare_options *options, FILE *out,
                                       icestream_error *error);

typedef struct icestream_trace_options {
    const char *hits;           /* a hit file whose photons are followed, or NULL */
    const char *const *photons; /* [photon_count], "EVENT:STEP:PHOTON" or "@FILE" with a list */
    size_t photon_count;
    const char *steps;   /* the step file; NULL: the step files of the configuration's source */
    const char *backend; /* "auto" (NULL), "cpu" or "cuda": what follows the photons */
    const char *output;  /* the .npy file of icestream_path_point to write; "-": standard output */
    bool force;          /* overwrite an existing file */
    FILE *progress;      /* if it is a terminal, it shows the progress; NULL: nothing */
} icestream_trace_options;

/* Repeats single photons and writes every point of their paths. Reports on `out` whether
 * the paths reproduce the hits by which the photons were chosen. ICESTREAM_E_DIFFERENT: some hits
 * of portable maths were not reproduced; the paths are written nevertheless. ICESTREAM_E_USAGE;
 * ICESTREAM_E_CONFIG: also if a stage is the user's own header; ICESTREAM_E_INPUT: a bad file, or a
 * photon that no step has; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_trace(const icestream_config *config,
                                     const icestream_trace_options *options, FILE *out,
                                     icestream_error *error);

typedef struct icestream_reweight_options {
    const char *const *hits; /* [hit_count], hit files of one run, at least one */
    size_t hit_count;
    const char *const *targets; /* [target_count], 1 to 64: names of YAML files with the keys that
                                   change, or KEY=VALUE */
    size_t target_count;
    const char *steps;   /* the step file; NULL: the step files of the configuration's source */
    const char *backend; /* "auto" (NULL), "cpu" or "cuda": what replays the photons */
    const char *output;  /* the .npy file to write (docs/files.md 14); "-": standard output; NULL
                            only with dry_run */
    bool force;          /* overwrite an existing file */
    bool dry_run;        /* write nothing; replay 1000 hits and say what all would give */
    bool json;           /* report the metadata of the file as JSON */
    FILE *progress;      /* if it is a terminal, it shows the progress; NULL: nothing */
} icestream_reweight_options;

/* Weighs hits as if their light had gone through other ices: writes for each hit, in the order of
 * the files, the ratio of the probabilities of its path, and reports on `out` sums and effective
 * numbers. `config` is that of the run of the hits; NULL: as the trailer of the first file lists
 * it. ICESTREAM_E_USAGE; ICESTREAM_E_CONFIG: the configuration is not that of the hits, or a target
 * changes what no weight describes, and the text names the keys and both values; ICESTREAM_E_INPUT:
 * a bad or edited hit file, or steps that are not found; ICESTREAM_E_DIFFERENT: a hit is not on the
 * path of its photon, or was made with fast maths by another kind of kernels; ICESTREAM_E_DEVICE:
 * no GPU; ICESTREAM_E_FAILED: the GPU failed; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. After an
 * error nothing is written. */
ICESTREAM_PUBLIC int icestream_reweight(const icestream_config *config,
                                        const icestream_reweight_options *options, FILE *out,
                                        icestream_error *error);

typedef struct icestream_gradient_options {
    const char *const *hits; /* [hit_count], hit files of one run, at least one */
    size_t hit_count;
    const char *const *parameters; /* [parameter_count], keys of docs/files.md 15; none:
                                      layers.scattering and layers.absorption */
    size_t parameter_count;
    const char *steps;    /* the step file; NULL: the step files of the configuration's source */
    const char *backend;  /* "auto" (NULL), "cpu" or "cuda": what replays the photons */
    const char *output;   /* the .npy file to write (docs/files.md 15); "-": standard output */
    bool force;           /* overwrite an existing file */
    bool dense;           /* a row for each hit, with a number for each parameter */
    uint64_t dense_limit; /* largest size of such a file (bytes) */
    FILE *progress;       /* if it is a terminal, it shows the progress; NULL: nothing */
} icestream_gradient_options;

/* Writes the derivatives of the logarithms of the weights of hits by parameters of the ice. Errors
 * as icestream_reweight(). */
ICESTREAM_PUBLIC int icestream_gradient(const icestream_config *config,
                                        const icestream_gradient_options *options, FILE *out,
                                        icestream_error *error);

/* Lists the stages and their variants: parameters, the fields that they read and write, and bytes
 * per photon. ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_stages(bool json, FILE *out, icestream_error *error);

/* Writes the modules of the configured detector as a table with the columns string, module, x, y, z
 * (m) and efficiency, which detector.file reads. If the name ends in .npy, it does
 * what icestream_geometry_pmts() does. The path "-" is standard output. Warnings about the detector
 * go to `report` (NULL: nowhere). ICESTREAM_E_CONFIG: a file of the detector cannot be used;
 * ICESTREAM_E_OUTPUT: also if the file exists and `force` is false; ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_geometry(const icestream_config *config, const char *path,
                                        bool force, FILE *report, icestream_error *error);
/* The same with a table of modules and PMTs, as CSV or as a NumPy array if the name ends in .npy: a
 * row for every module (pmt -1), and one for each of its PMTs, with type, position in the detector
 * and in the file, direction, radius and largest effective area (docs/detectors.md). */
ICESTREAM_PUBLIC int icestream_geometry_pmts(const icestream_config *config, const char *path,
                                             bool force, FILE *report, icestream_error *error);

/* Writes how each layer of the configured ice or water scatters and absorbs light of a wavelength
 * (nm, from 250 to 700), as CSV from the deepest layer up: bottom and top (z, m), effective
 * scattering length and absorption length (m). ICESTREAM_E_USAGE: the wavelength;
 * ICESTREAM_E_CONFIG: a file of the ice cannot be used; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
ICESTREAM_PUBLIC int icestream_layers(const icestream_config *config, double wavelength, FILE *out,
                                      icestream_error *error);

typedef struct icestream_bench_options {
    const char *schedules; /* for example "monolithic,auto"; NULL: graph.schedule; if that is auto,
                              every schedule of the device */
    uint32_t repeats;      /* how often each schedule is measured; the best counts; 0: 3 times */
    bool json;
    bool markdown;  /* write tables as Markdown */
    bool workload;  /* measure the workload, also if there are particles */
    bool files;     /* measure the steps of source.files, where a run would read them */
    bool once;      /* run each schedule once and nothing else, for profilers; `repeats` is 1 */
    FILE *progress; /* if it is a terminal, it shows the progress; NULL: nothing */
    const char *against; /* JSON of an earlier benchmark, with which this one is compared; NULL */
} icestream_bench_options;

/* Measures the speed for the configured particles or workload and writes tables or JSON.
 * ICESTREAM_E_USAGE: the device does not have a schedule; ICESTREAM_E_DIFFERENT: a schedule is
 * slower than in `against`; ICESTREAM_E_INPUT: `against` cannot be compared; ICESTREAM_E_CONFIG,
 * ICESTREAM_E_DEVICE, ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED, ICESTREAM_E_OUTPUT. */
ICESTREAM_PUBLIC int icestream_bench(const icestream_config *config,
                                     const icestream_bench_options *options, FILE *out,
                                     icestream_error *error);

typedef struct icestream_plan_options {
    int architecture; /* plan for this GPU architecture (90: sm_90); 0: that of the GPU in this
                         machine, or 90 if there is no GPU */
    bool json;
} icestream_plan_options;

/* Reports what a run would need, without running photons: registers, memory and occupancy of every
 * kernel on a GPU, threads and memory on the CPU. ICESTREAM_E_CONFIG; ICESTREAM_E_DEVICE: the
 * configuration or `architecture` asks for a GPU's kernels, and this machine cannot make them;
 * ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
ICESTREAM_PUBLIC int icestream_plan(const icestream_config *config,
                                    const icestream_plan_options *options, FILE *out,
                                    icestream_error *error);

/* ---- sessions ------------------------------------------------------------------------------- */

#include "icestream_session.h" /* photons in memory, for programs that have steps and want hits */

#ifdef __cplusplus
}
#endif

#endif
