/* The straight flight from one scatter to the next: what every propagate variant takes and gives.
 */
#ifndef ICE_SEGMENT_H
#define ICE_SEGMENT_H

#include "stages/optics.h"

/* Absorption depths below this count as used up (physics.md 5.1). */
#define ICE_ABSORPTION_END 1e-5f

typedef struct ice_flight {
    float z;          /* height at the segment's start, m */
    float nz;         /* vertical component of the direction */
    float scattering; /* optical depth to the next scatter, >= 0 */
    float absorption; /* optical depth to absorption, > 0 */
    ice_optics optics;
} ice_flight;

typedef struct ice_segment {
    float length; /* m, >= 0 */
    float
        absorption; /* optical depth left at its end; 0: it ends by absorption, not by a scatter */
} ice_segment;

/* The flight as if its first layer had no end. `leaves`: it does end before the segment does, and
 * the result is of no use. Four flights of five stay in their layer (physics.md 5.3). No branches,
 * so that a loop over photons vectorises. */
ICE_FN ice_segment ice_segment_in_layer(const ice_tables *tables, ice_flight flight,
                                        int32_t *leaves)
{
    const int32_t layer = ice_layer_at(tables, flight.z);
    const ice_layer_row *row = &tables->layers[layer];
    const float b = ice_scattering(flight.optics, row->scattering, row->bubbles);
    const float a = ice_absorption(flight.optics, row->dust, row->ice);
    const float to_scatter = ice_div(flight.scattering, b);
    const float to_absorption = ice_div(flight.absorption, a);

    /* Absorption wins ties, and leaves nothing. */
    ice_segment segment;
    segment.length = to_absorption <= to_scatter ? to_absorption : to_scatter;
    segment.absorption = to_absorption <= to_scatter
                             ? 0.0f
                             : ice_max(fmaf(-a, segment.length, flight.absorption), 0.0f);

    const int32_t up = flight.nz > 0.0f ? 1 : 0;
    const float face = ice_face(tables, layer + up);
    const float to_face = up ? face - flight.z : flight.z - face;
    const int32_t outermost = up ? tables->layer_count - 1 : 0;
    /* max: a height within rounding below a face may count to the layer above it, and even then a
     * horizontal flight leaves no layer. */
    const float room = layer == outermost ? ICE_INFINITY : ice_max(to_face, 0.0f);
    *leaves = fabsf(flight.nz) * segment.length > room ? 1 : 0;
    return segment;
}

#endif
