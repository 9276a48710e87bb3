/* propagate: cumulative. The segment's end by inverse look-up in cumulative optical depth.
 *
 * S(z) and P(z), the scattering and absorption depth integrated from a reference face, are
 * piecewise linear with knots at the layer faces; along a straight line the depth to a height z1 is
 * |S(z1) - S(z)| / |nz| (physics.md 5.3). Flights that stay in their layer take the short way.
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

/* The layer in which a cumulative depth reaches `target`: the last lower face not beyond it, 0 if
 * there is none. A search of fixed depth, the same for every photon. */
#define ICE_CUMULATIVE_SEARCH(name, depth_at)                                                      \
    ICE_FN int32_t name(const ice_tables *tables, ice_optics optics, float target)                 \
    {                                                                                              \
        int32_t layer = 0;                                                                         \
        for (int32_t step = tables->search_start; step > 0; step >>= 1) {                          \
            const int32_t next = layer + step;                                                     \
            const int32_t tried = next < tables->layer_count ? next : tables->layer_count;         \
            const int32_t reached = depth_at(tables, optics, tried) <= target;                     \
            layer = (reached & (next < tables->layer_count)) ? next : layer;                       \
        }                                                                                          \
        return layer;                                                                              \
    }
ICE_CUMULATIVE_SEARCH(ice_find_scattering, ice_cumulative_scattering)
ICE_CUMULATIVE_SEARCH(ice_find_absorption, ice_cumulative_absorption)
#undef ICE_CUMULATIVE_SEARCH

/* A flight that leaves its layer, nz != 0. */
ICE_FN ice_segment ice_segment_across_layers(const ice_tables *tables, ice_flight flight)
{
    const ice_optics optics = flight.optics;
    const int32_t first = ice_layer_at(tables, flight.z);
    const ice_layer_row *first_row = &tables->layers[first];
    const float above_face = flight.z - ice_face(tables, first);
    const float start_s = fmaf(ice_scattering(optics, first_row->scattering, first_row->bubbles),
                               above_face, ice_cumulative_scattering(tables, optics, first));
    const float start_p = fmaf(ice_absorption(optics, first_row->dust, first_row->ice), above_face,
                               ice_cumulative_absorption(tables, optics, first));

    const float end_s = fmaf(flight.nz, flight.scattering, start_s);
    int32_t last = ice_find_scattering(tables, optics, end_s);
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
        last = ice_find_absorption(tables, optics, target);
        row = &tables->layers[last];
        end_z = ice_face(tables, last) +
                ice_div(target - ice_cumulative_absorption(tables, optics, last),
                        ice_absorption(optics, row->dust, row->ice));
    }
    segment.length = ice_max(ice_div(end_z - flight.z, flight.nz), 0.0f);
    return segment;
}

ICE_FN ice_segment ice_propagate_cumulative(const ice_tables *tables, ice_flight flight)
{
    int32_t leaves;
    const ice_segment segment = ice_segment_in_layer(tables, flight, &leaves);
    return leaves ? ice_segment_across_layers(tables, flight) : segment;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_propagate_cumulative                                                        \
    "ice.layers ice.alpha ice.kappa ice.absorption_a ice.absorption_b"

#endif
