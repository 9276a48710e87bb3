/* The light of a particle in parts: each part is a number of photons that start in the same way. */
#ifndef ICS_PARTICLES_LIGHT_PARTS_H
#define ICS_PARTICLES_LIGHT_PARTS_H

#include "pipeline/particles/light_part.h"

/* Begins with a particle, which must live as long as its parts are used. Returns false if the
 * particle makes no light; `message` says why (no such module, no such spectrum, ...). */
bool ics_light_parts_begin(ics_light_parts *parts, const ics_light_setup *setup,
                           const ics_listed_particle *particle, char message[ICS_PARTICLE_MESSAGE]);
/* Gives the next part, which may have no photons. Returns false after the last part. */
bool ics_light_parts_next(ics_light_parts *parts, ics_light_part *out);

#endif
