/* propagate: cumulative. The segment's end by inverse look-up in cumulative optical depth.
 *
 * S(z) and P(z), the scattering and absorption depth integrated from a reference face, are
 * piecewise linear with knots at the layer faces; along a straight line the depth to a height z1 is
 * |S(z1) - S(z)| / |nz| (physics.md 5.3). The layer of the end is looked for outwards from the
 * first one: most flights that leave their layer end in the next.
 *
 * A propagate variant gives the segment of a flight that leaves its first layer; the others were
 * dealt with before (ice_segment_in_layer).
 */
#ifndef ICE_PROPAGATE_CUMULATIVE_H
#define ICE_PROPAGATE_CUMULATIVE_H

#include "stages/segment.h"

ICE_FN float ice_cumulative_scattering(const ice_tables *tables, ice_optics optics, int32_t face)
{
    const ice_layer_row *row = &tables->cumulative[face];
    return ice_scattering(optics, row->scattering, row->bubbles);
}

ICE_FN float ice_cumulative_absorption(const ice_tables *tables, ice_optics optics, int32_t face)
{
    const ice_layer_row *row = &tables->cumulative[face];
    return ice_absorption(optics, row->dust, row->ice);
}

/* The layer in which a cumulative depth reaches `target`, from `layer` on upwards or downwards. The
 * outermost layers continue without limit. */
#define ICE_CUMULATIVE_SEARCH(name, depth_at)                                                      \
    ICE_FN int32_t name(const ice_tables *tables, ice_optics optics, float target, int32_t layer,  \
                        int32_t up)                                                                \
    {                                                                                              \
        if (up)                                                                                    \
            while (layer < tables->layer_count - 1 &&                                              \
                   depth_at(tables, optics, layer + 1) <= target)                                  \
                ++layer;                                                                           \
        else                                                                                       \
            while (layer > 0 && depth_at(tables, optics, layer) > target)                          \
                --layer;                                                                           \
        return layer;                                                                              \
    }
ICE_CUMULATIVE_SEARCH(ice_find_scattering, ice_cumulative_scattering)
ICE_CUMULATIVE_SEARCH(ice_find_absorption, ice_cumulative_absorption)
#undef ICE_CUMULATIVE_SEARCH

/* nz != 0: a horizontal flight leaves no layer. */
ICE_FN ice_segment ice_propagate_cumulative(const ice_tables *tables, ice_flight flight)
{
    const ice_optics optics = flight.optics;
    const int32_t up = flight.nz > 0.0f ? 1 : 0;
    const int32_t first = ice_layer_at(tables, flight.z);
    const ice_layer_row *first_row = &tables->layers[first];
    const float above_face = flight.z - ice_face(tables, first);
    const float start_s = fmaf(ice_scattering(optics, first_row->scattering, first_row->bubbles),
                               above_face, ice_cumulative_scattering(tables, optics, first));
    const float start_p = fmaf(ice_absorption(optics, first_row->dust, first_row->ice), above_face,
                               ice_cumulative_absorption(tables, optics, first));

    const float end_s = fmaf(flight.nz, flight.scattering, start_s);
    int32_t last = ice_find_scattering(tables, optics, end_s, first, up);
    const ice_layer_row *row = &tables->layers[last];
    float end_z =
        ice_face(tables, last) + ice_div(end_s - ice_cumulative_scattering(tables, optics, last),
                                         ice_scattering(optics, row->scattering, row->bubbles));
    const float end_p =
        fmaf(ice_absorption(optics, row->dust, row->ice), end_z - ice_face(tables, last),
             ice_cumulative_absorption(tables, optics, last));
    const float used = ice_div(fabsf(end_p - start_p), fabsf(flight.nz));

    ice_segment segment;
    segment.absorption = ice_max(flight.absorption - used, 0.0f);
    if (ICE_UNLIKELY(used >= flight.absorption)) {
        const float target = fmaf(flight.nz, flight.absorption, start_p);
        last = ice_find_absorption(tables, optics, target, first, up);
        row = &tables->layers[last];
        end_z = ice_face(tables, last) +
                ice_div(target - ice_cumulative_absorption(tables, optics, last),
                        ice_absorption(optics, row->dust, row->ice));
    }
    segment.length = ice_max(ice_div(end_z - flight.z, flight.nz), 0.0f);
    return segment;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_propagate_cumulative                                                        \
    "ice.layers ice.alpha ice.kappa ice.absorption_a ice.absorption_b"

#endif
