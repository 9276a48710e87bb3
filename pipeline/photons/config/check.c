/* Keys of a run file that are valid alone but do not fit together: contradictions, and keys that
 * would have no effect. */
#include "base/url.h"
#include "pipeline/photons/config/faults.h"
#include "pipeline/photons/config/fields.h"
#include "pipeline/photons/config/histograms.h"
#include "pipeline/photons/config/hit_name.h"
#include "pipeline/photons/config/keys.h"
#include "pipeline/photons/config/pattern_outputs.h"
#include "pipeline/photons/config/table.h"
#include "pipeline/photons/config/waveforms.h"

#include <math.h>
#include <string.h>

/* A contradiction whose text is the same whatever the values are. */
typedef struct rule {
    bool is_broken;
    const char *key, *other, *text;
} rule;

static int check_rules(const icestream_config *config, const rule *rules, size_t count,
                       icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < count; ++i) {
        if (rules[i].is_broken) {
            status =
                ics_config_fault(config, rules[i].key, rules[i].other, error, "%s", rules[i].text);
        }
    }
    return status;
}

static int check_source(const icestream_config *config, icestream_error *error)
{
    size_t inputs = 0;
    for (size_t i = 0; i < config->source.count; ++i) {
        inputs += strcmp(config->source.files[i], "-") == 0;
    }
    if (inputs > 1) {
        return ics_config_fault(config, "source.files", "source.files", error,
                                "found \"-\" %zu times, standard input can be read only once",
                                inputs);
    }
    return ICESTREAM_OK;
}

/* Kinds of sources. Messages of clients are claimed, too. */
enum { DIRECTORY = 1, LISTEN = 2, QUEUE = 4 };

static const char *const kind_texts[] = {
    [DIRECTORY] = "source.directory, which is not given",
    [LISTEN] = "source.listen, which is not given",
    [QUEUE] = "source.queue, which is not given",
    [DIRECTORY | QUEUE] = "source.directory or source.queue, and neither is given",
    [DIRECTORY | LISTEN | QUEUE] =
        "source.directory, source.listen or source.queue, and none of them is given"};

/* Keys that belong to some kinds of source or to a listener, without them. */
static int check_source_keys(const icestream_config *config, icestream_error *error)
{
    static const struct {
        const char *key;
        unsigned kinds;
    } keys[] = {{"source.pattern", DIRECTORY},
                {"source.watch", DIRECTORY | QUEUE},
                {"source.after", DIRECTORY},
                {"source.spool", DIRECTORY},
                {"source.worker", DIRECTORY | QUEUE},
                {"source.claims", DIRECTORY | LISTEN | QUEUE},
                {"source.scan", DIRECTORY | LISTEN | QUEUE},
                {"source.lease", DIRECTORY | LISTEN | QUEUE},
                {"source.token", LISTEN},
                {"source.clients", LISTEN},
                {"source.client_idle", LISTEN},
                {"source.message_limit", LISTEN},
                {"source.photon_limit", LISTEN},
                {"source.queue_password", QUEUE},
                {"source.queue_ca", QUEUE},
                {"source.queue_files", QUEUE},
                {"source.allow", QUEUE},
                {"source.attempts", QUEUE}};
    const unsigned given = (config->source.directory != NULL ? DIRECTORY : 0U) |
                           (config->source.listen != NULL ? LISTEN : 0U) |
                           (config->source.queue != NULL ? QUEUE : 0U);
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        if (ics_config_is_changed(config, keys[i].key) && (given & keys[i].kinds) == 0) {
            status = ics_config_fault(config, keys[i].key,
                                      keys[i].kinds == LISTEN ? "source.listen" : "source.files",
                                      error, "is for %s", kind_texts[keys[i].kinds]);
        }
    }
    const rule rules[] = {
        {config->source.queue != NULL && ics_url_has_password(config->source.queue), "source.queue",
         "source.queue",
         "found a password in the address, which would be shown and stored, expected it in the "
         "file of source.queue_password or in the environment variable ICESTREAM_QUEUE_PASSWORD"},
        {ics_config_is_changed(config, "metrics.token") && config->metrics.listen == NULL,
         "metrics.token", "metrics.listen", "is for metrics.listen, which is not given"}};
    const int fault = check_rules(config, rules, sizeof rules / sizeof *rules, error);
    return status ? status : fault;
}

/* Claimed files and messages of clients have no end. What killed workers leave next to their hit
 * files is found by the ending of the name. */
