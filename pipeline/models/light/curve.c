#include "pipeline/models/light/curve.h"

#include "base/error.h"
#include "physics/light/light_curve.h"
#include "physics/model.h"

#include <math.h>
#include <stdlib.h>

enum { POINTS_MAX = 100000 };

int ics_curve_add(ics_curve *curve, double x, double y)
{
    if (curve->count == curve->capacity) {
        size_t capacity = curve->capacity ? 2 * curve->capacity : 64;
        double *grown = realloc(curve->x, capacity * sizeof *grown);
        if (grown == NULL) {
            return ICESTREAM_E_MEMORY;
        }
        curve->x = grown;
        grown = realloc(curve->y, capacity * sizeof *grown);
        if (grown == NULL) {
            return ICESTREAM_E_MEMORY;
        }
        curve->y = grown;
        curve->capacity = capacity;
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

static int finish(const ics_text *text, int status, ics_text_table *table, ics_curve *curve,
                  icestream_error *error)
{
    ics_text_table_free(table);
    if (status == ICESTREAM_E_MEMORY) {
        ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: out of memory", text->name);
    }
    if (status != ICESTREAM_OK) {
        ics_curve_free(curve);
    }
    return status;
}

int ics_curve_read_density(const ics_text *text, ics_curve *out, icestream_error *error)
{
    ics_text_table table;
    *out = (ics_curve){0};
    int status = ics_text_table_read(text, 2, 2, POINTS_MAX, "2: wavelength (nm) and density",
                                     &table, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_text_reader reader = ics_text_open(text, ' ', error);
    const size_t rows = report_swapped(&reader, &table, 0, 1) ? 0 : table.rows;
    for (size_t i = 0; i < rows; ++i) {
        double density = ics_text_table_row(&table, i)[1];
        check_wavelength(&reader, &table, i, 0);
        if (!(density >= 0 && density <= 1e30)) {
            ics_text_fault(&reader, table.lines[i], 0, "density: found %.10g, expected 0 .. 1e30",
                           density);
        }
        if (reader.faults == 0 && status == ICESTREAM_OK) {
            status = ics_curve_add(out, ics_text_table_row(&table, i)[0], density);
        }
    }
    if (reader.faults == 0 && status == ICESTREAM_OK && table.rows < 2) {
        ics_text_fault(&reader, 0, 0, "found one point, expected at least two");
    }
    if (reader.faults == 0 && status == ICESTREAM_OK && !(ics_curve_integral(out) > 0)) {
        ics_text_fault(&reader, 0, 0, "density: found nothing but zeros, expected some light");
    }
    if (status == ICESTREAM_OK && reader.faults > 0) {
        status = ICESTREAM_E_CONFIG;
    }
    return finish(text, status, &table, out, error);
}

int ics_curve_read_ratio(const ics_text *text, ics_curve *out, icestream_error *error)
{
    ics_text_table table;
    *out = (ics_curve){0};
    int status =
        ics_text_table_read(text, 2, 2, POINTS_MAX, "2: wavelength (nm) and ratio", &table, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_text_reader reader = ics_text_open(text, ' ', error);
    const size_t rows = report_swapped(&reader, &table, 0, 1) ? 0 : table.rows;
    for (size_t i = 0; i < rows; ++i) {
        double ratio = ics_text_table_row(&table, i)[1];
        check_wavelength(&reader, &table, i, 0);
        if (!(ratio > 0 && ratio <= 100)) {
            ics_text_fault(&reader, table.lines[i], 0,
                           "ratio: found %.10g, expected more than 0, at most 100", ratio);
        }
        if (reader.faults == 0 && status == ICESTREAM_OK) {
            status = ics_curve_add(out, ics_text_table_row(&table, i)[0], ratio);
        }
    }
    if (status == ICESTREAM_OK && reader.faults > 0) {
        status = ICESTREAM_E_CONFIG;
    }
    return finish(text, status, &table, out, error);
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
    int status = ICESTREAM_OK;
    double centre = 0, width = 0;
    for (size_t i = first; i <= last && status == ICESTREAM_OK; ++i) {
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
            status = ics_curve_add(out, centre - width, 0);
        }
        if (status == ICESTREAM_OK) {
            status = ics_curve_add(out, centre, share / width);
        }
    }
    return status == ICESTREAM_OK ? ics_curve_add(out, centre + width, 0) : status;
}

int ics_curve_read_cumulative(const ics_text *text, ics_curve *out, icestream_error *error)
{
    ics_text_table table;
    *out = (ics_curve){0};
    int status = ics_text_table_read(text, 2, 2, POINTS_MAX,
                                     "2: cumulative share and wavelength (nm)", &table, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_text_reader reader = ics_text_open(text, ' ', error);
    check_cumulative(&reader, &table);
    status = reader.faults > 0 ? ICESTREAM_E_CONFIG : add_bins(&reader, &table, out);
    return finish(text, status, &table, out, error);
}
