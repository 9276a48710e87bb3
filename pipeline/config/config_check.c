/* Keys of a run file that are valid alone but do not fit together: contradictions, and keys that
 * would have no effect. */
#include "pipeline/config/config_fields.h"
#include "pipeline/config/config_keys.h"
#include "pipeline/config/pattern_outputs.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* Adds an error about `key`, which contradicts `other`, with the place where `key` was given. Adds
 * nothing if the value of one of them was refused: then a default stands in its place, and the user
 * wrote no contradiction. 0, ICESTREAM_E_CONFIG. */
static int contradiction(const icestream_config *config, const char *key, const char *other,
                         icestream_error *error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static int contradiction(const icestream_config *config, const char *key, const char *other,
                         icestream_error *error, const char *format, ...)
{
    size_t i = ics_schema_find(key, ics_config_keys, ics_config_key_count);
    const bool *refused = config->origin->refused;
    if (refused[i] || refused[ics_schema_find(other, ics_config_keys, ics_config_key_count)]) {
        return ICESTREAM_OK;
    }
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const ics_yaml_node *node = config->origin->given[i];
    if (node != NULL) {
        return ics_yaml_error(error, node, "%s: %s", key, message);
    }
    ics_error_add(error, ICESTREAM_E_CONFIG, "default: error: %s: %s", key, message);
    return ICESTREAM_E_CONFIG;
}

/* Whether the value of a key is not the default. */
static bool is_changed(const icestream_config *config, const char *key)
{
    return config->origin->changed[ics_schema_find(key, ics_config_keys, ics_config_key_count)];
}

/* Whether `--set` switches off what a key of the run file belongs to. The key then stays without an
 * effect, because the file had the feature on. */
static bool is_overridden(const icestream_config *config, const char *key, const char *off)
{
    const ics_yaml_node *const *given = config->origin->given;
    const ics_yaml_node *of_key =
        given[ics_schema_find(key, ics_config_keys, ics_config_key_count)];
    const ics_yaml_node *of_switch =
        given[ics_schema_find(off, ics_config_keys, ics_config_key_count)];
    return of_key != NULL && of_switch != NULL && of_key->line > 0 && of_switch->line == 0;
}

static int check_source(const icestream_config *config, icestream_error *error)
{
    size_t inputs = 0;
    for (size_t i = 0; i < config->source.count; ++i) {
        inputs += strcmp(config->source.files[i], "-") == 0;
    }
    if (inputs > 1) {
        return contradiction(config, "source.files", "source.files", error,
                             "found \"-\" %zu times, standard input can be read only once", inputs);
    }
    return ICESTREAM_OK;
}

/* Keys that belong to one kind of source, without such a source. */
static int check_source_keys(const icestream_config *config, icestream_error *error)
{
    static const char *const claimed_only[] = {"source.pattern", "source.watch",  "source.after",
                                               "source.spool",   "source.worker", "source.claims"};
    static const char *const clients_only[] = {"source.token", "source.clients",
                                               "source.client_idle", "source.message_limit"};
    /* Messages of clients are claimed, too. */
    static const char *const claims_only[] = {"source.scan", "source.lease"};
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < sizeof claims_only / sizeof *claims_only; ++i) {
        if (is_changed(config, claims_only[i]) && config->source.directory == NULL &&
            config->source.listen == NULL) {
            status = contradiction(config, claims_only[i], "source.files", error,
                                   "is for source.directory or source.listen, and neither is "
                                   "given");
        }
    }
    for (size_t i = 0; i < sizeof claimed_only / sizeof *claimed_only; ++i) {
        if (is_changed(config, claimed_only[i]) && config->source.directory == NULL) {
            status = contradiction(config, claimed_only[i], "source.files", error,
                                   "is for source.directory, which is not given");
        }
    }
    for (size_t i = 0; i < sizeof clients_only / sizeof *clients_only; ++i) {
        if (is_changed(config, clients_only[i]) && config->source.listen == NULL) {
            status = contradiction(config, clients_only[i], "source.listen", error,
                                   "is for source.listen, which is not given");
        }
    }
    return status;
}

