/* propagate: cumulative. Looks up the end of a segment in tables of cumulative optical depth
 * (physics.md 5.3).
 *
 * S(z) and P(z) are the integrals of the scattering and of the absorption coefficient over height.
 * They are linear between the faces of the layers. Along a straight line the scattering depth from
 * z to z1 is |S(z1) - S(z)| / |nz|. The code measures S and P from the face at which the segment
 * leaves its first layer, and heights from the face at which the segment enters its last layer. All
 * numbers are then as small as the depths of the segment, and rounding does no harm.
 *
 * Most segments that leave their layer end in one of the next few layers. These layers are tried
 * first, with their coefficients alone, which takes a fifth of the instructions.
 *
 * ice_propagate_beyond_NAME() of a built-in variant is called only for a segment that leaves its
 * first layer; the loops compute the other segments by ice_segment_in_layer().
 */
#ifndef ICS_STAGES_PROPAGATE_CUMULATIVE_H
#define ICS_STAGES_PROPAGATE_CUMULATIVE_H

#include "stages/segment.h"

/* Returns a - b, accurate to single precision even if a and b are much larger than a - b. */
ICE_FN float ice_sum_difference(ice_sum a, ice_sum b)
{
    return (a.high - b.high) + (a.low - b.low);
}

/* Returns the scattering depth of a vertical line from face `from` to face `to`; negative if `to`
 * is the lower face. */
ICE_FN float ice_scattering_between(const ice_tables *tables, ice_optics optics, int32_t from,
                                    int32_t to)
{
    const ice_depth_row *low = &tables->cumulative[from];
    const ice_depth_row *high = &tables->cumulative[to];
    return ice_scattering(optics, ice_sum_difference(high->scattering, low->scattering),
                          ice_sum_difference(high->bubbles, low->bubbles));
}

/* Returns the absorption depth of a vertical line from face `from` to face `to`; negative if `to`
 * is the lower face. */
ICE_FN float ice_absorption_between(const ice_tables *tables, ice_optics optics, int32_t from,
                                    int32_t to)
{
    const ice_depth_row *low = &tables->cumulative[from];
    const ice_depth_row *high = &tables->cumulative[to];
    return ice_absorption(optics, ice_sum_difference(high->dust, low->dust),
                          ice_sum_difference(high->ice, low->ice));
}

/* The face at which a segment enters its last layer. */
typedef struct ice_entry {
    int32_t face;
    float depth; /* depth of a vertical line from the exit face to this face */
} ice_entry;

/* Two functions that find the last layer of a segment: the layer in which the depth of a vertical
 * line from the exit face upwards (or downwards) reaches `target`, which is negative downwards. The
 * exit face is the one at which the segment leaves its first layer. The outermost layers continue
 * without limit. */
#define ICE_CUMULATIVE_SEARCH(name, depth_between)                                                 \
    ICE_FN ice_entry name(const ice_tables *tables, ice_optics optics, float target,               \
                          int32_t exit_face, int32_t up)                                           \
    {                                                                                              \
        const int32_t step = up ? 1 : -1;                                                          \
        const int32_t last = up ? tables->layer_count - 1 : 1;                                     \
        ice_entry entry = {exit_face, 0.0f};                                                       \
        while ((last - entry.face) * step > 0) {                                                   \
            const float next = depth_between(tables, optics, exit_face, entry.face + step);        \
            if (up ? next > target : next < target)                                                \
                break;                                                                             \
            entry.face += step;                                                                    \
            entry.depth = next;                                                                    \
        }                                                                                          \
        return entry;                                                                              \
    }
ICE_CUMULATIVE_SEARCH(ice_find_scattering, ice_scattering_between)
ICE_CUMULATIVE_SEARCH(ice_find_absorption, ice_absorption_between)
#undef ICE_CUMULATIVE_SEARCH

/* Finds the end of a segment that leaves its first layer, however far it goes. */
ICE_FN ice_segment ice_look_up_end(const ice_tables *tables, ice_segment_start start)
{
    const ice_optics optics = start.optics;
    const int32_t up = start.nz > 0.0f ? 1 : 0;
    const int32_t down = 1 - up;
    const int32_t first = ice_layer_at(tables, start.z);
    const int32_t exit_face = first + up;
    const ice_layer_row *row = &tables->layers[first];
    const float to_exit = ice_face(tables, exit_face) - start.z;
    const float start_s = -to_exit * ice_scattering(optics, row->scattering, row->bubbles);
    const float start_p = -to_exit * ice_absorption(optics, row->dust, row->ice);

    const float end_s = fmaf(start.nz, start.scattering, start_s);
    ice_entry entry = ice_find_scattering(tables, optics, end_s, exit_face, up);
    row = &tables->layers[entry.face - down];
    /* The height of the end above the face at which the segment enters its last layer, m. */
    float rise =
        ice_ratio(end_s - entry.depth, ice_scattering(optics, row->scattering, row->bubbles));
    const float end_p = fmaf(ice_absorption(optics, row->dust, row->ice), rise,
                             ice_absorption_between(tables, optics, exit_face, entry.face));
    const float used = ice_ratio(fabsf(end_p - start_p), fabsf(start.nz));

    ice_segment segment;
    segment.absorption = ice_max(start.absorption - used, 0.0f);
    if (ICE_UNLIKELY(used >= start.absorption)) {
        const float target = fmaf(start.nz, start.absorption, start_p);
        entry = ice_find_absorption(tables, optics, target, exit_face, up);
        row = &tables->layers[entry.face - down];
        rise = ice_ratio(target - entry.depth, ice_absorption(optics, row->dust, row->ice));
    }
    const float climb = ice_face(tables, entry.face) - start.z + rise;
    segment.length = ice_max(ice_ratio(climb, start.nz), 0.0f);
    return segment;
}

