#include "pipeline/photons/models/light/curve.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/memory.h"
#include "physics/light/light_curve.h"
#include "physics/model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { POINTS_MAX = 100000 };

int ics_curve_add(ics_curve *curve, double x, double y, icestream_error *error)
{
    size_t capacity = curve->capacity;
    void *grown_x = ics_memory_grow(curve->x, curve->count, &capacity, sizeof x);
    curve->x = grown_x != NULL ? grown_x : curve->x;
    void *grown_y = ics_memory_grow(curve->y, curve->count, &curve->capacity, sizeof y);
    curve->y = grown_y != NULL ? grown_y : curve->y;
    if (grown_x == NULL || grown_y == NULL) {
        return ics_error_no_memory(error, "light");
    }
    curve->x[curve->count] = x;
    curve->y[curve->count++] = y;
    return ICESTREAM_OK;
}

void ics_curve_free(ics_curve *curve)
{
    free(curve->x);
    free(curve->y);
    *curve = (ics_curve){0};
}

double ics_curve_at(const ics_curve *curve, double x)
{
    return ice_curve_at(curve->x, curve->y, curve->count, x);
}

double ics_curve_at_or_end(const ics_curve *curve, double x)
{
    return ice_curve_at_or_end(curve->x, curve->y, curve->count, x);
}

double ics_curve_integral(const ics_curve *curve)
{
    double sum = 0;
    for (size_t i = 1; i < curve->count; ++i) {
        sum += 0.5 * (curve->y[i] + curve->y[i - 1]) * (curve->x[i] - curve->x[i - 1]);
    }
    return sum;
}

