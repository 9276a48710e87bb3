/* The tables of the detect stage, made of detector and light. */
#ifndef ICS_MODELS_DETECTOR_DETECTION_H
#define ICS_MODELS_DETECTOR_DETECTION_H

#include "physics/detect/detection.h"
#include "physics/model.h"
#include "pipeline/config/config.h"

typedef struct ics_detection {
    ice_detection tables;
    ics_hit_content content; /* what becomes of hits; never ICS_CONTENT_AUTO */
    void *memory;            /* what the tables point to */
    size_t bytes;            /* of that memory */
} ics_detection;

/* ICESTREAM_E_MEMORY. The caller owns *out. */
int ics_detection_create(const ice_detector *detector, const ice_light *light,
                         ics_hit_content content, ics_detection **out, icestream_error *error);
/* Accepts NULL. */
void ics_detection_destroy(ics_detection *detection);

#endif
