/* Photons of one lamp in two threads, half of them each. Every function fails the test on errors.
 */
#ifndef HALVES_H
#define HALVES_H

#include "tests/support/stage_world.h"

#include <check.h>
#include <pthread.h>

typedef struct half {
    const stage_world *world;
    ice_emission emission;
    world_result result; /* freed by the caller */
} half;

static inline void *run_half(void *argument)
{
    half *self = argument;
    const ice_variants variants = world_variants();
    self->result =
        world_run(self->world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, &self->emission, 1);
    return NULL;
}

/* Runs `count` photons (even) of a lamp. */
static inline void run_halves(const stage_world *world, const ice_emission *lamp, uint32_t count,
                              half halves[2])
{
    for (uint32_t i = 0; i < 2; ++i) {
        halves[i] = (half){.world = world, .emission = *lamp};
        halves[i].emission.photons = count / 2;
        halves[i].emission.first_photon = i * (count / 2);
    }
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run_half, &halves[0]), 0);
    run_half(&halves[1]);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

#endif
