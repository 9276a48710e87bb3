#include "pipeline/photons/models/ice/tilt.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of the tables, far above the size of any measured table. */
enum {
    DEPTHS_MAX = 4096,
    STATIONS_MAX = ICS_TEXT_FIELDS_MAX - 1,
    AXIS_NODES_MIN = 3,
    AXIS_NODES_MAX = 64
};

static const double radians = M_PI / 180;

size_t ics_ice_tilt_node_count(const ice_tilt *tilt)
{
    size_t count = 0;
    for (size_t j = 0; j < tilt->axes[1].count; ++j) {
        for (size_t i = 0; i < tilt->axes[0].count; ++i) {
            count += ice_tilt_has_node(tilt, i, j);
        }
    }
    return count;
}

/* Returns how many numbers `shifts` has for each depth, nodes that do not exist included. */
static size_t row_length(const ice_tilt *tilt)
{
    if (tilt->kind == ICE_TILT_LINE) {
        return tilt->station_count;
    }
    return tilt->kind == ICE_TILT_MAP ? tilt->axes[0].count * tilt->axes[1].count : 0;
}

void ics_ice_tilt_range(const ice_tilt *tilt, double *low, double *high)
{
    size_t count = tilt->depth_count * row_length(tilt);
    *low = *high = count ? tilt->shifts[0] : 0;
    for (size_t i = 1; i < count; ++i) {
        *low = fmin(*low, tilt->shifts[i]);
        *high = fmax(*high, tilt->shifts[i]);
    }
}

void ics_ice_tilt_free(ice_tilt *tilt)
{
    free(tilt->stations);
    free(tilt->shifts);
    *tilt = (ice_tilt){0};
}

/* ---- depths in equal steps --------------------------------------------------------------------
 */

static double depth_at(const double *depths, size_t stride, size_t i)
{
    return *(const double *)(const void *)((const char *)depths + i * stride);
}

static double step_to(const double *depths, size_t stride, size_t i)
{
    return depth_at(depths, stride, i) - depth_at(depths, stride, i - 1);
}

/* The distance (m) of depth i from equal steps. */
static double steps_off(const ics_ice_steps *steps, const double *depths, size_t stride, size_t i)
{
    return fabs(depth_at(depths, stride, i) - depths[0] - (double)i * steps->step);
}

ics_ice_steps ics_ice_steps_of(const double *depths, size_t stride, size_t count)
{
    const double all = depth_at(depths, stride, count - 1) - depths[0];
    ics_ice_steps steps = {.step = all / (double)(count - 1)};
    double largest = 0, worst = -1;
    for (size_t i = 1; i < count; ++i) {
        largest = fmax(largest, step_to(depths, stride, i));
        steps.uneven = fmax(steps.uneven, steps_off(&steps, depths, stride, i));
    }
    /* One wrong depth does not change the step of the others much, unless it makes the largest. */
    steps.usual = count > 2 ? (all - largest) / (double)(count - 2) : all;
    for (size_t i = 1; i < count; ++i) {
        const double off = fabs(step_to(depths, stride, i) - steps.usual);
        if (off > worst) {
            worst = off;
            steps.row = i;
            steps.expected = depth_at(depths, stride, i - 1) + steps.usual;
        }
    }
    return steps;
}

/* ---- depths and shifts ----------------------------------------------------------------------- */

/* Checks that the depths in the first column increase. */
static void check_depths(ics_text_reader *reader, const ics_text_table *table)
{
    if (table->rows < 2) {
        ics_text_fault(reader, table->lines[0], 0, "found one depth, expected 2 .. %d", DEPTHS_MAX);
    }
    for (size_t i = 0; i < table->rows; ++i) {
        double depth = ics_text_table_row(table, i)[0];
        if (!(depth >= -10000 && depth <= 20000)) {
            ics_text_fault(reader, table->lines[i], 0,
                           "depth: found %.10g, expected metres below the surface, -10000 .. 20000",
                           depth);
        } else if (i > 0 && !(depth > ics_text_table_row(table, i - 1)[0])) {
            ics_text_fault(reader, table->lines[i], 0,
                           "depth: found %.10g, expected increasing depths", depth);
        }
    }
}

/* The largest slope of the shifts in the cells above and below depth i. */
static double slope_at(const ice_tilt *tilt, size_t i)
{
    const size_t length = row_length(tilt);
    double largest = 0;
    for (size_t k = 0; k < length; ++k) {
        const double *shift = tilt->shifts + i * length + k;
        const double above = i > 0 ? shift[0] - *(shift - length) : 0;
        const double below = i + 1 < tilt->depth_count ? shift[length] - shift[0] : 0;
        largest = fmax(largest, fmax(fabs(above), fabs(below)));
    }
    return largest / tilt->depth_step;
}

