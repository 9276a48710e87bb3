/* Tilted layers: how much higher the ice lies at a position than the table says (physics.md 6.1).
 *
 * The shift is interpolated linearly between supports, horizontally and in depth, exactly as the
 * tables define it. It is evaluated where a segment starts and used for the whole segment, as in
 * ppc and clsim.
 */
#ifndef ICS_STAGES_TILT_H
#define ICS_STAGES_TILT_H

#include "stages/maths.h"
#include "stages/tables.h"

/* A depth among the rows of a table: the lower row of its cell, and the fraction of the way to the
 * next row. */
typedef struct ice_tilt_depth {
    int32_t row;
    float fraction;
} ice_tilt_depth;

ICE_FN ice_tilt_depth ice_tilt_depth_at(const ice_tilt_table *tilt, float z)
{
    const float position = fmaf(-z, tilt->inverse_depth_step, tilt->depth_of_zero);
    ice_tilt_depth depth;
    depth.row = ice_cell(position, tilt->depth_rows - 2);
    depth.fraction = position - (float)depth.row;
    if (tilt->clamp) {
        depth.fraction = ice_min(ice_max(depth.fraction, 0.0f), 1.0f);
    }
    return depth;
}

/* The shift at a support of a map. */
ICE_FN float ice_tilt_at(const ice_tilt_node *row, int32_t node, float fraction)
{
    return fmaf(fraction, row[node].to_next, row[node].shift);
}

/* The position along the first axis of a tilt, in the unit of its table. */
ICE_FN float ice_tilt_place(const ice_tilt_table *tilt, float x, float y)
{
    return fmaf(x, tilt->ux, fmaf(y, tilt->uy, tilt->u_of_zero));
}

/* Which part of stretch k, the way from station k to station k + 1, lies before a position: 0 if
 * the position is before the stretch, 1 if it is behind. The outermost stretches continue without
 * limit, unless the tilt is clamped. The sum over all stretches is the position among the stations;
 * no search is needed. */
ICE_FN float ice_tilt_share(const ice_tilt_table *tilt, ice_tilt_stretch stretch, int32_t k,
                            float place)
{
    const int32_t last = tilt->nodes_u - 2;
    const float share = fmaf(place, stretch.inverse_width, stretch.offset);
    const int32_t from = tilt->clamp ? 1 : k > 0, to = tilt->clamp ? 1 : k < last;
    if (from && to) {
        return ice_saturate(share);
    }
    return from ? ice_max(share, 0.0f) : (to ? ice_min(share, 1.0f) : share);
}

/* The position among the stations. */
ICE_FN float ice_tilt_position(const ice_tilt_table *tilt, float place)
{
    const int32_t stretches = tilt->nodes_u - 1;
    float position = 0.0f;
    if (stretches <= ICE_TILT_STRETCHES) {
        /* The loop has a constant length, so that all indices are constants on a GPU. */
        for (int32_t k = 0; k < ICE_TILT_STRETCHES; ++k) {
            if (k < stretches) {
                position += ice_tilt_share(tilt, tilt->few[k], k, place);
            }
        }
    } else {
        for (int32_t k = 0; k < stretches; ++k) {
            position += ice_tilt_share(tilt, tilt->stretches[k], k, place);
        }
    }
    return position;
}

/* The shift at a position among the stations. */
ICE_FN float ice_shift_in_cell(const ice_tilt_table *tilt, float position, float z)
{
    const int32_t stretches = tilt->nodes_u - 1;
    const int32_t station = ice_cell(position, stretches - 1);
    const float t = position - (float)station;
    const ice_tilt_depth depth = ice_tilt_depth_at(tilt, z);
    const ice_tilt_cell *cell = &tilt->cells[depth.row * stretches + station];
    return fmaf(depth.fraction, fmaf(t, cell->both, cell->down),
                fmaf(t, cell->across, cell->shift));
}

/* Supports along one horizontal axis. */
ICE_FN float ice_shift_on_line(const ice_tilt_table *tilt, float x, float y, float z)
{
    return ice_shift_in_cell(tilt, ice_tilt_position(tilt, ice_tilt_place(tilt, x, y)), z);
}

