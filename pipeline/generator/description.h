/* The metadata of step files: what their steps were made of (files.md 2.2). */
#ifndef ICS_GENERATOR_DESCRIPTION_H
#define ICS_GENERATOR_DESCRIPTION_H

#include "pipeline/generator/workload.h"
#include "pipeline/particles/particle_steps.h"

#include <jansson.h>

/* Makes the metadata of a workload, in words of the configuration. The caller releases *out.
 * ICESTREAM_E_MEMORY. */
int ics_description_of_workload(const icestream_config *config, const ics_workload *workload,
                                json_t **out, icestream_error *error);
/* Makes the metadata of particles, after all their steps were made. The same. */
int ics_description_of_particles(const icestream_config *config, const ics_particle_totals *totals,
                                 json_t **out, icestream_error *error);

#endif
