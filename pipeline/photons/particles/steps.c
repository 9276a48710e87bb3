#include "pipeline/photons/particles/steps.h"

#include "base/error.h"
#include "pipeline/photons/particles/events.h"
#include "pipeline/photons/particles/light_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define POSITION_MOST 1e4 /* m, files.md 3.1 */

struct ics_particle_steps {
    const ics_light_setup *setup;
    ics_particle_events_reader *events;
    /* The state of planning. Making steps does not use it. */
    ics_listed_particle particle;
    ics_light_parts parts; /* parts of that particle, if has_particle */
    bool has_particle, has_event;
    ics_light_part part; /* `left` photons of it are not planned yet */
    uint64_t left;
    uint64_t event;
    uint64_t next_step; /* step_id within the event */
    ics_particle_totals totals;
    ics_light_totals light;
};

int ics_particle_steps_of(ics_particle_source *source, const ics_light_setup *setup,
                          ics_particle_steps **out, icestream_error *error)
{
    ics_particle_steps *steps = calloc(1, sizeof *steps);
    *out = steps;
    if (steps == NULL) {
        ics_particle_source_destroy(source);
        ics_error_add(error, ICESTREAM_E_MEMORY, "particles: error: out of memory");
        return ICESTREAM_E_MEMORY;
    }
    steps->setup = setup;
    const int status = ics_particle_events_create(source, &setup->track, &steps->events, error);
    if (status != ICESTREAM_OK) {
        free(steps);
        *out = NULL;
    }
    return status;
}

void ics_particle_steps_destroy(ics_particle_steps *steps)
{
    if (steps == NULL) {
        return;
    }
    ics_particle_events_destroy(steps->events);
    free(steps);
}

ics_particle_totals ics_particle_steps_totals(const ics_particle_steps *steps)
{
    return steps->totals;
}

const ics_light_totals *ics_particle_steps_light(ics_particle_steps *steps)
{
    ics_light_totals_end(&steps->light);
    return &steps->light;
}

const ics_particle_source *ics_particle_steps_source(const ics_particle_steps *steps)
{
    return ics_particle_events_source(steps->events);
}

/* ---- making ---------------------------------------------------------------------------------- */

static bool is_inside(const icestream_step *step)
{
    return fabsf(step->x) <= POSITION_MOST && fabsf(step->y) <= POSITION_MOST &&
           fabsf(step->z) <= POSITION_MOST;
}

int ics_particle_steps_make(const ics_particle_steps *steps, const ics_step_span *span,
                            icestream_step *out, icestream_error *error)
{
    const uint64_t seed = steps->setup->seed;
    uint64_t left = span->photons;
    for (uint32_t i = 0; i < span->count; ++i) {
        const uint32_t photons = left < span->part.per_step ? (uint32_t)left : span->part.per_step;
        const ics_step_identity identity = {span->event, span->particle, span->first_step + i};
        out[i] = ics_particle_step_make(&span->part, seed, identity, photons);
        if (!is_inside(&out[i])) {
            return ics_particle_source_refuse(ics_particle_steps_source(steps), span->position,
                                              "found light further away than 10000 m", error);
        }
        left -= photons;
    }
    return ICESTREAM_OK;
}

/* ---- planning -------------------------------------------------------------------------------- */

static int fault(const ics_particle_steps *steps, const char *text, icestream_error *error)
{
    return ics_particle_source_refuse(ics_particle_steps_source(steps), steps->particle.position,
                                      text, error);
}

static int next_particle(ics_particle_steps *steps, bool *found, icestream_error *error)
{
    char message[ICS_PARTICLE_MESSAGE];
    ICS_TRY(ics_particle_events_next(steps->events, &steps->particle, found, error));
    if (!*found) {
        return ICESTREAM_OK;
    }
    if (!steps->has_event || steps->particle.event != steps->event) {
        steps->event = steps->particle.event;
        steps->next_step = 0;
        steps->has_event = true;
        ++steps->totals.events;
    }
    ++steps->totals.particles;
    steps->has_particle = true;
    if (!ics_light_parts_begin(&steps->parts, steps->setup, &steps->particle, message)) {
        return fault(steps, message, error);
    }
    ics_light_totals_begin(&steps->light, &steps->particle, &steps->parts);
    return ICESTREAM_OK;
}

/* Reports that step_ids do not suffice before any step is written, not after 2^32 steps. */
static int take_part(ics_particle_steps *steps, icestream_error *error)
{
    const uint32_t most = steps->part.per_step;
    const uint64_t wanted = steps->part.photons / most + (steps->part.photons % most > 0);
    steps->left = steps->part.photons;
    ics_light_totals_add(&steps->light, steps->left);
    const uint32_t largest = steps->left < most ? (uint32_t)steps->left : most;
    if (largest > steps->totals.largest_step) {
        steps->totals.largest_step = largest;
    }
    if (wanted <= (UINT64_C(1) << 32) - steps->next_step) {
        return ICESTREAM_OK;
    }
    return fault(steps,
                 "found an event of more than 2^32 steps, expected fewer: raise "
                 "particles.photons_per_step or, for beams, particles.photons_per_direction",
                 error);
}

/* Moves to the next part with photons; *found is false at the end. */
static int next_part(ics_particle_steps *steps, bool *found, icestream_error *error)
{
    *found = true;
    while (steps->left == 0) {
        if (steps->has_particle && ics_light_parts_next(&steps->parts, &steps->part)) {
            ICS_TRY(take_part(steps, error));
            continue;
        }
        if (steps->has_particle) {
            ics_light_totals_add_decays(&steps->light, &steps->parts);
        }
        steps->has_particle = false;
        ICS_TRY(next_particle(steps, found, error));
        if (!*found) {
            return ICESTREAM_OK;
        }
    }
    return ICESTREAM_OK;
}

int ics_particle_steps_plan(ics_particle_steps *steps, uint32_t most, ics_step_span *out,
                            bool *found, icestream_error *error)
{
    int status = next_part(steps, found, error);
    if (status == ICESTREAM_OK && !*found && steps->totals.photons == 0) {
        status = fault(steps, ics_light_totals_explain_dark(&steps->light), error);
    }
    if (status != ICESTREAM_OK || !*found) {
        *found = false;
        return status;
    }
    const uint32_t per_step = steps->part.per_step;
    const uint64_t wanted = steps->left / per_step + (steps->left % per_step > 0);
    out->part = steps->part;
    out->event = steps->event;
    out->particle = steps->particle.number;
    out->first_step = (uint32_t)steps->next_step;
    out->count = wanted < most ? (uint32_t)wanted : most;
    out->photons = wanted <= most ? steps->left : (uint64_t)most * per_step;
    out->position = steps->particle.position;
    steps->left -= out->photons;
    steps->next_step += out->count;
    steps->totals.steps += out->count;
    steps->totals.photons += out->photons;
    return ICESTREAM_OK;
}
