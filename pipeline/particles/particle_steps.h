/* Particles as steps, a few at a time: memory does not depend on how much light they make.
 *
 * Every step is a function of seed, event, particle and step_id (stages/light_draw.h), so that it
 * does not matter in which pieces steps are asked for, nor which thread makes them: what comes next
 * is planned by one thread, in order, and made by any.
 */
#ifndef IS_PARTICLE_STEPS_H
#define IS_PARTICLE_STEPS_H

#include "pipeline/particles/light_parts.h"
#include "pipeline/particles/particle_source.h"

typedef struct is_particle_steps is_particle_steps;

/* Steps that follow each other in an event and start in the same way. */
typedef struct is_step_span {
    is_light_part part;
    uint64_t event;
    uint32_t particle; /* its number in the event */
    uint32_t first_step, count;
    uint64_t photons; /* part.per_step in each of the steps, the last one has what is left */
    size_t position;  /* of the particle in its list (is_particle_source_position) */
} is_step_span;

/* What has been planned so far. */
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

/* The next steps, up to `most` (at least 1); *found is false at the end. One thread at a time.
 * IS_E_CONFIG: a particle that cannot be read or makes no legal light, with its place; an event of
 * more than 2^32 steps. After an error there are no more. */
int is_particle_steps_plan(is_particle_steps *steps, uint32_t most, is_step_span *out, bool *found,
                           is_error *error);
/* Makes the steps of a span, out[span->count]; any thread, also while others plan and make.
 * IS_E_CONFIG: light outside the world, with the place of its particle. */
int is_particle_steps_make(const is_particle_steps *steps, const is_step_span *span, is_step *out,
                           is_error *error);
/* Both for up to `capacity` steps, on one thread; *count is less only at the end, or after an
 * error. */
int is_particle_steps_fill(is_particle_steps *steps, is_step *out, size_t capacity, size_t *count,
                           is_error *error);

is_particle_totals is_particle_steps_totals(const is_particle_steps *steps);

#endif
