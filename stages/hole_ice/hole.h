/* Hole ice: the refrozen column around every string, an endless vertical cylinder with its own
 * scattering and absorption (physics.md 8.7). A segment that crosses columns is computed piece by
 * piece. */
#ifndef ICS_STAGES_HOLE_ICE_HOLE_H
#define ICS_STAGES_HOLE_ICE_HOLE_H

#include "stages/reach.h"
#include "stages/segment.h"
#include "stages/variants.h"

/* Features with which ice_bounce_in_column() (stages/hole_ice/column.h) computes bounces inside a
 * column. With any other feature ice_bounce_photon() computes them: cables absorb light, the search
 * in a mesh is a call, and a new feature may change what happens in a column. */
#define ICE_COLUMN_FEATURES                                                                        \
    (ICE_HAS_HOLES | ICE_HAS_TILT | ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_EVEN_ANISOTROPY |      \
     ICE_HAS_DIRECTIONS | ICE_HAS_BIREFRINGENCE | ICE_HAS_MEAN_BIREFRINGENCE |                     \
     ICE_HAS_SPECTRAL_OPTICS | ICE_HAS_SHAPES)
#define ICE_COLUMN_SHAPES ((0xffffu << ICE_HAS_SHAPE_SHIFT) & ~ICE_HAS_SHAPE(ICE_SHAPE_MESH))

/* Whether ice_bounce_in_column() may be called in ice and detectors with these features. It may not
 * where a user's header decides. */
#if defined(ICE_CUSTOM_propagate) || defined(ICE_CUSTOM_collide)
#define ICE_HAS_COLUMN_STAYS(features) 0
#else
#define ICE_HAS_COLUMN_STAYS(features)                                                             \
    (((features)&ICE_HAS_HOLES) != 0 &&                                                            \
     ((features) & ~((uint32_t)ICE_COLUMN_FEATURES | ICE_COLUMN_SHAPES)) == 0)
#endif

/* A segment seen from above: where it starts (m) and the horizontal part of its direction. */
typedef struct ice_horizontal_line {
    float x, y, dx, dy;
} ice_horizontal_line;

/* The part of a line that is inside a column: distances (m) of entry and exit along the segment.
 * entry > exit: the line misses the column. */
typedef struct ice_crossing {
    float entry, exit;
} ice_crossing;

ICE_FN ice_crossing ice_cross_column(const ice_tables *tables, const ice_column *column,
                                     ice_horizontal_line line)
{
    const float dx = line.dx, dy = line.dy;
    const float ox = column->x - line.x, oy = column->y - line.y;
    const float square = fmaf(dx, dx, dy * dy);
    const float radius = tables->hole.radius;
    ice_crossing crossing = {1.0f, 0.0f};
    if (square < 1e-12f) { /* vertical: the whole line is inside or outside */
        if (fmaf(ox, ox, oy * oy) < radius * radius) {
            crossing.entry = -ICE_INFINITY;
            crossing.exit = ICE_INFINITY;
        }
        return crossing;
    }
    const float middle = ice_ratio(fmaf(ox, dx, oy * dy), square);
    const float ex = fmaf(-middle, dx, ox), ey = fmaf(-middle, dy, oy);
    const float room = fmaf(radius, radius, -fmaf(ex, ex, ey * ey));
    if (room > 0.0f) {
        const float half = ice_root(ice_ratio(room, square));
        crossing.entry = middle - half;
        crossing.exit = middle + half;
    }
    return crossing;
}

/* The column nearest to (x, y), and a lower bound (m) of the distance to all others. */
ICE_FN ice_near_row ice_near_column(const ice_tables *tables, float x, float y)
{
    return tables->near_columns[ice_clearance_cell(tables, x, y)];
}

/* The first column that the line crosses between the distances `from` and `to` (m). `near` is the
 * row of the start of the line. The entry is infinite if there is no such column. */
ICE_FN ice_crossing ice_next_column(const ice_tables *tables, ice_near_row near,
                                    ice_horizontal_line line, float from, float to)
{
    ice_crossing next = {ICE_INFINITY, 0.0f};
    const int32_t only =
        to * to * fmaf(line.dx, line.dx, line.dy * line.dy) < near.others * near.others ? 1 : 0;
    const uint32_t first = only ? near.string : 0;
    const uint32_t end = only ? near.string + 1 : tables->column_count;
    for (uint32_t i = first; i < end; ++i) {
        const ice_crossing here = ice_cross_column(tables, &tables->columns[i], line);
        if (here.entry < here.exit && here.exit > from && here.entry < to &&
            here.entry < next.entry) {
            next = here;
        }
    }
    return next;
}

/* Whether a segment along n may reach a column. `clearance` (m) is that of its start. */
ICE_FN int32_t ice_may_meet_hole(const ice_tables *tables, float clearance, ice_direction n,
                                 float length)
{
    const float room = ice_max(clearance - tables->hole.margin, 0.0f);
    return length * length * fmaf(n.x, n.x, n.y * n.y) >= room * room ? 1 : 0;
}

/* Whether a segment from (x, y) along n passes within `doubt` (m) of a column, seen from above, or
 * is long enough to reach others than the nearest one. ice_may_meet_hole() is the cheaper test. */
