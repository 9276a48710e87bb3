/* propagate: layer-walk. Walks along the segment from layer to layer; the reference algorithm of
 * physics.md 5.2.
 *
 * After a crossing the photon is exactly on the face, and in the next layer. The code does not
 * compute the layer from the height again, because rounding could send the photon back.
 */
#ifndef ICS_STAGES_PROPAGATE_LAYER_WALK_H
#define ICS_STAGES_PROPAGATE_LAYER_WALK_H

#include "stages/segment.h"

ICE_FN ice_segment ice_propagate_layer_walk(const ice_tables *tables, ice_segment_start start)
{
    const int32_t up = start.nz > 0.0f;
    const int32_t last = up ? tables->layer_count - 1 : 0;
    int32_t layer = ice_layer_at(tables, start.z);
    float z = start.z;
    ice_segment segment = {0.0f, start.absorption};
    for (;;) {
        const ice_layer_row *row = &tables->layers[layer];
        const float b = ice_scattering(start.optics, row->scattering, row->bubbles);
        const float a = ice_absorption(start.optics, row->dust, row->ice);
        const float to_scatter = ice_ratio(start.scattering, b);
        const float to_absorption = ice_ratio(segment.absorption, a);
        const float distance = ice_min(to_scatter, to_absorption);
        const float face = ice_face(tables, layer + up);
        const int32_t ends = (layer == last) | (start.nz == 0.0f);
        const float to_face = ends ? distance : ice_max(ice_ratio(face - z, start.nz), 0.0f);
        if (distance <= to_face) {
            segment.length += distance;
            segment.absorption = to_absorption <= to_scatter
                                     ? 0.0f
                                     : ice_max(fmaf(-a, distance, segment.absorption), 0.0f);
            return segment;
        }
        segment.length += to_face;
        start.scattering = ice_max(fmaf(-b, to_face, start.scattering), 0.0f);
        segment.absorption = ice_max(fmaf(-a, to_face, segment.absorption), 0.0f);
        z = face;
        layer += up ? 1 : -1;
    }
}

/* Returns a segment that leaves its first layer. */
ICE_FN ice_segment ice_propagate_beyond_layer_walk(const ice_tables *tables,
                                                   ice_segment_start start)
{
    return ice_propagate_layer_walk(tables, start);
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_propagate_layer_walk                                                        \
    "ice.layers ice.alpha ice.kappa ice.absorption_a ice.absorption_b"

#endif
