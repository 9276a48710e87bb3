/* Where hits come from: digests of everything that decides what they are. */
#ifndef ICS_UNITS_ORIGIN_H
#define ICS_UNITS_ORIGIN_H

#include "pipeline/config/config.h"
#include "pipeline/models/models.h"

#include <jansson.h>

typedef struct ics_origin {
    uint64_t seed;
    char configuration[ICS_DIGEST_TEXT]; /* seed, bounce limit, stage variants or what is in the
                                           user's stage headers, light, what hits are */
    char ice[ICS_DIGEST_TEXT];
    char detector[ICS_DIGEST_TEXT];
} ics_origin;

/* Digests the settings that hits depend on, beside those of the models, so that a schedule or a
 * batch size changes nothing and another scattering function does. ICESTREAM_E_MEMORY;
 * ICESTREAM_E_CONFIG where a user's stage header cannot be read. */
int ics_origin_create(const icestream_config *config, const ics_models *models, ics_origin *out,
                      icestream_error *error);

/* Metadata of a hit file made from the input with this digest; the caller owns *out.
 * ICESTREAM_E_MEMORY.
 */
int ics_origin_metadata(const ics_origin *origin, const char *input_digest, json_t **out,
                        icestream_error *error);

#endif
