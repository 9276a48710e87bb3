#include "pipeline/files/step_extent.h"

#include <math.h>

/* The length of isotropic light is the radius of the sphere on which it starts. */
static void add_box(ics_step_extent *extent, const icestream_step *step)
{
    const double start[3] = {step->x, step->y, step->z};
    const double direction[3] = {step->dx, step->dy, step->dz};
    const bool is_isotropic = (step->flags & ICESTREAM_STEP_ISOTROPIC) != 0;
    for (int k = 0; k < 3; ++k) {
        const double end = is_isotropic ? start[k] : start[k] + direction[k] * step->length;
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
        extent->longest = fmax(extent->longest, steps[i].length);
        if (fabs((double)steps[i].t) > fabs(extent->time)) {
            extent->time = steps[i].t;
        }
    }
}
