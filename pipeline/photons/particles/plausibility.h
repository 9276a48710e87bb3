/* Particles that are legal and most likely mistakes: outside the ice, out of sight of all modules,
 * or without light. */
#ifndef ICS_PHOTONS_PARTICLES_PLAUSIBILITY_H
#define ICS_PHOTONS_PARTICLES_PLAUSIBILITY_H

#include "pipeline/photons/models/models.h"
#include "pipeline/photons/particles/light_setup.h"

/* Particles that are looked at, from the first one. */
#define ICS_PLAUSIBLE_PARTICLES 10000

/* Reads the first particles of a configuration that has some, and adds one warning for each kind of
 * mistake to models->warnings: the first particle with it, and how many there are. Particles that
 * come through a pipe are not read. The errors of ics_particle_survey_take. */
int ics_particle_plausibility_check(const icestream_config *config, const ics_light_setup *setup,
                                    ics_models *models, icestream_error *error);

#endif
