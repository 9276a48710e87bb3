#include "pipeline/models/ice/ice_steps.h"

#include <math.h>

static double depth_at(const double *depths, size_t stride, size_t i)
{
    return *(const double *)(const void *)((const char *)depths + i * stride);
}

static double step_to(const double *depths, size_t stride, size_t i)
{
    return depth_at(depths, stride, i) - depth_at(depths, stride, i - 1);
}

double ics_ice_steps_off(const ics_ice_steps *steps, const double *depths, size_t stride, size_t i)
{
    return fabs(depth_at(depths, stride, i) - depths[0] - (double)i * steps->step);
}

ics_ice_steps ics_ice_steps_of(const double *depths, size_t stride, size_t count)
{
    const double all = depth_at(depths, stride, count - 1) - depths[0];
    ics_ice_steps steps = {.step = all / (double)(count - 1)};
    double largest = 0, worst = -1;
    for (size_t i = 1; i < count; ++i) {
        largest = fmax(largest, step_to(depths, stride, i));
        steps.uneven = fmax(steps.uneven, ics_ice_steps_off(&steps, depths, stride, i));
    }
    /* One wrong depth does not change the step of the others much, unless it makes the largest. */
    steps.usual = count > 2 ? (all - largest) / (double)(count - 2) : all;
    for (size_t i = 1; i < count; ++i) {
        const double off = fabs(step_to(depths, stride, i) - steps.usual);
        if (off > worst) {
            worst = off;
            steps.row = i;
            steps.expected = depth_at(depths, stride, i - 1) + steps.usual;
        }
    }
    return steps;
}
