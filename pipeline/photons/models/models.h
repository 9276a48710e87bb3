/* Ice, detector and light of a run, loaded and checked together. */
#ifndef ICS_PHOTONS_MODELS_MODELS_H
#define ICS_PHOTONS_MODELS_MODELS_H

#include "base/cleanup.h"
#include "physics/model.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/files/format/digest.h"
#include "pipeline/photons/models/detector/detection.h"
#include "pipeline/photons/models/warnings.h"
#include "tables/tables.h"

typedef struct ics_models {
    ice_medium *medium;
    ice_detector *detector;
    ice_light *light;
    ics_detection *detection;         /* NULL: stages.detect is none */
    ics_detector_part *detector_part; /* part of the tables that the digest of the detector needs */
    ice_transit pulse;                /* particles.pulse; no ranges: not given */
    const char *detector_from;        /* why it is this detector, for reports; not owned */
    double scattering_factor, absorption_factor; /* keys of the ice, for reports */
    ics_warnings warnings;                       /* the caller prints them */
    /* SHA-256 of each model in the form that photons read: the bytes of its tables
     * (models/digests.c). Models with equal tables have equal digests, independent of the file,
     * layout or name that they come from. */
    char ice_digest[ICS_DIGEST_TEXT];
    char detector_digest[ICS_DIGEST_TEXT];
    char light_digest[ICS_DIGEST_TEXT];
} ics_models;

/* Loads ice, detector and light. Errors of ice and detector are reported together; the light needs
 * both and is made last. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. The caller owns *out. */
int ics_models_create(const icestream_config *config, ics_models **out, icestream_error *error);
/* Accepts NULL. */
void ics_models_destroy(ics_models *models);
ICS_CAN_DESTROY(ics_models, ics_models_destroy)

/* Writes a summary for people. Check ferror(out) afterwards. */
void ics_models_describe(const ics_models *models, FILE *out);

/* Fills ice_digest, detector_digest and light_digest of models that are complete otherwise.
 * ICESTREAM_E_CONFIG: a model that cannot be turned into tables. ICESTREAM_E_MEMORY. */
int ics_model_digests_make(ics_models *models, icestream_error *error);

#endif
