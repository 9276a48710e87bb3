/* Steps of particles, made on one thread. */
#ifndef PARTICLE_FILL_H
#define PARTICLE_FILL_H

#include "pipeline/photons/particles/steps.h"

/* Plans and makes up to `capacity` steps. *count is less than `capacity` only at the end, or after
 * an error. */
static inline int particle_fill(ics_particle_steps *steps, icestream_step *out, size_t capacity,
                                size_t *count, icestream_error *error)
{
    int status = ICESTREAM_OK;
    bool found = true;
    *count = 0;
    while (status == ICESTREAM_OK && found && *count < capacity) {
        ics_step_span span = {.count = 0};
        status =
            ics_particle_steps_plan(steps, (uint32_t)(capacity - *count), &span, &found, error);
        if (status == ICESTREAM_OK && found) {
            status = ics_particle_steps_make(steps, &span, out + *count, error);
        }
        *count += status == ICESTREAM_OK && found ? span.count : 0;
    }
    return status;
}

#endif
