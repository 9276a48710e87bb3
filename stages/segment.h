/* The segment from one scatter to the next: what every propagate variant takes and returns
 * (docs/stages.md). */
#ifndef ICS_STAGES_SEGMENT_H
#define ICS_STAGES_SEGMENT_H

#include "stages/optics.h"

/* A photon whose absorption depth left is below this number is absorbed (physics.md 5.1). */
#define ICE_ABSORPTION_END 1e-5f

typedef struct ice_segment_start {
    float z;          /* height of the start among the layers, m */
    float nz;         /* vertical component of the direction */
    float scattering; /* optical depth to the next scatter, >= 0 */
    float absorption; /* optical depth to absorption, > 0 */
    ice_optics optics;
} ice_segment_start;

typedef struct ice_segment {
    float length;     /* m, >= 0 */
    float absorption; /* absorption depth left at the end; 0: the photon is absorbed there */
} ice_segment;

/* Returns the height difference (m), >= 0, from the start to the face at which the segment leaves
 * its first layer. Rounding may put a start just behind that face. Its distance to the face counts
 * then, as if it were in front of the face. */
ICE_FN float ice_to_face(const ice_layer_row *row, ice_segment_start start)
{
    /* Both faces are read. As a choice between two addresses, this would take a GPU six more
     * instructions. */
    const float high = row->high, low = row->low;
    return fabsf((start.nz > 0.0f ? high : low) - start.z);
}

/* Returns the segment as if its first layer had no end. Sets *leaves to 1 if the segment leaves the
 * layer; the result has no meaning then. About 80 % of all segments stay in their layer
 * (physics.md 5.3). The function has no branch, so that a loop over photons vectorises. */
ICE_FN ice_segment ice_segment_in_layer(const ice_tables *tables, ice_segment_start start,
                                        int32_t *leaves)
{
    const int32_t layer = ice_layer_at(tables, start.z);
    const ice_layer_row *row = &tables->layers[layer];
    const float b = ice_scattering(start.optics, row->scattering, row->bubbles);
    const float a = ice_absorption(start.optics, row->dust, row->ice);
    const float to_scatter = ice_ratio(start.scattering, b);
    const float to_absorption = ice_ratio(start.absorption, a);
    const float left = fmaf(-a, to_scatter, start.absorption);

    /* Absorption and a scatter at the same distance are an absorption. */
    ice_segment segment;
    segment.length = left > 0.0f ? to_scatter : to_absorption;
    segment.absorption = ice_max(left, 0.0f);

    *leaves = fabsf(start.nz) * segment.length > ice_to_face(row, start) ? 1 : 0;
    return segment;
}

#endif
