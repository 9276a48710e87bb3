/* What the detect stage reads, and the random number that decides (physics.md 3.2, 8.5, 8.8).
 *
 * Detection is decided where arrivals are made into hits, on the host: it is the same code for all
 * devices and schedules. A detect variant gives the probability with which an arrival of a step of
 * weight 1 is a photo-electron, from the arrival alone.
 */
#ifndef ICS_PHYSICS_DETECT_DETECTION_H
#define ICS_PHYSICS_DETECT_DETECTION_H

#include "stages/photon.h"
#include "stages/random.h"

/* ICE_SENSOR_OFF: without high voltage, detects nothing. ICE_SENSOR_CABLE: has one. */
enum { ICE_SENSOR_OFF = 1, ICE_SENSOR_CABLE = 2 };

/* A module as detect reads it (32 bytes). */
typedef struct ice_sensor {
    float back_x, back_y, back_z; /* unit vector against the axis of its PMT */
    float efficiency;             /* relative to the standard module */
    float cable_x, cable_y;       /* axis of its cable, from its centre, m */
    uint32_t acceptance;          /* which of the curves is its own */
    uint32_t flags;               /* ICE_SENSOR_... */
} ice_sensor;

typedef struct ice_detection {
    const ice_sensor *sensors; /* [module_count] */

    /* Acceptance curve k of light of a wavelength over the probability that it was kept, in numbers
     * that are linear between the points: curves[k * point_count + i] / bias[i]. */
    const float *wavelengths; /* [point_count], nm, ascending */
    const float *bias;        /* [point_count], > 0 where there is light */
    const float *curves;

    /* By direction, over the maximum. */
    const float *coefficients; /* [coefficient_count] of x^0, x^1, ... */
    uint32_t coefficient_count;
    int32_t has_edge; /* instead: everything that arrives on one side */
    float edge;       /* least height of the place towards the PMT, m */

    uint32_t module_count;
    uint32_t point_count; /* of the acceptance curves; 0: all light was kept, */
    float flat;           /* and this is detected of it */

    float cable_radius; /* m; this and the next are 0 if no module has a cable */
    float cable_half;   /* half its length, m */
} ice_detection;

/* The block of random numbers that decides about a hit: of one photon another one for every module
 * of a segment (with string numbers below 16384) and for every segment on which it hits the same
 * module; two hits that differ in both share one by an accident of 1 in 2^30. From 0xC0000000 on
 * blocks belong to sources of light. */
ICE_FN uint32_t ice_detection_block(uint32_t scatters, uint32_t string, uint32_t module)
{
    const uint32_t label = string << 16 ^ module;
    return ICE_BLOCK_DETECT | ((label ^ scatters * 0x9E3779B1u) & 0x3fffffffu);
}

/* Uniform in [0, 1): the hit is a photo-electron where it is below the probability. */
ICE_FN float ice_detection_number(const ice_tables *tables, ice_identity identity,
                                  uint32_t scatters, uint32_t string, uint32_t module)
{
    return ice_uniform(
        ice_draw_of(tables, identity, ice_detection_block(scatters, string, module)).a);
}

#endif