ICE_FN int32_t ice_may_cross_column(const ice_tables *tables, float x, float y, ice_direction n,
                                    float length, float doubt)
{
    const ice_near_row near = ice_near_column(tables, x, y);
    const ice_column column = tables->columns[near.string];
    const float ox = column.x - x, oy = column.y - y;
    const float square = fmaf(n.x, n.x, n.y * n.y);
    const float others = ice_max(near.others - doubt, 0.0f);
    /* For a vertical segment the quotient is 0/0, and its nearest point counts as its start. */
    const float nearest = ice_div(fmaf(ox, n.x, oy * n.y), square);
    const float along = ice_min(ice_max(nearest, 0.0f), length);
    const float ex = fmaf(-along, n.x, ox), ey = fmaf(-along, n.y, oy);
    const float radius = tables->hole.radius + doubt;
    const int32_t passes = fmaf(ex, ex, ey * ey) <= radius * radius ? 1 : 0;
    const int32_t reaches = length * length * square >= others * others ? 1 : 0;
    return passes | reaches;
}

/* Whether (x, y) is in a column. */
ICE_FN int32_t ice_in_hole(const ice_tables *tables, float x, float y)
{
    const ice_near_row near = ice_near_column(tables, x, y);
    const uint32_t first = near.others > 0.0f ? near.string : 0;
    const uint32_t end = near.others > 0.0f ? near.string + 1 : tables->column_count;
    for (uint32_t i = first; i < end; ++i) {
        const float ox = tables->columns[i].x - x, oy = tables->columns[i].y - y;
        if (fmaf(ox, ox, oy * oy) < tables->hole.radius * tables->hole.radius) {
            return 1;
        }
    }
    return 0;
}

/* The way (m) in a column that uses up an absorption depth. `factor`: absorption of the ice
 * relative to its tables, because the depth is that of the ice. */
ICE_FN float ice_way_in_column(const ice_tables *tables, float depth, float factor)
{
    return depth * factor * tables->hole.absorption_length;
}

/* The absorption depth that a way (m) in a column uses up: the inverse of ice_way_in_column(). */
ICE_FN float ice_depth_in_column(const ice_tables *tables, float way, float factor)
{
    return ice_ratio(way, tables->hole.absorption_length * factor);
}

/* Moves a start by `length` (m) through ice without columns: subtracts the scattering and the
 * absorption depth of this length, and moves the height. */
ICE_FN void ice_spend(const ice_tables *tables, ice_segment_start *start, float length)
{
    const float end = fmaf(length, start->nz, start->z);
    const int32_t first = ice_layer_at(tables, start->z), last = ice_layer_at(tables, end);
    const ice_layer_row *row = &tables->layers[first];
    float scattering = ice_scattering(start->optics, row->scattering, row->bubbles) * length;
    float absorption = ice_absorption(start->optics, row->dust, row->ice) * length;
    if (first != last) {
        const ice_layer_row *other = &tables->layers[last];
        const float below = start->z - ice_face(tables, first),
                    above = end - ice_face(tables, last);
        const float stretch = ice_inverse(fabsf(start->nz));
        const float whole_s = ice_scattering_between(tables, start->optics, first, last);
        const float whole_a = ice_absorption_between(tables, start->optics, first, last);
        scattering =
            stretch *
            fabsf(whole_s +
                  ice_scattering(start->optics, other->scattering, other->bubbles) * above -
                  ice_scattering(start->optics, row->scattering, row->bubbles) * below);
        absorption =
            stretch *
            fabsf(whole_a + ice_absorption(start->optics, other->dust, other->ice) * above -
                  ice_absorption(start->optics, row->dust, row->ice) * below);
    }
    start->scattering = ice_max(start->scattering - scattering, 0.0f);
    start->absorption = ice_max(start->absorption - absorption, 0.0f);
    start->z = end;
}

/* The segment of a photon that may pass through columns. `photon` gives the position and the
 * direction. `factor` is the absorption of the ice along this direction, relative to the tables.
 * start.absorption is already divided by `factor`, and so is the absorption left in the result. The
 * absorption of a column does not depend on direction and is not divided. */
ICE_FN ice_segment ice_through_holes(ice_variant propagate, const ice_tables *tables,
                                     ice_segment_start start, const ice_photon *photon,
                                     float factor)
{
    const ice_horizontal_line line = {photon->x, photon->y, photon->dx, photon->dy};
    const float start_z = start.z;
    const ice_near_row near = ice_near_column(tables, line.x, line.y);
    ice_segment segment = {0.0f, start.absorption};
    float at = 0.0f; /* distance (m) from the start of the segment to the start of the rest */
    /* Every round either returns or passes one column, because the exit of the next column lies
     * further on. At most column_count + 1 rounds are needed, and the last one returns. */
    for (uint32_t passed = 0; passed <= tables->column_count; ++passed) {
        const ice_segment rest = ice_propagate(propagate, tables, start);
        const ice_crossing column = ice_next_column(tables, near, line, at, at + rest.length);
        if (!(column.entry < at + rest.length)) {
            segment.length = at + rest.length;
            segment.absorption = rest.absorption;
            return segment;
        }
        if (column.entry > at) {
            ice_spend(tables, &start, column.entry - at);
            at = column.entry;
        }
        const float to_scatter = start.scattering * tables->hole.scattering_length;
        const float to_absorption = ice_way_in_column(tables, start.absorption, factor);
        const float room = column.exit - at, distance = ice_min(to_scatter, to_absorption);
        segment.length = at + ice_min(distance, room);
        if (distance <= room) {
            segment.absorption =
                to_absorption <= to_scatter
                    ? 0.0f
                    : ice_depth_in_column(tables, to_absorption - distance, factor);
            return segment;
        }
        start.scattering = ice_ratio(to_scatter - room, tables->hole.scattering_length);
        start.absorption = ice_depth_in_column(tables, to_absorption - room, factor);
        at = column.exit;
        start.z = fmaf(at, start.nz, start_z);
    }
    return segment;
}

#endif
