/* The configuration of a run, as read from YAML: every key, its default and its range.
 *
 * The table that drives reading, checking and printing is in config_keys.c; this is what the
 * rest of the program sees. Strings are owned by the configuration; paths are already resolved
 * against the folder of the file that names them ("-" stays "-"). NULL: not given.
 *
 * Reading does not look whether files exist: ics_config_check_files() does, and those who open
 * them; ics_config_place() tells them where the user wrote the name.
 */
#ifndef ICS_CONFIG_CONFIG_H
#define ICS_CONFIG_CONFIG_H

#include "graphs/gpu.h"
#include "pipeline/icestream.h"

typedef enum ics_backend {
    ICS_BACKEND_AUTO,
    ICS_BACKEND_CPU,
    ICS_BACKEND_CUDA,
    ICS_BACKEND_CUDA_CPU /* GPUs and the CPU side by side */
} ics_backend;

enum { ICS_CONFIG_GPUS = 64, ICS_CONFIG_ANGULAR = 17 };

/* Where a run goes on when its GPU fails. */
typedef enum ics_fallback { ICS_FALLBACK_NONE, ICS_FALLBACK_CPU } ics_fallback;

/* What becomes of a step file from source.directory once its hits are written. */
typedef enum ics_after { ICS_AFTER_KEEP, ICS_AFTER_MOVE, ICS_AFTER_DELETE } ics_after;

/* What is taken out of the scattering table because birefringence does it (physics.md 4.2, 6.4). */
typedef enum ics_subtraction {
    ICS_SUBTRACTION_AUTO,     /* as the ice says: a ppc folder by its version, an ice file itself */
    ICS_SUBTRACTION_CONSTANT, /* r_A s_eff at every wavelength */
    ICS_SUBTRACTION_SCALED,   /* r_A s_eff at 400 nm, elsewhere as dust */
    ICS_SUBTRACTION_NONE
} ics_subtraction;

/* What hit files carry. */
typedef enum ics_hit_content {
    ICS_CONTENT_AUTO, /* of sink.hits only: what stages.detect makes */
    ICS_CONTENT_PHOTONS,
    ICS_CONTENT_PE,
    ICS_CONTENT_BOTH
} ics_hit_content;

typedef enum ics_workload_kind {
    ICS_WORKLOAD_POINT,
    ICS_WORKLOAD_UNIFORM,
    ICS_WORKLOAD_CASCADE
} ics_workload_kind;

/* Of particles.file; auto: by the ending of its name. */
typedef enum ics_particle_format {
    ICS_PARTICLES_AUTO,
    ICS_PARTICLES_F2K,
    ICS_PARTICLES_CSV,
    ICS_PARTICLES_YAML
} ics_particle_format;

/* Where event_ids come from: the list of particles, or a count of its events. */
typedef enum ics_particle_events { ICS_EVENTS_FILE, ICS_EVENTS_COUNT } ics_particle_events;

/* Whose numbers for light of particles where the public codes differ (physics.md 14.1); the order
 * of ice_convention_name. */
typedef enum ics_conventions {
    ICS_CONVENTIONS_STANDARD,
    ICS_CONVENTIONS_CLSIM,
    ICS_CONVENTIONS_PPC
} ics_conventions;

struct ics_particle; /* pipeline/particles/particle.h */

typedef struct ics_module_label {
    uint16_t string, module;
} ics_module_label;

/* An entry of light.spectra: exactly one of the two is given. */
typedef struct ics_spectrum_config {
    double line; /* nm, 0: not given */
    char *file;  /* text: wavelength (nm) and density in columns */
} ics_spectrum_config;

/* Where the values came from; config_keys.h, private to configurations. */
typedef struct ics_config_origin ics_config_origin;

struct icestream_config {
    char *path; /* the file, or NULL for pure defaults */
    ics_config_origin *origin;

    struct {
        uint64_t seed;         /* run.seed: 1 */
        uint32_t bounce_limit; /* run.bounce_limit: 10000, 1 .. 1e9 */
    } run;

    struct {
        char **files; /* source.files: *.steps.npy in steps/; globs, "-": stdin; NULL where
                         source.directory or source.listen is given */
        size_t count;
        char *directory;        /* source.directory: NULL; the folder that files are claimed from */
        char *pattern;          /* source.pattern: *.steps.npy, of names in it */
        bool watch;             /* source.watch: false; go on waiting for more files */
        double scan;            /* source.scan: 5 s, 0.1 .. 3600, between looks while it waits */
        ics_after after;        /* source.after: keep | move | delete */
        char *spool;            /* source.spool: NULL, .icestream in source.directory */
        double lease;           /* source.lease: 60 s, 0.2 .. 86400 */
        char *worker;           /* source.worker: NULL, a name made of host and process */
        char *listen;           /* source.listen: NULL, "unix:PATH" or "HOST:PORT" */
        char *token;            /* source.token: NULL, a file */
        uint32_t clients;       /* source.clients: 16, 1 .. 1024 */
        uint64_t message_limit; /* source.message_limit: 1 GB, 4 kB .. 1 TB */
    } source;

