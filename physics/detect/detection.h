/* What the detect stage reads, and its random number (physics.md 3.2, 8.5, 8.8).
 *
 * Detection is decided on the host, where arrivals become hits, so that all devices and schedules
 * use the same code. ice_detect_NAME() of a variant returns the probability that an arrival is a
 * photo-electron, if its step has weight 1. The probability depends only on the arrival.
 * ice_pmt_of_NAME() says which PMT has detected it; it takes a number that is uniform in [0, 1). */
#ifndef ICS_PHYSICS_DETECT_DETECTION_H
#define ICS_PHYSICS_DETECT_DETECTION_H

#include "stages/photon.h"
#include "stages/random.h"

/* ICE_SENSOR_OFF: the module has no high voltage and detects nothing. ICE_SENSOR_CABLE: the module
 * has a cable. */
enum { ICE_SENSOR_OFF = 1, ICE_SENSOR_CABLE = 2 };

/* A module as detect reads it (32 bytes). */
typedef struct ice_sensor {
    float back_x, back_y, back_z; /* unit vector against the axis of its PMT */
    float efficiency;             /* relative to the standard module */
    float cable_x, cable_y;       /* axis of its cable, relative to the centre of the module, m */
    uint32_t acceptance;          /* index of its acceptance curve */
    uint32_t flags;               /* ICE_SENSOR_... */
} ice_sensor;

typedef struct ice_detection {
    const ice_sensor *sensors; /* [module_count] */

    /* Acceptance curve k divided by the share of the light that was generated. The values curves[k
     * * point_count + i] / bias[i] are linear between the points. */
    const float *wavelengths; /* [point_count], nm, ascending */
    const float *bias;        /* [point_count], > 0 where there is light */
    const float *curves;

    /* The acceptance by direction, divided by its maximum. */
    const float *coefficients; /* [coefficient_count] of x^0, x^1, ... */
    uint32_t coefficient_count;
    int32_t has_edge; /* 1: an edge replaces the polynomial (physics.md 8.5) */
    float edge;       /* smallest distance (m) of an accepted impact from the centre of the module,
                         measured along the axis of the PMT */

    uint32_t module_count;
    uint32_t point_count; /* points of the acceptance curves; 0: all light was generated */
    float flat;           /* share of the light that is detected, if point_count is 0 */

    float cable_radius; /* m; 0 if no module has a cable */
    float cable_half;   /* half of the length of a cable, m; 0 if no module has a cable */

    const struct ice_pmt_tables *pmts; /* physics/detect/pmt.h; NULL: modules have one PMT each. The
                                          last member (pipeline/photons/models/digests.c) */
} ice_detection;

/* Returns the block of random numbers that decides about a hit. A photon has a different block for
 * every module of a segment (if string numbers are below 16384), and for every segment on which it
 * hits the same module. Two hits that differ in both share a block with probability 2^-30
 * (physics.md 14.3). Blocks from 0xC0000000 on belong to light sources. */
ICE_FN uint32_t ice_detection_block(uint32_t scatters, uint32_t string, uint32_t module)
{
    const uint32_t identity = string << 16 ^ module;
    return ICE_BLOCK_DETECT | ((identity ^ scatters * 0x9E3779B1u) & 0x3fffffffu);
}

/* Returns a number that is uniform in [0, 1). The hit is a photo-electron if the number is below
 * the probability. */
ICE_FN float ice_detection_number(const ice_tables *tables, ice_identity identity,
                                  uint32_t scatters, uint32_t string, uint32_t module)
{
    return ice_uniform(
        ice_draw_of(tables, identity, ice_detection_block(scatters, string, module)).a);
}

/* Returns the time (ns) by which the transit through a PMT shifts a hit: `delay` plus a normal
 * number of the standard deviation `spread` (Box and Muller). The words c and d of the block of
 * detection are used, and only if there is a spread. */
ICE_FN float ice_transit_time(const ice_tables *tables, ice_identity identity, uint32_t block,
                              float delay, float spread)
{
    if (!(spread > 0.0f)) {
        return delay;
    }
    const ice_block draw = ice_draw_of(tables, identity, block);
    float sine, cosine;
    ice_sincos2pi(ice_uniform(draw.d), &sine, &cosine);
    const float radius = ice_sqrt(-2.0f * ice_min(ice_log(ice_uniform_positive(draw.c)), 0.0f));
    return fmaf(spread * radius, cosine, delay);
}

#endif
