/* The structs that the stages take and return: emissions, photons and arrivals.
 *
 * Lengths are in m and wavelengths in nm; directions are unit vectors. Like all of stages/, this
 * file is in the common subset of C11 and CUDA C.
 */
#ifndef ICS_STAGES_PHOTON_H
#define ICS_STAGES_PHOTON_H

#include "stages/platform.h"

/* Bits of ice_emission.flags. They are those of the flags of steps (files.md 3.1). Bit 1 of a step
 * only changes the weight of hits and is always 0 here. */
enum {
    ICE_EMISSION_ISOTROPIC = 1,
    ICE_PROFILE_SHIFT = 2,
    ICE_EMISSION_PROFILE = 15 << ICE_PROFILE_SHIFT, /* ice_profile in stages/profile.h */
    ICE_PULSE_SHIFT = 6,
    ICE_EMISSION_PULSE = 3 << ICE_PULSE_SHIFT, /* ice_pulse_shape in stages/profile.h */
    ICE_EMISSION_SURFACE = 256, /* beams: photons start on the surface of a module around x, y, z */
    ICE_EMISSION_GLASS = 512    /* beams: from an LED inside the module, in the way of ppc */
};

/* The absorption depth of a photon that was not emitted, because its step is below the Cherenkov
 * threshold. The number is negative, so the segment of the photon has a negative length (about
 * -1e-28 m), and touches no module, not even one whose surface the photon starts on. Then the
 * photon counts as absorbed, because the number is less than ICE_ABSORPTION_END. A user's propagate
 * header is not called for it. */
#define ICE_NOT_EMITTED -1e-30f

/* Photons of one step, as the create stage reads them (64 bytes). The time, the weight, source_id
 * and kind of the step stay on the host, because no photon depends on them. */
typedef struct ice_emission {
    float x, y, z;    /* start of the step */
    float length;     /* photons start uniformly along this length; isotropic light: on a sphere
                         with this radius; beams with a pulse: its width or duration (ns);
                         ICE_PROFILE_CASCADE: the scale of the depths (m) */
    float dx, dy, dz; /* unit vector, ignored when isotropic */
    float beta;       /* v/c, (0, 1]; ICE_PROFILE_CASCADE: the shape of the distribution of depths;
                         ICE_PROFILE_GAUSS: sigma (rad) */
    uint32_t event_low; /* event_id, low and high word */
    uint32_t event_high;
    uint32_t step_id;
    uint32_t first_photon; /* photon_id of the first photon */
    uint32_t photons;      /* number of photons; the last one is first_photon + photons - 1 */
    uint32_t spectrum;     /* 0: Cherenkov light on its cone; else light of the spectrum with this
                              number along (dx, dy, dz) */
    uint32_t flags;        /* ICE_EMISSION_... */
    uint32_t reserved;     /* 0 */
} ice_emission;

/* A photon that entered a module (48 bytes). */
typedef struct ice_arrival {
    uint32_t emission; /* index in the batch */
    uint32_t photon_id;
    uint32_t module; /* index into the detector's list of modules, ice_arrival_module(); with a
                        part of a mesh in the upper bits, ice_arrival_part() (stages/shape.h) */
    uint32_t scatters;
    float x, y, z; /* impact relative to the centre, at the module's true size (physics.md 8.3) */
    float path;    /* m, from the photon's start */
    float dx, dy, dz; /* direction of travel */
    float wavelength; /* nm */
} ice_arrival;

/* The photon account (physics.md 5.1). When all photons have ended, created = absorbed + detected +
 * left + stopped. */
typedef struct ice_account {
    uint64_t created, absorbed, detected, left, stopped;
    uint64_t hits;    /* arrivals recorded */
    uint64_t bounces; /* segments of all photons */
} ice_account;

/* The identity of a photon. The random numbers of the photon depend only on its identity and on the
 * seed (physics.md 14.3). */
typedef struct ice_identity {
    uint32_t event_low, event_high, step_id, photon_id;
} ice_identity;

ICE_FN ice_identity ice_identity_of(const ice_emission *emission, uint32_t photon_id)
{
    const ice_identity identity = {emission->event_low, emission->event_high, emission->step_id,
                                   photon_id};
    return identity;
}

/* The state of the random numbers of one photon (stages/random.h): a number in the low half, the
 * carry of the multiplication that made it in the high half. */
typedef struct ice_random {
    uint64_t state;
} ice_random;

/* One photon. The columns of a pool hold these members. What follows from the wavelength
 * (ice_optics) is stored as well where memory is cheap, and computed again elsewhere. */
typedef struct ice_photon {
    float x, y, z;
    float path; /* length of the path so far, m */
    float dx, dy, dz;
    float absorption; /* optical depth left until absorption */
    float wavelength;
    uint32_t emission; /* index in the batch */
    uint32_t photon_id;
    uint32_t scatters;
} ice_photon;

#endif
