#include "pipeline/config/config.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/config/config_fields.h"
#include "pipeline/config/schema.h"

/* ---- names of choices ----------------------------------------------------------------------- */

#define CHOICES(function, ...)                                                                     \
    static const char *function(const char *path, size_t index)                                    \
    {                                                                                              \
        static const char *const names[] = {__VA_ARGS__};                                          \
        (void)path;                                                                                \
        return index < sizeof names / sizeof *names ? names[index] : NULL;                         \
    }

CHOICES(backends, "auto", "cpu", "cuda", "cuda+cpu") /* is_backend */
CHOICES(maths, "auto", "fast", "portable")           /* is_math */
CHOICES(fallbacks, "none", "cpu")                    /* is_fallback */
CHOICES(compact_sorts, "none", "depth", "cell")      /* is_compact_sort */
CHOICES(workloads, "point", "uniform", "cascade")    /* is_workload_kind */
CHOICES(counts, "balanced", "shuffled")              /* workload.shuffled */
CHOICES(afters, "keep", "move", "delete")            /* is_after */
CHOICES(instruction_sets, "auto", "baseline", "avx2", "avx512")
CHOICES(ice_models, "south-pole-like", "uniform")
CHOICES(tilt_outsides, "linear", "clamp")                   /* ice.tilt_clamp */
CHOICES(subtractions, "auto", "constant", "scaled", "none") /* is_subtraction */
CHOICES(layouts, "hex86")
CHOICES(contents, "auto", "photons", "pe", "both") /* is_hit_content */
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
    return index < IS_SCHEDULE_COUNT ? is_schedule_name((is_schedule)index) : NULL;
}

