/* Every key of a run file, section by section: its type, range, default and what it is. */
#include "pipeline/config/config_keys.h"

#include "pipeline/config/config_fields.h"

#include <math.h>
#include <string.h>

/* ---- names of choices ----------------------------------------------------------------------- */

#define CHOICES(function, ...)                                                                     \
    static const char *function(const char *path, size_t index)                                    \
    {                                                                                              \
        static const char *const names[] = {__VA_ARGS__};                                          \
        (void)path;                                                                                \
        return index < sizeof names / sizeof *names ? names[index] : NULL;                         \
    }

CHOICES(backends, "auto", "cpu", "cuda", "cuda+cpu") /* ics_backend */
CHOICES(maths, "auto", "fast", "portable")           /* ics_math */
CHOICES(fallbacks, "none", "cpu")                    /* ics_fallback */
CHOICES(compact_sorts, "none", "depth", "cell")      /* ics_compact_sort */
CHOICES(workloads, "point", "uniform", "cascade")    /* ics_workload_kind */
CHOICES(counts, "balanced", "shuffled")              /* workload.shuffled */
CHOICES(afters, "keep", "move", "delete")            /* ics_after */
CHOICES(instruction_sets, "auto", "baseline", "avx2", "avx512")
CHOICES(ice_models, "south-pole-like", "uniform")
CHOICES(tilt_outsides, "linear", "clamp")                   /* ice.tilt_clamp */
CHOICES(subtractions, "auto", "constant", "scaled", "none") /* ics_subtraction */
CHOICES(layouts, "hex86")
CHOICES(contents, "auto", "photons", "pe", "both") /* ics_hit_content */
CHOICES(angulars, "auto", "standard", "none")
CHOICES(autos, "auto", "none")
CHOICES(acceptances, "auto", "standard", "none")
CHOICES(particle_formats, "auto", "f2k", "csv", "yaml")
CHOICES(particle_events, "file", "count")
CHOICES(conventions, "standard", "clsim", "ppc")
CHOICES(losses, "none", "simple")

static const char *schedules(const char *path, size_t index)
{
    (void)path;
    return index < ICS_SCHEDULE_COUNT ? ics_graph_schedule_name((ics_schedule)index) : NULL;
}

/* The variants of a stage. */
static const char *variants_of(const char *stage, size_t index)
{
    static const struct {
        const char *stage, *name;
    } registry[] = {
#define ICE_VARIANT(stage, name, yaml, text) {#stage, yaml},
#include "physics/detect/registry.def"
#include "stages/registry.def"
#undef ICE_VARIANT
    };
    for (size_t i = 0; i < sizeof registry / sizeof *registry; ++i) {
        if (strcmp(registry[i].stage, stage) == 0 && index-- == 0) {
            return registry[i].name;
        }
    }
    return NULL;
}

/* The stage is the last part of the path "stages.STAGE". */
static const char *variants(const char *path, size_t index)
{
    return variants_of(strrchr(path, '.') + 1, index);
}

