/* The table of tilted layers, and how fast a photon's height among them can change. */
#include "base/error.h"
#include "stages/reach.h"
#include "tables/internal.h"
#include "tables/near_image.h"
#include "tables/tilt_image.h"

#include <math.h>

/* ---- how steep it is ------------------------------------------------------------------------- */

/* How far outside the table of a tilt the steepness of the shift is known, m. There the reach bound
 * may use the rows of the layers. With a smaller number, photons around a detector that is as wide
 * as the table would fly farther before they are dropped. With a larger number, all photons would,
 * because a shift becomes steeper and steeper outside its table: it continues linearly, across and
 * in depth. */
#define KNOWN_MARGIN 225.0
/* How far outside the table the steepness is computed, m: photons may travel ICE_CLEAR_RANGE from
 * where they start. The extra metre covers rounding, and the sideways shift of photons by
 * birefringence. */
#define STEEP_RANGE (KNOWN_MARGIN + (double)ICE_CLEAR_RANGE + 1.0)

static size_t tilt_nodes(const ice_tilt *tilt)
{
    return tilt->kind == ICE_TILT_MAP ? tilt->axes[0].count * tilt->axes[1].count
                                      : tilt->station_count;
}

/* Returns the shift (m) at a node of a map or at a station of a line. */
static double shift_at(const ice_tilt *tilt, size_t row, size_t node)
{
    return tilt->shifts[row * tilt_nodes(tilt) + node];
}

/* The two ends of a cell, in units of the cell: 0 and 1. The ends of the first and of the last cell
 * lie further outside if the table continues linearly. */
typedef struct stretch {
    double ends[2];
} stretch;

static stretch cell_stretch(const ice_tilt *tilt, size_t cell, size_t cells, double width)
{
    const double beyond = tilt->clamp ? 0.0 : STEEP_RANGE / width;
    const stretch result = {{cell == 0 ? -beyond : 0.0, cell + 1 == cells ? 1.0 + beyond : 1.0}};
    return result;
}

static stretch depth_stretch(const ice_tilt *tilt, size_t row)
{
    return cell_stretch(tilt, row, tilt->depth_count - 1, tilt->depth_step);
}

static double between(double low, double high, double fraction)
{
    return low + fraction * (high - low);
}

/* Returns the change of the height in the layers per metre upwards, if the shift changes from
 * `above` to `below` over one step of depth. */
static double climb(const ice_tilt *tilt, double above, double below)
{
    return fabs(1.0 + (below - above) / tilt->depth_step);
}

/* Returns the largest gradient of the height in the layers within one cell of a line. The shift is
 * bilinear: its slope across depends only on depth, its slope in depth only on the position. Both
 * are largest at ends of the cell. */
static double steepest_on_line(const ice_tilt *tilt, size_t row, size_t k)
{
    const double width = tilt->stations[k + 1] - tilt->stations[k];
    const stretch depth = depth_stretch(tilt, row);
    const stretch along = cell_stretch(tilt, k, tilt->station_count - 1, width);
    const double above[2] = {shift_at(tilt, row, k), shift_at(tilt, row, k + 1)};
    const double below[2] = {shift_at(tilt, row + 1, k), shift_at(tilt, row + 1, k + 1)};
    double across = 0.0, up = 0.0;
    for (int end = 0; end < 2; ++end) {
        across =
            fmax(across,
                 fabs(between(above[1] - above[0], below[1] - below[0], depth.ends[end])) / width);
        up = fmax(up, climb(tilt, between(above[0], above[1], along.ends[end]),
                            between(below[0], below[1], along.ends[end])));
    }
    return hypot(across, up);
}

/* Returns the largest slope, over all horizontal directions, of a map's shift in a triangle of
 * three nodes. `along_u` and `along_v` are the differences of the shift (m) from node to node along
 * the two axes. */
