/* The light of a particle in parts: each part is a number of photons that start in the same way. */
#ifndef ICS_PHOTONS_PARTICLES_LIGHT_PARTS_H
#define ICS_PHOTONS_PARTICLES_LIGHT_PARTS_H

#include "physics/light/light_decay.h"
#include "physics/light/light_flasher.h"
#include "pipeline/photons/particles/light_setup.h"
#include "pipeline/photons/particles/source.h"

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

/* Decays of a particle and of its products so far. */
typedef struct ics_decay_counts {
    uint64_t tau[ICE_DECAY_KINDS], muon[ICE_DECAY_KINDS];
} ics_decay_counts;

/* A cascade of a decay. */
typedef struct ics_decay_cascade {
    ice_cascade kind;
    double energy; /* GeV */
} ics_decay_cascade;

/* Which part of a particle comes next. ics_light_parts_begin() fills it. */
typedef struct ics_light_parts {
    const ics_light_setup *setup;
    const ics_particle *particle;
    uint64_t event;
    uint32_t number;
    uint32_t part; /* number of parts so far */
    bool done;
    ics_light_part model; /* members that all parts have in common */
    /* tracks: of the particle, or of a muon that it decayed to */
    bool is_muon, is_piece, is_positive;
    bool makes_losses;
    bool decays; /* at the end of the track, if it ends where the particle does */
    bool ended;  /* the track is complete */
    ics_decay_counts decayed;
    ics_decay_cascade cascades[2]; /* of a decay, at the position of the model */
    uint32_t cascades_left;
    /* tracks: the piece that starts at `at` */
    double energy;            /* at its start, GeV */
    double at, piece, length; /* m */
    double residual;          /* range that is left at its start (m), or INFINITY */
    uint32_t piece_number, stage, losses, loss;
    uint32_t pair_like; /* of the losses */
    uint32_t slice;     /* of a pulse from a file: the next one */
    double bare;        /* monopoles: photons per metre of track */
} ics_light_parts;

/* Begins with a particle, which must live as long as its parts are used. Returns false if the
 * particle makes no light; `message` says why (no such module, no such spectrum, ...). */
bool ics_light_parts_begin(ics_light_parts *parts, const ics_light_setup *setup,
                           const ics_listed_particle *particle, char message[ICS_PARTICLE_MESSAGE]);
/* Gives the next part, which may have no photons. Returns false after the last part. */
bool ics_light_parts_next(ics_light_parts *parts, ics_light_part *out);

/* Of light sources that have a number of photons and no energy (light_sources.c): flashers, beams,
 * points, candles and rays. */

/* Begins the only part of a source. Returns false if the source makes no legal light; `message`
 * says why. */
bool ics_light_source_begin(ics_light_parts *parts, ics_particle_class kind,
                            char message[ICS_PARTICLE_MESSAGE]);
/* Sets the times of the next slice of a pulse, and its share of the light. Pulses that are not from
 * a file have one slice. Returns false after the last one. */
bool ics_light_source_slice(ics_light_parts *parts, ics_light_part *out, double *share);
/* Returns the mean number of photons of a source that has begun, bias included. */
double ics_light_source_mean(const ics_light_parts *parts);

#endif
