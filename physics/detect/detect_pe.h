/* detect: pe. Decides which arrivals are photo-electrons: by wavelength, direction, cable shadow
 * and efficiency (physics.md 3.2, 8.5, 8.8). */
#ifndef ICS_PHYSICS_DETECT_DETECT_PE_H
#define ICS_PHYSICS_DETECT_DETECT_PE_H

#include "physics/detect/curves.h"
#include "physics/detect/detection.h"

/* Returns the wavelength acceptance of a module divided by the share of the light that was
 * generated. Beyond the outermost points the outermost value holds, as for the weights of hits.
 * Weights use ics_batch_light_bias() in double precision on the host; this is the same formula in
 * single precision, for two curves at one wavelength. */
ICE_FN float ice_kept_acceptance(const ice_detection *detection, uint32_t curve, float wavelength)
{
    if (detection->point_count == 0) {
        return detection->flat;
    }
    const ice_curve_section section =
        ice_curve_find(detection->wavelengths, detection->point_count, wavelength);
    const float *values = detection->curves + (size_t)curve * detection->point_count;
    const float accepted = ice_curve_value(section, values);
    const float kept = ice_curve_value(section, detection->bias);
    return ice_div(accepted, kept);
}

/* Returns the angular acceptance divided by its maximum. x = -n . axis is 1 for light that arrives
 * from the front of the PMT. */
ICE_FN float ice_angular_share(const ice_detection *detection, const ice_sensor *sensor,
                               const ice_arrival *arrival)
{
    if (detection->has_edge) {
        const float towards = -fmaf(arrival->x, sensor->back_x,
                                    fmaf(arrival->y, sensor->back_y, arrival->z * sensor->back_z));
        return towards > detection->edge ? 1.0f : 0.0f;
    }
    const float x = fmaf(arrival->dx, sensor->back_x,
                         fmaf(arrival->dy, sensor->back_y, arrival->dz * sensor->back_z));
    return ice_polynomial_share(detection->coefficients, detection->coefficient_count, x);
}

/* Returns 1 if the light came through the cable: its path back from the impact enters the vertical
 * cylinder of the cable. */
ICE_FN int32_t ice_is_shadowed(const ice_detection *detection, const ice_sensor *sensor,
                               const ice_arrival *arrival)
{
    const float nx = arrival->dx, ny = arrival->dy;
    const float from_x = arrival->x - sensor->cable_x, from_y = arrival->y - sensor->cable_y;
    const float a = fmaf(nx, nx, ny * ny);
    const float q = fmaf(nx, from_x, ny * from_y);
    /* This is q^2 - a (dr^2 - rc^2), multiplied out so that nothing cancels for steep light. */
    const float cross = fmaf(nx, from_y, -ny * from_x);
    const float discriminant =
        fmaf(a * detection->cable_radius, detection->cable_radius, -cross * cross);
    if (!(a > 0.0f) || discriminant < 0.0f) {
        return 0;
    }
    const float root = ice_sqrt(discriminant);
    const float leaves = ice_div(q + root, a); /* distance back along the path, m */
    if (!(leaves > 0.0f)) {
        return 0;
    }
    /* Some part of the path inside the endless cylinder must lie between the ends of the cable. */
    const float enters = ice_max(ice_div(q - root, a), 0.0f);
    const float one = fmaf(-enters, arrival->dz, arrival->z);
    const float other = fmaf(-leaves, arrival->dz, arrival->z);
    return ice_min(one, other) <= detection->cable_half &&
           ice_max(one, other) >= -detection->cable_half;
}

ICE_FN float ice_detect_pe(const ice_detection *detection, const ice_arrival *arrival)
{
    const ice_sensor *sensor = &detection->sensors[ice_arrival_module(arrival)];
    if (sensor->flags & ICE_SENSOR_OFF) {
        return 0.0f;
    }
    if (sensor->flags & ICE_SENSOR_CABLE && ice_is_shadowed(detection, sensor, arrival)) {
        return 0.0f;
    }
    return sensor->efficiency *
           ice_kept_acceptance(detection, sensor->acceptance, arrival->wavelength) *
           ice_angular_share(detection, sensor, arrival);
}

/* A module has one PMT. */
ICE_FN int32_t ice_pmt_of_pe(const ice_detection *detection, const ice_arrival *arrival,
                             float share)
{
    (void)detection;
    (void)arrival;
    (void)share;
    return 0;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_detect_pe                                                                   \
    "light.acceptance light.high_efficiency detector.angular_acceptance "                          \
    "detector.angular_polynomial detector.efficiencies detector.axes detector.cables "             \
    "detector.cable_radius detector.cable_length detector.voltages"

#endif