static double map_slope(const ice_tilt *tilt, double along_u, double along_v)
{
    const ice_tilt_axis *u = &tilt->axes[0], *v = &tilt->axes[1];
    const double cosine = cos(v->azimuth - u->azimuth), sine = sin(v->azimuth - u->azimuth);
    const double a = along_u / u->step, b = along_v / v->step;
    return sqrt(fmax(a * a + b * b - 2 * a * b * cosine, 0.0)) / fabs(sine);
}

/* Returns the largest gradient of the height in the layers in a triangle between two rows of depth.
 * nodes[0] and nodes[1] lie along axis u, nodes[1] and nodes[2] along axis v. Outside the map
 * slopes across are at most `fan` times as large. */
static double steepest_in_triangle(const ice_tilt *tilt, size_t row, const size_t nodes[3],
                                   double fan)
{
    const stretch depth = depth_stretch(tilt, row);
    double above[3], below[3], across = 0.0, up = 0.0;
    for (int k = 0; k < 3; ++k) {
        above[k] = shift_at(tilt, row, nodes[k]);
        below[k] = shift_at(tilt, row + 1, nodes[k]);
        up = fmax(up, climb(tilt, above[k], below[k]));
    }
    for (int end = 0; end < 2; ++end) {
        across =
            fmax(across,
                 map_slope(tilt, between(above[1] - above[0], below[1] - below[0], depth.ends[end]),
                           between(above[2] - above[1], below[2] - below[1], depth.ends[end])));
    }
    return hypot(fan * across, up);
}

static double steepest_on_map(const ice_tilt *tilt, size_t row, double fan)
{
    const size_t line = tilt->axes[0].count;
    double most = 1.0;
    for (size_t j = 0; j + 1 < tilt->axes[1].count; ++j) {
        for (size_t i = 0; i + 1 < line; ++i) {
            const size_t near = j * line + i, far = near + line + 1;
            if (!ice_tilt_has_node(tilt, i, j) || !ice_tilt_has_node(tilt, i + 1, j + 1)) {
                continue;
            }
            if (ice_tilt_has_node(tilt, i + 1, j)) {
                const size_t nodes[3] = {near, near + 1, far};
                most = fmax(most, steepest_in_triangle(tilt, row, nodes, fan));
            }
            if (ice_tilt_has_node(tilt, i, j + 1)) {
                /* Here axis v comes first; the differences are the same in reverse order. */
                const size_t nodes[3] = {far, near + line, near};
                most = fmax(most, steepest_in_triangle(tilt, row, nodes, fan));
            }
        }
    }
    return most;
}

/* Returns by which factor slopes can be larger outside a map than at its edge. Outside, a shift is
 * that of the edge, and the points outside are divided between the edges by rays from the corners
 * (ice_map_onto). The smaller the angle between a ray and an edge, the steeper the shift. */
static double map_fan(const ice_tilt *tilt)
{
    const double nu = (double)tilt->axes[0].count - 1, nv = (double)tilt->axes[1].count - 1;
    const double cu = (double)tilt->axes[0].cut - 1, cv = (double)tilt->axes[1].cut - 1;
    const double corners[7][2] = {{0, 0},        {cu, 0}, {nu, nu - cu}, {nu, nv},
                                  {nv - cv, nv}, {0, cv}, {0, 0}};
    const double rays[7][2] = {{-1, -1}, {0, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}};
    double axes[2][2], most = 1.0;
    for (int m = 0; m < 2; ++m) {
        axes[m][0] = tilt->axes[m].step * cos(tilt->axes[m].azimuth);
        axes[m][1] = tilt->axes[m].step * sin(tilt->axes[m].azimuth);
    }
    for (int k = 0; k < 12; ++k) { /* for both rays of every edge */
        const double *from = corners[k / 2], *to = corners[k / 2 + 1], *out = rays[(k + 1) / 2];
        double edge[2], ray[2];
        for (int m = 0; m < 2; ++m) {
            edge[m] = (to[0] - from[0]) * axes[0][m] + (to[1] - from[1]) * axes[1][m];
            ray[m] = out[0] * axes[0][m] + out[1] * axes[1][m];
        }
        const double area = fabs(edge[0] * ray[1] - edge[1] * ray[0]);
        most = fmax(most, hypot(edge[0], edge[1]) * hypot(ray[0], ray[1]) / area);
    }
    return most;
}

