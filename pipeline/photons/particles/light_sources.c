/* Light sources that have a number of photons and no energy. */
#include "pipeline/photons/models/types/transit_times.h"
#include "pipeline/photons/particles/light_parts.h"

#include <math.h>

static double value(const ics_particle *particle, ics_particle_field field)
{
    return particle->values[field];
}

static const ice_module *find_module(const ice_detector *detector, double string, double module)
{
    for (size_t i = 0; i < detector->module_count; ++i) {
        if (detector->modules[i].string == string && detector->modules[i].module == module) {
            return &detector->modules[i];
        }
    }
    return NULL;
}

static void set_pulse(ics_light_parts *parts)
{
    const ics_particle *particle = parts->particle;
    ics_pulse pulse = (ics_pulse)value(particle, ICS_PARTICLE_PULSE);
    if (!ics_particle_has(particle, ICS_PARTICLE_PULSE)) {
        pulse = ics_particle_has(particle, ICS_PARTICLE_WIDTH) ? ICS_PULSE_LED : ICS_PULSE_INSTANT;
    }
    ics_light_part *model = &parts->model;
    if (pulse == ICS_PULSE_LED) {
        model->pulse_shape = ICE_PULSE_LED;
        model->pulse_length = value(particle, ICS_PARTICLE_WIDTH);
        model->pulse = ice_led_pulse(model->pulse_length);
    } else if (pulse == ICS_PULSE_RECTANGLE) {
        model->pulse_shape = ICE_PULSE_RECTANGLE;
        model->pulse_length = ics_particle_has(particle, ICS_PARTICLE_DURATION)
                                  ? value(particle, ICS_PARTICLE_DURATION)
                                  : 70;
        model->pulse.plateau = model->pulse_length;
    } else if (pulse == ICS_PULSE_FILE) {
        model->pulse_shape = ICE_PULSE_RECTANGLE;
    } else if (model->form == ICS_PART_POINT) {
        /* Its photons differ in nothing that a step has. */
        model->per_step = parts->setup->photons_per_step;
        model->has_profile = false;
    }
}

/* Returns the number of rectangles that stand for a range of the table. Where the density changes
 * linearly, a range is divided. */
static uint32_t rectangles_of(const ice_transit_range *range)
{
    enum { RAMP = 16 };
    return range->low == range->high ? 1 : RAMP;
}

bool ics_light_source_slice(ics_light_parts *parts, ics_light_part *out, double *share)
{
    const ice_transit *pulse = parts->setup->pulse;
    uint32_t slice = parts->slice++;
    *share = 1;
    if (value(parts->particle, ICS_PARTICLE_PULSE) != ICS_PULSE_FILE) {
        return slice == 0;
    }
    double total = 0;
    for (size_t i = 0; i < pulse->count; ++i) {
        total += ics_transit_area(&pulse->ranges[i]);
    }
    for (size_t i = 0; i < pulse->count; ++i) {
        const ice_transit_range *range = &pulse->ranges[i];
        const uint32_t rectangles = rectangles_of(range);
        if (slice < rectangles) {
            const double width = (range->to - range->from) / rectangles;
            const double middle = (slice + 0.5) / rectangles;
            const double density = range->low + middle * (range->high - range->low);
            out->t += range->from + slice * width;
            out->pulse_length = out->pulse.plateau = width;
            *share = density * width / total;
            return true;
        }
        slice -= rectangles;
    }
    return false;
}

/* Sets the direction of an LED of a module, and its position. With has_glass the position follows
 * from the direction for each photon. The other beams of ppc start on the surface of the module
 * (physics.md 2.4). */
static void start_led(ics_light_parts *parts)
{
    const ics_particle *particle = parts->particle;
    ics_light_part *model = &parts->model;
    ice_axis offset;
    const uint32_t led = (uint32_t)value(particle, ICS_PARTICLE_LED);
    ice_led_position(led, value(particle, ICS_PARTICLE_LED_AZIMUTH) * ICE_DEGREE, &offset,
                     &model->axis);
    model->led = ice_led_is_tilted(led) ? ICE_LED_TILTED : ICE_LED_HORIZONTAL;
    const bool is_of_ppc = parts->setup->has_ppc && ics_particle_has(particle, ICS_PARTICLE_STRING);
    if (!is_of_ppc) {
        model->x += offset.x;
        model->y += offset.y;
        model->z += offset.z;
        model->radius = 0;
    }
}