/* Checks that the depths, which the tilt has in equal steps, are near those of the file. */
static int check_steps(ics_text_reader *reader, const ics_text_table *table, ice_tilt *tilt)
{
    const size_t stride = table->columns * sizeof *table->values;
    const ics_ice_steps steps = ics_ice_steps_of(table->values, stride, table->rows);
    tilt->uneven = steps.uneven;
    for (size_t i = 0; i < table->rows; ++i) {
        const double off = steps_off(&steps, table->values, stride, i);
        tilt->moved = fmax(tilt->moved, off * slope_at(tilt, i));
    }
    if (tilt->moved <= ICS_UNEVEN_MOST) {
        return ICESTREAM_OK;
    }
    return ics_text_fault(
        reader, table->lines[steps.row], 0,
        "depth: found %.10g, expected %.10g: equal steps of %.10g m; the ice of this table "
        "is up to %.3g m off in equal steps, at most %g m is accepted",
        ics_text_table_row(table, steps.row)[0], steps.expected, steps.usual, tilt->moved,
        ICS_UNEVEN_MOST);
}

/* Sets the depths of a tilt from a table without faults. */
static void set_depths(ice_tilt *tilt, const ics_text_table *table)
{
    tilt->depth_count = table->rows;
    tilt->first_depth = ics_text_table_row(table, 0)[0];
    tilt->depth_step = (ics_text_table_row(table, table->rows - 1)[0] - tilt->first_depth) /
                       (double)(table->rows - 1);
}

/* Allocates the shifts, all 0. */
static int allocate_shifts(const ics_text_reader *reader, ice_tilt *tilt)
{
    size_t count = tilt->depth_count * row_length(tilt);
    tilt->shifts = count > 0 ? calloc(count, sizeof *tilt->shifts) : NULL;
    return tilt->shifts != NULL ? ICESTREAM_OK : ics_error_no_memory(reader->error, reader->name);
}

static void check_shift(ics_text_reader *reader, size_t line, size_t column, double shift)
{
    if (!(fabs(shift) <= 1000)) {
        ics_text_fault(reader, line, 0,
                       "column %zu: found a shift of %.10g m, expected -1000 .. 1000", column,
                       shift);
    }
}

/* Reads rows with a depth and a shift for each of `count` stations, or nodes that exist. `kind`
 * says in messages which they are. */
static int read_shifts(const ics_text *text, const char *columns, const char *kind, size_t count,
                       ice_tilt *tilt, icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ' ', error);
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(ics_text_table_read(text, 2, ICS_TEXT_FIELDS_MAX, DEPTHS_MAX, columns, &table, error));
    if (table.columns != count + 1) {
        return ics_text_fault(
            &reader, table.lines[0], 0,
            "found %zu columns, expected %zu: depth and a shift for each of the %zu %s",
            table.columns, count + 1, count, kind);
    }
    check_depths(&reader, &table);
    for (size_t i = 0; i < table.rows; ++i) {
        for (size_t k = 1; k <= count; ++k) {
            check_shift(&reader, table.lines[i], k + 1, ics_text_table_row(&table, i)[k]);
        }
    }
    ICS_TRY(ics_text_status(&reader));
    set_depths(tilt, &table);
    ICS_TRY(allocate_shifts(&reader, tilt));
    const size_t length = row_length(tilt), width = tilt->axes[0].count;
    for (size_t i = 0; i < table.rows; ++i) {
        const double *next = ics_text_table_row(&table, i) + 1;
        for (size_t k = 0; k < length; ++k) {
            if (tilt->kind == ICE_TILT_LINE || ice_tilt_has_node(tilt, k % width, k / width)) {
                tilt->shifts[i * length + k] = *next++;
            }
        }
    }
    return check_steps(&reader, &table, tilt);
}

/* ---- along a line ---------------------------------------------------------------------------- */

static void check_station(ics_text_reader *reader, size_t line, double position, bool ascends)
{
    if (!(fabs(position) <= 1e5)) {
        ics_text_fault(reader, line, 0, "position: found %.10g, expected -100000 .. 100000 m",
                       position);
    } else if (!ascends) {
        ics_text_fault(reader, line, 0, "position: found %.10g, expected ascending positions",
                       position);
    }
}