/* The variants of a stage. */
static const char *variants_of(const char *stage, size_t index)
{
    static const struct {
        const char *stage, *name;
    } registry[] = {
#define ICE_VARIANT(stage, name, yaml, text) {#stage, yaml},
#include "stages/registry.def"
#undef ICE_VARIANT
    };
    for (size_t i = 0; i < sizeof registry / sizeof *registry; ++i)
        if (strcmp(registry[i].stage, stage) == 0 && index-- == 0)
            return registry[i].name;
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
#define AT(member) IS_SCHEMA_AT(struct is_config, member)
#define BOOL(key, standard, text)                                                                  \
    {.path = #key, .type = IS_SCHEMA_BOOL, AT(key), .fallback = (standard), .help = (text)}
#define WHOLE(key, from, to, standard, text)                                                       \
    {.path = #key, .type = IS_SCHEMA_UNSIGNED, AT(key), .least = (from), .most = (to),             \
     .fallback = (standard), .help = (text)}
#define WHOLE_OR_AUTO(key, from, to, text)                                                         \
    {.path = #key, .type = IS_SCHEMA_UNSIGNED, AT(key), .least = (from), .most = (to),             \
     .word = "auto", .fallback = "auto", .help = (text)}
#define NUMBER(key, from, to, standard, u, text)                                                   \
    {.path = #key, .type = IS_SCHEMA_NUMBER, AT(key), .low = (from), .high = (to),                 \
     .fallback = (standard), .unit = (u), .help = (text)}
#define NUMBER_OR_OFF(key, from, to, off, u, text)                                                 \
    {.path = #key, .type = IS_SCHEMA_NUMBER, AT(key), .low = (from), .high = (to), .word = "off",  \
     .word_value = (off), .fallback = "off", .unit = (u), .help = (text)}
#define CHOICE(key, member, names, standard, text)                                                 \
    {.path = #key, .type = IS_SCHEMA_CHOICE, AT(member), .choice = (names), .fallback = (standard),\
     .help = (text)}
#define NAME(key, names, standard, alternatives, text)                                             \
    {.path = #key, .type = IS_SCHEMA_NAME, AT(key), .choice = (names), .fallback = (standard),     \
     .group = (alternatives), .help = (text)}
#define VARIANT(key, stage, standard, text)                                                        \
    {.path = #key, .type = IS_SCHEMA_VARIANT, AT(key), .choice = variants, .growing = true,        \
     .source_offset = offsetof(struct is_config, stages.custom[stage]), .fallback = (standard),    \
     .help = (text)}
#define TEXT(key, standard, text)                                                                  \
    {.path = #key, .type = IS_SCHEMA_TEXT, AT(key), .fallback = (standard), .help = (text)}
#define A_PATH(key, names, standard, alternatives, text)                                           \
    {.path = #key, .type = IS_SCHEMA_PATH, AT(key), .choice = (names), .fallback = (standard),     \
     .group = (alternatives), .help = (text)}
#define CUSTOM(key, code, standard, text)                                                          \
    {.path = #key, .type = IS_SCHEMA_CUSTOM, .custom = &(code), .fallback = (standard),            \
     .help = (text)}

static const is_schema_field fields[] = {
    WHOLE(run.seed, 0, UINT64_MAX, "1", "seed of all random numbers"),
    WHOLE(run.bounce_limit, 1, 1000000000, "10000", "segments after which a photon is stopped"),
    {.path = "source.files", .type = IS_SCHEMA_PATTERNS, AT(source.files),
     .count_offset = offsetof(struct is_config, source.count), .fallback = "[steps/*.steps.npy]",
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
    {.path = "source.listen", .type = IS_SCHEMA_TEXT, AT(source.listen), .group = "source",
     .help = "or take steps from clients: \"unix:PATH\" or \"HOST:PORT\""},
    A_PATH(source.token, NULL, NULL, NULL, "file with what clients must know"),
    WHOLE(source.clients, 1, 1024, "16", "clients at a time"),
    {.path = "source.message_limit", .type = IS_SCHEMA_BYTES, AT(source.message_limit),
     .least = 4000, .most = 1000000000000, .fallback = "1 GB",
     .help = "size of a message of a client"},
    A_PATH(sink.directory, NULL, "hits/", NULL, "folder for hit files; \"-\" is standard output"),
    CHOICE(sink.hits, sink.hits, contents, "auto",
           "what hit files carry; auto: pe with stages.detect: pe, else photons"),
    {.path = "sink.rotate", .type = IS_SCHEMA_UNSIGNED, AT(sink.rotate), .least = 1,
     .most = 1000000000000, .word = "off", .fallback = "off",
     .help = "hits after which a hit file for many step files ends; off: one for each"},
    A_PATH(sink.quarantine, NULL, NULL, NULL,
           "folder for bad claimed step files; quarantine in sink.directory"),
    A_PATH(sink.journal, NULL, NULL, NULL,
           "what happened, a line of JSON each; run.journal in sink.directory"),
    CUSTOM(sink.command, is_config_command, "[]", "run on every finished hit file"),
    A_PATH(metrics.file, NULL, NULL, NULL, "numbers in the text format of Prometheus"),
    TEXT(metrics.listen, NULL, "the same by HTTP, \"127.0.0.1:9464\""),
    CHOICE(device.backend, device.backend, backends, "auto", "where photons are propagated"),
    WHOLE_OR_AUTO(device.threads, 1, 1024, "CPU threads; auto: one per core"),
    NAME(device.instruction_set, instruction_sets, "auto", NULL, "of the CPU; auto: the widest"),
    CUSTOM(device.index, is_config_index, "0", "which GPUs; all: every one that is there"),
    CHOICE(device.math, device.math, maths, "auto",
           "portable: the same bits everywhere; auto: fast on a GPU, portable on the CPU"),
    {.path = "device.memory_limit", .type = IS_SCHEMA_BYTES, AT(device.memory_limit),
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
    CUSTOM(detector.excluded, is_config_excluded, "[]",
           "modules that absorb without a hit"),
    A_PATH(detector.angular_acceptance, angulars, "auto", NULL,
           "of modules by direction, a file like as.dat; auto: as.dat of ice.directory if it is "
           "there, else standard"),
    CUSTOM(detector.angular_polynomial, is_config_angular, "[]",
           "the same in numbers, instead of a file"),
    A_PATH(detector.efficiencies, autos, "auto", NULL,
           "of single modules, a file like eff-f2k; auto, here and below: that of ice.directory if "
           "it is there and stages.detect is pe"),
    A_PATH(detector.axes, autos, "auto", NULL, "of tilted modules, a file like cx.dat"),
    A_PATH(detector.cables, autos, "auto", NULL, "that shadow modules, a file like dx.dat"),
    A_PATH(detector.voltages, autos, "auto", NULL,
           "which modules are on, a file like hvs-f2k"),
    NUMBER(detector.cable_radius, 0, 1, "0.023", "m", "of a cable"),
    {.path = "detector.cable_length", .type = IS_SCHEMA_NUMBER, AT(detector.cable_length),
     .low = 0.01, .high = 10000, .word = "endless", .word_value = INFINITY, .fallback = "endless",
     .unit = "m", .help = "of a cable, half of it below the module's centre"},
    A_PATH(light.acceptance, acceptances, "auto", NULL,
           "of modules by wavelength, thins Cherenkov light; auto: wv.dat of ice.directory if it "
           "is there, else standard"),
    A_PATH(light.high_efficiency, autos, "auto", NULL,
           "acceptance of high-efficiency modules over that of others by wavelength, a file like "
           "wv.rde"),
    CUSTOM(light.spectra, is_config_spectra, "[]",
           "spectra of the run, numbered from 7"),
    VARIANT(stages.create, IS_STAGE_CREATE, "cherenkov", "makes photons from steps"),
    VARIANT(stages.propagate, IS_STAGE_PROPAGATE, "cumulative", "flies to the next scatter"),
    VARIANT(stages.collide, IS_STAGE_COLLIDE, "string-grid", "finds the module in the way"),
    VARIANT(stages.scatter, IS_STAGE_SCATTER, "hg-sl", "turns the photon"),
    {.path = "stages.compact", .type = IS_SCHEMA_NAME, AT(stages.compact), .choice = variants,
     .growing = true, .fallback = "partition", .help = "closes the gaps of ended photons"},
    {.path = "stages.detect", .type = IS_SCHEMA_NAME, AT(stages.detect), .choice = variants,
     .growing = true, .fallback = "none", .help = "pe: decides which hits are photo-electrons"},
    CHOICE(graph.schedule, graph.schedule, schedules, "auto",
           "how stages are composed; auto: the fastest"),
    WHOLE_OR_AUTO(graph.pool, 16, 1U << 28, "photon slots of a graph"),
    WHOLE_OR_AUTO(graph.bounces_per_wave, 1, 1024, "bounces between two compactions"),
    WHOLE_OR_AUTO(graph.batch, 1, 1U << 31, "photons in a batch"),
    BOOL(graph.reach_cull, "true", "drop photons that cannot reach a module any more"),
    WHOLE_OR_AUTO(graph.lanes, 1, 4, "batches that a GPU computes side by side"),
    {.path = "graph.block", .type = IS_SCHEMA_UNSIGNED, AT(graph.block), .least = 32, .most = 1024,
     .multiple = 32, .word = "auto", .fallback = "auto", .help = "threads in a block of a GPU"},
    WHOLE_OR_AUTO(graph.refill, 1, 32,
                  "monolithic, fused: idle lanes of a warp that make it take new photons"),
    WHOLE_OR_AUTO(graph.hits, 64, 1U << 28, "places in a hit buffer of a GPU"),
    {.path = "graph.compact.method", .type = IS_SCHEMA_NAME, AT(graph.compact.method),
     .choice = compact_methods, .growing = true, .fallback = "partition",
     .help = "how a GPU closes the gaps in its pool"},
    CHOICE(graph.compact.sort, graph.compact.sort, compact_sorts, "none",
           "what a GPU orders its pool by"),
    CUSTOM(graph.compact.when, is_config_when, "tail",
           "tail: when no steps are left; every-N: every N waves"),
    CHOICE(workload.kind, workload.kind, workloads, "cascade", "what `generate` writes"),
    WHOLE(workload.steps, 0, UINT32_MAX, "10000", "number of steps"),
    WHOLE(workload.photons_per_step, 0, 1000000000, "200", "photons in a step, on average"),
    CHOICE(workload.counts, workload.shuffled, counts, "balanced",
           "all steps alike, or 0.1 to 1.9 times the average"),
    {.path = "workload.position", .type = IS_SCHEMA_NUMBERS, AT(workload.position), .low = -10000,
     .high = 10000, .fallback = "[0, 0, 0]", .unit = "m", .help = "of a point"},
    NUMBER(workload.time, -1e12, 1e12, "0", "ns", "of a point"),
    CUSTOM(workload.direction, is_config_direction, "isotropic",
           "of a point's light"),
    NUMBER(workload.surface_radius, 0, 1000, "0", "m",
           "isotropic light of a point starts on a sphere of this radius"),
    WHOLE(workload.spectrum, 0, 255, "0",
          "of a point: 0 Cherenkov, 1 to 6 built in, from 7 light.spectra"),
    WHOLE(workload.event, 0, UINT64_MAX, "0", "event_id of all steps"),
    {.path = "particles.list", .type = IS_SCHEMA_CUSTOM, .custom = &is_config_particles,
     .fallback = "[]",
     .help = "particles and other sources of light that `generate` makes steps of instead"},
    A_PATH(particles.file, NULL, NULL, NULL,
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
    {.path = "particles.track_length", .type = IS_SCHEMA_NUMBER, AT(particles.track_length),
     .low = 0.001, .high = 100000, .word = "range", .fallback = "2000", .unit = "m",
     .help = "length of tracks that have none; range: the mean one of a muon of their energy"},
    WHOLE(particles.spectrum, 1, 255, "3", "of flashers and other sources that have none"),
};
/* clang-format on */
enum { FIELDS = sizeof fields / sizeof *fields };

/* ---- origin --------------------------------------------------------------------------------- */

struct is_config_origin {
    is_yaml **documents; /* the file, if any, then one per --set: the nodes below live in them */
    size_t count;
    const is_yaml_node *given[FIELDS]; /* NULL: default */
    bool refused[FIELDS];              /* given, but not a valid value */
};

const char *is_config_place(const is_config *config, const char *key_path, char *buffer,
                            size_t size)
{
    size_t i = is_schema_find(key_path, fields, FIELDS);
    const is_yaml_node *node = i < FIELDS ? config->origin->given[i] : NULL;
    if (!node)
        snprintf(buffer, size, "default");
    else if (node->line)
        is_yaml_place(node, buffer, size);
    else
        snprintf(buffer, size, "--set %s", key_path);
    return buffer;
}

int is_config_blame(const is_config *config, const char *key_path, is_error *error)
{
    if (!error)
        return IS_OK;
    if (error->status == IS_E_CONFIG) {
        char place[1024], text[sizeof error->text];
        snprintf(text, sizeof text, "%s", error->text);
        is_error_set(error, IS_E_CONFIG, "%s: error: %.7000s",
                     is_config_place(config, key_path, place, sizeof place), text);
    }
    return error->status;
}

/* ---- contradictions ------------------------------------------------------------------------- */

/* Like is_yaml_error, at the place where `key` was given, about how it fits with `other`. Silent
 * where one of the two has no valid value: that would be a contradiction that nobody wrote. */
static int contradiction(const is_config *config, const char *key, const char *other,
                         is_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static int contradiction(const is_config *config, const char *key, const char *other,
                         is_error *error, const char *format, ...)
{
    size_t i = is_schema_find(key, fields, FIELDS);
    const bool *refused = config->origin->refused;
    if (refused[i] || refused[is_schema_find(other, fields, FIELDS)])
        return IS_OK;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const is_yaml_node *node = config->origin->given[i];
    if (node)
        return is_yaml_error(error, node, "%s: %s", key, message);
    is_error_add(error, IS_E_CONFIG, "default: error: %s: %s", key, message);
    return IS_E_CONFIG;
}

static int check_source(const is_config *config, is_error *error)
{
    size_t inputs = 0;
    for (size_t i = 0; i < config->source.count; ++i)
        inputs += strcmp(config->source.files[i], "-") == 0;
    if (inputs > 1)
        return contradiction(config, "source.files", "source.files", error,
                             "found \"-\" %zu times, standard input can be read only once", inputs);
    return IS_OK;
}

/* Keys of a source that is not there. */
static int check_source_keys(const is_config *config, is_error *error)
{
    const struct {
        const char *key;
        bool used;
    } claimed_only[] = {
        {"source.pattern", strcmp(config->source.pattern, "*.steps.npy") != 0},
        {"source.watch", config->source.watch},
        {"source.after", config->source.after != IS_AFTER_KEEP},
        {"source.spool", config->source.spool != NULL},
        {"source.worker", config->source.worker != NULL},
    };
    const struct {
        const char *key;
        bool used;
    } clients_only[] = {
        {"source.token", config->source.token != NULL},
        {"source.clients", config->source.clients != 16},
        {"source.message_limit", config->source.message_limit != 1000000000},
    };
    int status = IS_OK;
    for (size_t i = 0; i < sizeof claimed_only / sizeof *claimed_only; ++i)
        if (claimed_only[i].used && !config->source.directory)
            status = contradiction(config, claimed_only[i].key, "source.files", error,
                                   "is for source.directory, which is not given");
    for (size_t i = 0; i < sizeof clients_only / sizeof *clients_only; ++i)
        if (clients_only[i].used && !config->source.listen)
            status = contradiction(config, clients_only[i].key, "source.listen", error,
                                   "is for source.listen, which is not given");
    return status;
}

const char *is_content_name(is_hit_content content)
{
    return contents(NULL, content);
}

is_hit_content is_config_content(const is_config *config)
{
    if (config->sink.hits != IS_CONTENT_AUTO)
        return config->sink.hits;
    return strcmp(config->stages.detect, "none") == 0 ? IS_CONTENT_PHOTONS : IS_CONTENT_PE;
}

static int check_sink(const is_config *config, is_error *error)
{
    if (config->sink.hits > IS_CONTENT_PHOTONS && strcmp(config->stages.detect, "none") == 0)
        return contradiction(config, "sink.hits", "stages.detect", error,
                             "'%s' needs stages.detect: pe, and it is none",
                             contents(NULL, config->sink.hits));
    if (config->sink.rotate != 0 && strcmp(config->sink.directory, "-") == 0)
        return contradiction(config, "sink.rotate", "sink.directory", error,
                             "is for files, and sink.directory is \"-\"");
    return IS_OK;
}

static int check_models(const is_config *config, is_error *error)
{
    int status = IS_OK;
    if (config->ice.absorb_above <= config->ice.absorb_below)
        status = contradiction(config, "ice.absorb_above", "ice.absorb_below", error,
                               "found %g m, expected it above ice.absorb_below, %g m",
                               config->ice.absorb_above, config->ice.absorb_below);
    const is_subtraction subtraction = config->ice.subtraction;
    if (!config->ice.tilt && config->ice.tilt_origin != 0)
        status = contradiction(config, "ice.tilt_origin", "ice.tilt", error,
                               "is for a tilt, and ice.tilt is false");
    if (!config->ice.tilt && config->ice.tilt_clamp)
        status = contradiction(config, "ice.tilt_outside", "ice.tilt", error,
                               "is for a tilt, and ice.tilt is false");
    if (!config->ice.birefringence &&
        (subtraction == IS_SUBTRACTION_CONSTANT || subtraction == IS_SUBTRACTION_SCALED))
        status = contradiction(config, "ice.birefringence_subtraction", "ice.birefringence", error,
                               "found %s, and ice.birefringence is false: nothing is subtracted",
                               subtractions(NULL, subtraction));
    if (config->detector.angular_count > 0 &&
        strcmp(config->detector.angular_acceptance, "auto") != 0)
        status =
            contradiction(config, "detector.angular_polynomial", "detector.angular_acceptance",
                          error, "stands instead of detector.angular_acceptance, which is given");
    if (config->detector.jitter && !config->detector.layout)
        status = contradiction(config, "detector.jitter", "detector.file", error,
                               "is for layout: hex86, and detector.file is given");
    if (config->detector.dense && !config->detector.layout)
        status = contradiction(config, "detector.dense", "detector.file", error,
                               "is for layout: hex86, and detector.file is given");
    return status;
}

const char *is_config_gpu_key(const is_config *config, size_t k)
{
    const struct {
        const char *path;
        bool used;
    } keys[] = {
        {"device.index", config->device.index_count != 1 || config->device.index[0] != 0},
        {"device.math", config->device.math == IS_MATH_FAST},
        {"device.memory_limit", config->device.memory_limit != 0},
        {"device.watchdog", config->device.watchdog != 30},
        {"graph.lanes", config->graph.lanes != 0},
        {"graph.block", config->graph.block != 0},
        {"graph.refill", config->graph.refill != 0},
        {"graph.hits", config->graph.hits != 0},
        {"graph.compact.sort", config->graph.compact.sort != IS_SORT_NONE},
        {"graph.compact.when", config->graph.compact.when != IS_COMPACT_TAIL},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
        if (keys[i].used && k-- == 0)
            return keys[i].path;
    return NULL;
}

/* What only a GPU has, where the CPU is asked for. Where the backend is auto, who finds out that
 * there is no GPU says the same. */
static int check_graph(const is_config *config, is_error *error)
{
    int status = IS_OK;
    /* The CPU has no fast maths, and nobody shall get hits of both without having asked for it. */
    if (config->device.backend == IS_BACKEND_CUDA_CPU && config->device.math != IS_MATH_PORTABLE)
        status = contradiction(config, "device.backend", "device.math", error,
                               "cuda+cpu needs device.math: portable, with which both compute the "
                               "same hits; found %s",
                               maths(NULL, config->device.math));
    if (config->device.backend != IS_BACKEND_CPU)
        return status;
    if (!is_schedule_on_cpu(config->graph.schedule))
        status = contradiction(config, "graph.schedule", "device.backend", error,
                               "'%s' needs a GPU, and device.backend is cpu",
                               is_schedule_name(config->graph.schedule));
    if (config->device.fallback != IS_FALLBACK_NONE)
        status = contradiction(config, "device.fallback", "device.backend", error,
                               "is for a GPU, and device.backend is cpu");
    const char *key;
    for (size_t k = 0; (key = is_config_gpu_key(config, k)) != NULL; ++k)
        status = contradiction(config, key, "device.backend", error,
                               "this value is for a GPU, and device.backend is cpu");
    return status;
}

/* A key that would be ignored without a word is one that its writer has misunderstood. */
static int check_workload(const is_config *config, is_error *error)
{
    bool is_point = config->workload.kind == IS_WORKLOAD_POINT;
    const double *position = config->workload.position;
    const struct {
        const char *key;
        bool used;
    } point_only[] = {
        {"workload.position", position[0] != 0 || position[1] != 0 || position[2] != 0},
        {"workload.time", config->workload.time != 0},
        {"workload.direction", !config->workload.isotropic},
        {"workload.surface_radius", config->workload.surface_radius != 0},
        {"workload.spectrum", config->workload.spectrum != 0},
    };
    int status = IS_OK;
    for (size_t i = 0; i < sizeof point_only / sizeof *point_only && !is_point; ++i)
        if (point_only[i].used)
            status = contradiction(config, point_only[i].key, "workload.kind", error,
                                   "is for workload.kind: point, and the kind is %s",
                                   workloads(NULL, config->workload.kind));
    if (is_point && config->workload.surface_radius != 0 && !config->workload.isotropic)
        status = contradiction(config, "workload.surface_radius", "workload.direction", error,
                               "is for isotropic light, and workload.direction is a vector");
    size_t end = IS_CONFIG_FIRST_SPECTRUM + config->light.spectrum_count;
    if (config->workload.spectrum >= end)
        status = contradiction(config, "workload.spectrum", "light.spectra", error,
                               "found %u, expected at most %zu: light.spectra has %zu entries, "
                               "numbered from %d",
                               config->workload.spectrum, end - 1, config->light.spectrum_count,
                               IS_CONFIG_FIRST_SPECTRUM);
    return status;
}

static int check_particles(const is_config *config, is_error *error)
{
    const struct {
        const char *key;
        bool used;
    } keys[] = {
        {"particles.format", config->particles.format != IS_PARTICLES_AUTO},
        {"particles.events", config->particles.events != IS_EVENTS_FILE},
        {"particles.losses", config->particles.losses},
        {"particles.stopping", config->particles.stopping},
    };
    int status = IS_OK;
    if (config->particles.file && config->particles.count > 0)
        return contradiction(config, "particles.file", "particles.list", error,
                             "stands instead of particles.list, which is given");
    if (config->particles.file || config->particles.count > 0)
        return IS_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
        if (keys[i].used)
            status = contradiction(config, keys[i].key, "particles.file", error,
                                   "is for particles.file or particles.list, of which none is "
                                   "given");
    return status;
}

static int check(const is_config *config, is_error *error)
{
    int (*const checks[])(const is_config *, is_error *) = {
        check_source, check_source_keys, check_sink,     check_models,
        check_graph,  check_workload,    check_particles};
    int status = IS_OK;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        int result = checks[i](config, error);
        status = status ? status : result;
    }
    return status;
}

/* ---- loading -------------------------------------------------------------------------------- */

static int out_of_memory(is_error *error)
{
    is_error_set(error, IS_E_MEMORY, "configuration: out of memory");
    return IS_E_MEMORY;
}

static int create(const char *path, size_t set_count, is_config **out, is_error *error)
{
    is_config *config = calloc(1, sizeof *config);
    is_config_origin *origin = calloc(1, sizeof *origin);
    is_yaml **documents = calloc(set_count + 1, sizeof(void *));
    char *copy = path ? strdup(path) : NULL;
    if (!config || !origin || !documents || (path && !copy)) {
        free(config);
        free(origin);
        free(documents);
        free(copy);
        return out_of_memory(error);
    }
    origin->documents = documents;
    config->origin = origin;
    config->path = copy;
    int status = is_schema_defaults(fields, FIELDS, config, error);
    if (status != IS_OK) {
        is_config_destroy(config);
        return status;
    }
    *out = config;
    return IS_OK;
}

void is_config_destroy(is_config *config)
{
    if (!config)
        return;
    is_schema_clear(fields, FIELDS, config);
    for (size_t i = 0; i < config->origin->count; ++i)
        is_yaml_destroy(config->origin->documents[i]);
    free(config->origin->documents);
    free(config->origin);
    free(config->path);
    free(config);
}

/* Applies "path=value". The document is kept for its places. */
static int apply_set(is_config *config, const char *set, is_error *error)
{
    const char *equals = strchr(set, '=');
    if (!equals || equals == set)
        return is_error_add(error, IS_E_CONFIG,
                            "--set %s: error: expected path=value, as in graph.schedule=fused",
                            set);
    char *name = NULL, *key = strndup(set, (size_t)(equals - set));
    if (!key || asprintf(&name, "--set %s", set) < 0) {
        free(key);
        return out_of_memory(error);
    }
    is_config_origin *origin = config->origin;
    is_yaml *document = NULL;
    int status = is_yaml_read_value(name, equals + 1, &document, error);
    if (status == IS_OK) {
        origin->documents[origin->count++] = document;
        status = is_schema_set(key, is_yaml_root(document), fields, FIELDS, config, origin->given,
                               error);
    }
    size_t i = is_schema_find(key, fields, FIELDS);
    if (i < FIELDS)
        origin->refused[i] = status != IS_OK;
    free(name);
    free(key);
    return status;
}

/* The value of a path in a document, or NULL. */
static const is_yaml_node *value_at(const is_yaml_node *node, const char *path)
{
    while (node && *path) {
        char key[64];
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        node = is_yaml_find(node, key);
        path += length + (path[length] == '.');
    }
    return node;
}

/* Reads a document that belongs to the configuration from now on, then the overrides. */
static int fill(is_config *config, is_yaml *document, const char *const *sets, size_t set_count,
                is_error *error)
{
    int status = IS_OK;
    is_config_origin *origin = config->origin;
    if (document) {
        origin->documents[origin->count++] = document;
        status =
            is_schema_read(is_yaml_root(document), fields, FIELDS, config, origin->given, error);
    }
    for (size_t i = 0; i < FIELDS && document; ++i)
        origin->refused[i] = !origin->given[i] && value_at(is_yaml_root(document), fields[i].path);
    for (size_t i = 0; i < set_count; ++i) {
        int result = apply_set(config, sets[i], error);
        status = status ? status : result;
    }
    int result = check(config, error);
    return status ? status : result;
}

/* Takes over the document, which may be NULL. */
static int load(const char *path, is_yaml *document, const char *const *sets, size_t set_count,
                is_config **out, is_error *error)
{
    is_config *config = NULL;
    int status = create(path, set_count, &config, error);
    if (status != IS_OK) {
        is_yaml_destroy(document);
        return status;
    }
    status = fill(config, document, sets, set_count, error);
    if (status != IS_OK)
        is_config_destroy(config);
    else
        *out = config;
    return status;
}

/* Errors are added one by one, to nothing at first. */
static void clear_error(is_error *error)
{
    if (error) {
        error->status = IS_OK;
        error->text[0] = 0;
    }
}

int is_config_load(const char *path, const char *const *sets, size_t set_count, is_config **out,
                   is_error *error)
{
    is_yaml *document = NULL;
    *out = NULL;
    clear_error(error);
    int status = path ? is_yaml_read_file(path, &document, error) : IS_OK;
    return status == IS_OK ? load(path, document, sets, set_count, out, error) : status;
}

int is_config_load_text(const char *name, const char *text, size_t length, const char *const *sets,
                        size_t set_count, is_config **out, is_error *error)
{
    is_yaml *document = NULL;
    *out = NULL;
    clear_error(error);
    int status = is_yaml_read_text(name, text, length, &document, error);
    return status == IS_OK ? load(name, document, sets, set_count, out, error) : status;
}

/* ---- printing ------------------------------------------------------------------------------- */

int is_config_print(const is_config *config, FILE *out, is_error *error)
{
    is_schema_print(fields, FIELDS, config, out);
    if (fflush(out) != 0 || ferror(out))
        return is_error_set(error, IS_E_OUTPUT, "cannot write the configuration");
    return IS_OK;
}

void is_config_document(FILE *out)
{
    is_schema_document(fields, FIELDS, out);
}
