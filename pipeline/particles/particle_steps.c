#include "pipeline/particles/particle_steps.h"

#include "pipeline/error.h"
#include "pipeline/models/models.h"
#include "pipeline/particles/light_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define EMITTER_LENGTH 0.001 /* of a step of a cascade, m */
#define POSITION_MOST  1e4   /* m, formats.md */

struct is_particle_steps {
    is_models *models;   /* owned, or NULL */
    is_light_setup *own; /* owned, or NULL */
    const is_light_setup *setup;
    is_particle_source *source;
    /* Where planning is; making steps does not look at any of it. */
    is_listed_particle particle;
    is_light_parts parts; /* of that particle, where has_particle */
    bool has_particle, has_event;
    is_light_part part; /* `left` photons are to come */
    uint64_t left;
    uint64_t event;
    uint64_t next_step; /* step_id within the event */
    is_particle_totals totals;
};

int is_particle_steps_of(is_particle_source *source, const is_light_setup *setup,
                         is_particle_steps **out, is_error *error)
{
    is_particle_steps *steps = calloc(1, sizeof *steps);
    *out = steps;
    if (!steps) {
        is_particle_source_destroy(source);
        is_error_add(error, IS_E_MEMORY, "particles: error: out of memory");
        return IS_E_MEMORY;
    }
    steps->source = source;
    steps->setup = setup;
    return IS_OK;
}

int is_particle_steps_create(const is_config *config, is_particle_steps **out, is_error *error)
{
    is_models *models = NULL;
    is_light_setup *setup = NULL;
    is_particle_source *source = NULL;
    *out = NULL;
    int status = is_models_create(config, &models, error);
    if (status == IS_OK)
        status = is_light_setup_create(config, models->medium, models->detector, models->light,
                                       &setup, error);
    if (status == IS_OK)
        status = is_particle_source_open(config, &source, error);
    if (status == IS_OK)
        status = is_particle_steps_of(source, setup, out, error);
    if (status != IS_OK) {
        is_light_setup_destroy(setup);
        is_models_destroy(models);
        return status;
    }
    (*out)->models = models;
    (*out)->own = setup;
    return IS_OK;
}

void is_particle_steps_destroy(is_particle_steps *steps)
{
    if (!steps)
        return;
    is_particle_source_destroy(steps->source);
    is_light_setup_destroy(steps->own);
    is_models_destroy(steps->models);
    free(steps);
}

is_particle_totals is_particle_steps_totals(const is_particle_steps *steps)
{
    return steps->totals;
}

/* ---- one step -------------------------------------------------------------------------------- */

typedef struct start {
    double x, y, z, t;
    ice_axis axis;
} start;

/* Goes along the part's axis, with the particle. */
static void advance(start *at, ice_axis axis, double distance)
{
    at->x += distance * axis.x;
    at->y += distance * axis.y;
    at->z += distance * axis.z;
    at->t += distance / ICE_LIGHT_SPEED;
}

static ice_axis beam_direction(const is_light_part *part, ice_stream *stream)
{
    double x = 0, polar, azimuth;
    switch (part->beam) {
    case IS_BEAM_CLSIM:
        if (!ice_led_smear(part->spectrum, part->led == ICE_LED_TILTED, &polar, &azimuth))
            return part->axis;
        return ice_axis_smear(part->axis, polar, azimuth, stream);
    case IS_BEAM_EXACT:
        return part->axis;
    case IS_BEAM_GAUSS:
        x = ice_beam_gauss(part->beam_width, ice_stream_uniform(stream));
        break;
    case IS_BEAM_LAB:
        x = ice_beam_led(part->led, stream);
        break;
    case IS_BEAM_LINEAR:
        x = ice_beam_linear(ice_stream_uniform(stream));
        break;
    case IS_BEAM_ISOTROPIC:
        x = ice_beam_isotropic(ice_stream_uniform(stream));
        break;
    }
    return ice_axis_turn(part->axis, x, 2 * ICE_PI * ice_stream_uniform(stream));
}

/* What differs from step to step of a part. */
static start draw_start(const is_light_part *part, ice_stream *stream)
{
    start at = {part->x, part->y, part->z, part->t, part->axis};
    double turn;
    switch (part->form) {
    case IS_PART_TRACK:
    case IS_PART_RAY:
        return at;
    case IS_PART_CASCADE:
        if (part->depth.scale > 0)
            advance(&at, part->axis,
                    part->depth.scale * ice_stream_gamma(stream, part->depth.shape));
        at.axis = ice_emitter_direction(part->axis, stream);
        return at;
    case IS_PART_CLOUD:
        advance(&at, part->axis, part->length * ice_stream_uniform(stream));
        at.axis = ice_emitter_direction(part->axis, stream);
        return at;
    case IS_PART_BEAM:
        at.axis = beam_direction(part, stream);
        advance(&at, at.axis, part->radius);
        break;
    case IS_PART_CANDLE:
        turn = 2 * ICE_PI * ice_stream_uniform(stream);
        at.axis = (ice_axis){cos(part->elevation) * cos(turn), cos(part->elevation) * sin(turn),
                             sin(part->elevation)};
        break;
    case IS_PART_POINT:
        break;
    }
    at.t += ice_pulse_time(&part->pulse, stream);
    return at;
}

static uint8_t kind_of(is_part_form form)
{
    switch (form) {
    case IS_PART_TRACK:
        return IS_KIND_TRACK;
    case IS_PART_CASCADE:
    case IS_PART_CLOUD:
        return IS_KIND_CASCADE;
    case IS_PART_BEAM:
        return IS_KIND_FLASHER;
    default:
        return IS_KIND_POINT;
    }
}

