/* The tables of the detect stage, made from detector and light. */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_DETECTION_H
#define ICS_PHOTONS_MODELS_DETECTOR_DETECTION_H

#include "physics/detect/variants.h"
#include "physics/model.h"
#include "pipeline/photons/config/config.h"

typedef struct ics_detection {
    ice_detection tables;
    ics_hit_content content; /* which rows hit files contain; never ICS_CONTENT_AUTO */
    const ice_detect_variant *variant;
    ice_pmt_tables pmts; /* tables.pmts, if the variant is for modules with several PMTs */
    void *memory;        /* the arrays of the tables */
    size_t bytes;        /* bytes of that memory */
} ics_detection;

/* Makes the tables of `variant`, a variant of detect other than "none". ICESTREAM_E_MEMORY. The
 * caller owns *out. */
int ics_detection_create(const ice_detector *detector, const ice_light *light, const char *variant,
                         ics_hit_content content, ics_detection **out, icestream_error *error);
/* Accepts NULL. */
void ics_detection_destroy(ics_detection *detection);

#endif
