/* Where hits come from: digests of everything that decides what they are. */
#ifndef IS_RUN_ORIGIN_H
#define IS_RUN_ORIGIN_H

#include "pipeline/config/config.h"
#include "pipeline/models/models.h"

#include <jansson.h>

typedef struct is_run_origin {
    uint64_t seed;
    char configuration[IS_DIGEST_TEXT]; /* seed, bounce limit, stage variants or what is in the
                                           user's stage headers, light, what hits are */
    char ice[IS_DIGEST_TEXT];
    char detector[IS_DIGEST_TEXT];
} is_run_origin;

/* Digests the settings that hits depend on, beside those of the models, so that a schedule or a
 * batch size changes nothing and another scattering function does. IS_E_MEMORY; IS_E_CONFIG where a
 * user's stage header cannot be read. */
int is_run_origin_create(const is_config *config, const is_models *models, is_run_origin *out,
                         is_error *error);

/* Metadata of a hit file made from the input with this digest; the caller owns *out. IS_E_MEMORY.
 */
int is_run_origin_metadata(const is_run_origin *origin, const char *input_digest, json_t **out,
                           is_error *error);

#endif