static int read_stations(const ics_text *text, ice_tilt *tilt, icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ' ', error);
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(ics_text_table_read(text, 2, 2, STATIONS_MAX,
                                "number of a string and its position in m", &table, error));
    tilt->stations = calloc(table.rows, sizeof *tilt->stations);
    if (tilt->stations == NULL) {
        return ics_error_no_memory(error, text->name);
    }
    for (size_t i = 0; i < table.rows; ++i) {
        tilt->stations[i] = ics_text_table_row(&table, i)[1];
        check_station(&reader, table.lines[i], tilt->stations[i],
                      i == 0 || tilt->stations[i] > tilt->stations[i - 1]);
    }
    if (table.rows < 2) {
        ics_text_fault(&reader, table.lines[0], 0, "found one station, expected 2 .. %d",
                       STATIONS_MAX);
    }
    tilt->station_count = table.rows;
    return ics_text_status(&reader);
}

int ics_ice_ppc_tilt_line_read(const ics_text *stations, const ics_text *shifts, ice_tilt *out,
                               icestream_error *error)
{
    *out = (ice_tilt){.kind = ICE_TILT_LINE, .azimuth = 225 * radians};
    int status = read_stations(stations, out, error);
    if (status == ICESTREAM_OK) {
        status = read_shifts(shifts, "depth and a shift for every station of tilt.par",
                             "stations of tilt.par", out->station_count, out, error);
    }
    if (status != ICESTREAM_OK) {
        ics_ice_tilt_free(out);
    }
    return status;
}

/* Returns how many rows have the first depth. */
static size_t count_positions(const ics_text_table *table)
{
    size_t count = 0;
    while (count < table->rows &&
           ics_text_table_row(table, count)[0] == ics_text_table_row(table, 0)[0]) {
        ++count;
    }
    return count;
}

/* Checks that every depth has the positions of the first depth. */
static int check_grid(ics_text_reader *reader, const ics_text_table *table, size_t stations)
{
    if (stations < 2 || stations > STATIONS_MAX) {
        return ics_text_fault(reader, table->lines[0], 0,
                              "found %zu positions at the first depth, expected 2 .. %d", stations,
                              STATIONS_MAX);
    }
    for (size_t i = 0; i < table->rows; ++i) {
        const double *row = ics_text_table_row(table, i);
        size_t line = table->lines[i];
        double depth = ics_text_table_row(table, i - i % stations)[0];
        double position = ics_text_table_row(table, i % stations)[1];
        if (row[0] != depth || row[1] != position) {
            return ics_text_fault(
                reader, line, 0,
                "found depth %.10g, position %.10g, expected depth %.10g, position %.10g: "
                "the %zu positions of the first depth at every depth",
                row[0], row[1], depth, position, stations);
        }
        check_station(reader, line, row[1],
                      i == 0 || i >= stations || row[1] > ics_text_table_row(table, i - 1)[1]);
        check_shift(reader, line, 3, row[2]);
    }
    if (table->rows % stations != 0) {
        ics_text_fault(reader, table->lines[table->rows - 1], 0,
                       "found the end, expected %zu positions at every depth", stations);
    }
    return ics_text_status(reader);
}

/* Makes the tilt of a table that has the same positions at every depth. */
static int make_tilt(const ics_text *text, const ics_text_table *table, ice_tilt *out,
                     icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ',', error);
    ICS_CLEANUP(ics_text_table_free) ics_text_table depths = {.columns = 1};
    const size_t stations = count_positions(table);
    ICS_TRY(check_grid(&reader, table, stations));
    for (size_t i = 0; i < table->rows; i += stations) {
        ICS_TRY(
            ics_text_table_add(&reader, &depths, ics_text_table_row(table, i), table->lines[i]));
    }
    check_depths(&reader, &depths);
    ICS_TRY(ics_text_status(&reader));
    set_depths(out, &depths);
    out->station_count = stations;
    out->stations = malloc(stations * sizeof *out->stations);
    if (out->stations == NULL) {
        return ics_error_no_memory(error, text->name);
    }
    ICS_TRY(allocate_shifts(&reader, out));
    for (size_t i = 0; i < table->rows; ++i) {
        out->stations[i % stations] = ics_text_table_row(table, i)[1];
        out->shifts[i] = ics_text_table_row(table, i)[2];
    }
    return check_steps(&reader, &depths, out);
}

int ics_ice_csv_tilt_read(const ics_text *text, double azimuth, ice_tilt *out,
                          icestream_error *error)
{
    static const ics_csv_column columns[] = {
        {.name = "depth_m", .index = 0, .required = true},
        {.name = "position_m", .index = 1, .required = true},
        {.name = "shift_m", .index = 2, .required = true},
    };
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    *out = (ice_tilt){0};
    ICS_TRY(ics_text_csv_read(text, columns, 3, (size_t)DEPTHS_MAX * STATIONS_MAX,
                              "depth_m,position_m,shift_m", &table, error));
    *out = (ice_tilt){.kind = ICE_TILT_LINE, .azimuth = azimuth};
    const int status = make_tilt(text, &table, out, error);
    if (status != ICESTREAM_OK) {
        ics_ice_tilt_free(out);
    }
    return status;
}