/* Sets position and direction of a flasher on its module, or of a beam anywhere. */
static bool start_beam(ics_light_parts *parts, char message[ICS_PARTICLE_MESSAGE])
{
    const ics_particle *particle = parts->particle;
    ics_light_part *model = &parts->model;
    if (ics_particle_has(particle, ICS_PARTICLE_STRING)) {
        const double string = value(particle, ICS_PARTICLE_STRING);
        const double number = value(particle, ICS_PARTICLE_MODULE);
        const ice_module *module = find_module(parts->setup->detector, string, number);
        if (module == NULL) {
            snprintf(message, ICS_PARTICLE_MESSAGE,
                     "string, module: found [%g, %g], expected a module of %.200s", string, number,
                     parts->setup->detector->name);
            return false;
        }
        model->x = module->x;
        model->y = module->y;
        model->z = module->z;
        model->radius = parts->setup->detector->radius;
        model->has_glass = parts->setup->has_ppc && model->beam == ICS_BEAM_LAB;
    }
    if (ics_particle_has(particle, ICS_PARTICLE_LED)) {
        start_led(parts);
    }
    const double ring = hypot(ICE_LED_PPC_RING, ICE_LED_PPC_HEIGHT);
    if (model->has_glass && !(model->radius > ring)) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "beam: found lab with particles.conventions: ppc and detector.radius %.10g m, "
                 "expected a radius above %.10g m, so that the LED is inside the module",
                 model->radius, ring);
        return false;
    }
    return true;
}

static bool set_beam(ics_light_parts *parts, char message[ICS_PARTICLE_MESSAGE])
{
    const ics_particle *particle = parts->particle;
    ics_light_part *model = &parts->model;
    double polar, azimuth;
    model->form = ICS_PART_BEAM;
    model->beam = (ics_beam)value(particle, ICS_PARTICLE_BEAM);
    model->beam_width = ics_particle_has(particle, ICS_PARTICLE_BEAM_WIDTH)
                            ? value(particle, ICS_PARTICLE_BEAM_WIDTH) * ICE_DEGREE
                            : 9.7 * ICE_DEGREE;
    if (model->beam == ICS_BEAM_CLSIM && !ice_led_smear(model->spectrum, false, &polar, &azimuth)) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "beam: found clsim with spectrum %u, expected one of the LEDs, 1 to 5",
                 model->spectrum);
        return false;
    }
    return start_beam(parts, message);
}

bool ics_light_source_begin(ics_light_parts *parts, ics_particle_class kind,
                            char message[ICS_PARTICLE_MESSAGE])
{
    const ics_light_setup *setup = parts->setup;
    const ics_particle *particle = parts->particle;
    ics_light_part *model = &parts->model;
    model->spectrum = kind == ICS_PARTICLE_CANDLE ? 6
                      : ics_particle_has(particle, ICS_PARTICLE_SPECTRUM)
                          ? (uint32_t)value(particle, ICS_PARTICLE_SPECTRUM)
                          : setup->spectrum;
    if (model->spectrum >= setup->spectrum_count) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "spectrum: found %u, expected at most %zu: those beyond 6 are in light.spectra",
                 model->spectrum, setup->spectrum_count - 1);
        return false;
    }
    if (setup->kept[model->spectrum] <= 0) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "spectrum: found %u, of which light.acceptance keeps nothing, expected one with "
                 "wavelengths that modules detect",
                 model->spectrum);
        return false;
    }
    model->form = kind == ICS_PARTICLE_RAY     ? ICS_PART_RAY
                  : kind == ICS_PARTICLE_POINT ? ICS_PART_POINT
                                               : ICS_PART_CANDLE;
    if (kind == ICS_PARTICLE_RAY) {
        return true;
    }
    model->has_profile = setup->photons_per_direction == 0;
    model->per_step = model->has_profile ? UINT32_MAX : setup->photons_per_direction;
    if (kind == ICS_PARTICLE_CANDLE) {
        const ice_candle candle = ice_candle_of(ics_particle_candle_of(particle));
        model->x = candle.x;
        model->y = candle.y;
        model->z = candle.z;
        model->elevation = candle.elevation;
    }
    if (value(particle, ICS_PARTICLE_PULSE) == ICS_PULSE_FILE && setup->pulse == NULL) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "pulse: found file, expected particles.pulse: a table of time (ns) and intensity");
        return false;
    }
    set_pulse(parts);
    return kind != ICS_PARTICLE_FLASHER || set_beam(parts, message);
}

double ics_light_source_mean(const ics_light_parts *parts)
{
    const ics_particle *particle = parts->particle;
    const double photons = ics_particle_has(particle, ICS_PARTICLE_PHOTONS)
                               ? value(particle, ICS_PARTICLE_PHOTONS)
                               : ice_led_output(value(particle, ICS_PARTICLE_BRIGHTNESS),
                                                value(particle, ICS_PARTICLE_WIDTH));
    const ics_light_part *model = &parts->model;
    /* Photons of a profile are made, and the glass stops them then. */
    const double leaves = model->has_glass && !model->has_profile
                              ? ice_led_ppc_share(model->led, model->axis, model->radius)
                              : 1.0;
    return photons * leaves * parts->setup->kept[model->spectrum];
}
