/* A particle's light in parts: each a number of photons that start in the same way. */
#ifndef ICS_PARTICLES_LIGHT_PARTS_H
#define ICS_PARTICLES_LIGHT_PARTS_H

#include "physics/light/light_flasher.h"
#include "pipeline/particles/light_setup.h"
#include "pipeline/particles/particle_source.h"

/* How the steps of a part differ from each other. */
typedef enum ics_part_form {
    ICS_PART_TRACK,   /* not at all: on the cone of a straight track */
    ICS_PART_CASCADE, /* depth on the axis, emitter about it */
    ICS_PART_CLOUD,   /* anywhere along the axis, emitter about it */
    ICS_PART_RAY,     /* not at all: along a direction */
    ICS_PART_POINT,   /* in time only: isotropic */
    ICS_PART_BEAM,    /* direction about the axis, and time */
    ICS_PART_CANDLE   /* direction at an elevation, and time */
} ics_part_form;

typedef struct ics_light_part {
    ics_part_form form;
    uint64_t photons;
    uint32_t per_step;         /* photons in a step, at most */
    double x, y, z, t;         /* start, m, ns */
    ice_axis axis;             /* direction of travel, of the beam */
    double length;             /* TRACK, CLOUD: m */
    double beta;               /* TRACK */
    ice_cascade_profile depth; /* CASCADE */
    uint32_t spectrum;
    ics_beam beam;     /* BEAM */
    double beam_width; /* rad */
    ice_led_kind led;
    double radius;    /* BEAM: photons start on a sphere around the place, m */
    double elevation; /* CANDLE, rad */
    ice_pulse pulse;
} ics_light_part;

/* Where in a particle the parts are: give it to ics_light_parts_begin, then ask for parts. */
typedef struct ics_light_parts {
    const ics_light_setup *setup;
    const ics_particle *particle;
    uint64_t event;
    uint32_t number;
    uint32_t part; /* how many there were */
    bool done;
    ics_light_part model; /* what parts have in common */
    /* tracks: the piece that starts at `at` */
    double energy;            /* at its start, GeV */
    double at, piece, length; /* m */
    double residual;          /* range left at its start, or INFINITY, m */
    uint32_t piece_number, stage, losses, loss;
    uint32_t pair_like; /* of the losses */
} ics_light_parts;

/* Begins with a particle, which must live as long as its parts are asked for. False: `message` says
 * why it makes no light (no such module, no such spectrum, ...). */
bool ics_light_parts_begin(ics_light_parts *parts, const ics_light_setup *setup,
                           const ics_listed_particle *particle, char message[ICS_PARTICLE_MESSAGE]);
/* The next part, perhaps without photons; false: that was all. */
bool ics_light_parts_next(ics_light_parts *parts, ics_light_part *out);

#endif
