/* The optical depths of a segment whose length is known: the inverse of the stage propagate
 * (physics.md 5.2, 6.1, 6.2, 6.3, 8.7), in double precision.
 *
 * The pieces of the segment in layers and in columns of hole ice are found by the rules of
 * ice_find_segment() in stages/bounce.h: the height among the layers is that of the start, and the
 * factor of the absorption is that of the layer of the start.
 *
 * Before a kernel includes this file, it may define where pieces go:
 *   #define ICE_PUT_PIECE(sink, layer, scattering, absorption)
 * It gets the layer, or ICE_IN_COLUMN, and the two depths of every piece, in the order of the path.
 */
#ifndef ICS_STAGES_PATH_DEPTH_H
#define ICS_STAGES_PATH_DEPTH_H

#include "stages/anisotropy.h"
#include "stages/hole_ice/hole.h"
#include "stages/tilt.h"

#ifndef ICE_PUT_PIECE
#define ICE_PUT_PIECE(sink, layer, scattering, absorption)                                         \
    ((void)(sink), (void)(layer), (void)(scattering), (void)(absorption))
#endif

/* Instead of a layer: a column of hole ice. */
#define ICE_IN_COLUMN (-1)

/* The depths of a segment. */
typedef struct ice_path_depth {
    double scattering; /* integral of b ds, >= 0 */
    double absorption; /* integral of a ds with the factor of the direction, >= 0 */
    double density;    /* b at the end (1/m), in the piece that ends there */
    int32_t layer;     /* that piece's layer, or ICE_IN_COLUMN */
} ice_path_depth;

/* A straight segment. */
typedef struct ice_path_segment {
    float x, y;        /* start, m */
    float height;      /* of the start among the layers of these tables, m (ice_height) */
    ice_direction n;   /* unit vector */
    ice_optics optics; /* of these tables at the wavelength of the light */
} ice_path_segment;

ICE_FN void ice_add_piece(ice_path_depth *depth, int32_t layer, double b, double a, double length,
                          void *sink)
{
    const double scattering = b * length, absorption = a * length;
    depth->scattering += scattering;
    depth->absorption += absorption;
    depth->density = b;
    depth->layer = layer;
    ICE_PUT_PIECE(sink, layer, scattering, absorption);
}

/* Adds the pieces of the stretch of a segment from the distance `from` to `to` (m) in the layers.
 * `factor`: of the absorption along the segment. */
ICE_FN void ice_add_layers(const ice_tables *tables, const ice_path_segment *segment, double factor,
                           double from, double to, ice_path_depth *depth, void *sink)
{
    const float nz = segment->n.z;
    const int32_t up = nz > 0.0f ? 1 : 0;
    const double z = fma(from, (double)nz, (double)segment->height);
    const double stretch = nz != 0.0f ? 1.0 / fabs((double)nz) : (double)ICE_INFINITY;
    int32_t layer = ice_layer_at(tables, (float)z);
    double at = from;
    for (;;) {
        const ice_layer_row *row = &tables->layers[layer];
        const double b = (double)ice_scattering(segment->optics, row->scattering, row->bubbles);
        const double a = factor * (double)ice_absorption(segment->optics, row->dust, row->ice);
        /* The distance from a start that rounding put just behind its face counts as in
         * ice_to_face(); a horizontal segment meets no face. */
        const double to_face =
            nz != 0.0f ? fabs((double)(up ? row->high : row->low) - z) * stretch : stretch;
        const double exit = from + to_face;
        if (!(exit < to)) {
            ice_add_piece(depth, layer, b, a, to - at, sink);
            return;
        }
        /* Behind the wrong face of its first layer a start is as far from the next face as in
         * front of it, so that a distance may be less than the one before. */
        const double end = exit > at ? exit : at;
        ice_add_piece(depth, layer, b, a, end - at, sink);
        at = end;
        layer += up ? 1 : -1;
    }
}

/* Returns the depths of a segment from its start to `length` (m, >= 0). */
ICE_FN ice_path_depth ice_path_depth_of(const ice_tables *tables, const ice_path_segment *segment,
                                        double length, void *sink)
{
    ice_path_depth depth = {0.0, 0.0, 0.0, ICE_IN_COLUMN};
    double factor = 1.0, at = 0.0;
    if (ICE_HAS(tables, ICE_HAS_DIRECTIONS)) {
        factor = (double)ice_absorption_factor_along(tables, segment->height, segment->n).factor;
    }
    if (ICE_HAS(tables, ICE_HAS_HOLES)) {
        const ice_horizontal_line line = {segment->x, segment->y, segment->n.x, segment->n.y};
        const ice_near_row near = ice_near_column(tables, line.x, line.y);
        const double b = 1.0 / (double)tables->hole.scattering_length;
        const double a = 1.0 / (double)tables->hole.absorption_length;
        /* Every round but the last one passes one column, as in ice_through_holes(). */
        for (uint32_t passed = 0; passed <= tables->column_count; ++passed) {
            const ice_crossing column =
                ice_next_column(tables, near, line, (float)at, (float)length);
            if (!((double)column.entry < length)) {
                break;
            }
            if ((double)column.entry > at) {
                ice_add_layers(tables, segment, factor, at, (double)column.entry, &depth, sink);
                at = (double)column.entry;
            }
            const double exit = (double)column.exit < length ? (double)column.exit : length;
            ice_add_piece(&depth, ICE_IN_COLUMN, b, a, exit - at, sink);
            at = exit;
            if (!((double)column.exit < length)) {
                return depth;
            }
        }
    }
    ice_add_layers(tables, segment, factor, at, length, &depth, sink);
    return depth;
}

#endif
