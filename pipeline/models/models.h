/* Ice, detector and light of a run, loaded and checked together. */
#ifndef IS_MODELS_H
#define IS_MODELS_H

#include "pipeline/config/config.h"
#include "pipeline/files/digest.h"
#include "pipeline/models/detection.h"
#include "pipeline/models/warnings.h"
#include "stages/model.h"

typedef struct is_models {
    ice_medium *medium;
    ice_detector *detector;
    ice_light *light;
    is_detection *detection; /* NULL: stages.detect is none */
    is_warnings warnings;    /* for the host to print */
    /* SHA-256 over the numbers of each, as little-endian doubles in a fixed order: equal models
     * have equal digests, whatever file, layout or name they came from. */
    char ice_digest[IS_DIGEST_TEXT];
    char detector_digest[IS_DIGEST_TEXT];
    char light_digest[IS_DIGEST_TEXT];
} is_models;

/* Loads all three. Errors of ice and detector are reported together; the light is made of both and
 * comes last. IS_E_CONFIG, IS_E_MEMORY. The caller owns *out. */
int is_models_create(const is_config *config, is_models **out, is_error *error);
/* Accepts NULL. */
void is_models_destroy(is_models *models);

/* Writes a summary for people. Check ferror(out) afterwards. */
void is_models_describe(const is_models *models, FILE *out);

#endif
