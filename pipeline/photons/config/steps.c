/* Where the steps of a configuration come from: files, clients, or light that the run makes. */
#include "base/error.h"
#include "pipeline/photons/config/keys.h"

#include <string.h>

/* Whether a run file or --set gives one of the keys that begin with `start`. A configuration
 * without an origin was made by a program, which has set every member itself. */
static bool gives_any(const icestream_config *config, const char *start)
{
    if (config->origin == NULL) {
        return true;
    }
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        if (strncmp(ics_config_keys[i].path, start, strlen(start)) == 0 &&
            config->origin->given[i] != NULL) {
            return true;
        }
    }
    return false;
}

bool ics_config_has_particles(const icestream_config *config)
{
    return config->particles.file != NULL || config->particles.list != NULL;
}

bool ics_config_has_source(const icestream_config *config)
{
    return config->source.directory != NULL || config->source.listen != NULL ||
           config->source.queue != NULL || gives_any(config, "source.files");
}

bool ics_config_has_light(const icestream_config *config)
{
    return ics_config_has_particles(config) || gives_any(config, "workload.") ||
           gives_any(config, "particles.list");
}

bool ics_config_generates(const icestream_config *config)
{
    return ics_config_has_light(config) && !ics_config_has_source(config);
}

static int refuse(const icestream_config *config, const char *key, const char *text,
                  icestream_error *error)
{
    char place[1024];
    return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: error: %s: %s",
                         ics_config_place(config, key, place, sizeof place), key, text);
}

int ics_config_check_light(const icestream_config *config, const char *command,
                           icestream_error *error)
{
    if (ics_config_has_particles(config)) {
        return ICESTREAM_OK;
    }
    /* A script that found no event wrote an empty list, and no workload takes over. */
    if (!gives_any(config, "workload.") && gives_any(config, "particles.list")) {
        return refuse(config, "particles.list",
                      "found an empty list, expected at least one particle", error);
    }
    if (command != NULL && !ics_config_has_light(config)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: error: %s: found neither particles nor a workload, expected "
                             "particles.list, particles.file or a key of workload "
                             "(workload.kind=cascade is an example)",
                             config->path != NULL ? config->path : "no run file", command);
    }
    const char *zero = config->workload.steps == 0              ? "workload.steps"
                       : config->workload.photons_per_step == 0 ? "workload.photons_per_step"
                                                                : NULL;
    return zero == NULL ? ICESTREAM_OK : refuse(config, zero, "found 0, expected 1 or more", error);
}

const char *ics_config_light_key(const icestream_config *config, size_t k)
{
    const char *section = ics_config_has_particles(config) ? "particles." : "workload.";
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        const char *path = ics_config_keys[i].path;
        /* The content of files counts, not their names, and a limit changes no step. */
        if (strncmp(path, section, strlen(section)) == 0 && strcmp(path, "particles.file") != 0 &&
            strcmp(path, "particles.pulse") != 0 && strcmp(path, "particles.file_limit") != 0 &&
            k-- == 0) {
            return path;
        }
    }
    return NULL;
}

void ics_config_print_light_settings(const icestream_config *config, FILE *out)
{
    const char *path;
    for (size_t k = 0; (path = ics_config_light_key(config, k)) != NULL; ++k) {
        fprintf(out, "%s: ", path);
        ics_schema_print_field(&ics_config_keys[ics_config_find(path)], config, out);
        fputc('\n', out);
    }
}
