/* A part of the light of a particle, and the state in which its parts are made. */
#ifndef ICS_PARTICLES_LIGHT_PART_H
#define ICS_PARTICLES_LIGHT_PART_H

#include "physics/light/light_flasher.h"
#include "pipeline/particles/light_setup.h"
#include "pipeline/particles/particle_source.h"

/* How the steps of a part differ from each other. With a profile the photons of one step differ in
 * this way. */
typedef enum ics_part_form {
    ICS_PART_TRACK,   /* no difference: on the cone of a straight track */
    ICS_PART_CASCADE, /* depth on the axis, direction of the emitter around it */
    ICS_PART_CLOUD,   /* position along the axis, direction of the emitter around it */
    ICS_PART_RAY,     /* no difference: along one direction */
    ICS_PART_POINT,   /* time only: isotropic light */
    ICS_PART_BEAM,    /* direction around the axis, and time */
    ICS_PART_CANDLE   /* direction at an elevation, and time */
} ics_part_form;

typedef struct ics_light_part {
    ics_part_form form;
    uint64_t photons;
    uint32_t per_step;         /* largest number of photons in a step */
    bool has_profile;          /* its steps have a profile (files.md 3.4) */
    double x, y, z, t;         /* start, m, ns */
    ice_axis axis;             /* direction of travel, of the beam */
    double length;             /* TRACK, CLOUD: m */
    double beta;               /* TRACK */
    ice_cascade_profile depth; /* CASCADE */
    uint32_t spectrum;
    ics_beam beam;     /* BEAM */
    double beam_width; /* rad */
    ice_led_kind led;
    double radius;    /* BEAM: photons start on a sphere with this radius around the position, m */
    bool has_glass;   /* BEAM: the light comes from an LED inside that sphere, in the way of ppc */
    double elevation; /* CANDLE, rad */
    ice_pulse pulse;
    ice_pulse_shape pulse_shape;
    double pulse_length; /* width of the LED (0 to 127), or duration of a rectangle (ns) */
} ics_light_part;

/* Which part of a particle comes next. ics_light_parts_begin() fills it. */
typedef struct ics_light_parts {
    const ics_light_setup *setup;
    const ics_particle *particle;
    uint64_t event;
    uint32_t number;
    uint32_t part; /* number of parts so far */
    bool done;
    ics_light_part model; /* members that all parts have in common */
    bool makes_losses;    /* whether losses of a track are made */
    /* tracks: the piece that starts at `at` */
    double energy;            /* energy at its start (GeV) */
    double at, piece, length; /* m */
    double residual;          /* range that is left at its start (m), or INFINITY */
    uint32_t piece_number, stage, losses, loss;
    uint32_t pair_like; /* number of the losses that are pairs */
} ics_light_parts;

#endif
