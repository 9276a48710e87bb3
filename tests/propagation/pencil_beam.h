/* The pencil beam of the suites in uniform ice, and the numbers of photons that they compute. */
#ifndef PENCIL_BEAM_H
#define PENCIL_BEAM_H

#include "stages/photon.h"
#include "tests/support/test_scale.h"

/* Photons of a test, and how many of them a test of a distribution takes, before scaling. */
enum { PHOTONS = 10000000, SAMPLE = 1000000 };

static inline uint32_t pencil_photons(void)
{
    return (uint32_t)test_scaled(PHOTONS);
}

static inline uint32_t pencil_sample(void)
{
    const uint32_t all = pencil_photons();
    return all < SAMPLE ? all : SAMPLE;
}

/* A beam of light from the origin in one direction. */
static inline ice_emission pencil_beam(float dx, float dy, float dz)
{
    const ice_emission emission = {
        .dx = dx, .dy = dy, .dz = dz, .beta = 1.0f, .step_id = 12, .spectrum = 1};
    return emission;
}

/* The Legendre polynomial P2. */
static inline double legendre_2(double cosine)
{
    return 1.5 * cosine * cosine - 0.5;
}

#endif
