/* Digests of what hits depend on. */
#include "pipeline/photons/provenance/origin.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "kernels/stage.h"
#include "pipeline/photons/files/metadata.h"
#include "stages/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY,
                         "out of memory for the digest of the configuration");
}

/* Writes the digests of the user's stage headers: the content of a header counts, not its name. */
static int write_headers(const icestream_config *config, FILE *out, icestream_error *error)
{
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        if (config->stages.custom[stage] == NULL) {
            continue;
        }
        const char *name = ics_stage_name((ics_stage)stage);
        char digest[ICS_DIGEST_TEXT], key[64], place[1024];
        char *text = NULL;
        icestream_error why = {.status = ICESTREAM_OK};
        if (ics_stage_header_read(config->stages.custom[stage], &text, &why) != ICESTREAM_OK) {
            snprintf(key, sizeof key, "stages.%s", name);
            return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: error: %s: %s",
                                 ics_config_place(config, key, place, sizeof place), key, why.text);
        }
        const int status = ics_digest_of(text, strlen(text), digest, error);
        free(text);
        ICS_TRY(status);
        fprintf(out, "header of stages.%s: %s\n", name, digest);
    }
    return ICESTREAM_OK;
}

static int write_settings(const icestream_config *config, const ics_models *models, FILE *out,
                          icestream_error *error)
{
    fprintf(out, "icestream: %s\n", ICS_PHYSICS_VERSION);
    fprintf(out, "random numbers: version %d\n", ice_random_version(config->run.seed));
    ics_config_print_hit_settings(config, out);
    fprintf(out, "light: %s\n", models->light_digest);
    return write_headers(config, out, error);
}

/* Writes the text whose digest is `configuration` (files.md 2.2). A text, so that the digest can be
 * explained and made again elsewhere. The caller frees *out. */
static int make_text(const icestream_config *config, const ics_models *models, char **out,
                     size_t *size, icestream_error *error)
{
    FILE *stream = open_memstream(out, size);
    if (stream == NULL) {
        return out_of_memory(error);
    }
    const int status = write_settings(config, models, stream, error);
    const bool is_complete = !ferror(stream);
    const bool is_closed = fclose(stream) == 0;
    return status != ICESTREAM_OK || (is_complete && is_closed) ? status : out_of_memory(error);
}

int ics_origin_create(const icestream_config *config, const ics_models *models, ics_origin *out,
                      icestream_error *error)
{
    ICS_FREES char *text = NULL;
    size_t size = 0;
    out->seed = config->run.seed;
    out->settings = NULL;
    out->bins = ics_hit_bins_rule_of(config);
    memcpy(out->ice, models->ice_digest, sizeof out->ice);
    memcpy(out->detector, models->detector_digest, sizeof out->detector);
    ICS_TRY(make_text(config, models, &text, &size, error));
    return ics_digest_of(text, size, out->configuration, error);
}

void ics_origin_drop_folders(char *text)
{
    char *to = text, *start = NULL;
    for (const char *from = text; *from != 0; ++from) {
        *to = *from;
        if (*from == '"') {
            start = start == NULL ? to + 1 : NULL;
        } else if (*from == '/' && start != NULL) {
            to = start - 1;
        }
        ++to;
    }
    *to = 0;
}

/* Stores the lines "key: value" of a text. */
static int add_lines(json_t *object, char *text)
{
    int failed = object == NULL;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *colon = strstr(line, ": ");
        if (colon != NULL) {
            *colon = 0;
            failed |= json_object_set_new(object, line, json_string(colon + 2));
        }
    }
    return failed;
}

static int add_model_keys(json_t *object, const icestream_config *config)
{
    int failed = object == NULL;
    const char *key;
    for (size_t k = 0; (key = ics_config_model_key(k)) != NULL; ++k) {
        char *text = ics_config_value_text(config, key);
        failed |= text == NULL;
        if (text != NULL && text[0] != 0) {
            ics_origin_drop_folders(text);
            failed |= json_object_set_new(object, key, json_string(text));
        }
        free(text);
    }
    return failed;
}

int ics_origin_settings(const icestream_config *config, const ics_models *models, json_t **out,
                        icestream_error *error)
{
    ICS_FREES char *text = NULL;
    size_t size = 0;
    *out = NULL;
    ICS_TRY(make_text(config, models, &text, &size, error));
    json_auto_t *values = json_object(), *of_models = json_object();
    if (add_lines(values, text) | add_model_keys(of_models, config)) {
        return out_of_memory(error);
    }
    *out = json_pack("{s:O, s:O}", "values", values, "models", of_models);
    return *out != NULL ? ICESTREAM_OK : out_of_memory(error);
}

int ics_origin_metadata(const ics_origin *origin, const char *input_digest, json_t **out,
                        icestream_error *error)
{
    const ics_metadata_origin all = {.seed = origin->seed,
                                     .configuration = origin->configuration,
                                     .ice = origin->ice,
                                     .detector = origin->detector,
                                     .input = input_digest};
    ICS_TRY(ics_metadata_create(&all, out, error));
    /* Readers and writers make metadata at the same time, and jansson counts references to a value
     * without a lock. So each gets a copy. */
    if (origin->settings != NULL &&
        json_object_set_new(*out, "settings", json_deep_copy(origin->settings)) != 0) {
        json_decref(*out);
        *out = NULL;
        return out_of_memory(error);
    }
    return ics_hit_bins_store(&origin->bins, *out, error);
}

int ics_origin_add_light(json_t *metadata, const json_t *light, icestream_error *error)
{
    if (light == NULL) {
        return ICESTREAM_OK;
    }
    json_t *settings = json_object_get(metadata, "settings");
    if (settings == NULL) {
        settings = json_object();
        if (json_object_set_new(metadata, "settings", settings) != 0) {
            return out_of_memory(error);
        }
    }
    return json_object_set_new(settings, "light", json_deep_copy(light)) == 0
               ? ICESTREAM_OK
               : out_of_memory(error);
}