/* Returns by how much a photon's height in the layers can change per metre of its path. Within a
 * segment this is at most 1. From the start of one segment to the start of the next it is at most
 * the gradient of z - shift. */
static double steepest(const ice_tilt *tilt)
{
    const double fan = tilt->kind == ICE_TILT_MAP ? map_fan(tilt) : 1.0;
    double most = 1.0;
    for (size_t row = 0; row + 1 < tilt->depth_count; ++row) {
        if (tilt->kind == ICE_TILT_MAP) {
            most = fmax(most, steepest_on_map(tilt, row, fan));
        } else {
            for (size_t k = 0; k + 1 < tilt->station_count; ++k) {
                most = fmax(most, steepest_on_line(tilt, row, k));
            }
        }
    }
    return most;
}

double ics_tables_clear_range(const ice_medium *medium)
{
    if (medium->tilt.kind == ICE_TILT_NONE) {
        return (double)ICE_CLEAR_RANGE;
    }
    return ((double)ICE_CLEAR_RANGE + 0.1) * steepest(&medium->tilt); /* 0.1 m covers rounding */
}

/* ---- the table ------------------------------------------------------------------------------- */

static void set_line_axis(ice_tilt_table *table, const ice_tilt *tilt)
{
    table->nodes_u = (int32_t)tilt->station_count;
    table->nodes_v = 1;
    table->ux = (float)cos(tilt->azimuth);
    table->uy = (float)sin(tilt->azimuth);
    table->u_of_zero = (float)-tilt->origin;
}

static void set_map_axes(ice_tilt_table *table, const ice_tilt *tilt)
{
    const ice_tilt_axis *u = &tilt->axes[0], *v = &tilt->axes[1];
    const double determinant = sin(v->azimuth - u->azimuth);
    table->nodes_u = (int32_t)u->count;
    table->nodes_v = (int32_t)v->count;
    table->ux = (float)(sin(v->azimuth) / (determinant * u->step));
    table->uy = (float)(-cos(v->azimuth) / (determinant * u->step));
    table->u_of_zero = (float)(-u->first / u->step);
    table->vx = (float)(-sin(u->azimuth) / (determinant * v->step));
    table->vy = (float)(cos(u->azimuth) / (determinant * v->step));
    table->v_of_zero = (float)(-v->first / v->step);
    table->cut_u = (float)(u->cut - 1);
    table->cut_v = (float)(v->cut - 1);
}

/* Sets the region in which the reach bound may use ics_tables_clear_range(). */
static void set_known_region(ice_tilt_table *table, const ice_tilt *tilt)
{
    const double height = tilt->depth_step * (double)(tilt->depth_count - 1);
    table->known_half_along = table->known_half_z = INFINITY;
    if (!tilt->clamp) {
        table->known_z = (float)(ICE_DETECTOR_DEPTH - tilt->first_depth - 0.5 * height);
        table->known_half_z = (float)(0.5 * height + KNOWN_MARGIN);
    }
    if (!tilt->clamp && tilt->kind == ICE_TILT_LINE) {
        const double first = tilt->stations[0], last = tilt->stations[tilt->station_count - 1];
        table->known_along = (float)(0.5 * (first + last));
        table->known_half_along = (float)(0.5 * (last - first) + KNOWN_MARGIN);
    }
}

/* Returns the smallest distance (m) to a string that is not the nearest one, as the stages read it
 * from the map of clearances, outside the known region: in the cells that are not well inside, and
 * in those at the border of the map, which stand for all positions beyond. */
