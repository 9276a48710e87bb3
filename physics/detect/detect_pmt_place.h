/* detect: pmt-place. Decides which PMT of a module detects an arrival, from the point where the
 * light meets the module (physics.md 8.14, 8.17). */
#ifndef ICS_PHYSICS_DETECT_DETECT_PMT_PLACE_H
#define ICS_PHYSICS_DETECT_DETECT_PMT_PLACE_H

#include "physics/detect/pmt.h"
#include "physics/model.h"

/* Returns the PMT on whose window an arrival lies; -1: none. The parts of a mesh say it themselves.
 * Of several windows the one counts whose middle is nearest, and of equally near ones the first. */
ICE_FN int32_t ice_pmt_at(const ice_detection *detection, const ice_arrival *arrival,
                          const ice_pmt_type *type, const double impact[3])
{
    double nearest = INFINITY;
    int32_t found = -1;
    if (type->shape == (uint32_t)ICE_SHAPE_MESH) {
        return ice_arrival_part(arrival) < (int32_t)type->count ? ice_arrival_part(arrival) : -1;
    }
    for (uint32_t k = 0; k < type->count; ++k) {
        const ice_pmt_window *window = &detection->pmts->windows[type->first + k];
        const double x = impact[0] - (double)window->x, y = impact[1] - (double)window->y,
                     z = impact[2] - (double)window->z, r = (double)window->radius;
        const double square = x * x + y * y + z * z;
        if (square < r * r && square < nearest) {
            nearest = square;
            found = (int32_t)k;
        }
    }
    return found;
}

ICE_FN float ice_detect_pmt_place(const ice_detection *detection, const ice_arrival *arrival)
{
    const float common = ice_pmt_common(detection, arrival);
    double direction[3], impact[3];
    if (!(common > 0.0f)) {
        return 0.0f;
    }
    const ice_pmt_type *type = ice_pmt_view(detection, arrival, direction, impact);
    const int32_t pmt = ice_pmt_at(detection, arrival, type, impact);
    if (pmt < 0) {
        return 0.0f;
    }
    const ice_pmt_tables *tables = detection->pmts;
    const ice_pmt_window *window = &tables->windows[type->first + (uint32_t)pmt];
    return common * window->weight * ice_pmt_own_ratio(tables, type, window, arrival->wavelength) *
           ice_pmt_angular(tables, window, direction);
}

/* Returns the PMT that detects the light. The point of impact decides, so `share` has no meaning.
 */
ICE_FN int32_t ice_pmt_of_pmt_place(const ice_detection *detection, const ice_arrival *arrival,
                                    float share)
{
    double direction[3], impact[3];
    const ice_pmt_type *type = ice_pmt_view(detection, arrival, direction, impact);
    (void)share;
    return ice_pmt_at(detection, arrival, type, impact);
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_detect_pmt_place                                                            \
    "detector.types detector.om_conf detector.om_map light.acceptance light.high_efficiency "      \
    "detector.efficiencies detector.cables detector.cable_radius detector.cable_length "           \
    "detector.voltages"

#endif
