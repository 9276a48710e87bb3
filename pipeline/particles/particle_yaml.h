/* Particles in YAML: a list of mappings whose keys are the fields of particle.h. */
#ifndef ICS_PARTICLES_PARTICLE_YAML_H
#define ICS_PARTICLES_PARTICLE_YAML_H

#include "pipeline/config/yaml/yaml.h"
#include "pipeline/particles/particle.h"

/* Reads a list; all its errors are added. The caller frees *out. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY. */
int ics_particle_read_list(const ics_yaml_node *node, ics_particle **out, size_t *count,
                           icestream_error *error);

#endif
