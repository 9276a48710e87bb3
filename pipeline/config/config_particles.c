/* particles.list: the fields of a particle are in pipeline/particles/particle.h. */
#include "pipeline/config/config.h"
#include "pipeline/config/config_fields.h"
#include "pipeline/particles/particle_yaml.h"

#include <stdlib.h>

static void clear_particles(void *target)
{
    icestream_config *config = target;
    free(config->particles.list);
    config->particles.list = NULL;
    config->particles.count = 0;
}

static int read_particles(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    ics_particle *list = NULL;
    size_t count = 0;
    int status = ics_particle_read_list(node, &list, &count, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    clear_particles(config);
    config->particles.list = list;
    config->particles.count = count;
    return ICESTREAM_OK;
}

static void print_particles(const void *target, FILE *out)
{
    const icestream_config *config = target;
    ics_particle_print_list(config->particles.list, config->particles.count, out);
}

static bool has_list(const void *target)
{
    const icestream_config *config = target;
    return config->particles.file == NULL;
}

const ics_schema_custom ics_config_particles = {.expected = "a list of particles",
                                                .read = read_particles,
                                                .print = print_particles,
                                                .is_there = has_list,
                                                .clear = clear_particles};
