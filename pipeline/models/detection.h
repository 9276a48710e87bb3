/* The tables of the detect stage, made of detector and light. */
#ifndef IS_DETECTION_H
#define IS_DETECTION_H

#include "pipeline/config/config.h"
#include "pipeline/files/digest.h"
#include "stages/detection.h"
#include "stages/model.h"

typedef struct is_detection {
    ice_detection tables;
    is_hit_content content; /* what becomes of hits; never IS_CONTENT_AUTO */
    void *memory;           /* what the tables point to */
} is_detection;

/* IS_E_MEMORY. The caller owns *out. */
int is_detection_create(const ice_detector *detector, const ice_light *light,
                        is_hit_content content, is_detection **out, is_error *error);
/* Accepts NULL. */
void is_detection_destroy(is_detection *detection);

/* Adds everything that detection depends on beside the digests of detector and light. */
void is_detection_digest(is_digest *digest, const ice_detector *detector, const ice_light *light);

#endif