    struct {
        char *directory;      /* sink.directory: hits/; "-": standard output */
        ics_hit_content hits; /* sink.hits: auto | photons | pe | both */
        uint64_t rotate;      /* sink.rotate: 0, off; or hits, 1 .. 1e12 */
        char *quarantine;     /* sink.quarantine: NULL, quarantine in sink.directory */
        char *journal;        /* sink.journal: NULL, run.journal in sink.directory */
        char **command;       /* sink.command: [], [command_count] words and a NULL */
        size_t command_count; /* 0: none */
    } sink;

    struct {
        char *file;   /* metrics.file: NULL, Prometheus text, rewritten while the run lasts */
        char *listen; /* metrics.listen: NULL, "HOST:PORT" */
    } metrics;

    struct {
        ics_backend backend;   /* device.backend: auto | cpu | cuda | cuda+cpu */
        uint32_t threads;      /* device.threads: auto (0), 1 .. 1024; CPU */
        char *instruction_set; /* device.instruction_set: auto | baseline | avx2 | avx512; CPU */
        uint32_t index[ICS_CONFIG_GPUS]; /* device.index: 0; [0, 1]; all: which GPUs, in the order
                                           given, each 0 .. 63 and once; of all: [0] is 0 */
        uint32_t index_count;            /* 0: all */
        ics_math math;                   /* device.math: auto | fast (GPU) | portable */
        uint64_t memory_limit; /* device.memory_limit: auto (0: what is free), 64 MB .. 1 TB; GPU */
        ics_fallback fallback; /* device.fallback: none | cpu; GPU */
        double watchdog;       /* device.watchdog: 30 s, 1 .. 3600; GPU */
    } device;

    struct {                /* exactly one of model, directory, file */
        char *model;        /* ice.model: south-pole-like | uniform */
        char *directory;    /* ice.directory: a ppc ice folder */
        char *file;         /* ice.file: YAML */
        bool tilt;          /* ice.tilt: true, what the ice brings */
        double tilt_origin; /* ice.tilt_origin: 0 m, -1e5 .. 1e5; position along the tilt that
                               counts as 0 */
        bool tilt_clamp;    /* ice.tilt_outside: linear | clamp */
        bool anisotropy;    /* ice.anisotropy: true, of scattering and absorption */
        bool birefringence; /* ice.birefringence: true */
        bool hole_ice;      /* ice.hole_ice: true */
        ics_subtraction subtraction; /* ice.birefringence_subtraction: auto */
        double absorb_above;         /* ice.absorb_above: off (+INFINITY) or z in m */
        double absorb_below;         /* ice.absorb_below: off (-INFINITY) or z in m */
    } ice;

    struct {                        /* exactly one of layout, file */
        char *layout;               /* detector.layout: hex86 */
        char *file;                 /* detector.file: geo-f2k (its name ends so) or CSV */
        double radius;              /* detector.radius: 0.1651 m, 1e-3 .. 10 */
        double oversize;            /* detector.oversize: 5, 1 .. 100 */
        bool keep_hit_photons;      /* detector.keep_hit_photons: false */
        bool jitter;                /* detector.jitter: false, hex86 only (physics.md 13.3) */
        bool dense;                 /* detector.dense: false, hex86 only */
        ics_module_label *excluded; /* detector.excluded: [], list of [string, module] */
        size_t excluded_count;
        /* auto: the file of ice.directory; but for the first only with stages.detect: pe */
        char *angular_acceptance; /* detector.angular_acceptance: auto | standard | none | a file
                                     like as.dat; auto without such a file: standard */
        double angular_polynomial[ICS_CONFIG_ANGULAR]; /* detector.angular_polynomial: [], or the
                                                         maximum and coefficients */
        size_t angular_count;
        char *efficiencies;  /* detector.efficiencies: auto | none | a file like eff-f2k */
        char *axes;          /* detector.axes: auto | none | a file like cx.dat */
        char *cables;        /* detector.cables: auto | none | a file like dx.dat */
        char *voltages;      /* detector.voltages: auto | none | a file like hvs-f2k */
        double cable_radius; /* detector.cable_radius: 0.023 m, 0 .. 1 */
        double cable_length; /* detector.cable_length: endless (INFINITY) or 0.01 .. 10000 m */
    } detector;

    struct {
        char *acceptance;      /* light.acceptance: auto | standard | none | a file like wv.dat;
                                  auto: wv.dat of ice.directory if it is there, else standard */
        char *high_efficiency; /* light.high_efficiency: auto | none | a file like wv.rde; auto as
                                  for detector.efficiencies */
        ics_spectrum_config *spectra; /* light.spectra: [], further spectra numbered from 7:
                                        {line: 400} or {file: laser.txt} */
        size_t spectrum_count;
    } light;

    struct {             /* names of variants, checked against the registry; ICS_CONFIG_CUSTOM where
                            `custom` has a header instead: {source: my.h} */
        char *create;    /* cherenkov */
        char *propagate; /* cumulative | layer-walk */
        char *collide;   /* string-grid | cell-grid | brute-force */
        char *scatter;   /* hg-sl | hg | sl | isotropic */
        char *compact;   /* partition */
        char *detect;    /* none | pe */
        char *custom[ICS_STAGES]; /* paths of the user's stage headers; NULL: a variant by name */
    } stages;

