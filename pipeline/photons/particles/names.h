/* Names of particles in other programs: codes of the Particle Data Group, names of IceTray, and
 * further names of f2k files. */
#ifndef ICS_PHOTONS_PARTICLES_NAMES_H
#define ICS_PHOTONS_PARTICLES_NAMES_H

#include "pipeline/photons/config/schema/nearest.h"
#include "pipeline/photons/models/text/text.h"

/* Returns the name of the type (particle.h) that a code or a name of another program means, NULL if
 * the text is neither. */
const char *ics_particle_name_find(const ics_text_field *text);
/* Compares what a user typed with all names of IceTray and of f2k files. A word such as "muon" is
 * compared with nothing else: *best becomes the name that it means. */
void ics_particle_name_nearest(ics_nearest *best, const char *typed);

#endif
