#include "pipeline/photons/files/step_extent.h"

#include <math.h>

/* Returns how far from its start the light of a step begins (m), along its direction. The length of
 * isotropic light is the radius of the sphere on which it starts, that of a beam is no length, and
 * that of a cascade is the scale of its depths. */
static double reach_of(const icestream_step *step)
{
    const unsigned profile = ICESTREAM_STEP_PROFILE_OF(step->flags);
    if (profile == ICESTREAM_PROFILE_CASCADE) {
        return (double)step->length * step->beta;
    }
    const bool has_length =
        profile == ICESTREAM_PROFILE_CLOUD ||
        (profile == ICESTREAM_PROFILE_NONE && !(step->flags & ICESTREAM_STEP_ISOTROPIC));
    return has_length ? step->length : 0.0;
}

static void add_box(ics_step_extent *extent, const icestream_step *step)
{
    const double start[3] = {step->x, step->y, step->z};
    const double direction[3] = {step->dx, step->dy, step->dz};
    const double reach = reach_of(step);
    for (int k = 0; k < 3; ++k) {
        const double end = start[k] + direction[k] * reach;
        const double low = fmin(start[k], end), high = fmax(start[k], end);
        extent->low[k] = extent->steps > 0 ? fmin(extent->low[k], low) : low;
        extent->high[k] = extent->steps > 0 ? fmax(extent->high[k], high) : high;
    }
}

void ics_step_extent_add(ics_step_extent *extent, const icestream_step *steps, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (steps[i].photons == 0) {
            continue;
        }
        add_box(extent, &steps[i]);
        ++extent->steps;
        extent->weightless += steps[i].weight == 0;
        const bool is_isotropic = (steps[i].flags & ICESTREAM_STEP_ISOTROPIC) != 0;
        extent->longest =
            fmax(extent->longest, is_isotropic ? (double)steps[i].length : reach_of(&steps[i]));
        if (fabs((double)steps[i].t) > fabs(extent->time)) {
            extent->time = steps[i].t;
        }
    }
}
