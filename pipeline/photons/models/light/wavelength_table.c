#include "pipeline/photons/models/light/wavelength_table.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/config/schema/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const ics_wavelength_column wavelengths = {"wavelength_nm", 100, 2000};
enum { ROWS_MAX = 10000, CELLS_MAX = ICS_WAVELENGTH_COLUMNS_MAX + 1 };

/* Cell 0 of a row is the wavelength. Cells that the table does not have are NaN. */
static int add_row(ics_wavelength_table *table, const double *cells, size_t count,
                   icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        if (!isnan(cells[1 + i])) {
            ICS_TRY(ics_curve_add(&table->curves[i], cells[0], cells[1 + i], error));
        }
    }
    return ICESTREAM_OK;
}

/* "wavelength_nm, phase_index, group_index". */
static const char *list_columns(const ics_wavelength_column *columns, size_t count, char *buffer,
                                size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "%s", wavelengths.name);
    for (size_t i = 0; i < count && used < size; ++i) {
        used += (size_t)snprintf(buffer + used, size - used, ", %s", columns[i].name);
    }
    return buffer;
}

void ics_wavelength_table_free(ics_wavelength_table *table)
{
    for (size_t i = 0; i < ICS_WAVELENGTH_COLUMNS_MAX; ++i) {
        ics_curve_free(&table->curves[i]);
    }
}