static int check_hit_name(const icestream_config *config, icestream_error *error)
{
    const char *name = config->sink.name, *fault = ics_hit_name_fault(name);
    const bool claims = config->source.directory != NULL || config->source.listen != NULL ||
                        config->source.queue != NULL;
    const size_t length = strlen(name), ending = sizeof ".hits.npy" - 1;
    if (fault != NULL) {
        return ics_config_fault(config, "sink.name", "sink.name", error, "found '%.200s', %s", name,
                                fault);
    }
    if (claims && (!ics_hit_name_has_stem(name) || length < ending ||
                   strcmp(name + length - ending, ".hits.npy") != 0)) {
        return ics_config_fault(
            config, "sink.name", "source.directory", error,
            "found '%.200s', expected a name with {stem} that ends in .hits.npy, "
            "because step files are claimed (source.directory, source.listen, "
            "source.queue)",
            name);
    }
    if (ics_config_is_changed(config, "sink.name") && strcmp(config->sink.directory, "-") == 0) {
        return ics_config_fault(config, "sink.name", "sink.directory", error,
                                "is for files, and sink.directory is \"-\"");
    }
    return ICESTREAM_OK;
}

static bool has_word(const ics_user_words *program, const char *place)
{
    for (size_t i = 0; i < program->count; ++i) {
        if (strstr(program->words[i], place) != NULL) {
            return true;
        }
    }
    return false;
}

/* A URL that may carry a secret does not go to a command line. */
static int check_url(const icestream_config *config, icestream_error *error)
{
    const char *url = config->sink.url, *fault = url != NULL ? ics_url_fault(url) : NULL;
    char shown[ICS_URL_MOST + 1];
    if (url == NULL) {
        return ICESTREAM_OK;
    }
    if (fault != NULL) {
        return ics_config_fault(config, "sink.url", "sink.url", error, "%s", fault);
    }
    const char *left = strchr(url, '{');
    while (left != NULL && strncmp(left, "{name}", 6) == 0) {
        left = strchr(left + 1, '{');
    }
    if (left != NULL ||
        (ics_hit_name_has_stem(config->sink.name) && strstr(url, "{name}") == NULL)) {
        return ics_config_fault(
            config, "sink.url", "sink.name", error,
            "found '%.300s', expected {name}, which stands for the name of the hit "
            "file, and no other braces",
            ics_url_shown(url, shown));
    }
    if (config->sink.ship_count == 0 && !ics_url_is_moved(url)) {
        return ics_config_fault(config, "sink.url", "sink.ship", error,
                                "found '%.300s', expected " ICS_URL_MOVED
                                ", or a program in sink.ship, " ICS_URL_RECIPE,
                                ics_url_shown(url, shown));
    }
    for (ics_user_program program = 0; program < ICS_PROGRAM_COMMAND; ++program) {
        const ics_user_words given = ics_config_program(config, program);
        if (ics_url_may_be_secret(url) && has_word(&given, "{url}")) {
            return ics_config_fault(
                config, given.key, "sink.url", error,
                "found {url}, and sink.url has a user or a query, which may be a "
                "secret: everybody can read command lines; expected a program "
                "that reads the URL from the variable ICESTREAM_URL");
        }
    }
    return ICESTREAM_OK;
}

static int check_programs(const icestream_config *config, icestream_error *error)
{
    static const ics_user_program moving[] = {ICS_PROGRAM_SHIP, ICS_PROGRAM_FETCH};
    for (size_t i = 0; i < sizeof moving / sizeof *moving; ++i) {
        const ics_user_words given = ics_config_program(config, moving[i]);
        if (given.count > 0 && !has_word(&given, "{path}") && !has_word(&given, "ICESTREAM_PATH")) {
            return ics_config_fault(
                config, given.key, given.key, error,
                "found no {path} in its words, expected it where the program takes "
                "the name of the file");
        }
    }
    const ics_user_words ship = ics_config_program(config, ICS_PROGRAM_SHIP);
    if (has_word(&ship, "{url}") && config->sink.url == NULL) {
        return ics_config_fault(config, "sink.ship", "sink.url", error,
                                "found {url}, and sink.url is not given");
    }
    if (config->sink.verify_count > 0 && !ics_config_ships(config)) {
        return ics_config_fault(config, "sink.verify", "sink.ship", error,
                                "is for sink.ship or sink.url, and neither is given");
    }
    if (ics_config_ships(config) && strcmp(config->sink.directory, "-") == 0) {
        return ics_config_fault(config, ship.count > 0 ? "sink.ship" : "sink.url", "sink.directory",
                                error, "is for files, and sink.directory is \"-\"");
    }
    return check_url(config, error);
}

