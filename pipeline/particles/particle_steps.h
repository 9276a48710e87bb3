/* Particles as steps, a few at a time: memory does not depend on how much light they make.
 *
 * Every step is a function of seed, event, particle and step_id (physics/light/light_draw.h), so
 * that it does not matter in which pieces steps are asked for, nor which thread makes them: what
 * comes next is planned by one thread, in order, and made by any.
 */
#ifndef ICS_PARTICLES_PARTICLE_STEPS_H
#define ICS_PARTICLES_PARTICLE_STEPS_H

#include "pipeline/particles/light_parts.h"
#include "pipeline/particles/particle_source.h"

typedef struct ics_particle_steps ics_particle_steps;

/* Steps that follow each other in an event and start in the same way. */
typedef struct ics_step_span {
    ics_light_part part;
    uint64_t event;
    uint32_t particle; /* its number in the event */
    uint32_t first_step, count;
    uint64_t photons; /* part.per_step in each of the steps, the last one has what is left */
    size_t position;  /* of the particle in its list (ics_particle_source_position) */
} ics_step_span;

/* What has been planned so far. */
typedef struct ics_particle_totals {
    uint64_t events, particles, steps, photons;
    uint32_t largest_step; /* photons */
} ics_particle_totals;

/* Opens the particles of a configuration that has some, and loads its ice, detector and light, of
 * which yields and places come. The configuration must outlive the steps. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY.
 */
int ics_particle_steps_create(const icestream_config *config, ics_particle_steps **out,
                              icestream_error *error);
/* The same of a source, which is taken over also in case of an error, and a setup, which must
 * outlive the steps. ICESTREAM_E_MEMORY. */
int ics_particle_steps_of(ics_particle_source *source, const ics_light_setup *setup,
                          ics_particle_steps **out, icestream_error *error);
/* Accepts NULL. */
void ics_particle_steps_destroy(ics_particle_steps *steps);

/* The next steps, up to `most` (at least 1); *found is false at the end. One thread at a time.
 * ICESTREAM_E_CONFIG: a particle that cannot be read or makes no legal light, with its place; an
 * event of more than 2^32 steps. After an error there are no more. */
int ics_particle_steps_plan(ics_particle_steps *steps, uint32_t most, ics_step_span *out,
                            bool *found, icestream_error *error);
/* Makes the steps of a span, out[span->count]; any thread, also while others plan and make.
 * ICESTREAM_E_CONFIG: light outside the world, with the place of its particle. */
int ics_particle_steps_make(const ics_particle_steps *steps, const ics_step_span *span,
                            icestream_step *out, icestream_error *error);
/* Both for up to `capacity` steps, on one thread; *count is less only at the end, or after an
 * error. */
int ics_particle_steps_fill(ics_particle_steps *steps, icestream_step *out, size_t capacity,
                            size_t *count, icestream_error *error);

ics_particle_totals ics_particle_steps_totals(const ics_particle_steps *steps);

#endif
