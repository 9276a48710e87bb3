/* One step of a part of the light of a particle. */
#include "pipeline/photons/particles/steps.h"

#include <math.h>

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

/* ---- profiles (files.md 3.4) ----------------------------------------------------------------- */

static unsigned beam_profile(const ics_light_part *part)
{
    switch (part->beam) {
    case ICS_BEAM_LAB:
        return part->led == ICE_LED_TILTED       ? ICESTREAM_PROFILE_LAB_TILTED
               : part->led == ICE_LED_HORIZONTAL ? ICESTREAM_PROFILE_LAB_HORIZONTAL
                                                 : ICESTREAM_PROFILE_LAB_AVERAGE;
    case ICS_BEAM_CLSIM:
        return part->led == ICE_LED_TILTED ? ICESTREAM_PROFILE_CLSIM_TILTED
                                           : ICESTREAM_PROFILE_CLSIM;
    case ICS_BEAM_LINEAR:
        return ICESTREAM_PROFILE_LINEAR;
    case ICS_BEAM_ISOTROPIC:
        return ICESTREAM_PROFILE_ISOTROPIC;
    case ICS_BEAM_EXACT:
        return ICESTREAM_PROFILE_EXACT;
    default:
        return ICESTREAM_PROFILE_GAUSS;
    }
}

static unsigned profile_of(const ics_light_part *part)
{
    switch (part->form) {
    case ICS_PART_CASCADE:
        return ICESTREAM_PROFILE_CASCADE;
    case ICS_PART_CLOUD:
        return ICESTREAM_PROFILE_CLOUD;
    case ICS_PART_CANDLE:
        return ICESTREAM_PROFILE_CONE;
    case ICS_PART_POINT:
        return ICESTREAM_PROFILE_ISOTROPIC;
    default:
        return beam_profile(part);
    }
}

/* Returns what all photons of a part with a profile share: the photons draw the rest. The two
 * numbers of the profile are in length and beta. */
static icestream_step share_of(const ics_light_part *part)
{
    const unsigned profile = profile_of(part);
    icestream_step step = {.x = (float)part->x,
                           .y = (float)part->y,
                           .z = (float)part->z,
                           .t = part->t,
                           .dx = (float)part->axis.x,
                           .dy = (float)part->axis.y,
                           .dz = (float)part->axis.z,
                           .length = (float)part->pulse_length,
                           .beta = 1};
    if (part->form == ICS_PART_CASCADE) {
        step.length = (float)part->depth.scale;
        step.beta = (float)part->depth.shape;
    } else if (part->form == ICS_PART_CLOUD) {
        step.length = (float)part->length;
    } else if (profile == ICESTREAM_PROFILE_GAUSS) {
        step.beta = (float)part->beam_width;
    } else if (profile == ICESTREAM_PROFILE_CONE) {
        step.dx = (float)cos(part->elevation);
        step.dy = 0;
        step.dz = (float)sin(part->elevation);
    }
    const unsigned from = part->has_glass    ? ICESTREAM_STEP_GLASS
                          : part->radius > 0 ? ICESTREAM_STEP_SURFACE
                                             : 0;
    step.flags = (uint16_t)(ICESTREAM_STEP_PROFILE(profile) |
                            ICESTREAM_STEP_PULSE((unsigned)part->pulse_shape) | from);
    return step;
}

/* ---- all steps ------------------------------------------------------------------------------- */

/* Returns a step whose photons share everything. */
static icestream_step draw_step(const ics_light_part *part, ice_stream *stream)
{
    const start at = draw_start(part, stream);
    const bool is_cascade = part->form == ICS_PART_CASCADE || part->form == ICS_PART_CLOUD;
    return (icestream_step){.x = (float)at.x,
                            .y = (float)at.y,
                            .z = (float)at.z,
                            .t = at.t,
                            .dx = (float)at.axis.x,
                            .dy = (float)at.axis.y,
                            .dz = (float)at.axis.z,
                            .length = (float)(part->form == ICS_PART_TRACK ? part->length
                                              : is_cascade                 ? ICE_EMITTER_LENGTH
                                                                           : 0),
                            .beta = (float)part->beta,
                            .flags = flags_of(part->form)};
}

icestream_step ics_particle_step_make(const ics_light_part *part, uint64_t seed,
                                      ics_step_identity identity, uint32_t photons)
{
    ice_stream stream =
        ice_stream_of(seed, identity.event, identity.particle, ICE_PURPOSE_STEP, identity.step_id);
    icestream_step step = part->has_profile ? share_of(part) : draw_step(part, &stream);
    step.weight = 1;
    step.photons = photons;
    step.source_id = identity.particle;
    step.event_id = identity.event;
    step.step_id = identity.step_id;
    step.kind = kind_of(part->form);
    step.spectrum = (uint8_t)part->spectrum;
    return step;
}
