/* The origin of hits: digests of everything that hits depend on. */
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

/* Digests the settings that hits depend on, except those of the models, which have their own
 * digests. The schedule and the batch size do not change the digest; the scattering function does.
 * ICESTREAM_E_MEMORY; ICESTREAM_E_CONFIG where a user's stage header cannot be read. */
int ics_origin_create(const icestream_config *config, const ics_models *models, ics_origin *out,
                      icestream_error *error);

/* Makes the metadata of a hit file from the input with this digest. The caller owns *out.
 * ICESTREAM_E_MEMORY.
 */
int ics_origin_metadata(const ics_origin *origin, const char *input_digest, json_t **out,
                        icestream_error *error);

#endif