    struct {
        ics_schedule schedule;     /* graph.schedule: auto | wavefront | fused | monolithic | ... */
        uint32_t pool;             /* graph.pool: auto (0), photon slots per graph, 16 .. 1<<28 */
        uint32_t bounces_per_wave; /* graph.bounces_per_wave: auto (0), 1 .. 1024 */
        uint32_t batch;            /* graph.batch: auto (0), photons per batch, 1 .. 1<<31 */
        bool reach_cull;           /* graph.reach_cull: true */
        /* GPU only: */
        uint32_t lanes;  /* graph.lanes: auto (0), 1 .. 4 */
        uint32_t block;  /* graph.block: auto (0), 32 .. 1024 threads, a multiple of 32 */
        uint32_t refill; /* graph.refill: auto (0), 1 .. 32 idle lanes of a warp */
        uint32_t hits;   /* graph.hits: auto (0), 64 .. 1<<28 places of a hit buffer */
        struct {
            char *method;          /* graph.compact.method: partition */
            ics_compact_sort sort; /* graph.compact.sort: none | depth | cell */
            ics_compact_when when; /* graph.compact.when: tail | always | every-N */
            uint32_t every;        /* that N, 1 .. 1e6; else 0 */
        } compact;
    } graph;

    struct {                       /* what `icestream generate` writes */
        ics_workload_kind kind;    /* workload.kind: cascade | point | uniform */
        uint32_t steps;            /* workload.steps: 10000 (0 .. 2^32-1) */
        uint32_t photons_per_step; /* workload.photons_per_step: 200, 0 .. 1e9 */
        bool shuffled;             /* workload.counts: balanced | shuffled */
        double position[3];        /* workload.position: [0, 0, 0], m; point only */
        double time;               /* workload.time: 0 ns; point only */
        bool isotropic;            /* workload.direction: isotropic, or [dx, dy, dz] of any length
                                      above 0; point only */
        double direction[3];
        double surface_radius; /* workload.surface_radius: 0 m; isotropic point only */
        uint8_t spectrum;      /* workload.spectrum: 0 .. 6 + spectrum_count; point only */
        uint64_t event;        /* workload.event: 0 */
    } workload;

    struct {                       /* what `icestream generate` makes steps of instead, if any; at
                                      most one of list and file */
        struct ics_particle *list; /* particles.list: [], [count] */
        size_t count;
        char *file;                     /* particles.file: NULL; "-": standard input */
        ics_particle_format format;     /* particles.format: auto | f2k | csv | yaml */
        ics_particle_events events;     /* particles.events: file | count */
        uint32_t photons_per_step;      /* particles.photons_per_step: 200, 1 .. 1e9, at most */
        uint32_t photons_per_direction; /* particles.photons_per_direction: 1, 1 .. 1e9, at most */
        ics_conventions conventions;    /* particles.conventions: standard | clsim | ppc */
        bool losses;                    /* particles.losses: none | simple */
        bool stopping;                  /* particles.stopping: false */
        double track_length;            /* particles.track_length: 2000 m, or range (0) */
        uint8_t spectrum; /* particles.spectrum: 3, of sources without one of their own */
    } particles;
};

/* What stages.create, .propagate, .collide and .scatter are where a header was given. */
#define ICS_CONFIG_CUSTOM "custom"

/* Its word in configurations and files. */
const char *ics_config_content_name(ics_hit_content content);
/* What hit files carry: never ICS_CONTENT_AUTO. */
ics_hit_content ics_config_content(const icestream_config *config);

/* The k-th of the keys whose values are only for a GPU ("graph.lanes") and are not the default:
 * they are errors where photons go through a CPU. NULL: no more. */
const char *ics_config_gpu_key(const icestream_config *config, size_t k);

/* icestream_config_load from text, as if it were the content of the file `name`; does not touch the
 * file system. For tests and fuzzing. */
int ics_config_load_text(const char *name, const char *text, size_t length, const char *const *sets,
                         size_t set_count, icestream_config **out, icestream_error *error);

/* Where the value of a key ("ice.directory") was given, for messages: "run.yaml:7:14",
 * "--set ice.directory", or "default" (also for keys that do not exist). Returns buffer. */
const char *ics_config_place(const icestream_config *config, const char *key_path, char *buffer,
                             size_t size);

/* Puts the place of a key in front of an error about its value, if that is ICESTREAM_E_CONFIG.
 * Returns the error's status. */
int ics_config_blame(const icestream_config *config, const char *key_path, icestream_error *error);

/* Whether the files and folders are there that the keys of a section ("ice.") name; adds an error
 * for each that is not, with the place where it is named. What is in them, and whether they can be
 * read, is for those who open them. 0, ICESTREAM_E_CONFIG. */
int ics_config_check_files(const icestream_config *config, const char *section,
                           icestream_error *error);

/* Writes all keys as a Markdown table: the one in configs/README.md. */
void ics_config_document(FILE *out);

#endif