static double least_outside(const ice_tables *tables)
{
    const ice_tilt_table *tilt = &tables->tilt;
    const float side = 1.0f / tables->clearance_inverse_cell;
    const int32_t last_i = tables->clearance_nx - 1, last_j = tables->clearance_ny - 1;
    float least = INFINITY;
    for (int32_t j = 0; j <= last_j; ++j) {
        const float y = ((float)j + 0.5f - tables->clearance_of_zero_y) * side;
        for (int32_t i = 0; i <= last_i; ++i) {
            const float x = ((float)i + 0.5f - tables->clearance_of_zero_x) * side;
            const float along = fabsf(ice_tilt_coordinate(tilt, x, y) - tilt->known_along);
            const bool is_border = i == 0 || i == last_i || j == 0 || j == last_j;
            if (is_border || along > tilt->known_half_along - 2.0f * side) {
                least = fminf(least, ice_surroundings_at(tables, x, y).others);
            }
        }
    }
    return (double)least;
}

/* Sets known_distance. It becomes 0 if a module is too close to the end of the known region: then
 * too many photons inside would count as if they were outside. */
static void set_known_distance(ice_tables *tables, bool has_ends)
{
    ice_tilt_table *tilt = &tables->tilt;
    double room =
        (double)(tilt->known_half_z - fabsf(tables->middle - tilt->known_z) - tables->half_height);
    for (uint32_t s = 0; has_ends && s < tables->string_count; ++s) {
        const ice_string *string = &tables->strings[s];
        const float along = ice_tilt_coordinate(tilt, string->x, string->y) - tilt->known_along;
        room = fmin(room, (double)(tilt->known_half_along - fabsf(along) -
                                   fmaxf(string->radius, tables->axis_radius)));
    }
    if (has_ends) {
        room = fmin(room, least_outside(tables));
    }
    /* A texture has the distances of least_outside() shorter by this (tables/near_image.c), and
     * knows none beyond near_others. The metre covers rounding and the steps of short numbers. */
    room -= 2.0 * (double)(ICE_CELL_DOUBT / tables->clearance_inverse_cell) + 1.0;
    if (ics_tables_near_is_short(tables)) {
        room = fmin(room, (double)tables->near_others - 1.0);
    }
    tilt->known_distance = room >= (double)ICE_CLEAR_RANGE ? (float)room : 0.0f;
}

/* Builds the cells and stretches of a tilt along a line. */
static int build_line(ics_table_builder *builder, const ice_tilt *tilt)
{
    ice_tilt_table *table = &builder->tables->tilt;
    const size_t rows = tilt->depth_count - 1, stretches = tilt->station_count - 1;
    ice_tilt_cell *cells;
    ICS_TRY(ics_tables_array(builder, &table->cells, rows * stretches, sizeof *cells, &cells));
    ice_tilt_stretch *all;
    ICS_TRY(ics_tables_array(builder, &table->stretches, stretches, sizeof *all, &all));
    for (size_t row = 0; row < rows; ++row) {
        for (size_t k = 0; k < stretches; ++k) {
            const double here = shift_at(tilt, row, k), right = shift_at(tilt, row, k + 1);
            const double below = shift_at(tilt, row + 1, k), far = shift_at(tilt, row + 1, k + 1);
            ice_tilt_cell *cell = &cells[row * stretches + k];
            cell->shift = (float)here;
            cell->across = (float)(right - here);
            cell->down = (float)(below - here);
            cell->both = (float)(far - below - (right - here));
        }
    }
    for (size_t k = 0; k < stretches; ++k) {
        const double inverse = 1.0 / (tilt->stations[k + 1] - tilt->stations[k]);
        all[k].inverse_width = (float)inverse;
        all[k].offset = (float)(-tilt->stations[k] * inverse);
        if (stretches <= ICE_TILT_STRETCHES) {
            table->few[k] = all[k];
        }
    }
    set_line_axis(table, tilt);
    return ics_tables_image_plan(builder->tables, tilt);
}

