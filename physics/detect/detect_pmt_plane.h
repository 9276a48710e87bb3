/* detect: pmt-plane. Decides which PMT of a module detects an arrival, from the direction of the
 * light alone: the light is taken for a plane wave that meets the whole module, as ppc does
 * (physics.md 8.13). */
#ifndef ICS_PHYSICS_DETECT_DETECT_PMT_PLANE_H
#define ICS_PHYSICS_DETECT_DETECT_PMT_PLANE_H

#include "physics/body.h"
#include "physics/detect/pmt.h"

/* Returns the effective area of one PMT at a wavelength (nm): window->weight times its acceptance
 * and the area that it turns to the light. */
ICE_FN double ice_pmt_plane_area(const ice_pmt_tables *tables, const ice_pmt_type *type,
                                 uint32_t pmt, const double direction[3], float wavelength)
{
    const ice_pmt_window *window = &tables->windows[type->first + pmt];
    const double x =
        -(direction[0] * (double)window->axis_x + direction[1] * (double)window->axis_y +
          direction[2] * (double)window->axis_z);
    return (double)window->weight * ice_pmt_share(fmax(fmin(x, 1), -1), (double)type->beta) *
           (double)ice_pmt_own_ratio(tables, type, window, wavelength);
}

/* Returns the sum of the effective areas of all PMTs. */
ICE_FN double ice_pmt_plane_sum(const ice_pmt_tables *tables, const ice_pmt_type *type,
                                const double direction[3], float wavelength)
{
    double sum = 0;
    for (uint32_t k = 0; k < type->count; ++k) {
        sum += ice_pmt_plane_area(tables, type, k, direction, wavelength);
    }
    return sum;
}

/* The probability is the sum of the effective areas divided by the area that the module turns to
 * the light. The area of a cylinder without ends vanishes along its axis; there the probability is
 * at most 1 (physics.md 8.13). */
ICE_FN float ice_detect_pmt_plane(const ice_detection *detection, const ice_arrival *arrival)
{
    const float common = ice_pmt_common(detection, arrival);
    double direction[3], impact[3];
    if (!(common > 0.0f)) {
        return 0.0f;
    }
    const ice_pmt_type *type = ice_pmt_view(detection, arrival, direction, impact);
    const double shadow =
        ice_body_area((ice_shape)type->shape, type->open_ends != 0, (double)type->radius,
                      (double)type->half_height, direction[2]);
    const double sum = ice_pmt_plane_sum(detection->pmts, type, direction, arrival->wavelength);
    const double share = type->open_ends ? fmin(sum / fmax(shadow, 1e-12), 1) : sum / shadow;
    return common * (float)share;
}

/* Returns the PMT that detects the light; `share` in [0, 1) is uniform. */
ICE_FN int32_t ice_pmt_of_pmt_plane(const ice_detection *detection, const ice_arrival *arrival,
                                    float share)
{
    double direction[3], impact[3];
    const ice_pmt_type *type = ice_pmt_view(detection, arrival, direction, impact);
    const double wanted =
        (double)share * ice_pmt_plane_sum(detection->pmts, type, direction, arrival->wavelength);
    double sum = 0;
    uint32_t k = 0;
    for (; k + 1 < type->count; ++k) {
        sum += ice_pmt_plane_area(detection->pmts, type, k, direction, arrival->wavelength);
        if (sum > wanted) {
            break;
        }
    }
    return (int32_t)k;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_detect_pmt_plane                                                            \
    "detector.types detector.om_conf detector.om_map light.acceptance light.high_efficiency "      \
    "detector.efficiencies detector.cables detector.cable_radius detector.cable_length "           \
    "detector.voltages"

#endif
