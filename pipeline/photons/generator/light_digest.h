/* A digest of generated steps that is known before they are made (files.md 2.2). */
#ifndef ICS_PHOTONS_GENERATOR_LIGHT_DIGEST_H
#define ICS_PHOTONS_GENERATOR_LIGHT_DIGEST_H

#include "pipeline/photons/models/models.h"

/* Digests the bytes of a list of particles. ICESTREAM_E_CONFIG: the file cannot be read.
 * ICESTREAM_E_MEMORY. */
int ics_light_digest_of_file(const char *path, char out[ICS_DIGEST_TEXT], icestream_error *error);

/* Digests the text or the workload that steps are made of, and everything else that the steps
 * depend on: the seed, ice, detector and light, and the settings for the light of particles. Equal
 * digests mean equal steps. Of particles that come through a pipe it digests all but their text,
 * and ics_light_digest_of_rows() adds the steps.
 * ICESTREAM_E_CONFIG: particles.file cannot be read. ICESTREAM_E_MEMORY. */
int ics_light_digest_make(const icestream_config *config, const ics_models *models,
                          char out[ICS_DIGEST_TEXT], icestream_error *error);

#endif
