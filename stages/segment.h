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

/* Returns the height difference (m), >= 0, from the start at the height z (m) to the face at which
 * a segment with the vertical component nz leaves its first layer. Rounding may put a start just
 * behind that face. Its distance to the face counts then, as if it were in front of the face. */
ICE_FN float ice_to_face(const ice_layer_row *row, float z, float nz)
{
    /* Both faces are read. As a choice between two addresses, this would take a GPU six more
     * instructions. */
    const float high = row->high, low = row->low;
    return fabsf((nz > 0.0f ? high : low) - z);
}

/* A segment on its way through layers: the end that it has reached, and the depths left there. */
typedef struct ice_passage {
    ice_segment segment;
    float scattering; /* scattering depth left; no meaning after the last layer */
    float stretch;    /* length per height */
    int32_t layer;    /* the layer that the segment leaves */
    int32_t step;     /* 1: upwards, -1: downwards */
} ice_passage;

/* Moves to the face at which a segment would leave its first layer. Both depths left there are
 * above 0 if it does; a horizontal segment has none. */
ICE_FN ice_passage ice_pass_first_layer(const ice_tables *tables, ice_segment_start start)
{
    const ice_optics optics = start.optics;
    const int32_t layer = ice_layer_at(tables, start.z);
    const ice_layer_row *row = &tables->layers[layer];
    const float stretch =
        fabsf(ice_inverse(start.nz)); /* a GPU takes the absolute value for free */
    const float length = ice_to_face(row, start.z, start.nz) * stretch;
    const float scattering =
        fmaf(-ice_scattering(optics, row->scattering, row->bubbles), length, start.scattering);
    const float absorption =
        fmaf(-ice_absorption(optics, row->dust, row->ice), length, start.absorption);
    const ice_passage passage = {
        {length, absorption}, scattering, stretch, layer, start.nz > 0.0f ? 1 : -1};
    return passage;
}

/* Whether a segment leaves its first layer; `passage` is that of ice_pass_first_layer(). */
ICE_FN int32_t ice_leaves_first_layer(const ice_passage *passage)
{
    return ice_min(passage->scattering, passage->segment.absorption) > 0.0f ? 1 : 0;
}

/* Returns the rest of a segment that has these depths left and ends in a layer with the
 * coefficients b and a (1/m). Absorption and a scatter at the same distance are an absorption. */
ICE_FN ice_segment ice_end_in_layer(float b, float a, float scattering, float absorption)
{
    const float to_scatter = ice_ratio(scattering, b);
    /* The last digit does not matter: the photon ends here. A quotient takes a GPU two more
     * instructions. */
    const float to_absorption = absorption * ice_inverse(a);
    const float left = fmaf(-a, to_scatter, absorption);
    const ice_segment rest = {left > 0.0f ? to_scatter : to_absorption, ice_max(left, 0.0f)};
    return rest;
}

/* Returns the segment as if its first layer had no end. Sets *leaves to 1 if the segment leaves the
 * layer; the result has no meaning then. About 80 % of all segments stay in their layer
 * (physics.md 5.3). The function has no branch, so that a loop over photons vectorises. */
ICE_FN ice_segment ice_segment_in_layer(const ice_tables *tables, ice_segment_start start,
                                        int32_t *leaves)
{
    const ice_passage passage = ice_pass_first_layer(tables, start);
    const ice_layer_row *row = &tables->layers[passage.layer];
    *leaves = ice_leaves_first_layer(&passage);
    return ice_end_in_layer(ice_scattering(start.optics, row->scattering, row->bubbles),
                            ice_absorption(start.optics, row->dust, row->ice), start.scattering,
                            start.absorption);
}

/* Cuts a segment at the boundaries of the world (physics.md 5.4). Returns 1 if it was cut. */
ICE_FN int32_t ice_cut_at_boundary(const ice_tables *tables, float z, float dz, float *length)
{
    if (!tables->bounded) {
        return 0;
    }
    const float end = fmaf(*length, dz, z);
    const int32_t up = dz > 0.0f ? 1 : 0;
    const float boundary = up ? tables->absorb_above : tables->absorb_below;
    const float excess = up ? end - boundary : boundary - end;
    const int32_t beyond = excess > 0.0f ? 1 : 0;
    /* A photon outside the world has no room left. Its direction may be horizontal, so nothing is
     * divided by dz then. */
    const float room = up ? boundary - z : z - boundary;
    const float cut = room > 0.0f ? ice_div(room, fabsf(dz)) : 0.0f;
    *length = beyond ? cut : *length;
    return beyond;
}

#endif
