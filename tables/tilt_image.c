/* The image of a tilt along a line: an even grid that nearly contains all stations.
 *
 * Between two stations the shift is linear along the line, so there an image is exact, but for the
 * rounding of the texture unit. At a station the slope changes. If the station lies at the fraction
 * t of the way between two columns of distance w, the image is wrong by t (1 - t) w times the
 * change of the slope. So the distance of the columns is the largest one for which all stations
 * with a considerable change of the slope lie close to a column.
 */
#include "tables/tilt_image.h"

#include "base/cleanup.h"
#include "base/icestream_error.h"
#include "stages/tilt.h"
#include "tables/short_texels.h"

#include <math.h>
#include <stdlib.h>

/* Distances of columns that are tried, m, each 0.1 % smaller than the one before. */
#define WIDEST    8.0
#define NARROWEST 0.25
#define NEXT      0.999
/* The number of stations of which each is tried as a station in the middle of a column. */
#define ANCHORS 16
/* A texture unit rounds a fraction to 1 / 256, so the result is wrong by half of this at most,
 * times the difference of two nodes; once for columns and once for rows. */
#define ROUNDING (0.5 / 256.0)
/* A node is rounded to a step, so it is wrong by half of one at most. */
#define STEP_ERROR (0.5 / ICS_TEXEL_STEPS)

static double shift_at(const ice_tilt *tilt, size_t row, size_t station)
{
    return tilt->shifts[row * tilt->station_count + station];
}

/* Returns the slope of the shift between two stations in a row of depth, 0 outside a table whose
 * shift stays what it is at its edge. */
static double slope_after(const ice_tilt *tilt, size_t row, ptrdiff_t station)
{
    const ptrdiff_t last = (ptrdiff_t)tilt->station_count - 2;
    if (tilt->clamp && (station < 0 || station > last)) {
        return 0.0;
    }
    const size_t k = (size_t)(station < 0 ? 0 : (station > last ? last : station));
    return (shift_at(tilt, row, k + 1) - shift_at(tilt, row, k)) /
           (tilt->stations[k + 1] - tilt->stations[k]);
}

/* Returns by how much the slope changes at a station, in the row where it changes most. */
static double change_of_slope(const ice_tilt *tilt, size_t station)
{
    double most = 0.0;
    for (size_t row = 0; row < tilt->depth_count; ++row) {
        const double change = slope_after(tilt, row, (ptrdiff_t)station) -
                              slope_after(tilt, row, (ptrdiff_t)station - 1);
        most = fmax(most, fabs(change));
    }
    return most;
}

/* Returns by how much the image is wrong near a station: `position` in columns. */
static double error_at(double change, double position, double width)
{
    const double t = position - floor(position);
    return t * (1.0 - t) * width * change;
}

/* Returns how wrong an image is with columns of this width, of which one lies at `origin` (m). */
static double kink_error(const ice_tilt *tilt, const double *changes, double width, double origin)
{
    double most = 0.0;
    for (size_t k = 0; k < tilt->station_count; ++k) {
        most = fmax(most, error_at(changes[k], (tilt->stations[k] - origin) / width, width));
    }
    return most;
}

/* Returns by how much the texture unit may round the shift, with columns of this width. */
static double rounding_error(const ice_tilt *tilt, double width)
{
    double across = 0.0, down = 0.0;
    for (size_t row = 0; row < tilt->depth_count; ++row) {
        for (size_t k = 0; k < tilt->station_count; ++k) {
            across = fmax(across, fabs(slope_after(tilt, row, (ptrdiff_t)k)));
            if (row > 0) {
                down = fmax(down, fabs(shift_at(tilt, row, k) - shift_at(tilt, row - 1, k)));
            }
        }
    }
    return ROUNDING * (across * width + down);
}

/* Returns the shift (m) in a row of depth at a station. The number -1 stands for the end of the
 * image before the first station, and the number of stations for its end behind the last one, each
 * `margin` (m) away. */
static double shift_with_ends(const ice_tilt *tilt, size_t row, ptrdiff_t station, double margin)
{
    const ptrdiff_t last = (ptrdiff_t)tilt->station_count - 1;
    if (station < 0) {
        return shift_at(tilt, row, 0) - slope_after(tilt, row, -1) * margin;
    }
    return station <= last
               ? shift_at(tilt, row, (size_t)station)
               : shift_at(tilt, row, (size_t)last) + slope_after(tilt, row, last) * margin;
}

/* Returns the largest size of the shift (m) in an image with margins of `margin` (m) along the line
 * and `rows` rows above and below the table. The shift is linear between the stations, between the
 * rows and in the margins, so it is largest at one of their ends. */