static const char *compact_methods(const char *path, size_t index)
{
    (void)path;
    return variants_of("compact", index);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* clang-format off */
#define AT(member) ICS_SCHEMA_AT(struct icestream_config, member)
#define BOOL(key, standard, text)                                                                  \
    {.path = #key, .type = ICS_SCHEMA_BOOL, AT(key), .fallback = (standard), .help = (text)}
#define WHOLE(key, from, to, standard, text)                                                       \
    {.path = #key, .type = ICS_SCHEMA_UNSIGNED, AT(key), .least = (from), .most = (to),             \
     .fallback = (standard), .help = (text)}
#define WHOLE_OR_AUTO(key, from, to, text)                                                         \
    {.path = #key, .type = ICS_SCHEMA_UNSIGNED, AT(key), .least = (from), .most = (to),             \
     .word = "auto", .fallback = "auto", .help = (text)}
#define NUMBER(key, from, to, standard, u, text)                                                   \
    {.path = #key, .type = ICS_SCHEMA_NUMBER, AT(key), .low = (from), .high = (to),                 \
     .fallback = (standard), .unit = (u), .help = (text)}
#define NUMBER_OR_OFF(key, from, to, off, u, text)                                                 \
    {.path = #key, .type = ICS_SCHEMA_NUMBER, AT(key), .low = (from), .high = (to), .word = "off",  \
     .word_value = (off), .fallback = "off", .unit = (u), .help = (text)}
#define CHOICE(key, member, names, standard, text)                                                 \
    {.path = #key, .type = ICS_SCHEMA_CHOICE, AT(member), .choice = (names), .fallback = (standard),\
     .help = (text)}
#define NAME(key, names, standard, alternatives, text)                                             \
    {.path = #key, .type = ICS_SCHEMA_NAME, AT(key), .choice = (names), .fallback = (standard),     \
     .group = (alternatives), .help = (text)}
#define VARIANT(key, stage, standard, text)                                                        \
    {.path = #key, .type = ICS_SCHEMA_VARIANT, AT(key), .choice = variants, .growing = true,        \
     .source_offset = offsetof(struct icestream_config, stages.custom[stage]), .fallback = (standard),    \
     .help = (text)}
#define TEXT(key, standard, text)                                                                  \
    {.path = #key, .type = ICS_SCHEMA_TEXT, AT(key), .fallback = (standard), .help = (text)}
#define A_PATH(key, names, standard, alternatives, text)                                           \
    {.path = #key, .type = ICS_SCHEMA_PATH, AT(key), .choice = (names), .fallback = (standard),     \
     .group = (alternatives), .help = (text)}
#define CUSTOM(key, code, standard, text)                                                          \
    {.path = #key, .type = ICS_SCHEMA_CUSTOM, .custom = &(code), .fallback = (standard),            \
     .help = (text)}

const ics_schema_field ics_config_keys[] = {
    WHOLE(run.seed, 0, UINT64_MAX, "1", "seed of all random numbers"),
    WHOLE(run.bounce_limit, 1, 1000000000, "10000", "segments after which a photon is stopped"),

    {.path = "source.files", .type = ICS_SCHEMA_PATTERNS, AT(source.files),
     .count_offset = offsetof(struct icestream_config, source.count), .fallback = "[steps/*.steps.npy]",
     .group = "source", .help = "step files, names or patterns; \"-\" is standard input"},
    A_PATH(source.directory, NULL, NULL, "source",
           "or a folder to claim step files from, also shared with other workers"),
    TEXT(source.pattern, "\"*.steps.npy\"", "names of step files in that folder"),
    BOOL(source.watch, "false", "wait for more files in that folder"),
    NUMBER(source.scan, 0.1, 3600, "5", "s", "between looks into that folder"),
    CHOICE(source.after, source.after, afters, "keep",
           "what becomes of a claimed file whose hits are written"),
    A_PATH(source.spool, NULL, NULL, NULL,
           "where claims are kept, on the same file system; .icestream in source.directory"),
    NUMBER(source.lease, 0.2, 86400, "60", "s",
           "without a sign of life after which a worker's claims go to others"),
    TEXT(source.worker, NULL, "name of this worker; made of host and process"),
    {.path = "source.listen", .type = ICS_SCHEMA_TEXT, AT(source.listen), .group = "source",
     .help = "or take steps from clients: \"unix:PATH\" or \"HOST:PORT\""},
    A_PATH(source.token, NULL, NULL, NULL, "file with what clients must know"),
    WHOLE(source.clients, 1, 1024, "16", "clients at a time"),
    {.path = "source.message_limit", .type = ICS_SCHEMA_BYTES, AT(source.message_limit),
     .least = 4000, .most = 1000000000000, .fallback = "1 GB",
     .help = "size of a message of a client"},

    A_PATH(sink.directory, NULL, "hits/", NULL, "folder for hit files; \"-\" is standard output"),
    CHOICE(sink.hits, sink.hits, contents, "auto",
           "what hit files carry; auto: pe with stages.detect: pe, else photons"),
    {.path = "sink.rotate", .type = ICS_SCHEMA_UNSIGNED, AT(sink.rotate), .least = 1,
     .most = 1000000000000, .word = "off", .fallback = "off",
     .help = "hits after which a hit file for many step files ends; off: one for each"},
    A_PATH(sink.quarantine, NULL, NULL, NULL,
           "folder for bad claimed step files; quarantine in sink.directory"),
    A_PATH(sink.journal, NULL, NULL, NULL,
           "what happened, a line of JSON each; run.journal in sink.directory"),
    CUSTOM(sink.command, ics_config_command, "[]", "run on every finished hit file"),

    A_PATH(metrics.file, NULL, NULL, NULL, "numbers in the text format of Prometheus"),
    TEXT(metrics.listen, NULL, "the same by HTTP, \"127.0.0.1:9464\""),

    CHOICE(device.backend, device.backend, backends, "auto", "where photons are propagated"),
    WHOLE_OR_AUTO(device.threads, 1, 1024, "CPU threads; auto: one per core"),
    NAME(device.instruction_set, instruction_sets, "auto", NULL, "of the CPU; auto: the widest"),
    CUSTOM(device.index, ics_config_index, "0", "which GPUs; all: every one that is there"),
    CHOICE(device.math, device.math, maths, "auto",
           "portable: the same bits everywhere; auto: fast on a GPU, portable on the CPU"),
    {.path = "device.memory_limit", .type = ICS_SCHEMA_BYTES, AT(device.memory_limit),
     .least = 64000000, .most = 1000000000000, .word = "auto", .fallback = "auto",
     .help = "memory to take of a GPU; auto: what is free"},
    CHOICE(device.fallback, device.fallback, fallbacks, "none", "where to go on if a GPU fails"),
    NUMBER(device.watchdog, 1, 3600, "30", "s", "without progress after which a GPU is stuck"),

    NAME(ice.model, ice_models, "south-pole-like", "ice", "built-in ice"),
    A_PATH(ice.directory, NULL, NULL, "ice", "or a ppc ice folder, instead of model"),
    A_PATH(ice.file, NULL, NULL, "ice", "or an ice file in YAML, instead of model"),
    BOOL(ice.tilt, "true", "layers are tilted where the ice has a tilt"),
    NUMBER(ice.tilt_origin, -1e5, 1e5, "0", "m",
           "position along the tilt that counts as 0; ppc: that of the reference string"),
    CHOICE(ice.tilt_outside, ice.tilt_clamp, tilt_outsides, "linear",
           "how a tilt goes on outside its table; clamp: as at its edge"),
    BOOL(ice.anisotropy, "true", "of scattering and absorption, where the ice has it"),
    BOOL(ice.birefringence, "true", "light is deflected where the ice is birefringent"),
    CHOICE(ice.birefringence_subtraction, ice.subtraction, subtractions, "auto",
           "taken out of the scattering table for it: alike at all wavelengths, scaled as dust, "
           "none; auto: as the ice says"),
    BOOL(ice.hole_ice, "true", "refrozen columns at the strings, where the ice has them"),
    NUMBER_OR_OFF(ice.absorb_above, -1e5, 1e5, INFINITY, "m",
                  "photons that rise above this z have left the world"),
    NUMBER_OR_OFF(ice.absorb_below, -1e5, 1e5, -INFINITY, "m",
                  "photons that sink below this z have left the world"),

    NAME(detector.layout, layouts, "hex86", "detector", "built-in detector"),
    A_PATH(detector.file, NULL, NULL, "detector", "or a geo-f2k or CSV file, instead of layout"),
    NUMBER(detector.radius, 1e-3, 10, "0.1651", "m", "radius of a module"),
    NUMBER(detector.oversize, 1, 100, "5", NULL, "modules are wider across the flight by this"),
    BOOL(detector.keep_hit_photons, "false", "photons go on after a hit"),
    BOOL(detector.jitter, "false", "hex86 with strings shifted along z"),
    BOOL(detector.dense, "false", "hex86 with modules of high efficiency on strings 79 to 86"),
    CUSTOM(detector.excluded, ics_config_excluded, "[]",
           "modules that absorb without a hit"),
    A_PATH(detector.angular_acceptance, angulars, "auto", NULL,
           "of modules by direction, a file like as.dat; auto: as.dat of ice.directory if it is "
           "there, else standard"),
    CUSTOM(detector.angular_polynomial, ics_config_angular, "[]",
           "the same in numbers, instead of a file"),
    A_PATH(detector.efficiencies, autos, "auto", NULL,
           "of single modules, a file like eff-f2k; auto, here and below: that of ice.directory if "
           "it is there and stages.detect is pe"),
    A_PATH(detector.axes, autos, "auto", NULL, "of tilted modules, a file like cx.dat"),
    A_PATH(detector.cables, autos, "auto", NULL, "that shadow modules, a file like dx.dat"),
    A_PATH(detector.voltages, autos, "auto", NULL,
           "which modules are on, a file like hvs-f2k"),
    NUMBER(detector.cable_radius, 0, 1, "0.023", "m", "of a cable"),
    {.path = "detector.cable_length", .type = ICS_SCHEMA_NUMBER, AT(detector.cable_length),
     .low = 0.01, .high = 10000, .word = "endless", .word_value = INFINITY, .fallback = "endless",
     .unit = "m", .help = "of a cable, half of it below the module's centre"},

    A_PATH(light.acceptance, acceptances, "auto", NULL,
           "of modules by wavelength, thins Cherenkov light; auto: wv.dat of ice.directory if it "
           "is there, else standard"),
    A_PATH(light.high_efficiency, autos, "auto", NULL,
           "acceptance of high-efficiency modules over that of others by wavelength, a file like "
           "wv.rde"),
    CUSTOM(light.spectra, ics_config_spectra, "[]",
           "spectra of the run, numbered from 7"),

    VARIANT(stages.create, ICS_STAGE_CREATE, "cherenkov", "makes photons from steps"),
    VARIANT(stages.propagate, ICS_STAGE_PROPAGATE, "cumulative", "flies to the next scatter"),
    VARIANT(stages.collide, ICS_STAGE_COLLIDE, "string-grid", "finds the module in the way"),
    VARIANT(stages.scatter, ICS_STAGE_SCATTER, "hg-sl", "turns the photon"),
    {.path = "stages.compact", .type = ICS_SCHEMA_NAME, AT(stages.compact), .choice = variants,
     .growing = true, .fallback = "partition", .help = "closes the gaps of ended photons"},
    {.path = "stages.detect", .type = ICS_SCHEMA_NAME, AT(stages.detect), .choice = variants,
     .growing = true, .fallback = "none", .help = "pe: decides which hits are photo-electrons"},

    CHOICE(graph.schedule, graph.schedule, schedules, "auto",
           "how stages are composed; auto: the fastest"),
    WHOLE_OR_AUTO(graph.pool, 16, 1U << 28, "photon slots of a graph"),
    WHOLE_OR_AUTO(graph.bounces_per_wave, 1, 1024, "bounces between two compactions"),
    WHOLE_OR_AUTO(graph.batch, 1, 1U << 31, "photons in a batch"),
    BOOL(graph.reach_cull, "true", "drop photons that cannot reach a module any more"),
    WHOLE_OR_AUTO(graph.lanes, 1, 4, "batches that a GPU computes side by side"),
    {.path = "graph.block", .type = ICS_SCHEMA_UNSIGNED, AT(graph.block), .least = 32, .most = 1024,
     .multiple = 32, .word = "auto", .fallback = "auto", .help = "threads in a block of a GPU"},
    WHOLE_OR_AUTO(graph.refill, 1, 32,
                  "monolithic, fused: idle lanes of a warp that make it take new photons"),
    WHOLE_OR_AUTO(graph.hits, 64, 1U << 28, "places in a hit buffer of a GPU"),
    {.path = "graph.compact.method", .type = ICS_SCHEMA_NAME, AT(graph.compact.method),
     .choice = compact_methods, .growing = true, .fallback = "partition",
     .help = "how a GPU closes the gaps in its pool"},
    CHOICE(graph.compact.sort, graph.compact.sort, compact_sorts, "none",
           "what a GPU orders its pool by"),
    CUSTOM(graph.compact.when, ics_config_when, "tail",
           "tail: when no steps are left; every-N: every N waves"),

    CHOICE(workload.kind, workload.kind, workloads, "cascade", "what `generate` writes"),
    WHOLE(workload.steps, 0, UINT32_MAX, "10000", "number of steps"),
    WHOLE(workload.photons_per_step, 0, 1000000000, "200", "photons in a step, on average"),
    CHOICE(workload.counts, workload.shuffled, counts, "balanced",
           "all steps alike, or 0.1 to 1.9 times the average"),
    {.path = "workload.position", .type = ICS_SCHEMA_NUMBERS, AT(workload.position), .low = -10000,
     .high = 10000, .fallback = "[0, 0, 0]", .unit = "m", .help = "of a point"},
    NUMBER(workload.time, -1e12, 1e12, "0", "ns", "of a point"),
    CUSTOM(workload.direction, ics_config_direction, "isotropic",
           "of a point's light"),
    NUMBER(workload.surface_radius, 0, 1000, "0", "m",
           "isotropic light of a point starts on a sphere of this radius"),
    WHOLE(workload.spectrum, 0, 255, "0",
          "of a point: 0 Cherenkov, 1 to 6 built in, from 7 light.spectra"),
    WHOLE(workload.event, 0, UINT64_MAX, "0", "event_id of all steps"),

    {.path = "particles.list", .type = ICS_SCHEMA_CUSTOM, .custom = &ics_config_particles,
     .fallback = "[]", .group = "particles",
     .help = "particles and other sources of light that `generate` makes steps of instead"},
    A_PATH(particles.file, NULL, NULL, "particles",
           "or a file with them: f2k, CSV or YAML; \"-\" is standard input"),
    CHOICE(particles.format, particles.format, particle_formats, "auto",
           "of that file; auto: by the ending of its name"),
    CHOICE(particles.events, particles.events, particle_events, "file",
           "event_ids: those of the list, or counted from 0"),
    WHOLE(particles.photons_per_step, 1, 1000000000, "200", "photons in a step, at most"),
    WHOLE(particles.photons_per_direction, 1, 1000000000, "1",
          "photons that share a direction of a beam and a time of a pulse, at most"),
    CHOICE(particles.conventions, particles.conventions, conventions, "standard",
           "whose numbers for light of particles where clsim and ppc differ"),
    CHOICE(particles.losses, particles.losses, losses, "none",
           "simple: cascades along tracks by a simple generator, for realistic loads"),
    BOOL(particles.stopping, "false", "muons end where they stop, and slow down before"),
    {.path = "particles.track_length", .type = ICS_SCHEMA_NUMBER, AT(particles.track_length),
     .low = 0.001, .high = 100000, .word = "range", .fallback = "2000", .unit = "m",
     .help = "length of tracks that have none; range: the mean one of a muon of their energy"},
    WHOLE(particles.spectrum, 1, 255, "3", "of flashers and other sources that have none"),
};
/* clang-format on */

const size_t ics_config_key_count = sizeof ics_config_keys / sizeof *ics_config_keys;

const char *ics_config_choice(const char *key_path, size_t index)
{
    size_t i = ics_schema_find(key_path, ics_config_keys, ics_config_key_count);
    return ics_config_keys[i].choice(key_path, index);
}

void ics_config_document(FILE *out)
{
    ics_schema_document(ics_config_keys, ics_config_key_count, out);
}