/* The number of layers after the first one that are tried before the look-up. */
#define ICE_NEAR_LAYERS 3

/* Moves through the next layer. Returns 1 if the segment ends there, and 0 if *passage is at the
 * end of that layer. The function has no branch, so that a loop over photons vectorises. */
ICE_FN int32_t ice_pass_layer(const ice_tables *tables, ice_optics optics, ice_passage *passage)
{
    const int32_t layer = passage->layer + passage->step;
    const int32_t last = passage->step > 0 ? tables->layer_count - 1 : 0;
    /* With a signed index a GPU would compute the address in more steps. */
    const ice_layer_row *row = &tables->layers[(uint32_t)layer];
    const float b = ice_scattering(optics, row->scattering, row->bubbles);
    const float a = ice_absorption(optics, row->dust, row->ice);
    const ice_segment rest =
        ice_end_in_layer(b, a, passage->scattering, passage->segment.absorption);
    const float room = tables->thickness * passage->stretch;
    const int32_t ends = (rest.length <= room ? 1 : 0) | (layer == last ? 1 : 0);
    const float length = ice_select(ends, rest.length, room);
    const float left = fmaf(-a, length, passage->segment.absorption);
    passage->layer = layer;
    passage->scattering = fmaf(-b, length, passage->scattering);
    passage->segment.length += length;
    passage->segment.absorption = ice_select(ends, rest.absorption, left);
    return ends;
}

/* Returns the end of a segment that has passed `passed` layers after its first one. */
ICE_FN ice_segment ice_pass_near_layers(const ice_tables *tables, ice_segment_start start,
                                        int32_t passed, ice_passage passage)
{
    for (int32_t near = passed; near < ICE_NEAR_LAYERS; ++near) {
        if (ice_pass_layer(tables, start.optics, &passage)) {
            return passage.segment;
        }
    }
    return ice_look_up_end(tables, start);
}

/* Returns a segment that leaves its first layer. */
ICE_FN ice_segment ice_propagate_beyond_cumulative(const ice_tables *tables,
                                                   ice_segment_start start)
{
    return ice_pass_near_layers(tables, start, 0, ice_pass_first_layer(tables, start));
}

/* Returns any segment, to the bit as ice_segment_in_layer() and the function above. The end is
 * computed once, with the coefficients of the layer in which it lies, the first one or the next
 * one. A branch for segments that leave their first layer would take a GPU more instructions,
 * because nearly every warp has some of them. */
ICE_FN ice_segment ice_propagate_cumulative(const ice_tables *tables, ice_segment_start start)
{
    ice_passage passage = ice_pass_first_layer(tables, start);
    const int32_t leaves = ice_leaves_first_layer(&passage);
    const int32_t layer = passage.layer + (leaves ? passage.step : 0);
    const ice_layer_row *row = &tables->layers[(uint32_t)layer];
    const float b = ice_scattering(start.optics, row->scattering, row->bubbles);
    const float a = ice_absorption(start.optics, row->dust, row->ice);
    const float scattering = leaves ? passage.scattering : start.scattering;
    const float absorption = leaves ? passage.segment.absorption : start.absorption;
    const float room = tables->thickness * passage.stretch;
    ice_segment segment = ice_end_in_layer(b, a, scattering, absorption);
    if (leaves && segment.length > room &&
        layer != (passage.step > 0 ? tables->layer_count - 1 : 0)) {
        passage.segment.absorption = fmaf(-a, room, absorption);
        passage.scattering = fmaf(-b, room, scattering);
        passage.segment.length += room;
        passage.layer += passage.step;
        return ice_pass_near_layers(tables, start, 1, passage);
    }
    segment.length += leaves ? passage.segment.length : 0.0f;
    return segment;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_propagate_cumulative                                                        \
    "ice.layers ice.alpha ice.kappa ice.absorption_a ice.absorption_b"

#endif