static double largest_shift(const ice_tilt *tilt, double margin, double rows)
{
    const size_t last = tilt->depth_count - 1;
    double most = 0.0;
    for (ptrdiff_t k = -1; k <= (ptrdiff_t)tilt->station_count; ++k) {
        for (size_t row = 0; row <= last; ++row) {
            most = fmax(most, fabs(shift_with_ends(tilt, row, k, margin)));
        }
        const double top = shift_with_ends(tilt, 0, k, margin);
        const double below_top = shift_with_ends(tilt, 1, k, margin);
        const double bottom = shift_with_ends(tilt, last, k, margin);
        const double above_bottom = shift_with_ends(tilt, last - 1, k, margin);
        most = fmax(most, fabs(top + rows * (top - below_top)));
        most = fmax(most, fabs(bottom + rows * (bottom - above_bottom)));
    }
    return most;
}

/* Chooses the width of the columns and the position (m) of one of them. Nodes are wrong by
 * `node_error` (m) at most. Returns false if no width serves. */
static bool choose_columns(const ice_tilt *tilt, const double *changes, double node_error,
                           double *width, double *origin)
{
    const size_t anchors = tilt->station_count < ANCHORS ? tilt->station_count : ANCHORS;
    for (*width = WIDEST; *width >= NARROWEST; *width *= NEXT) {
        const double allowed =
            (double)ICE_TILT_IMAGE_ERROR - node_error - rounding_error(tilt, *width);
        for (size_t k = 0; k < anchors; ++k) {
            *origin = tilt->stations[k];
            if (kink_error(tilt, changes, *width, *origin) <= allowed) {
                return true;
            }
        }
    }
    return false;
}

ics_tables_image_size ics_tables_image_size_of(const ice_tables *tables)
{
    const ice_tilt_table *tilt = &tables->tilt;
    if ((tables->features & ICE_HAS_TILT_LINE) == 0 || tilt->image.inverse_width <= 0.0f) {
        return (ics_tables_image_size){0};
    }
    const ice_tilt_stretch last = tilt->stretches[tilt->nodes_u - 2];
    const double end = (1.0 - (double)last.offset) / (double)last.inverse_width;
    const double margin = tilt->clamp ? 0.0 : (double)ICE_TILT_IMAGE_MARGIN;
    /* The last column lies at `end`, or behind it. */
    const double column = ceil((end + margin) * (double)tilt->image.inverse_width +
                               (double)tilt->image.column_of_zero - 0.5);
    return (ics_tables_image_size){
        .columns = (uint32_t)column + 1,
        .rows = (uint32_t)(tilt->depth_rows + 2 * ice_tilt_margin_rows(tilt))};
}

int ics_tables_image_plan(ice_tables *tables, const ice_tilt *tilt)
{
    ice_tilt_table *table = &tables->tilt;
    ICS_FREES double *changes = calloc(tilt->station_count, sizeof *changes);
    if (changes == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    for (size_t k = 0; k < tilt->station_count; ++k) {
        changes[k] = change_of_slope(tilt, k);
    }
    const double margin = tilt->clamp ? 0.0 : (double)ICE_TILT_IMAGE_MARGIN;
    /* The outermost columns lie up to a column outside the margin. */
    const double most = largest_shift(tilt, tilt->clamp ? 0.0 : margin + WIDEST,
                                      (double)ice_tilt_margin_rows(table));
    double width, origin;
    if (choose_columns(tilt, changes, most * STEP_ERROR, &width, &origin)) {
        const double before = ceil((origin - tilt->stations[0] + margin) / width);
        table->image.inverse_width = (float)(1.0 / width);
        table->image.column_of_zero = (float)(before + 0.5 - origin / width);
        table->image.unit = most > 0.0 ? (float)most : 1.0f;
    }
    const ics_tables_image_size size = ics_tables_image_size_of(tables);
    if ((uint64_t)size.columns * size.rows > ICS_TILT_IMAGE_NODES) {
        table->image = (ice_tilt_image){0};
    }
    return ICESTREAM_OK;
}

void ics_tables_image_fill(const ice_tables *tables, float *nodes)
{
    const ice_tilt_table *tilt = &tables->tilt;
    const ics_tables_image_size size = ics_tables_image_size_of(tables);
    const int32_t margin = ice_tilt_margin_rows(tilt), stretches = tilt->nodes_u - 1;
    for (uint32_t column = 0; column < size.columns; ++column) {
        const float coordinate =
            ((float)column + 0.5f - tilt->image.column_of_zero) / tilt->image.inverse_width;
        const float position = ice_tilt_position(tilt, coordinate);
        const int32_t station = ice_cell(position, stretches - 1);
        const float t = position - (float)station;
        for (uint32_t row = 0; row < size.rows; ++row) {
            const float depth = (float)((int32_t)row - margin);
            const int32_t above = ice_cell(depth, tilt->depth_rows - 2);
            const ice_tilt_cell *cell = &tilt->cells[above * stretches + station];
            const float shift = ice_shift_of_cell(cell, t, depth - (float)above);
            nodes[(size_t)row * size.columns + column] =
                fminf(fmaxf(shift / tilt->image.unit, -1.0f), 1.0f);
        }
    }
}