static int check_sink(const icestream_config *config, icestream_error *error)
{
    if (config->sink.hits > ICS_CONTENT_PHOTONS && config->sink.hits != ICS_CONTENT_WAVEFORMS &&
        strcmp(config->stages.detect, "none") == 0) {
        return ics_config_fault(config, "sink.hits", "stages.detect", error,
                                "'%s' needs stages.detect: pe, and it is none",
                                ics_config_choice("sink.hits", config->sink.hits));
    }
    char name[NAME_MAX + 1];
    if (config->source.directory != NULL &&
        ics_pattern_fits_outputs(config->source.pattern, config->sink.name, name) &&
        ics_pattern_same_folder(config->source.directory, config->sink.directory)) {
        return ics_config_fault(
            config, "source.pattern", "sink.directory", error,
            "found '%s', which fits outputs such as %s, and sink.directory is the "
            "folder of the step files, %s; expected a pattern that fits step "
            "files only, such as *.steps.npy, or another sink.directory",
            config->source.pattern, name, config->source.directory);
    }
    /* A quarantined file keeps its name, so it would be claimed again and again. */
    if (config->source.directory != NULL && config->sink.quarantine != NULL &&
        ics_pattern_same_folder(config->source.directory, config->sink.quarantine)) {
        return ics_config_fault(config, "sink.quarantine", "source.directory", error,
                                "found %s, which is the folder of the step files, expected another "
                                "folder",
                                config->sink.quarantine);
    }
    return ICESTREAM_OK;
}

/* Whether a key has a value that the key `of` makes useless, unless --set gave the value of `of`.
 */
static bool is_useless(const icestream_config *config, const char *key, const char *of)
{
    return ics_config_is_changed(config, key) && !ics_config_is_overridden(config, key, of);
}

static int check_models(const icestream_config *config, icestream_error *error)
{
    static const char *const of_tilt = "is for a tilt, and ice.tilt is false";
    static const char *const of_layout = "is for layout: hex86, and detector.file is given";
    const bool has_file = config->detector.layout == NULL;
    const rule rules[] = {
        {!config->ice.tilt && is_useless(config, "ice.tilt_origin", "ice.tilt"), "ice.tilt_origin",
         "ice.tilt", of_tilt},
        {!config->ice.tilt && is_useless(config, "ice.tilt_outside", "ice.tilt"),
         "ice.tilt_outside", "ice.tilt", of_tilt},
        {config->detector.string_cables != ICS_CABLES_SIDE &&
             is_useless(config, "detector.string_cable_azimuth", "detector.string_cables"),
         "detector.string_cable_azimuth", "detector.string_cables",
         "is for detector.string_cables: side, which is not given"},
        {config->detector.angular_count > 0 &&
             strcmp(config->detector.angular_acceptance, "auto") != 0,
         "detector.angular_polynomial", "detector.angular_acceptance",
         "replaces detector.angular_acceptance, which is given, too"},
        {config->detector.jitter && has_file, "detector.jitter", "detector.file", of_layout},
        {config->detector.dense && has_file, "detector.dense", "detector.file", of_layout}};
    const ics_subtraction subtraction = config->ice.birefringence_subtraction;
    int status = check_rules(config, rules, sizeof rules / sizeof *rules, error);
    if (config->ice.absorb_above <= config->ice.absorb_below) {
        status = ics_config_fault(config, "ice.absorb_above", "ice.absorb_below", error,
                                  "found %g m, expected it above ice.absorb_below, %g m",
                                  config->ice.absorb_above, config->ice.absorb_below);
    }
    if (!config->ice.birefringence &&
        (subtraction == ICS_SUBTRACTION_CONSTANT || subtraction == ICS_SUBTRACTION_SCALED) &&
        !ics_config_is_overridden(config, "ice.birefringence_subtraction", "ice.birefringence")) {
        status =
            ics_config_fault(config, "ice.birefringence_subtraction", "ice.birefringence", error,
                             "found %s, and ice.birefringence is false: nothing is subtracted",
                             ics_config_choice("ice.birefringence_subtraction", subtraction));
    }
    return status;
}

const char *ics_config_gpu_key(const icestream_config *config, size_t k)
{
    static const char *const keys[] = {
        "device.index", "device.math", "device.memory_limit", "device.watchdog",
        "graph.lanes",  "graph.block", "graph.tune",          "graph.join",
        "graph.refill", "graph.hits",  "graph.compact.sort",  "graph.compact.when"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        /* Portable maths is what a CPU computes. */
        const bool is_math = strcmp(keys[i], "device.math") == 0;
        const bool needs_gpu =
            is_math ? config->device.math == ICS_MATH_FAST : ics_config_is_changed(config, keys[i]);
        if (needs_gpu && k-- == 0) {
            return keys[i];
        }
    }
    return NULL;
}

/* Rejects keys for a GPU if device.backend is cpu. If it is auto, a configuration may serve
 * machines with and without a GPU: the CPU does not use these keys, and commands say so. */
