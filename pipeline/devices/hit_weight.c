/* What the weight of a hit is made from (physics.md 3.2). */
#include "physics/detect/arrival_time.h"
#include "pipeline/devices/batch.h"
#include "pipeline/models/light/curve.h"

#include <inttypes.h>

double ics_batch_light_bias(const ice_light *light, double wavelength)
{
    const ics_curve bias = {
        .x = light->bias_wavelength, .y = light->bias, .count = light->bias_count};
    return bias.count > 0 ? ics_curve_at_or_end(&bias, wavelength) : 1.0;
}

double ics_batch_thinning(const ice_light *light, const icestream_step *step)
{
    return (step->flags & ICESTREAM_STEP_NOT_THINNED) != 0 ? light->kept[step->spectrum] : 1.0;
}

int ics_batch_check_light(const ice_light *light, const icestream_step *step,
                          icestream_error *error)
{
    if (light->kept == NULL || light->kept[step->spectrum] > 0 ||
        (step->flags & ICESTREAM_STEP_NOT_THINNED) != 0) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "event %" PRIu64 ", step %u, field spectrum: found %u (%s), expected a "
                         "spectrum with light where light.acceptance is above 0",
                         step->event_id, step->step_id, step->spectrum,
                         light->spectra[step->spectrum].name);
}

double ics_batch_weight(const ics_hit_models *models, const icestream_step *step, double bias)
{
    return ice_hit_weight((double)step->weight * ics_batch_thinning(models->light, step), bias,
                          models->detector->oversize);
}