static is_step make_step(uint64_t seed, const is_step_span *span, uint32_t step_id,
                         uint32_t photons)
{
    const is_light_part *part = &span->part;
    ice_stream stream = ice_stream_of(seed, span->event, span->particle, ICE_PURPOSE_STEP, step_id);
    const start at = draw_start(part, &stream);
    const bool is_cascade = part->form == IS_PART_CASCADE || part->form == IS_PART_CLOUD;
    return (is_step){.x = (float)at.x,
                     .y = (float)at.y,
                     .z = (float)at.z,
                     .t = (float)at.t,
                     .dx = (float)at.axis.x,
                     .dy = (float)at.axis.y,
                     .dz = (float)at.axis.z,
                     .length = (float)(part->form == IS_PART_TRACK ? part->length
                                       : is_cascade                ? EMITTER_LENGTH
                                                                   : 0),
                     .beta = (float)part->beta,
                     .weight = 1,
                     .photons = photons,
                     .source_id = span->particle,
                     .event_id = span->event,
                     .step_id = step_id,
                     .kind = kind_of(part->form),
                     .spectrum = (uint8_t)part->spectrum,
                     .flags = part->form == IS_PART_POINT ? IS_STEP_ISOTROPIC : 0};
}

static bool is_inside(const is_step *step)
{
    return fabsf(step->x) <= POSITION_MOST && fabsf(step->y) <= POSITION_MOST &&
           fabsf(step->z) <= POSITION_MOST;
}

static int fault_at(const is_particle_steps *steps, size_t position, const char *text,
                    is_error *error)
{
    char place[600];
    return is_error_add(error, IS_E_CONFIG, "%s: error: %s",
                        is_particle_source_place_of(steps->source, position, place, sizeof place),
                        text);
}

int is_particle_steps_make(const is_particle_steps *steps, const is_step_span *span, is_step *out,
                           is_error *error)
{
    const uint64_t seed = steps->setup->seed;
    uint64_t left = span->photons;
    for (uint32_t i = 0; i < span->count; ++i) {
        const uint32_t photons = left < span->part.per_step ? (uint32_t)left : span->part.per_step;
        out[i] = make_step(seed, span, span->first_step + i, photons);
        if (!is_inside(&out[i]))
            return fault_at(steps, span->position, "found light further away than 10000 m", error);
        left -= photons;
    }
    return IS_OK;
}

/* ---- planning -------------------------------------------------------------------------------- */

static int fault(const is_particle_steps *steps, const char *text, is_error *error)
{
    return fault_at(steps, is_particle_source_position(steps->source), text, error);
}

static int next_particle(is_particle_steps *steps, bool *found, is_error *error)
{
    char message[IS_PARTICLE_MESSAGE];
    int status = is_particle_source_next(steps->source, &steps->particle, found, error);
    if (status != IS_OK || !*found)
        return status;
    if (!steps->has_event || steps->particle.event != steps->event) {
        steps->event = steps->particle.event;
        steps->next_step = 0;
        steps->has_event = true;
        ++steps->totals.events;
    }
    ++steps->totals.particles;
    steps->has_particle = true;
    if (!is_light_parts_begin(&steps->parts, steps->setup, &steps->particle, message))
        return fault(steps, message, error);
    return IS_OK;
}

/* Says at once that step_ids do not suffice, not after writing 2^32 steps. */
static int take_part(is_particle_steps *steps, is_error *error)
{
    const uint32_t most = steps->part.per_step;
    const uint64_t wanted = steps->part.photons / most + (steps->part.photons % most > 0);
    steps->left = steps->part.photons;
    const uint32_t largest = steps->left < most ? (uint32_t)steps->left : most;
    if (largest > steps->totals.largest_step)
        steps->totals.largest_step = largest;
    if (wanted <= (UINT64_C(1) << 32) - steps->next_step)
        return IS_OK;
    return fault(steps,
                 "found an event of more than 2^32 steps, expected fewer: raise "
                 "particles.photons_per_step or, for beams, particles.photons_per_direction",
                 error);
}

/* Goes on until there are photons, or until there is nothing more: *found. */
static int next_part(is_particle_steps *steps, bool *found, is_error *error)
{
    *found = true;
    while (steps->left == 0) {
        if (steps->has_particle && is_light_parts_next(&steps->parts, &steps->part)) {
            int status = take_part(steps, error);
            if (status != IS_OK)
                return status;
            continue;
        }
        steps->has_particle = false;
        int status = next_particle(steps, found, error);
        if (status != IS_OK || !*found)
            return status;
    }
    return IS_OK;
}

int is_particle_steps_plan(is_particle_steps *steps, uint32_t most, is_step_span *out, bool *found,
                           is_error *error)
{
    int status = next_part(steps, found, error);
    if (status != IS_OK || !*found) {
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
    out->position = is_particle_source_position(steps->source);
    steps->left -= out->photons;
    steps->next_step += out->count;
    steps->totals.steps += out->count;
    steps->totals.photons += out->photons;
    return IS_OK;
}

int is_particle_steps_fill(is_particle_steps *steps, is_step *out, size_t capacity, size_t *count,
                           is_error *error)
{
    *count = 0;
    while (*count < capacity) {
        is_step_span span;
        bool found;
        const size_t room = capacity - *count;
        const uint32_t most = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
        int status = is_particle_steps_plan(steps, most, &span, &found, error);
        if (status == IS_OK && found)
            status = is_particle_steps_make(steps, &span, out + *count, error);
        if (status != IS_OK || !found)
            return status;
        *count += span.count;
    }
    return IS_OK;
}