static int check_graph(const icestream_config *config, icestream_error *error)
{
    int status = ICESTREAM_OK;
    /* The CPU has no fast maths, and hits of both maths must not be mixed without a request. */
    if (config->device.backend == ICS_BACKEND_CUDA_CPU &&
        config->device.math != ICS_MATH_PORTABLE) {
        status =
            ics_config_fault(config, "device.backend", "device.math", error,
                             "cuda+cpu needs device.math: portable, with which both compute the "
                             "same hits; found %s",
                             ics_config_choice("device.math", config->device.math));
    }
    if (config->graph.join && config->graph.schedule != ICS_SCHEDULE_WAVEFRONT) {
        status = ics_config_fault(config, "graph.join", "graph.schedule", error,
                                  "is for graph.schedule: wavefront, and the schedule is %s",
                                  ics_graph_schedule_name(config->graph.schedule));
    }
    char reason[384];
    if (!ics_config_tune_fits(config, reason, sizeof reason)) {
        status = ics_config_fault(config, "graph.tune", "graph.block", error, "%s", reason);
    }
    if (config->device.backend != ICS_BACKEND_CPU) {
        return status;
    }
    if (!ics_graph_schedule_on_cpu(config->graph.schedule)) {
        status = ics_config_fault(config, "graph.schedule", "device.backend", error,
                                  "'%s' needs a GPU, and device.backend is cpu",
                                  ics_graph_schedule_name(config->graph.schedule));
    }
    if (config->device.fallback != ICS_FALLBACK_NONE) {
        status = ics_config_fault(config, "device.fallback", "device.backend", error,
                                  "is for a GPU, and device.backend is cpu");
    }
    const char *key;
    for (size_t k = 0; (key = ics_config_gpu_key(config, k)) != NULL; ++k) {
        status = ics_config_fault(config, key, "device.backend", error,
                                  "this value is for a GPU, and device.backend is cpu");
    }
    return status;
}

/* Rejects keys that would have no effect: the user expects one. */
static int check_workload(const icestream_config *config, icestream_error *error)
{
    bool is_point = config->workload.kind == ICS_WORKLOAD_POINT;
    static const char *const point_only[] = {"workload.position", "workload.time",
                                             "workload.direction", "workload.surface_radius",
                                             "workload.spectrum"};
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < sizeof point_only / sizeof *point_only && !is_point; ++i) {
        if (ics_config_is_changed(config, point_only[i])) {
            status = ics_config_fault(config, point_only[i], "workload.kind", error,
                                      "is for workload.kind: point, and the kind is %s",
                                      ics_config_choice("workload.kind", config->workload.kind));
        }
    }
    if (is_point && config->workload.surface_radius != 0 && !config->workload.isotropic) {
        status = ics_config_fault(config, "workload.surface_radius", "workload.direction", error,
                                  "is for isotropic light, and workload.direction is a vector");
    }
    size_t end = ICS_CONFIG_FIRST_SPECTRUM + config->light.spectrum_count;
    if (config->workload.spectrum >= end) {
        status = ics_config_fault(config, "workload.spectrum", "light.spectra", error,
                                  "found %u, expected at most %zu: light.spectra has %zu entries, "
                                  "numbered from %d",
                                  config->workload.spectrum, end - 1, config->light.spectrum_count,
                                  ICS_CONFIG_FIRST_SPECTRUM);
    }
    return status;
}

static int check_particles(const icestream_config *config, icestream_error *error)
{
    static const char *const keys[] = {
        "particles.format", "particles.events",   "particles.first_event", "particles.losses",
        "particles.decays", "particles.stopping", "particles.cascades",    "particles.pulse"};
    if (config->particles.file != NULL && strcmp(config->particles.file, "-") == 0 &&
        config->particles.format == ICS_PARTICLES_YAML) {
        return ics_config_fault(
            config, "particles.format", "particles.file", error,
            "is yaml for particles.file: '-' (standard input), and a YAML list is "
            "no stream; expected f2k or csv, or the name of a file");
    }
    return ics_config_has_particles(config)
               ? ICESTREAM_OK
               : ics_config_refuse_keys(config, keys, sizeof keys / sizeof *keys, "particles.file",
                                        error,
                                        "is for particles.file or particles.list, and neither is "
                                        "given");
}

int ics_config_check(const icestream_config *config, icestream_error *error)
{
    int (*const checks[])(const icestream_config *,
                          icestream_error *) = {check_source,
                                                check_source_keys,
                                                check_hit_name,
                                                check_programs,
                                                check_sink,
                                                check_models,
                                                check_graph,
                                                check_workload,
                                                check_particles,
                                                ics_config_table_check,
                                                ics_config_histograms_check,
                                                ics_config_waveforms_check};
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        int result = checks[i](config, error);
        status = status ? status : result;
    }
    return status;
}
