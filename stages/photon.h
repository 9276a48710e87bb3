/* What the stages pass on: emissions, photons and arrivals.
 *
 * The common subset of C11 and CUDA C. Lengths in m, angles as unit vectors, wavelengths in nm.
 */
#ifndef ICS_STAGES_PHOTON_H
#define ICS_STAGES_PHOTON_H

#include "stages/platform.h"

/* Bits of ice_emission.flags. */
enum { ICE_EMISSION_ISOTROPIC = 1 };

/* Photons of one step, as the create stage reads them (64 bytes). The time, the weight and the
 * identity of the step that a user gave stay on the host, because no photon depends on them. */
typedef struct ice_emission {
    float x, y, z;    /* start of the step */
    float length;     /* photons start uniformly along it; isotropic: on a sphere of this radius */
    float dx, dy, dz; /* unit vector, ignored when isotropic */
    float beta;       /* v/c, (0, 1] */
    uint32_t event_low; /* event_id, low and high word */
    uint32_t event_high;
    uint32_t step_id;
    uint32_t first_photon; /* photon_id of the first photon */
    uint32_t photons;      /* their number; photon_id first_photon .. first_photon + photons - 1 */
    uint32_t spectrum;     /* 0: Cherenkov light on its cone; k: k-th spectrum along (dx, dy, dz) */
    uint32_t flags;        /* ICE_EMISSION_... */
    uint32_t reserved;     /* 0 */
} ice_emission;

/* A photon that entered a module (48 bytes). */
typedef struct ice_arrival {
    uint32_t emission; /* index in the batch */
    uint32_t photon_id;
    uint32_t module; /* index into the detector's list of modules */
    uint32_t scatters;
    float x, y, z; /* impact relative to the centre, at the module's true size (physics.md 8.3) */
    float path;    /* m, from the photon's start */
    float dx, dy, dz; /* direction of travel */
    float wavelength; /* nm */
} ice_arrival;

/* What became of photons: created = absorbed + detected + left + stopped. */
typedef struct ice_account {
    uint64_t created, absorbed, detected, left, stopped;
    uint64_t hits;    /* arrivals recorded */
    uint64_t bounces; /* segments flown */
} ice_account;

/* Identity of a photon. Its random numbers depend on this and on the seed, and on nothing else
 * (files.md 5). */
typedef struct ice_identity {
    uint32_t event_low, event_high, step_id, photon_id;
} ice_identity;

ICE_FN ice_identity ice_identity_of(const ice_emission *emission, uint32_t photon_id)
{
    const ice_identity identity = {emission->event_low, emission->event_high, emission->step_id,
                                   photon_id};
    return identity;
}

/* One photon. The columns of a pool hold these members. What follows from the wavelength
 * (ice_optics) is stored as well where memory is cheap, and computed again elsewhere. */
typedef struct ice_photon {
    float x, y, z;
    float path; /* m flown so far */
    float dx, dy, dz;
    float absorption; /* optical depth left until absorption */
    float wavelength;
    uint32_t emission; /* index in the batch */
    uint32_t photon_id;
    uint32_t scatters;
} ice_photon;

#endif
