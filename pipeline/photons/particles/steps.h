/* Particles as steps, a few at a time, so that memory does not depend on the amount of light.
 *
 * Every step is a function of seed, event, particle and step_id (physics/light/light_draw.h). One
 * thread plans the steps in order, and any thread makes them; the division into pieces has no
 * effect on the steps. */
#ifndef ICS_PHOTONS_PARTICLES_STEPS_H
#define ICS_PHOTONS_PARTICLES_STEPS_H

#include "pipeline/photons/particles/light_parts.h"
#include "pipeline/photons/particles/light_totals.h"
#include "pipeline/photons/particles/source.h"

typedef struct ics_particle_steps ics_particle_steps;

/* Consecutive steps of an event that start in the same way. */
typedef struct ics_step_span {
    ics_light_part part;
    uint64_t event;
    uint32_t particle; /* number of the particle in the event */
    uint32_t first_step, count;
    uint64_t photons; /* each step has part.per_step of them, the last step the rest */
    size_t position;  /* position of the particle in its list (ics_particle_source_position) */
} ics_step_span;

/* Counts of everything that was planned so far. */
typedef struct ics_particle_totals {
    uint64_t events, particles, steps, photons;
    uint32_t largest_step; /* photons */
} ics_particle_totals;

/* Makes steps of a source and a setup. The steps own the source afterwards, also after an error;
 * the setup must outlive them. ICESTREAM_E_MEMORY. */
int ics_particle_steps_of(ics_particle_source *source, const ics_light_setup *setup,
                          ics_particle_steps **out, icestream_error *error);
/* Accepts NULL. */
void ics_particle_steps_destroy(ics_particle_steps *steps);

/* Plans the next steps, up to `most` (at least 1); *found is false at the end. One thread at a time
 * may plan. ICESTREAM_E_CONFIG: a particle cannot be read or makes no legal light (the message has
 * its place), an event has more than 2^32 steps, or all particles together make no light. After an
 * error there are no more steps. */
int ics_particle_steps_plan(ics_particle_steps *steps, uint32_t most, ics_step_span *out,
                            bool *found, icestream_error *error);
/* Makes the steps of a span, out[span->count]. Any thread may call it, also while others plan and
 * make steps. ICESTREAM_E_CONFIG: light outside the world, with the place of its particle. */
int ics_particle_steps_make(const ics_particle_steps *steps, const ics_step_span *span,
                            icestream_step *out, icestream_error *error);

ics_particle_totals ics_particle_steps_totals(const ics_particle_steps *steps);
/* Returns the light of all planned steps by types and events, which belongs to the steps. Called
 * after the last step is planned. */
const ics_light_totals *ics_particle_steps_light(ics_particle_steps *steps);
/* Returns the list, for the places of particles. */
const ics_particle_source *ics_particle_steps_source(const ics_particle_steps *steps);

/* ---- one step (particles/step.c) --------------------------------------------------------------
 */

/* Which step of all events it is. */
typedef struct ics_step_identity {
    uint64_t event;
    uint32_t particle; /* number of the particle in the event */
    uint32_t step_id;
} ics_step_identity;

/* Returns the step. A part with a profile makes steps that differ only in step_id and photons. */
icestream_step ics_particle_step_make(const ics_light_part *part, uint64_t seed,
                                      ics_step_identity identity, uint32_t photons);

#endif
