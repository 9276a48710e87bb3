/* The variants of detect as a table of functions for the host. */
#ifndef ICS_PHYSICS_DETECT_VARIANTS_H
#define ICS_PHYSICS_DETECT_VARIANTS_H

#include "physics/detect/detect_none.h"
#include "physics/detect/detect_pe.h"
#include "physics/detect/detect_pmt_place.h"
#include "physics/detect/detect_pmt_plane.h"
#include "physics/detect/detect_pmt_table.h"

typedef struct ice_detect_variant {
    const char *name; /* name in YAML */
    float (*probability)(const ice_detection *, const ice_arrival *);
    int32_t (*pmt)(const ice_detection *, const ice_arrival *, float share);
} ice_detect_variant;

static const ice_detect_variant ice_detect_variants[] = {
#define ICE_VARIANT(stage, name, yaml, text) {yaml, ice_detect_##name, ice_pmt_of_##name},
#include "physics/detect/registry.def"
#undef ICE_VARIANT
};

enum { ICE_DETECT_VARIANTS = sizeof ice_detect_variants / sizeof *ice_detect_variants };

#endif
