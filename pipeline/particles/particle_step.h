/* One step of a part of the light of a particle. */
#ifndef ICS_PARTICLES_PARTICLE_STEP_H
#define ICS_PARTICLES_PARTICLE_STEP_H

#include "pipeline/particles/light_part.h"

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
