#include "pipeline/photons/devices/light_levels.h"

#include <jansson.h>
#include <math.h>

void ics_light_levels_count(ics_light_levels *levels, const icestream_step *steps,
                            const ice_emission *emissions, uint32_t count)
{
    *levels = (ics_light_levels){0};
    for (uint32_t i = 0; i < count; ++i) {
        const icestream_step *step = &steps[i];
        const bool is_track = (step->flags & ICESTREAM_STEP_ISOTROPIC) == 0;
        const double middle = (double)step->z + (is_track ? 0.5 * step->length * step->dz : 0.0);
        const double level = floor((middle - ICS_LIGHT_LEVELS_LOW) / ICS_LIGHT_LEVELS_STEP);
        uint64_t *in_level = level < 0.0                ? &levels->below
                             : level < ICS_LIGHT_LEVELS ? &levels->photons[(size_t)level]
                                                        : &levels->above;
        *in_level += emissions[i].photons;
    }
}

void ics_light_levels_add(ics_light_levels *levels, const ics_light_levels *from)
{
    levels->below += from->below;
    levels->above += from->above;
    for (size_t i = 0; i < ICS_LIGHT_LEVELS; ++i) {
        levels->photons[i] += from->photons[i];
    }
}

json_t *ics_light_levels_json(const ics_light_levels *levels)
{
    json_t *photons = json_array();
    for (size_t i = 0; i < ICS_LIGHT_LEVELS; ++i) {
        json_array_append_new(photons, json_integer((json_int_t)levels->photons[i]));
    }
    return json_pack("{s:i, s:i, s:I, s:I, s:o}", "low", ICS_LIGHT_LEVELS_LOW, "step",
                     ICS_LIGHT_LEVELS_STEP, "below", (json_int_t)levels->below, "above",
                     (json_int_t)levels->above, "photons", photons);
}
