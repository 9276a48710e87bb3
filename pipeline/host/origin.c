#include "pipeline/host/origin.h"

#include "pipeline/error.h"
#include "pipeline/files/format/json_dump.h"
#include "pipeline/files/metadata.h"
#include "kernels/stage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(is_error *error)
{
    return is_error_set(error, IS_E_MEMORY, "out of memory for the digest of the configuration");
}

/* Adds the digests of the user's stage headers: what is in them decides, not what they are called.
 */
static int add_headers(const is_config *config, json_t *settings, is_error *error)
{
    for (int stage = 0; stage < IS_STAGES; ++stage) {
        if (config->stages.custom[stage] == NULL) {
            continue;
        }
        const char *name = is_stage_name((is_stage)stage);
        char why[1024], digest[IS_DIGEST_TEXT], key[64], place[1024];
        char *text = NULL;
        if (is_stage_header_read(config->stages.custom[stage], &text, why, sizeof why) != 0) {
            snprintf(key, sizeof key, "stages.%s", name);
            return is_error_set(error, IS_E_CONFIG, "%s: error: %s: %s",
                                is_config_place(config, key, place, sizeof place), key, why);
        }
        int status = is_digest_of(text, strlen(text), digest, error);
        free(text);
        if (status != IS_OK) {
            return status;
        }
        json_t *headers = json_object_get(settings, "headers");
        if (headers == NULL) {
            headers = json_object();
            if (json_object_set_new(settings, "headers", headers) != 0) {
                return out_of_memory(error);
            }
        }
        if (json_object_set_new(headers, name, json_string(digest)) != 0) {
            return out_of_memory(error);
        }
    }
    return IS_OK;
}

/* Photon hits have the digest that they had before there was detection. */
static int add_detection(const is_config *config, json_t *settings, is_error *error)
{
    if (strcmp(config->stages.detect, "none") == 0) {
        return IS_OK;
    }
    json_t *stages = json_object_get(settings, "stages");
    const char *content = is_content_name(is_config_content(config));
    if (json_object_set_new(stages, "detect", json_string(config->stages.detect)) != 0 ||
        json_object_set_new(settings, "content", json_string(content)) != 0) {
        return out_of_memory(error);
    }
    return IS_OK;
}

int is_run_origin_create(const is_config *config, const is_models *models, is_run_origin *out,
                         is_error *error)
{
    out->seed = config->run.seed;
    memcpy(out->ice, models->ice_digest, sizeof out->ice);
    memcpy(out->detector, models->detector_digest, sizeof out->detector);
    /* A text, so that the digest can be explained and made again elsewhere. The seed is one because
     * JSON integers end at 2^63. */
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, config->run.seed);
    char *text = NULL;
    json_t *settings = json_pack(
        "{s:s, s:s, s:I, s:s, s:{s:s, s:s, s:s, s:s}}", "version", IS_VERSION, "seed", seed,
        "bounce_limit", (json_int_t)config->run.bounce_limit, "light", models->light_digest,
        "stages", "create", config->stages.create, "propagate", config->stages.propagate, "collide",
        config->stages.collide, "scatter", config->stages.scatter);
    if (settings == NULL) {
        return out_of_memory(error);
    }
    int status = add_headers(config, settings, error);
    if (status == IS_OK) {
        status = add_detection(config, settings, error);
    }
    if (status == IS_OK) {
        text = is_json_dump(settings, JSON_SORT_KEYS | JSON_COMPACT);
        status = text != NULL ? is_digest_of(text, strlen(text), out->configuration, error)
                              : out_of_memory(error);
    }
    json_decref(settings);
    free(text);
    return status;
}

int is_run_origin_metadata(const is_run_origin *origin, const char *input_digest, json_t **out,
                           is_error *error)
{
    const is_origin all = {.seed = origin->seed,
                           .configuration = origin->configuration,
                           .ice = origin->ice,
                           .detector = origin->detector,
                           .input = input_digest};
    return is_metadata_create(&all, out, error);
}