void ics_curve_scale(ics_curve *curve, double factor)
{
    for (size_t i = 0; i < curve->count; ++i) {
        curve->y[i] *= factor;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static int check_wavelength(ics_text_reader *reader, const ics_text_table *table, size_t row,
                            size_t column)
{
    double value = ics_text_table_row(table, row)[column];
    if (!(value >= ICE_WAVELENGTH_MIN && value <= ICE_WAVELENGTH_MAX)) {
        return ics_text_fault(reader, table->lines[row], 0,
                              "wavelength: found %.10g, expected %g .. %g nm", value,
                              ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX);
    }
    if (row > 0 && !(value > ics_text_table_row(table, row - 1)[column])) {
        return ics_text_fault(reader, table->lines[row], 0,
                              "wavelength: found %.10g after %.10g, expected ascending wavelengths",
                              value, ics_text_table_row(table, row - 1)[column]);
    }
    return ICESTREAM_OK;
}

/* Reports two columns that are swapped: all of `other`, and none of `column`, may be wavelengths.
 * Returns whether it did. */
static bool report_swapped(ics_text_reader *reader, const ics_text_table *table, size_t column,
                           size_t other)
{
    for (size_t i = 0; i < table->rows; ++i) {
        const double *row = ics_text_table_row(table, i);
        if (row[column] >= ICE_WAVELENGTH_MIN ||
            !(row[other] >= ICE_WAVELENGTH_MIN && row[other] <= ICE_WAVELENGTH_MAX)) {
            return false;
        }
    }
    ics_text_fault(reader, table->lines[0], 0,
                   "found wavelengths in column %zu, expected them in column %zu: the columns are "
                   "swapped",
                   other + 1, column + 1);
    return true;
}

/* What the second column of a file has. */
typedef struct value_column {
    const char *columns; /* both, for messages */
    const char *name, *expected;
    double low, high;
} value_column;

/* Reads the points of a curve whose values are within the range of a column. */
static int read_points(const ics_text *text, const value_column *column, ics_text_reader *reader,
                       ics_curve *out)
{
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(ics_text_table_read(text, 2, 2, POINTS_MAX, column->columns, &table, reader->error));
    const size_t rows = report_swapped(reader, &table, 0, 1) ? 0 : table.rows;
    for (size_t i = 0; i < rows; ++i) {
        const double *row = ics_text_table_row(&table, i);
        check_wavelength(reader, &table, i, 0);
        if (!(row[1] >= column->low && row[1] <= column->high)) {
            ics_text_fault(reader, table.lines[i], 0, "%s: found %.10g, expected %s", column->name,
                           row[1], column->expected);
        }
        if (reader->faults == 0) {
            ICS_TRY(ics_curve_add(out, row[0], row[1], reader->error));
        }
    }
    return ics_text_status(reader);
}

int ics_curve_read_density(const ics_text *text, ics_curve *out, icestream_error *error)
{
    static const value_column column = {"2: wavelength (nm) and density", "density", "0 .. 1e30", 0,
                                        1e30};
    ics_text_reader reader = ics_text_open(text, ' ', error);
    *out = (ics_curve){0};
    int status = read_points(text, &column, &reader, out);
    if (status == ICESTREAM_OK && out->count < 2) {
        status = ics_text_fault(&reader, 0, 0, "found one point, expected at least two");
    } else if (status == ICESTREAM_OK && !(ics_curve_integral(out) > 0)) {
        status =
            ics_text_fault(&reader, 0, 0, "density: found nothing but zeros, expected some light");
    }
    if (status != ICESTREAM_OK) {
        ics_curve_free(out);
    }
    return status;
}

int ics_curve_read_ratio(const ics_text *text, ics_curve *out, icestream_error *error)
{
    static const value_column column = {"2: wavelength (nm) and ratio", "ratio",
                                        "more than 0, at most 100", DBL_TRUE_MIN, 100};
    ics_text_reader reader = ics_text_open(text, ' ', error);
    *out = (ics_curve){0};
    const int status = read_points(text, &column, &reader, out);
    if (status != ICESTREAM_OK) {
        ics_curve_free(out);
    }
    return status;
}

static void check_cumulative(ics_text_reader *reader, const ics_text_table *table)
{
    for (size_t i = 0; i < table->rows; ++i) {
        double share = ics_text_table_row(table, i)[0];
        check_wavelength(reader, table, i, 1);
        if (!(share >= 0 && share <= 1)) {
            ics_text_fault(reader, table->lines[i], 0, "share: found %.10g, expected 0 .. 1",
                           share);
        } else if (i > 0 && share < ics_text_table_row(table, i - 1)[0]) {
            ics_text_fault(reader, table->lines[i], 0,
                           "share: found %.10g after %.10g, expected a cumulative share that does "
                           "not fall",
                           share, ics_text_table_row(table, i - 1)[0]);
        }
    }
    if (reader->faults > 0) {
        return;
    }
    const double tolerance = 1e-6;
    double first = ics_text_table_row(table, 0)[0],
           last = ics_text_table_row(table, table->rows - 1)[0];
    if (table->rows < 2) {
        ics_text_fault(reader, 0, 0, "found one row, expected at least two");
    } else if (first > tolerance) {
        ics_text_fault(reader, table->lines[0], 0,
                       "share: found %.10g, expected 0 in the first row", first);
    } else if (last < 1 - tolerance) {
        ics_text_fault(reader, table->lines[table->rows - 1], 0,
                       "share: found %.10g, expected 1 in the last row", last);
    }
}

/* Row i is the upper edge of a bin, row i - 1 its lower edge. */
static int add_bins(ics_text_reader *reader, const ics_text_table *table, ics_curve *out)
{
    size_t first = 1, last = table->rows - 1;
    while (first < last &&
           ics_text_table_row(table, first)[0] == ics_text_table_row(table, first - 1)[0]) {
        ++first;
    }
    while (last > first &&
           ics_text_table_row(table, last)[0] == ics_text_table_row(table, last - 1)[0]) {
        --last;
    }
    double centre = 0, width = 0;
    for (size_t i = first; i <= last; ++i) {
        const double *upper = ics_text_table_row(table, i),
                     *lower = ics_text_table_row(table, i - 1);
        width = upper[1] - lower[1];
        centre = 0.5 * (upper[1] + lower[1]);
        double share = upper[0] - lower[0];
        if (!(share > 0)) {
            /* At a point with bias zero a photon would have an infinite weight. */
            return ics_text_fault(reader, table->lines[i], 0,
                                  "found no light between %.10g and %.10g nm, expected an increase "
                                  "in every bin",
                                  lower[1], upper[1]);
        }
        if (i == first) {
            ICS_TRY(ics_curve_add(out, centre - width, 0, reader->error));
        }
        ICS_TRY(ics_curve_add(out, centre, share / width, reader->error));
    }
    return ics_curve_add(out, centre + width, 0, reader->error);
}

int ics_curve_read_cumulative(const ics_text *text, ics_curve *out, icestream_error *error)
{
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ics_text_reader reader = ics_text_open(text, ' ', error);
    *out = (ics_curve){0};
    ICS_TRY(ics_text_table_read(text, 2, 2, POINTS_MAX, "2: cumulative share and wavelength (nm)",
                                &table, error));
    check_cumulative(&reader, &table);
    const int status = reader.faults > 0 ? ICESTREAM_E_CONFIG : add_bins(&reader, &table, out);
    if (status != ICESTREAM_OK) {
        ics_curve_free(out);
    }
    return status;
}