static int check_sink(const icestream_config *config, icestream_error *error)
{
    if (config->sink.hits > ICS_CONTENT_PHOTONS && strcmp(config->stages.detect, "none") == 0) {
        return contradiction(config, "sink.hits", "stages.detect", error,
                             "'%s' needs stages.detect: pe, and it is none",
                             ics_config_choice("sink.hits", config->sink.hits));
    }
    if (config->sink.rotate != 0 && strcmp(config->sink.directory, "-") == 0) {
        return contradiction(config, "sink.rotate", "sink.directory", error,
                             "is for files, and sink.directory is \"-\"");
    }
    char name[NAME_MAX + 1];
    if (config->source.directory != NULL &&
        ics_pattern_fits_outputs(config->source.pattern, name) &&
        ics_pattern_same_folder(config->source.directory, config->sink.directory)) {
        return contradiction(config, "source.pattern", "sink.directory", error,
                             "found '%s', which fits outputs such as %s, and sink.directory is the "
                             "folder of the step files, %s; expected a pattern that fits step "
                             "files only, such as *.steps.npy, or another sink.directory",
                             config->source.pattern, name, config->source.directory);
    }
    /* A quarantined file keeps its name, so it would be claimed again and again. */
    if (config->source.directory != NULL && config->sink.quarantine != NULL &&
        ics_pattern_same_folder(config->source.directory, config->sink.quarantine)) {
        return contradiction(config, "sink.quarantine", "source.directory", error,
                             "found %s, which is the folder of the step files, expected another "
                             "folder",
                             config->sink.quarantine);
    }
    return ICESTREAM_OK;
}

static int check_models(const icestream_config *config, icestream_error *error)
{
    int status = ICESTREAM_OK;
    if (config->ice.absorb_above <= config->ice.absorb_below) {
        status = contradiction(config, "ice.absorb_above", "ice.absorb_below", error,
                               "found %g m, expected it above ice.absorb_below, %g m",
                               config->ice.absorb_above, config->ice.absorb_below);
    }
    const ics_subtraction subtraction = config->ice.birefringence_subtraction;
    if (!config->ice.tilt && is_changed(config, "ice.tilt_origin") &&
        !is_overridden(config, "ice.tilt_origin", "ice.tilt")) {
        status = contradiction(config, "ice.tilt_origin", "ice.tilt", error,
                               "is for a tilt, and ice.tilt is false");
    }
    if (!config->ice.tilt && is_changed(config, "ice.tilt_outside") &&
        !is_overridden(config, "ice.tilt_outside", "ice.tilt")) {
        status = contradiction(config, "ice.tilt_outside", "ice.tilt", error,
                               "is for a tilt, and ice.tilt is false");
    }
    if (!config->ice.birefringence &&
        (subtraction == ICS_SUBTRACTION_CONSTANT || subtraction == ICS_SUBTRACTION_SCALED) &&
        !is_overridden(config, "ice.birefringence_subtraction", "ice.birefringence")) {
        status = contradiction(config, "ice.birefringence_subtraction", "ice.birefringence", error,
                               "found %s, and ice.birefringence is false: nothing is subtracted",
                               ics_config_choice("ice.birefringence_subtraction", subtraction));
    }
    if (config->detector.angular_count > 0 &&
        strcmp(config->detector.angular_acceptance, "auto") != 0) {
        status = contradiction(config, "detector.angular_polynomial", "detector.angular_acceptance",
                               error, "replaces detector.angular_acceptance, which is given, too");
    }
    if (config->detector.jitter && config->detector.layout == NULL) {
        status = contradiction(config, "detector.jitter", "detector.file", error,
                               "is for layout: hex86, and detector.file is given");
    }
    if (config->detector.dense && config->detector.layout == NULL) {
        status = contradiction(config, "detector.dense", "detector.file", error,
                               "is for layout: hex86, and detector.file is given");
    }
    return status;
}

