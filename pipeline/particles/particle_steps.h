/* Particles as steps, a block at a time: memory does not depend on how much light they make.
 *
 * Every step is a function of seed, event, particle and step_id (stages/light_draw.h), so that it
 * does not matter in which blocks steps are asked for.
 */
#ifndef IS_PARTICLE_STEPS_H
#define IS_PARTICLE_STEPS_H

#include "pipeline/particles/light_setup.h"
#include "pipeline/particles/particle_source.h"

typedef struct is_particle_steps is_particle_steps;

/* What has been made so far. */
typedef struct is_particle_totals {
    uint64_t events, particles, steps, photons;
    uint32_t largest_step; /* photons */
} is_particle_totals;

/* Opens the particles of a configuration that has some, and loads its ice, detector and light, of
 * which yields and places come. The configuration must outlive the steps. IS_E_CONFIG, IS_E_MEMORY.
 */
int is_particle_steps_create(const is_config *config, is_particle_steps **out, is_error *error);
/* The same of a source, which is taken over also in case of an error, and a setup, which must
 * outlive the steps. IS_E_MEMORY. */
int is_particle_steps_of(is_particle_source *source, const is_light_setup *setup,
                         is_particle_steps **out, is_error *error);
/* Accepts NULL. */
void is_particle_steps_destroy(is_particle_steps *steps);

/* Makes up to `capacity` steps; *count is less only at the end. IS_E_CONFIG: a particle that cannot
 * be read or makes no legal light, with its place; an event of more than 2^32 steps. */
int is_particle_steps_fill(is_particle_steps *steps, is_step *out, size_t capacity, size_t *count,
                           is_error *error);

is_particle_totals is_particle_steps_totals(const is_particle_steps *steps);

#endif