/* Oblique coordinates on a map, in nodes. */
typedef struct ice_map_place {
    float u, v;
} ice_map_place;

/* From outside the hexagon of nodes onto its edge. Every corner has a ray outwards; between two
 * rays a place lies on a line parallel to the edge there, at some fraction of the way from ray to
 * ray, and goes to the same fraction of the edge (README of the public ice models). The corners:
 * (0, 0), (c, 0), (n, n - c) of axis u and likewise of v, with n the last node, c the last that
 * exists in line 0. */
ICE_FN ice_map_place ice_map_onto(const ice_tilt_table *tilt, ice_map_place at)
{
    const float nu = (float)(tilt->nodes_u - 1), nv = (float)(tilt->nodes_v - 1);
    const float cu = tilt->cut_u, cv = tilt->cut_v;
    const float right = nu - cu; /* v of the corner at u = nu */
    const float top = nv - cv;   /* u of the corner at v = nv */
    const float u = at.u, v = at.v;
    ice_map_place on = at;
    if (v < 0.0f && u >= v && u <= cu) {
        on.u = cu * ice_div(u - v, cu - v);
        on.v = 0.0f;
    } else if (u - v > cu && u >= cu && v <= right) {
        const float fraction = ice_div(u - cu, (nu - cu) + (u - v - cu));
        on.v = fraction * right;
        on.u = cu + on.v;
    } else if (u > nu && v >= right && v - nv <= u - nu) {
        const float fraction = ice_div(v - right, (nv - right) + (u - nu));
        on.u = nu;
        on.v = fmaf(fraction, nv - right, right);
    } else if (v > nv && u >= top && u - nu <= v - nv) {
        const float fraction = ice_div(u - top, (nu - top) + (v - nv));
        on.u = fmaf(fraction, nu - top, top);
        on.v = nv;
    } else if (v - u > cv && u <= top && v >= cv) {
        const float excess = v - u - cv;
        on.u = top * ice_div(u + excess, top + excess);
        on.v = cv + on.u;
    } else if (u < 0.0f && v >= u && v <= cv) {
        on.u = 0.0f;
        on.v = cv * ice_div(v - u, cv - u);
    }
    return on;
}

/* Supports on a hexagon of an oblique grid; linear on triangles. */
ICE_FN float ice_shift_on_map(const ice_tilt_table *tilt, float x, float y, float z)
{
    const ice_map_place place = {ice_tilt_place(tilt, x, y),
                                 fmaf(x, tilt->vx, fmaf(y, tilt->vy, tilt->v_of_zero))};
    const ice_map_place at = ice_map_onto(tilt, place);
    const int32_t i = ice_cell(at.u, tilt->nodes_u - 2), j = ice_cell(at.v, tilt->nodes_v - 2);
    const float p = at.u - (float)i, r = at.v - (float)j;
    const ice_tilt_depth depth = ice_tilt_depth_at(tilt, z);
    const int32_t line = tilt->nodes_u;
    const int32_t first = (depth.row * tilt->nodes_v + j) * line + i;
    const ice_tilt_node *row = tilt->nodes + first;
    const float near = ice_tilt_at(row, 0, depth.fraction);
    const float far = ice_tilt_at(row, line + 1, depth.fraction);
    /* The third corner: along u where u has come further in the cell, along v elsewhere. */
    const float third = ice_tilt_at(row, p > r ? 1 : line, depth.fraction);
    const float more = ice_max(p, r), less = ice_min(p, r);
    return fmaf(more, third - near, fmaf(less, far - third, near));
}

/* m; the ice at height z lies at height z - shift in the table. */
ICE_FN float ice_shift(const ice_tables *tables, float x, float y, float z)
{
    if (tables->features & ICE_HAS_TILT_MAP) {
        return ice_shift_on_map(&tables->tilt, x, y, z);
    }
    return ice_shift_on_line(&tables->tilt, x, y, z);
}

/* Height among the layers of what is at (x, y, z), m. */
ICE_FN float ice_height(const ice_tables *tables, float x, float y, float z)
{
    if (tables->features & (ICE_HAS_TILT_LINE | ICE_HAS_TILT_MAP)) {
        return z - ice_shift(tables, x, y, z);
    }
    return z;
}

#endif
