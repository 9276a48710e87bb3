/* Tilted layers: how much higher the ice lies at a position than the table says (physics.md 6.1).
 *
 * The shift is linear between the nodes (on a line: stations) of the table, horizontally and in
 * depth. It is evaluated where a segment starts and used for the whole segment, as in ppc and
 * clsim. A GPU with fast maths reads the shift of a line from an image (ice_tilt_image).
 */
#ifndef ICS_STAGES_TILT_H
#define ICS_STAGES_TILT_H

#include "stages/maths.h"
#include "stages/tables.h"

/* A depth among the rows of a table: the row before it, and the fraction of the way to the next
 * row. */
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

/* Returns the position of (x, y) along the first axis of a tilt: m on a line, nodes on a map. */
ICE_FN float ice_tilt_coordinate(const ice_tilt_table *tilt, float x, float y)
{
    return fmaf(x, tilt->ux, fmaf(y, tilt->uy, tilt->u_of_zero));
}

/* Returns the part of stretch k, from station k to station k + 1, that lies before the position
 * `coordinate` (m): 0 if the stretch begins behind the position, 1 if it ends before. The outermost
 * stretches continue without limit, unless the tilt is clamped. The sum over all stretches is the
 * position in stations, so no search is needed. */
ICE_FN float ice_tilt_share(const ice_tilt_table *tilt, ice_tilt_stretch stretch, int32_t k,
                            float coordinate)
{
    const int32_t last = tilt->nodes_u - 2;
    const int32_t from = tilt->clamp ? 1 : k > 0, to = tilt->clamp ? 1 : k < last;
    if (from && to) {
        return ice_fma_saturated(coordinate, stretch.inverse_width, stretch.offset);
    }
    const float share = fmaf(coordinate, stretch.inverse_width, stretch.offset);
    return from ? ice_max(share, 0.0f) : (to ? ice_min(share, 1.0f) : share);
}

/* Returns the position `coordinate` (m) in stations: 2.5 is in the middle between stations 2 and 3.
 */
ICE_FN float ice_tilt_position(const ice_tilt_table *tilt, float coordinate)
{
    const int32_t stretches = tilt->nodes_u - 1;
    float position = 0.0f;
    if (stretches <= ICE_TILT_STRETCHES) {
        /* The loop has a constant length, so that all indices are constants on a GPU. */
        for (int32_t k = 0; k < ICE_TILT_STRETCHES; ++k) {
            if (k < stretches) {
                const float share = ice_tilt_share(tilt, tilt->few[k], k, coordinate);
                position = k > 0 ? position + share : share; /* a GPU adds 0, too */
            }
        }
    } else {
        for (int32_t k = 0; k < stretches; ++k) {
            position += ice_tilt_share(tilt, tilt->stretches[k], k, coordinate);
        }
    }
    return position;
}

/* Returns the shift (m) at the fraction `across` of the way from the left to the right station of a
 * cell, and at the fraction `down` of the way from its upper to its lower row. */
ICE_FN float ice_shift_of_cell(const ice_tilt_cell *cell, float across, float down)
{
    return fmaf(down, fmaf(across, cell->both, cell->down),
                fmaf(across, cell->across, cell->shift));
}

/* Returns the shift (m) at a position in stations and a height z (m). */
ICE_FN float ice_shift_in_cell(const ice_tilt_table *tilt, float position, float z)
{
    const int32_t stretches = tilt->nodes_u - 1;
    const int32_t station = ice_cell(position, stretches - 1);
    const float t = position - (float)station;
    const ice_tilt_depth depth = ice_tilt_depth_at(tilt, z);
    return ice_shift_of_cell(&tilt->cells[depth.row * stretches + station], t, depth.fraction);
}

/* Returns the number of rows that an image has above the first row of the table, and below the last
 * one. */
ICE_FN int32_t ice_tilt_margin_rows(const ice_tilt_table *tilt)
{
    return tilt->clamp ? 0 : (int32_t)(ICE_TILT_IMAGE_MARGIN * tilt->inverse_depth_step) + 1;
}

/* Returns where (x, y), or a height z (m), lies in the image of the tilt. */
ICE_FN float ice_tilt_column(const ice_tilt_table *tilt, float x, float y)
{
    const float scale = tilt->image.inverse_width;
    const float of_zero = tilt->u_of_zero * scale + tilt->image.column_of_zero;
    return fmaf(x, tilt->ux * scale, fmaf(y, tilt->uy * scale, of_zero));
}

ICE_FN float ice_tilt_row(const ice_tilt_table *tilt, float z)
{
    const float row_of_zero = tilt->depth_of_zero + (float)ice_tilt_margin_rows(tilt) + 0.5f;
    return fmaf(-z, tilt->inverse_depth_step, row_of_zero);
}

