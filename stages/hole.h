/* Hole ice: the refrozen column around every string, a vertical cylinder without end that has
 * optics of its own (physics.md 8.7). A segment that meets one is flown piece by piece. */
#ifndef ICS_STAGES_HOLE_H
#define ICS_STAGES_HOLE_H

#include "stages/segment.h"
#include "stages/variants.h"

/* Where a straight line is in a column: distances of entry and exit, m; entry > exit: nowhere. */
typedef struct ice_crossing {
    float entry, exit;
} ice_crossing;

ICE_FN ice_crossing ice_cross_column(const ice_tables *tables, const ice_column *column, float x,
                                     float y, float dx, float dy)
{
    const float ox = column->x - x, oy = column->y - y;
    const float square = fmaf(dx, dx, dy * dy);
    const float radius = tables->hole.radius;
    ice_crossing crossing = {1.0f, 0.0f};
    if (square < 1e-12f) { /* vertical: all of it or nothing */
        if (fmaf(ox, ox, oy * oy) < radius * radius) {
            crossing.entry = -ICE_INFINITY;
            crossing.exit = ICE_INFINITY;
        }
        return crossing;
    }
    const float middle = ice_div(fmaf(ox, dx, oy * dy), square);
    const float ex = fmaf(-middle, dx, ox), ey = fmaf(-middle, dy, oy);
    const float room = fmaf(radius, radius, -fmaf(ex, ex, ey * ey));
    if (room > 0.0f) {
        const float half = ice_sqrt(ice_div(room, square));
        crossing.entry = middle - half;
        crossing.exit = middle + half;
    }
    return crossing;
}

/* The column nearest to a place, and how far all others are at least. */
ICE_FN ice_near_row ice_near_column(const ice_tables *tables, float x, float y)
{
    return tables->near_columns[ice_clearance_cell(tables, x, y)];
}

/* The first column that the line is in somewhere between two distances. */
ICE_FN ice_crossing ice_next_column(const ice_tables *tables, ice_near_row near, float x, float y,
                                    float dx, float dy, float from, float to)
{
    ice_crossing next = {ICE_INFINITY, 0.0f};
    const int32_t only = to * to * fmaf(dx, dx, dy * dy) < near.others * near.others ? 1 : 0;
    const uint32_t first = only ? near.string : 0;
    const uint32_t end = only ? near.string + 1 : tables->column_count;
    for (uint32_t i = first; i < end; ++i) {
        const ice_crossing here = ice_cross_column(tables, &tables->columns[i], x, y, dx, dy);
        if (here.entry < here.exit && here.exit > from && here.entry < to &&
            here.entry < next.entry) {
            next = here;
        }
    }
    return next;
}

/* Whether a segment of the ice could meet a column. */
ICE_FN int32_t ice_may_meet_hole(const ice_tables *tables, float clearance, ice_direction n,
                                 float length)
{
    const float room = ice_max(clearance - tables->hole.margin, 0.0f);
    return length * length * fmaf(n.x, n.x, n.y * n.y) >= room * room ? 1 : 0;
}

/* Whether a place is in hole ice. */
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

/* Depths over a length of a flight through the ice, which are taken off it. */
ICE_FN void ice_spend(const ice_tables *tables, ice_flight *flight, float length)
{
    const float end = fmaf(length, flight->nz, flight->z);
    const int32_t first = ice_layer_at(tables, flight->z), last = ice_layer_at(tables, end);
    const ice_layer_row *row = &tables->layers[first];
    float scattering = ice_scattering(flight->optics, row->scattering, row->bubbles) * length;
    float absorption = ice_absorption(flight->optics, row->dust, row->ice) * length;
    if (first != last) {
        const ice_layer_row *other = &tables->layers[last];
        const float below = flight->z - ice_face(tables, first),
                    above = end - ice_face(tables, last);
        const float stretch = ice_div(1.0f, fabsf(flight->nz));
        const float whole_s = ice_scattering_between(tables, flight->optics, first, last);
        const float whole_a = ice_absorption_between(tables, flight->optics, first, last);
        scattering =
            stretch *
            fabsf(whole_s +
                  ice_scattering(flight->optics, other->scattering, other->bubbles) * above -
                  ice_scattering(flight->optics, row->scattering, row->bubbles) * below);
        absorption =
            stretch *
            fabsf(whole_a + ice_absorption(flight->optics, other->dust, other->ice) * above -
                  ice_absorption(flight->optics, row->dust, row->ice) * below);
    }
    flight->scattering = ice_max(flight->scattering - scattering, 0.0f);
    flight->absorption = ice_max(flight->absorption - absorption, 0.0f);
    flight->z = end;
}

/* A whole flight through the ice, as if there were no columns. */
ICE_FN ice_segment ice_segment_of(ice_variant propagate, const ice_tables *tables,
                                  ice_flight flight)
{
    int32_t leaves;
    const ice_segment segment = ice_segment_in_layer(tables, flight, &leaves);
    return leaves ? ice_propagate_on(propagate, tables, flight) : segment;
}

/* The segment of a flight from (x, y) that meets columns. `factor`: the absorption of the ice along
 * the flight is so many times that of the tables, by which flight.absorption is divided already;
 * that of a column is not. The absorption left of the result is divided likewise. */
ICE_FN ice_segment ice_through_holes(ice_variant propagate, const ice_tables *tables,
                                     ice_flight flight, float x, float y, ice_direction n,
                                     float factor)
{
    const ice_flight start = flight;
    const ice_near_row near = ice_near_column(tables, x, y);
    ice_segment segment = {0.0f, flight.absorption};
    float at = 0.0f;
    /* A round returns or leaves a column for good: the next one's exit lies further on. So there is
     * one round more than columns, at most, and the last returns. */
    for (uint32_t passed = 0; passed <= tables->column_count; ++passed) {
        const ice_segment rest = ice_segment_of(propagate, tables, flight);
        const ice_crossing column =
            ice_next_column(tables, near, x, y, n.x, n.y, at, at + rest.length);
        if (!(column.entry < at + rest.length)) {
            segment.length = at + rest.length;
            segment.absorption = rest.absorption;
            return segment;
        }
        if (column.entry > at) {
            ice_spend(tables, &flight, column.entry - at);
            at = column.entry;
        }
        const float to_scatter = flight.scattering * tables->hole.scattering_length;
        const float to_absorption = flight.absorption * factor * tables->hole.absorption_length;
        const float room = column.exit - at, distance = ice_min(to_scatter, to_absorption);
        segment.length = at + ice_min(distance, room);
        if (distance <= room) {
            segment.absorption =
                to_absorption <= to_scatter
                    ? 0.0f
                    : ice_div(to_absorption - distance, tables->hole.absorption_length * factor);
            return segment;
        }
        flight.scattering = ice_div(to_scatter - room, tables->hole.scattering_length);
        flight.absorption = ice_div(to_absorption - room, tables->hole.absorption_length * factor);
        at = column.exit;
        flight.z = fmaf(at, start.nz, start.z);
    }
    return segment;
}

#endif