double ics_wavelength_table_slope(const ics_curve *curve, size_t point)
{
    const size_t i = point == 0 ? 1 : point + 1 == curve->count ? point - 1 : point;
    const double *x = curve->x, *y = curve->y;
    const double left = (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
    const double right = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
    const double bend = (right - left) / (x[i + 1] - x[i - 1]);
    return left + bend * (2 * x[point] - x[i] - x[i - 1]);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void check_cell(ics_text_reader *reader, size_t line, const ics_wavelength_column *column,
                       double value)
{
    if (!isnan(value) && !(value >= column->low && value <= column->high)) {
        ics_text_fault(reader, line, 0, "%s: found %.10g, expected %g .. %g", column->name, value,
                       column->low, column->high);
    }
}

static void check_rows(ics_text_reader *reader, const ics_text_table *rows,
                       const ics_wavelength_column *columns, size_t count)
{
    for (size_t i = 0; i < rows->rows; ++i) {
        const double *cells = ics_text_table_row(rows, i);
        check_cell(reader, rows->lines[i], &wavelengths, cells[0]);
        if (i > 0 && !(cells[0] > ics_text_table_row(rows, i - 1)[0])) {
            ics_text_fault(reader, rows->lines[i], 0,
                           "%s: found %.10g after %.10g, expected it to ascend", wavelengths.name,
                           cells[0], ics_text_table_row(rows, i - 1)[0]);
        }
        for (size_t k = 0; k < count; ++k) {
            check_cell(reader, rows->lines[i], &columns[k], cells[1 + k]);
        }
    }
}

int ics_wavelength_table_read_text(const ics_text *text, const ics_wavelength_column *columns,
                                   size_t count, ics_wavelength_table *out, icestream_error *error)
{
    char expected[256];
    ics_csv_column header[CELLS_MAX] = {{.name = wavelengths.name, .required = true}};
    ICS_CLEANUP(ics_text_table_free) ics_text_table rows = {0};
    *out = (ics_wavelength_table){0};
    for (size_t i = 0; i < count; ++i) {
        header[1 + i] = (ics_csv_column){.name = columns[i].name, .index = 1 + i, .missing = NAN};
    }
    ICS_TRY(ics_text_csv_read(text, header, 1 + count, ROWS_MAX,
                              list_columns(columns, count, expected, sizeof expected), &rows,
                              error));
    ics_text_reader reader = ics_text_open(text, ',', error);
    check_rows(&reader, &rows, columns, count);
    int status = ics_text_status(&reader);
    for (size_t i = 0; i < rows.rows && status == ICESTREAM_OK; ++i) {
        status = add_row(out, ics_text_table_row(&rows, i), count, error);
    }
    if (status != ICESTREAM_OK) {
        ics_wavelength_table_free(out);
    }
    return status;
}

/* ---- YAML ------------------------------------------------------------------------------------ */

typedef struct yaml_table {
    const ics_wavelength_column *columns;
    size_t count;
    size_t meaning[CELLS_MAX]; /* the cell of every column of the list */
    size_t width;
    icestream_error *error;
} yaml_table;

static const ics_wavelength_column *column_of_cell(const yaml_table *table, size_t cell)
{
    return cell == 0 ? &wavelengths : &table->columns[cell - 1];
}

/* Returns the cell that a name means, or one past the last cell if there is none. */
static size_t find_cell(const yaml_table *table, const ics_yaml_node *name)
{
    size_t cell = 0;
    while (cell <= table->count && !(name->kind == ICS_YAML_SCALAR &&
                                     strcmp(name->text, column_of_cell(table, cell)->name) == 0)) {
        ++cell;
    }
    return cell;
}

static int read_names(yaml_table *table, const ics_yaml_node *names)
{
    char found[128], expected[256];
    bool seen[CELLS_MAX] = {false};
    int status = ICESTREAM_OK;
    list_columns(table->columns, table->count, expected, sizeof expected);
    if (names->kind != ICS_YAML_LIST || names->count > 1 + table->count) {
        return ics_yaml_unexpected(table->error, names, "table", "a list of some of %s", expected);
    }
    for (size_t i = 0; i < names->count; ++i) {
        const ics_yaml_node *name = names->items[i];
        size_t cell = find_cell(table, name);
        if (cell > table->count) {
            status =
                ics_yaml_error(table->error, name, "table: found column %s, expected one of %s",
                               ics_yaml_describe(name, found, sizeof found), expected);
        } else if (seen[cell]) {
            status = ics_yaml_error(table->error, name,
                                    "table: found column %s twice, expected it once", name->text);
        } else {
            seen[cell] = true;
        }
        table->meaning[i] = cell;
    }
    table->width = names->count;
    if (status == ICESTREAM_OK && !seen[0]) {
        status =
            ics_yaml_error(table->error, names, "table: found no column '%s'", wavelengths.name);
    }
    return status;
}

static int read_row(const yaml_table *table, const ics_yaml_node *row, double *cells)
{
    int status = ICESTREAM_OK;
    if (row->kind != ICS_YAML_LIST || row->count != table->width) {
        return ics_yaml_unexpected(table->error, row, "table",
                                   "a list of %zu numbers as in the first row", table->width);
    }
    for (size_t i = 0; i < table->width; ++i) {
        size_t cell = table->meaning[i];
        const ics_wavelength_column *column = column_of_cell(table, cell);
        status =
            ics_error_first(status, ics_schema_number(row->items[i], column->name, column->low,
                                                      column->high, &cells[cell], table->error));
    }
    return status;
}

int ics_wavelength_table_read_yaml(const ics_yaml_node *node, const ics_wavelength_column *columns,
                                   size_t count, ics_wavelength_table *out, icestream_error *error)
{
    yaml_table table = {.columns = columns, .count = count, .error = error};
    double last = 0;
    *out = (ics_wavelength_table){0};
    if (node->kind != ICS_YAML_LIST || node->count < 2 || node->count > ROWS_MAX) {
        return ics_yaml_unexpected(error, node, "table",
                                   "a list of the columns' names and 1 .. %d lists of numbers",
                                   ROWS_MAX - 1);
    }
    ICS_TRY(read_names(&table, node->items[0]));
    int status = ICESTREAM_OK;
    for (size_t i = 1; i < node->count && status != ICESTREAM_E_MEMORY; ++i) {
        double cells[CELLS_MAX];
        for (size_t k = 0; k < CELLS_MAX; ++k) {
            cells[k] = NAN;
        }
        int result = read_row(&table, node->items[i], cells);
        if (result == ICESTREAM_OK && !(cells[0] > last)) {
            result = ics_yaml_error(error, node->items[i],
                                    "table: %s: found %.10g after %.10g, expected it to ascend",
                                    wavelengths.name, cells[0], last);
        }
        if (result == ICESTREAM_OK && status == ICESTREAM_OK) {
            result = add_row(out, cells, count, error);
        }
        if (result == ICESTREAM_OK) {
            last = cells[0];
        } else {
            status = result;
        }
    }
    if (status != ICESTREAM_OK) {
        ics_wavelength_table_free(out);
    }
    return status;
}
