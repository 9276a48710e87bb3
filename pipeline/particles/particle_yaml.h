/* Particles in YAML: a list of mappings whose keys are the fields of particle.h. */
#ifndef IS_PARTICLE_YAML_H
#define IS_PARTICLE_YAML_H

#include "pipeline/config/yaml.h"
#include "pipeline/particles/particle.h"

/* Reads a list; all errors in it are added. The caller frees *out. IS_E_CONFIG, IS_E_MEMORY. */
int is_particle_read_list(const is_yaml_node *node, is_particle **out, size_t *count,
                          is_error *error);
/* Writes a list in flow style, without a newline. */
void is_particle_print_list(const is_particle *list, size_t count, FILE *out);

#endif