/* Returns the shift (m) of a tilt along a line. */
ICE_FN float ice_shift_on_line(const ice_tilt_table *tilt, float x, float y, float z)
{
    return ice_shift_in_cell(tilt, ice_tilt_position(tilt, ice_tilt_coordinate(tilt, x, y)), z);
}

/* A position on a map in oblique coordinates, in nodes. */
typedef struct ice_map_point {
    float u, v;
} ice_map_point;

/* Moves a position outside the hexagon of nodes onto its edge, by the rule of ppc (physics.md 6.1).
 * Every corner of the hexagon has a ray outwards. Between two rays the position lies on a line
 * parallel to the edge, at some fraction of the way from ray to ray, and it moves to the same
 * fraction of the edge. With the last nodes (nu, nv), and with cu and cv, the last nodes that exist
 * in line 0 of each axis, the corners are (0, 0), (cu, 0), (nu, nu - cu), (nu, nv), (nv - cv, nv)
 * and (0, cv). */
ICE_FN ice_map_point ice_map_onto(const ice_tilt_table *tilt, ice_map_point at)
{
    const float nu = (float)(tilt->nodes_u - 1), nv = (float)(tilt->nodes_v - 1);
    const float cu = tilt->cut_u, cv = tilt->cut_v;
    const float right = nu - cu; /* v of the corner at u = nu */
    const float top = nv - cv;   /* u of the corner at v = nv */
    const float u = at.u, v = at.v;
    ice_map_point on = at;
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

/* Whether a position lies outside the hexagon of nodes. */
ICE_FN int32_t ice_is_off_map(const ice_tilt_table *tilt, ice_map_point at)
{
    const float lead = at.u - at.v;
    return (at.u < 0.0f ? 1 : 0) | (at.v < 0.0f ? 1 : 0) |
           (at.u > (float)(tilt->nodes_u - 1) ? 1 : 0) |
           (at.v > (float)(tilt->nodes_v - 1) ? 1 : 0) | (lead > tilt->cut_u ? 1 : 0) |
           (-lead > tilt->cut_v ? 1 : 0);
}

/* Returns the shift (m) of a tilt map. It is linear on triangles of nodes, whose tables hold its
 * slopes. */
ICE_FN float ice_shift_on_map(const ice_tilt_table *tilt, float x, float y, float z)
{
    ice_map_point at = {ice_tilt_coordinate(tilt, x, y),
                        fmaf(x, tilt->vx, fmaf(y, tilt->vy, tilt->v_of_zero))};
    if (ICE_UNLIKELY(ice_is_off_map(tilt, at))) {
        at = ice_map_onto(tilt, at);
    }
    const int32_t i = ice_cell(at.u, tilt->nodes_u - 2), j = ice_cell(at.v, tilt->nodes_v - 2);
    const float p = at.u - (float)i, r = at.v - (float)j;
    const ice_tilt_depth depth = ice_tilt_depth_at(tilt, z);
    const int32_t cell = (depth.row * (tilt->nodes_v - 1) + j) * (tilt->nodes_u - 1) + i;
    const ice_tilt_triangle *in = &tilt->triangles[2 * cell + (p > r ? 1 : 0)];
    return fmaf(depth.fraction, fmaf(p, in->down_u, fmaf(r, in->down_v, in->down)),
                fmaf(p, in->along_u, fmaf(r, in->along_v, in->shift)));
}

/* Returns the shift (m) at a position. The ice at the height z is that of the table at z - shift. A
 * GPU that reads an image has no cells, and only ice_height() there. */
ICE_FN float ice_shift(const ice_tables *tables, float x, float y, float z)
{
    if (ICE_HAS(tables, ICE_HAS_TILT_MAP)) {
        return ice_shift_on_map(&tables->tilt, x, y, z);
    }
    return ice_shift_on_line(&tables->tilt, x, y, z);
}

/* Returns the height (m) of the position (x, y, z) among the layers. */
ICE_FN float ice_height(const ice_tables *tables, float x, float y, float z)
{
#if defined(ICE_HAS_TEXTURES)
    const ice_tilt_table *tilt = &tables->tilt;
    if (ICE_HAS(tables, ICE_HAS_TILT_LINE) && tilt->image.inverse_width > 0.0f) {
        const float number =
            ice_texture(tilt->texture, ice_tilt_column(tilt, x, y), ice_tilt_row(tilt, z));
        return fmaf(number, -tilt->image.unit, z);
    }
#endif
    if (ICE_HAS(tables, ICE_HAS_TILT_LINE | ICE_HAS_TILT_MAP)) {
        return z - ice_shift(tables, x, y, z);
    }
    return z;
}

#endif
