/* What a list of particles comes to, without making any steps. */
#ifndef ICS_PARTICLES_PARTICLE_SURVEY_H
#define ICS_PARTICLES_PARTICLE_SURVEY_H

#include "pipeline/particles/light_setup.h"

/* Parts of light that are counted one by one: some seconds of one thread. */
#define ICS_SURVEY_PARTS 10000000

typedef struct ics_particle_survey {
    uint64_t events, particles;
    double photons, steps;
    /* The numbers are those of the first `counted` particles, as many again for all others; it is
     * `particles` unless there is very much light. */
    uint64_t counted;
    /* Not looked at: what comes through a pipe can be read but once. */
    bool is_stream;
} ics_particle_survey;

/* Reads all particles of a configuration that has some and checks them as generating their steps
 * would, but for where single photons start. `parts`: how many parts of light are counted, about.
 * ICESTREAM_E_CONFIG: a particle that cannot be read or makes no legal light, with its place; an
 * event of more than 2^32 steps. ICESTREAM_E_MEMORY. */
int ics_particle_survey_take(const icestream_config *config, const ics_light_setup *setup,
                             uint64_t parts, ics_particle_survey *out, icestream_error *error);

#endif
