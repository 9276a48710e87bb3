/* A particle's light in parts: each a number of photons that start in the same way. */
#ifndef IS_LIGHT_PARTS_H
#define IS_LIGHT_PARTS_H

#include "pipeline/particles/light_setup.h"
#include "pipeline/particles/particle_source.h"
#include "stages/light_flasher.h"

/* How the steps of a part differ from each other. */
typedef enum is_part_form {
    IS_PART_TRACK,   /* not at all: on the cone of a straight track */
    IS_PART_CASCADE, /* depth on the axis, emitter about it */
    IS_PART_CLOUD,   /* anywhere along the axis, emitter about it */
    IS_PART_RAY,     /* not at all: along a direction */
    IS_PART_POINT,   /* in time only: isotropic */
    IS_PART_BEAM,    /* direction about the axis, and time */
    IS_PART_CANDLE   /* direction at an elevation, and time */
} is_part_form;

typedef struct is_light_part {
    is_part_form form;
    uint64_t photons;
    uint32_t per_step;         /* photons in a step, at most */
    double x, y, z, t;         /* start, m, ns */
    ice_axis axis;             /* direction of travel, of the beam */
    double length;             /* TRACK, CLOUD: m */
    double beta;               /* TRACK */
    ice_cascade_profile depth; /* CASCADE */
    uint32_t spectrum;
    is_beam beam;      /* BEAM */
    double beam_width; /* rad */
    ice_led_kind led;
    double radius;    /* BEAM: photons start on a sphere around the place, m */
    double elevation; /* CANDLE, rad */
    ice_pulse pulse;
} is_light_part;

/* Where in a particle the parts are: give it to is_light_parts_begin, then ask for parts. */
typedef struct is_light_parts {
    const is_light_setup *setup;
    const is_particle *particle;
    uint64_t event;
    uint32_t number;
    uint32_t part; /* how many there were */
    bool done;
    is_light_part model; /* what parts have in common */
    /* tracks: the piece that starts at `at` */
    double energy;            /* at its start, GeV */
    double at, piece, length; /* m */
    double residual;          /* range left at its start, or INFINITY, m */
    uint32_t piece_number, stage, losses, loss;
    uint32_t pair_like; /* of the losses */
} is_light_parts;

/* Begins with a particle, which must live as long as its parts are asked for. False: `message` says
 * why it makes no light (no such module, no such spectrum, ...). */
bool is_light_parts_begin(is_light_parts *parts, const is_light_setup *setup,
                          const is_listed_particle *particle, char message[IS_PARTICLE_MESSAGE]);
/* The next part, perhaps without photons; false: that was all. */
bool is_light_parts_next(is_light_parts *parts, is_light_part *out);

#endif
