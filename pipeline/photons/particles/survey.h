/* The totals of a list of particles, without making steps. */
#ifndef ICS_PHOTONS_PARTICLES_SURVEY_H
#define ICS_PHOTONS_PARTICLES_SURVEY_H

#include "pipeline/photons/particles/light_totals.h"

/* Number of parts of light that are counted one by one, which takes some seconds on one thread. */
#define ICS_SURVEY_PARTS 10000000

typedef struct ics_particle_survey {
    uint64_t events, particles;
    double photons, steps;
    /* The numbers are those of the first `counted` particles, scaled up to all particles. `counted`
     * equals `particles` unless there is very much light. */
    uint64_t counted;
    /* The list was not read, because it comes through a pipe, which can be read only once. */
    bool is_stream;
    /* By types and events. Only the first `counted` particles have photons there. */
    ics_light_totals light;
    ics_warnings warnings; /* what is doubtful about the tracks */
} ics_particle_survey;

/* Reads all particles of a configuration that has some, and checks them like the generation of
 * steps, except for the starts of single photons. About `parts` parts of light are counted one by
 * one. ICESTREAM_E_CONFIG: a particle cannot be read or makes no legal light (the message has its
 * place), or an event has more than 2^32 steps. ICESTREAM_E_MEMORY. The caller frees *out with
 * ics_particle_survey_free(), also after an error. */
int ics_particle_survey_take(const icestream_config *config, const ics_light_setup *setup,
                             uint64_t parts, ics_particle_survey *out, icestream_error *error);
/* Frees the warnings. */
void ics_particle_survey_free(ics_particle_survey *survey);

#endif
