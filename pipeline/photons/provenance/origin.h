/* The origin of hits: digests of everything that they depend on. */
#ifndef ICS_PHOTONS_PROVENANCE_ORIGIN_H
#define ICS_PHOTONS_PROVENANCE_ORIGIN_H

#include "pipeline/photons/files/hit_bins.h"
#include "pipeline/photons/models/models.h"

#include <jansson.h>

typedef struct ics_origin {
    uint64_t seed;
    /* Of the version, the keys whose values hits depend on (pipeline/photons/config/keys.def), the
     * light, and the content of the user's stage headers. */
    char configuration[ICS_DIGEST_TEXT];
    char ice[ICS_DIGEST_TEXT];
    char detector[ICS_DIGEST_TEXT];
    /* The same for people (checkpoint/settings.h); the creator frees it. NULL: metadata do
     * not list them. */
    json_t *settings;
    ics_bin_rule bins; /* of sink.hits: waveforms; width 0: hits */
} ics_origin;

/* Digests all that hits depend on except the step file and the maths. Hit files with equal digests
 * can be mixed: --resume and `icestream merge` compare them. A schedule or a batch size changes no
 * digest, another scattering function does. ICESTREAM_E_MEMORY; ICESTREAM_E_CONFIG: a user's stage
 * header cannot be read. */
int ics_origin_create(const icestream_config *config, const ics_models *models, ics_origin *out,
                      icestream_error *error);

/* Makes the settings that the digests stand for, as texts (checkpoint/settings.h). The caller owns
 * *out. ICESTREAM_E_MEMORY; ICESTREAM_E_CONFIG: a user's stage header cannot be read. */
int ics_origin_settings(const icestream_config *config, const ics_models *models, json_t **out,
                        icestream_error *error);

/* Removes the folders of paths in quotes from the text of a value: metadata do not depend on the
 * folder of a run. */
void ics_origin_drop_folders(char *text);

/* Makes the metadata of a hit file from the step file with this digest (NULL: of any step file).
 * The caller owns *out. ICESTREAM_E_MEMORY. */
int ics_origin_metadata(const ics_origin *origin, const char *input_digest, json_t **out,
                        icestream_error *error);

/* Adds what the run makes its steps of (generator/light_settings.h), as `settings.light`. NULL:
 * adds nothing. ICESTREAM_E_MEMORY; the metadata stay the caller's. */
int ics_origin_add_light(json_t *metadata, const json_t *light, icestream_error *error);

#endif
