/* Light sources that have a number of photons and no energy: flashers, beams, points, candles and
 * rays. */
#ifndef ICS_PARTICLES_LIGHT_SOURCES_H
#define ICS_PARTICLES_LIGHT_SOURCES_H

#include "pipeline/particles/light_part.h"

/* Begins the only part of a source. Returns false if the source makes no legal light; `message`
 * says why. */
bool ics_light_source_begin(ics_light_parts *parts, ics_particle_class kind,
                            char message[ICS_PARTICLE_MESSAGE]);
/* Returns the mean number of photons of a source that has begun, bias included. */
double ics_light_source_mean(const ics_light_parts *parts);

#endif