/* A linear function of the fractions p and r of the way through a cell of a map. */
typedef struct plane {
    double shift, along_u, along_v; /* m */
} plane;

/* Returns the shift in one of the two triangles of cell (i, j) in a row of depth. If this triangle
 * does not exist, because a corner of the map is cut off, the other triangle continues: rounding
 * may put a position on the edge into either of them. */
static plane plane_of(const ice_tilt *tilt, size_t row, size_t i, size_t j, bool along_u)
{
    const size_t line = tilt->axes[0].count, near = j * line + i, far = near + line + 1;
    if (!ice_tilt_has_node(tilt, along_u ? i + 1 : i, along_u ? j : j + 1)) {
        along_u = !along_u;
    }
    const double first = shift_at(tilt, row, near), last = shift_at(tilt, row, far);
    const double third = shift_at(tilt, row, along_u ? near + 1 : near + line);
    const plane result = {first, along_u ? third - first : last - third,
                          along_u ? last - third : third - first};
    return result;
}

static ice_tilt_triangle triangle_of(const ice_tilt *tilt, size_t row, size_t i, size_t j,
                                     bool along_u)
{
    const plane here = plane_of(tilt, row, i, j, along_u);
    const plane next = plane_of(tilt, row + 1, i, j, along_u);
    const ice_tilt_triangle triangle = {
        .shift = (float)here.shift,
        .along_u = (float)here.along_u,
        .along_v = (float)here.along_v,
        .down = (float)(next.shift - here.shift),
        .down_u = (float)(next.along_u - here.along_u),
        .down_v = (float)(next.along_v - here.along_v),
    };
    return triangle;
}

static int build_map(ics_table_builder *builder, const ice_tilt *tilt)
{
    ice_tilt_table *table = &builder->tables->tilt;
    const size_t rows = tilt->depth_count - 1;
    const size_t cells_u = tilt->axes[0].count - 1, cells_v = tilt->axes[1].count - 1;
    ice_tilt_triangle *triangles;
    ICS_TRY(ics_tables_array(builder, &table->triangles, 2 * rows * cells_u * cells_v,
                             sizeof *triangles, &triangles));
    for (size_t row = 0; row < rows; ++row) {
        for (size_t j = 0; j < cells_v; ++j) {
            for (size_t i = 0; i < cells_u; ++i) {
                *triangles++ = triangle_of(tilt, row, i, j, false);
                *triangles++ = triangle_of(tilt, row, i, j, true);
            }
        }
    }
    set_map_axes(table, tilt);
    return ICESTREAM_OK;
}

uint32_t ics_tables_find_tilt(const ice_medium *medium)
{
    switch (medium->tilt.kind) {
    case ICE_TILT_LINE:
        return ICE_HAS_TILT_LINE;
    case ICE_TILT_MAP:
        return ICE_HAS_TILT_MAP;
    default:
        return 0;
    }
}

int ics_tables_build_tilt(ics_table_builder *builder, const ice_medium *medium,
                          const ice_detector *detector)
{
    const ice_tilt *tilt = &medium->tilt;
    ice_tilt_table *table = &builder->tables->tilt;
    (void)detector;
    table->depth_rows = (int32_t)tilt->depth_count;
    table->clamp = tilt->clamp;
    table->inverse_depth_step = (float)(1.0 / tilt->depth_step);
    table->depth_of_zero = (float)((ICE_DETECTOR_DEPTH - tilt->first_depth) / tilt->depth_step);
    set_known_region(table, tilt);
    ICS_TRY(tilt->kind == ICE_TILT_MAP ? build_map(builder, tilt) : build_line(builder, tilt));
    set_known_distance(builder->tables, tilt->kind == ICE_TILT_LINE && !tilt->clamp);
    return ICESTREAM_OK;
}