/* ---- a map ----------------------------------------------------------------------------------- */

static bool is_whole(double value, double low, double high)
{
    return value >= low && value <= high && value == floor(value);
}

static void read_axis(ics_text_reader *reader, size_t line, const double row[5],
                      ice_tilt_axis *axis)
{
    if (!(fabs(row[0]) <= 360)) {
        ics_text_fault(reader, line, 0, "azimuth: found %.10g, expected -360 .. 360 degrees",
                       row[0]);
    } else if (!(fabs(row[1]) <= 1e5)) {
        ics_text_fault(reader, line, 0, "first: found %.10g, expected -100000 .. 100000 m", row[1]);
    } else if (!(row[2] >= 0.1 && row[2] <= 1e5)) {
        ics_text_fault(reader, line, 0, "step: found %.10g, expected 0.1 .. 100000 m", row[2]);
    } else if (!is_whole(row[3], AXIS_NODES_MIN, AXIS_NODES_MAX)) {
        ics_text_fault(reader, line, 0,
                       "number of nodes: found %.10g, expected a whole number, %d .. %d", row[3],
                       AXIS_NODES_MIN, AXIS_NODES_MAX);
    } else if (!is_whole(row[4], 2, row[3] - 1)) {
        ics_text_fault(
            reader, line, 0,
            "cut: found %.10g, expected a whole number, 2 .. %g: the nodes are a hexagon", row[4],
            row[3] - 1);
    } else {
        *axis = (ice_tilt_axis){.azimuth = row[0] * radians,
                                .first = row[1],
                                .step = row[2],
                                .count = (size_t)row[3],
                                .cut = (size_t)row[4]};
    }
}

/* Checks the two axes together: they must span the plane, and every side of the hexagon must have a
 * length. */
static int check_axes(ics_text_reader *reader, const ice_tilt *tilt)
{
    const ice_tilt_axis *a = &tilt->axes[0], *b = &tilt->axes[1];
    if (fabs(sin(b->azimuth - a->azimuth)) < 0.05) {
        return ics_text_fault(reader, 0, 0,
                              "azimuths: found %.10g and %.10g, expected two directions",
                              a->azimuth / radians, b->azimuth / radians);
    }
    size_t beyond_a = a->count - a->cut, beyond_b = b->count - b->cut;
    if (beyond_a >= b->count - 1 || beyond_b >= a->count - 1) {
        return ics_text_fault(reader, 0, 0,
                              "nodes and cuts: found %zu, %zu and %zu, %zu, expected a hexagon of "
                              "nodes",
                              a->count, a->cut, b->count, b->cut);
    }
    if (ics_ice_tilt_node_count(tilt) >= ICS_TEXT_FIELDS_MAX) {
        return ics_text_fault(reader, 0, 0, "found %zu nodes, expected at most %d",
                              ics_ice_tilt_node_count(tilt), ICS_TEXT_FIELDS_MAX - 1);
    }
    return ICESTREAM_OK;
}

static int read_axes(const ics_text *text, ice_tilt *tilt, icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ' ', error);
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(ics_text_table_read(
        text, 5, 5, 2, "azimuth, first coordinate, step, number of nodes, cut", &table, error));
    if (table.rows != 2) {
        ics_text_fault(&reader, 0, 0, "found one row, expected two axes");
    }
    for (size_t i = 0; i < table.rows; ++i) {
        read_axis(&reader, table.lines[i], ics_text_table_row(&table, i), &tilt->axes[i]);
    }
    ICS_TRY(ics_text_status(&reader));
    return check_axes(&reader, tilt);
}

int ics_ice_ppc_tilt_map_read(const ics_text *axes, const ics_text *shifts, ice_tilt *out,
                              icestream_error *error)
{
    *out = (ice_tilt){.kind = ICE_TILT_MAP};
    int status = read_axes(axes, out, error);
    if (status == ICESTREAM_OK) {
        status = read_shifts(shifts, "depth and a shift for every node of tilt.set",
                             "nodes of tilt.set", ics_ice_tilt_node_count(out), out, error);
    }
    if (status != ICESTREAM_OK) {
        ics_ice_tilt_free(out);
    }
    return status;
}

int ics_ice_ppc_tilt_read(const char *nodes, const char *shifts, bool is_map, ice_tilt *out,
                          icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text first = {0};
    ICS_CLEANUP(ics_text_free) ics_text second = {0};
    const int status = ics_text_read(nodes, &first, error);
    ICS_TRY(ics_error_first(status, ics_text_read(shifts, &second, error)));
    return (is_map ? ics_ice_ppc_tilt_map_read : ics_ice_ppc_tilt_line_read)(&first, &second, out,
                                                                             error);
}
