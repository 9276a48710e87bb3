#include "pipeline/units/origin.h"

#include "base/error.h"
#include "kernels/stage.h"
#include "pipeline/files/format/json_dump.h"
#include "pipeline/files/metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY,
                         "out of memory for the digest of the configuration");
}

/* Adds the digests of the user's stage headers. The content of a header counts, not its name. */
static int add_headers(const icestream_config *config, json_t *settings, icestream_error *error)
{
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        if (config->stages.custom[stage] == NULL) {
            continue;
        }
        const char *name = ics_stage_name((ics_stage)stage);
        char why[1024], digest[ICS_DIGEST_TEXT], key[64], place[1024];
        char *text = NULL;
        if (ics_stage_header_read(config->stages.custom[stage], &text, why, sizeof why) != 0) {
            snprintf(key, sizeof key, "stages.%s", name);
            return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: error: %s: %s",
                                 ics_config_place(config, key, place, sizeof place), key, why);
        }
        int status = ics_digest_of(text, strlen(text), digest, error);
        free(text);
        if (status != ICESTREAM_OK) {
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
    return ICESTREAM_OK;
}

/* Without detection the digest is the one of versions that had no detection. */
static int add_detection(const icestream_config *config, json_t *settings, icestream_error *error)
{
    if (strcmp(config->stages.detect, "none") == 0) {
        return ICESTREAM_OK;
    }
    json_t *stages = json_object_get(settings, "stages");
    const char *content = ics_config_content_name(ics_config_content(config));
    if (json_object_set_new(stages, "detect", json_string(config->stages.detect)) != 0 ||
        json_object_set_new(settings, "content", json_string(content)) != 0) {
        return out_of_memory(error);
    }
    return ICESTREAM_OK;
}

int ics_origin_create(const icestream_config *config, const ics_models *models, ics_origin *out,
                      icestream_error *error)
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
        "{s:s, s:s, s:I, s:s, s:{s:s, s:s, s:s, s:s}}", "version", ICESTREAM_VERSION, "seed", seed,
        "bounce_limit", (json_int_t)config->run.bounce_limit, "light", models->light_digest,
        "stages", "create", config->stages.create, "propagate", config->stages.propagate, "collide",
        config->stages.collide, "scatter", config->stages.scatter);
    if (settings == NULL) {
        return out_of_memory(error);
    }
    int status = add_headers(config, settings, error);
    if (status == ICESTREAM_OK) {
        status = add_detection(config, settings, error);
    }
    if (status == ICESTREAM_OK) {
        text = ics_json_dump(settings, JSON_SORT_KEYS | JSON_COMPACT);
        status = text != NULL ? ics_digest_of(text, strlen(text), out->configuration, error)
                              : out_of_memory(error);
    }
    json_decref(settings);
    free(text);
    return status;
}

int ics_origin_metadata(const ics_origin *origin, const char *input_digest, json_t **out,
                        icestream_error *error)
{
    const ics_metadata_origin all = {.seed = origin->seed,
                                     .configuration = origin->configuration,
                                     .ice = origin->ice,
                                     .detector = origin->detector,
                                     .input = input_digest};
    return ics_metadata_create(&all, out, error);
}
