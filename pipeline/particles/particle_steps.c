#include "pipeline/particles/particle_steps.h"

#include "base/error.h"
#include "pipeline/models/models.h"
#include "pipeline/particles/light_parts.h"
#include "pipeline/particles/particle_events.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define EMITTER_LENGTH 0.001 /* length of a step of a cascade, m */
#define POSITION_MOST  1e4   /* m, files.md 3.1 */

struct ics_particle_steps {
    ics_models *models;   /* owned, or NULL */
    ics_light_setup *own; /* owned, or NULL */
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
    const int status =
        ics_particle_events_create(source, setup->track_length, &steps->events, error);
    if (status != ICESTREAM_OK) {
        free(steps);
        *out = NULL;
    }
    return status;
}

int ics_particle_steps_create(const icestream_config *config, ics_particle_steps **out,
                              icestream_error *error)
{
    ics_models *models = NULL;
    ics_light_setup *setup = NULL;
    ics_particle_source *source = NULL;
    *out = NULL;
    int status = ics_models_create(config, &models, error);
    if (status == ICESTREAM_OK) {
        status = ics_light_setup_create(config, models->medium, models->detector, models->light,
                                        &setup, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_particle_source_open(config, &source, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_particle_steps_of(source, setup, out, error);
    }
    if (status != ICESTREAM_OK) {
        ics_light_setup_destroy(setup);
        ics_models_destroy(models);
        return status;
    }
    (*out)->models = models;
    (*out)->own = setup;
    return ICESTREAM_OK;
}

void ics_particle_steps_destroy(ics_particle_steps *steps)
{
    if (steps == NULL) {
        return;
    }
    ics_particle_events_destroy(steps->events);
    ics_light_setup_destroy(steps->own);
    ics_models_destroy(steps->models);
    free(steps);
}

const ics_models *ics_particle_steps_models(const ics_particle_steps *steps)
{
    return steps->models;
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

/* ---- one step -------------------------------------------------------------------------------- */

typedef struct start {
    double x, y, z, t;
    ice_axis axis;
} start;

/* Moves a step along the axis of the part, at the speed of the particle. */
static void advance(start *at, ice_axis axis, double distance)
{
    at->x += distance * axis.x;
    at->y += distance * axis.y;
    at->z += distance * axis.z;
    at->t += distance / ICE_LIGHT_SPEED;
}

static ice_axis beam_direction(const ics_light_part *part, ice_stream *stream)
{
    double x = 0, polar, azimuth;
    switch (part->beam) {
    case ICS_BEAM_CLSIM:
        if (!ice_led_smear(part->spectrum, part->led == ICE_LED_TILTED, &polar, &azimuth)) {
            return part->axis;
        }
        return ice_axis_smear(part->axis, polar, azimuth, stream);
    case ICS_BEAM_EXACT:
        return part->axis;
    case ICS_BEAM_GAUSS:
        x = ice_beam_gauss(part->beam_width, ice_stream_uniform(stream));
        break;
    case ICS_BEAM_LAB:
        x = ice_beam_led(part->led, stream);
        break;
    case ICS_BEAM_LINEAR:
        x = ice_beam_linear(ice_stream_uniform(stream));
        break;
    case ICS_BEAM_ISOTROPIC:
        x = ice_beam_isotropic(ice_stream_uniform(stream));
        break;
    }
    return ice_axis_turn(part->axis, x, 2 * ICE_PI * ice_stream_uniform(stream));
}

/* Starts light of an LED where it leaves the module. Light that the belt or the lower half stops is
 * drawn again: ics_light_parts_next() has subtracted its photons. */
static void leave_glass(const ics_light_part *part, ice_stream *stream, start *at)
{
    const ice_axis led = ice_led_ppc_position(part->axis);
    double way, passes;
    do {
        at->axis = beam_direction(part, stream);
        way = ice_led_way_out(led, at->axis, part->radius);
        passes = ice_led_ppc_passes(led.z + way * at->axis.z);
    } while (ice_stream_uniform(stream) >= passes);
    at->x += led.x;
    at->y += led.y;
    at->z += led.z;
    advance(at, at->axis, way);
}

/* Sets what differs between the steps of a part. */
static start draw_start(const ics_light_part *part, ice_stream *stream)
{
    start at = {part->x, part->y, part->z, part->t, part->axis};
    double turn;
    switch (part->form) {
    case ICS_PART_TRACK:
    case ICS_PART_RAY:
        return at;
    case ICS_PART_CASCADE:
        if (part->depth.scale > 0) {
            advance(&at, part->axis,
                    part->depth.scale * ice_stream_gamma(stream, part->depth.shape));
        }
        at.axis = ice_emitter_direction(part->axis, stream);
        return at;
    case ICS_PART_CLOUD:
        advance(&at, part->axis, part->length * ice_stream_uniform(stream));
        at.axis = ice_emitter_direction(part->axis, stream);
        return at;
    case ICS_PART_BEAM:
        if (part->has_glass) {
            leave_glass(part, stream, &at);
        } else {
            at.axis = beam_direction(part, stream);
            advance(&at, at.axis, part->radius);
        }
        break;
    case ICS_PART_CANDLE:
        turn = 2 * ICE_PI * ice_stream_uniform(stream);
        at.axis = (ice_axis){cos(part->elevation) * cos(turn), cos(part->elevation) * sin(turn),
                             sin(part->elevation)};
        break;
    case ICS_PART_POINT:
        break;
    }
    at.t += ice_pulse_time(&part->pulse, stream);
    return at;
}

static uint8_t kind_of(ics_part_form form)
{
    switch (form) {
    case ICS_PART_TRACK:
        return ICESTREAM_KIND_TRACK;
    case ICS_PART_CASCADE:
    case ICS_PART_CLOUD:
        return ICESTREAM_KIND_CASCADE;
    case ICS_PART_BEAM:
        return ICESTREAM_KIND_FLASHER;
    default:
        return ICESTREAM_KIND_POINT;
    }
}

/* The number of photons of a ray is given and never thinned. */
static uint16_t flags_of(ics_part_form form)
{
    return form == ICS_PART_POINT ? ICESTREAM_STEP_ISOTROPIC
           : form == ICS_PART_RAY ? ICESTREAM_STEP_NOT_THINNED
                                  : 0;
}

static icestream_step make_step(uint64_t seed, const ics_step_span *span, uint32_t step_id,
                                uint32_t photons)
{
    const ics_light_part *part = &span->part;
    ice_stream stream = ice_stream_of(seed, span->event, span->particle, ICE_PURPOSE_STEP, step_id);
    const start at = draw_start(part, &stream);
    const bool is_cascade = part->form == ICS_PART_CASCADE || part->form == ICS_PART_CLOUD;
    return (icestream_step){.x = (float)at.x,
                            .y = (float)at.y,
                            .z = (float)at.z,
                            .t = (float)at.t,
                            .dx = (float)at.axis.x,
                            .dy = (float)at.axis.y,
                            .dz = (float)at.axis.z,
                            .length = (float)(part->form == ICS_PART_TRACK ? part->length
                                              : is_cascade                 ? EMITTER_LENGTH
                                                                           : 0),
                            .beta = (float)part->beta,
                            .weight = 1,
                            .photons = photons,
                            .source_id = span->particle,
                            .event_id = span->event,
                            .step_id = step_id,
                            .kind = kind_of(part->form),
                            .spectrum = (uint8_t)part->spectrum,
                            .flags = flags_of(part->form)};
}

static bool is_inside(const icestream_step *step)
{
    return fabsf(step->x) <= POSITION_MOST && fabsf(step->y) <= POSITION_MOST &&
           fabsf(step->z) <= POSITION_MOST;
}

static int fault_at(const ics_particle_steps *steps, size_t position, const char *text,
                    icestream_error *error)
{
    char place[600];
    return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s",
                         ics_particle_source_place_of(ics_particle_steps_source(steps), position,
                                                      place, sizeof place),
                         text);
}

int ics_particle_steps_make(const ics_particle_steps *steps, const ics_step_span *span,
                            icestream_step *out, icestream_error *error)
{
    const uint64_t seed = steps->setup->seed;
    uint64_t left = span->photons;
    for (uint32_t i = 0; i < span->count; ++i) {
        const uint32_t photons = left < span->part.per_step ? (uint32_t)left : span->part.per_step;
        out[i] = make_step(seed, span, span->first_step + i, photons);
        if (!is_inside(&out[i])) {
            return fault_at(steps, span->position, "found light further away than 10000 m", error);
        }
        left -= photons;
    }
    return ICESTREAM_OK;
}

/* ---- planning -------------------------------------------------------------------------------- */

static int fault(const ics_particle_steps *steps, const char *text, icestream_error *error)
{
    return fault_at(steps, steps->particle.position, text, error);
}

static int next_particle(ics_particle_steps *steps, bool *found, icestream_error *error)
{
    char message[ICS_PARTICLE_MESSAGE];
    int status = ics_particle_events_next(steps->events, &steps->particle, found, error);
    if (status != ICESTREAM_OK || !*found) {
        return status;
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
            int status = take_part(steps, error);
            if (status != ICESTREAM_OK) {
                return status;
            }
            continue;
        }
        steps->has_particle = false;
        int status = next_particle(steps, found, error);
        if (status != ICESTREAM_OK || !*found) {
            return status;
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

int ics_particle_steps_fill(ics_particle_steps *steps, icestream_step *out, size_t capacity,
                            size_t *count, icestream_error *error)
{
    *count = 0;
    while (*count < capacity) {
        ics_step_span span;
        bool found;
        const size_t room = capacity - *count;
        const uint32_t most = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
        int status = ics_particle_steps_plan(steps, most, &span, &found, error);
        if (status == ICESTREAM_OK && found) {
            status = ics_particle_steps_make(steps, &span, out + *count, error);
        }
        if (status != ICESTREAM_OK || !found) {
            return status;
        }
        *count += span.count;
    }
    return ICESTREAM_OK;
}