const char *ics_config_gpu_key(const icestream_config *config, size_t k)
{
    static const char *const keys[] = {"device.index",      "device.math", "device.memory_limit",
                                       "device.watchdog",   "graph.lanes", "graph.block",
                                       "graph.refill",      "graph.hits",  "graph.compact.sort",
                                       "graph.compact.when"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        /* Portable maths is what a CPU computes. */
        const bool is_math = strcmp(keys[i], "device.math") == 0;
        const bool needs_gpu =
            is_math ? config->device.math == ICS_MATH_FAST : is_changed(config, keys[i]);
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
        status = contradiction(config, "device.backend", "device.math", error,
                               "cuda+cpu needs device.math: portable, with which both compute the "
                               "same hits; found %s",
                               ics_config_choice("device.math", config->device.math));
    }
    if (config->device.backend != ICS_BACKEND_CPU) {
        return status;
    }
    if (!ics_graph_schedule_on_cpu(config->graph.schedule)) {
        status = contradiction(config, "graph.schedule", "device.backend", error,
                               "'%s' needs a GPU, and device.backend is cpu",
                               ics_graph_schedule_name(config->graph.schedule));
    }
    if (config->device.fallback != ICS_FALLBACK_NONE) {
        status = contradiction(config, "device.fallback", "device.backend", error,
                               "is for a GPU, and device.backend is cpu");
    }
    const char *key;
    for (size_t k = 0; (key = ics_config_gpu_key(config, k)) != NULL; ++k) {
        status = contradiction(config, key, "device.backend", error,
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
        if (is_changed(config, point_only[i])) {
            status = contradiction(config, point_only[i], "workload.kind", error,
                                   "is for workload.kind: point, and the kind is %s",
                                   ics_config_choice("workload.kind", config->workload.kind));
        }
    }
    if (is_point && config->workload.surface_radius != 0 && !config->workload.isotropic) {
        status = contradiction(config, "workload.surface_radius", "workload.direction", error,
                               "is for isotropic light, and workload.direction is a vector");
    }
    size_t end = ICS_CONFIG_FIRST_SPECTRUM + config->light.spectrum_count;
    if (config->workload.spectrum >= end) {
        status = contradiction(config, "workload.spectrum", "light.spectra", error,
                               "found %u, expected at most %zu: light.spectra has %zu entries, "
                               "numbered from %d",
                               config->workload.spectrum, end - 1, config->light.spectrum_count,
                               ICS_CONFIG_FIRST_SPECTRUM);
    }
    return status;
}

static int check_particles(const icestream_config *config, icestream_error *error)
{
    static const char *const keys[] = {"particles.format", "particles.events",
                                       "particles.first_event", "particles.losses",
                                       "particles.stopping"};
    int status = ICESTREAM_OK;
    if (config->particles.file != NULL && strcmp(config->particles.file, "-") == 0 &&
        config->particles.format == ICS_PARTICLES_YAML) {
        return contradiction(config, "particles.format", "particles.file", error,
                             "is yaml for particles.file: '-' (standard input), and a YAML list is "
                             "no stream; expected f2k or csv, or the name of a file");
    }
    if (config->particles.file != NULL || config->particles.count > 0) {
        return ICESTREAM_OK;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        if (is_changed(config, keys[i])) {
            status = contradiction(config, keys[i], "particles.file", error,
                                   "is for particles.file or particles.list, and neither is "
                                   "given");
        }
    }
    return status;
}

int ics_config_check(const icestream_config *config, icestream_error *error)
{
    int (*const checks[])(const icestream_config *, icestream_error *) = {
        check_source, check_source_keys, check_sink,     check_models,
        check_graph,  check_workload,    check_particles};
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        int result = checks[i](config, error);
        status = status ? status : result;
    }
    return status;
}
