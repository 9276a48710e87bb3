#include "pipeline/host/origin.h"

#include "pipeline/error.h"
#include "pipeline/files/metadata.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    if (settings != NULL) {
        text = json_dumps(settings, JSON_SORT_KEYS | JSON_COMPACT);
        json_decref(settings);
    }
    if (text == NULL) {
        return is_error_set(error, IS_E_MEMORY,
                            "out of memory for the digest of the configuration");
    }
    int status = is_digest_of(text, strlen(text), out->configuration, error);
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
