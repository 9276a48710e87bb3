#include "pipeline/models/wavelength_table.h"

#include "pipeline/config/schema.h"
#include "pipeline/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const is_wavelength_column wavelengths = {"wavelength_nm", 100, 2000};
enum { ROWS_MAX = 10000, CELLS_MAX = IS_WAVELENGTH_COLUMNS_MAX + 1 };

/* Cell 0 of a row is the wavelength, NaN what the table does not have. */
static int add_row(is_wavelength_table *table, const double *cells, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (!isnan(cells[1 + i]) &&
            is_curve_add(&table->curves[i], cells[0], cells[1 + i]) != IS_OK)
            return IS_E_MEMORY;
    return IS_OK;
}

/* "wavelength_nm, phase_index, group_index". */
static const char *list_columns(const is_wavelength_column *columns, size_t count, char *buffer,
                                size_t size)
{
    size_t used = (size_t)snprintf(buffer, size, "%s", wavelengths.name);
    for (size_t i = 0; i < count && used < size; ++i)
        used += (size_t)snprintf(buffer + used, size - used, ", %s", columns[i].name);
    return buffer;
}

void is_wavelength_table_free(is_wavelength_table *table)
{
    for (size_t i = 0; i < IS_WAVELENGTH_COLUMNS_MAX; ++i)
        is_curve_free(&table->curves[i]);
}

double is_curve_slope(const is_curve *curve, size_t point)
{
    const size_t i = point == 0 ? 1 : point + 1 == curve->count ? point - 1 : point;
    const double *x = curve->x, *y = curve->y;
    const double left = (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
    const double right = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
    const double bend = (right - left) / (x[i + 1] - x[i - 1]);
    return left + bend * (2 * x[point] - x[i] - x[i - 1]);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void check_cell(is_text_reader *reader, size_t line, const is_wavelength_column *column,
                       double value)
{
    if (!isnan(value) && !(value >= column->low && value <= column->high))
        is_text_fault(reader, line, 0, "%s: found %.10g, expected %g .. %g", column->name, value,
                      column->low, column->high);
}

static void check_rows(is_text_reader *reader, const is_number_table *rows,
                       const is_wavelength_column *columns, size_t count)
{
    for (size_t i = 0; i < rows->rows; ++i) {
        const double *cells = is_number_row(rows, i);
        check_cell(reader, rows->lines[i], &wavelengths, cells[0]);
        if (i > 0 && !(cells[0] > is_number_row(rows, i - 1)[0]))
            is_text_fault(reader, rows->lines[i], 0,
                          "%s: found %.10g after %.10g, expected it to ascend", wavelengths.name,
                          cells[0], is_number_row(rows, i - 1)[0]);
        for (size_t k = 0; k < count; ++k)
            check_cell(reader, rows->lines[i], &columns[k], cells[1 + k]);
    }
}

int is_wavelength_table_read_text(const is_text *text, const is_wavelength_column *columns,
                                  size_t count, is_wavelength_table *out, is_error *error)
{
    char expected[256];
    is_csv_column header[CELLS_MAX] = {{.name = wavelengths.name, .required = true}};
    is_number_table rows;
    *out = (is_wavelength_table){0};
    for (size_t i = 0; i < count; ++i)
        header[1 + i] = (is_csv_column){.name = columns[i].name, .index = 1 + i, .missing = NAN};
    int status = is_csv_read(text, header, 1 + count, 1 + count, ROWS_MAX,
                             list_columns(columns, count, expected, sizeof expected), &rows, error);
    if (status != IS_OK)
        return status;
    is_text_reader reader = is_text_open(text, ',', error);
    check_rows(&reader, &rows, columns, count);
    if (reader.faults > 0)
        status = IS_E_CONFIG;
    for (size_t i = 0; i < rows.rows && status == IS_OK; ++i)
        status = add_row(out, is_number_row(&rows, i), count);
    if (status == IS_E_MEMORY)
        is_error_add(error, IS_E_MEMORY, "%s: error: out of memory", text->name);
    is_number_table_free(&rows);
    if (status != IS_OK)
        is_wavelength_table_free(out);
    return status;
}

/* ---- YAML ------------------------------------------------------------------------------------ */

typedef struct yaml_table {
    const is_wavelength_column *columns;
    size_t count;
    size_t meaning[CELLS_MAX]; /* of every column of the list: which cell */
    size_t width;
    is_error *error;
} yaml_table;

static const is_wavelength_column *column_of_cell(const yaml_table *table, size_t cell)
{
    return cell == 0 ? &wavelengths : &table->columns[cell - 1];
}

/* Which cell the name means; one past the last: none. */
static size_t find_cell(const yaml_table *table, const is_yaml_node *name)
{
    size_t cell = 0;
    while (cell <= table->count && !(name->kind == IS_YAML_SCALAR &&
                                     strcmp(name->text, column_of_cell(table, cell)->name) == 0))
        ++cell;
    return cell;
}

static int read_names(yaml_table *table, const is_yaml_node *names)
{
    char found[128], expected[256];
    bool seen[CELLS_MAX] = {false};
    int status = IS_OK;
    list_columns(table->columns, table->count, expected, sizeof expected);
    if (names->kind != IS_YAML_LIST || names->count > 1 + table->count)
        return is_yaml_error(table->error, names, "table: found %s, expected a list of some of %s",
                             is_yaml_describe(names, found, sizeof found), expected);
    for (size_t i = 0; i < names->count; ++i) {
        const is_yaml_node *name = names->items[i];
        size_t cell = find_cell(table, name);
        if (cell > table->count)
            status = is_yaml_error(table->error, name, "table: found column %s, expected one of %s",
                                   is_yaml_describe(name, found, sizeof found), expected);
        else if (seen[cell])
            status = is_yaml_error(table->error, name,
                                   "table: found column %s twice, expected it once", name->text);
        else
            seen[cell] = true;
        table->meaning[i] = cell;
    }
    table->width = names->count;
    if (status == IS_OK && !seen[0])
        status =
            is_yaml_error(table->error, names, "table: found no column '%s'", wavelengths.name);
    return status;
}

static int read_row(const yaml_table *table, const is_yaml_node *row, double *cells)
{
    char found[128];
    int status = IS_OK;
    if (row->kind != IS_YAML_LIST || row->count != table->width)
        return is_yaml_error(table->error, row,
                             "table: found %s, expected a list of %zu numbers as in the first row",
                             is_yaml_describe(row, found, sizeof found), table->width);
    for (size_t i = 0; i < table->width; ++i) {
        size_t cell = table->meaning[i];
        const is_wavelength_column *column = column_of_cell(table, cell);
        int result = is_schema_number(row->items[i], column->name, column->low, column->high,
                                      &cells[cell], table->error);
        status = status ? status : result;
    }
    return status;
}

int is_wavelength_table_read_yaml(const is_yaml_node *node, const is_wavelength_column *columns,
                                  size_t count, is_wavelength_table *out, is_error *error)
{
    yaml_table table = {.columns = columns, .count = count, .error = error};
    char found[128];
    double last = 0;
    *out = (is_wavelength_table){0};
    if (node->kind != IS_YAML_LIST || node->count < 2 || node->count > ROWS_MAX)
        return is_yaml_error(error, node,
                             "table: found %s, expected a list of the columns' names and 1 .. %d "
                             "lists of numbers",
                             is_yaml_describe(node, found, sizeof found), ROWS_MAX - 1);
    int status = read_names(&table, node->items[0]);
    if (status != IS_OK)
        return status;
    for (size_t i = 1; i < node->count && status != IS_E_MEMORY; ++i) {
        double cells[CELLS_MAX];
        for (size_t k = 0; k < CELLS_MAX; ++k)
            cells[k] = NAN;
        int result = read_row(&table, node->items[i], cells);
        if (result == IS_OK && !(cells[0] > last))
            result = is_yaml_error(error, node->items[i],
                                   "table: %s: found %.10g after %.10g, expected it to ascend",
                                   wavelengths.name, cells[0], last);
        if (result == IS_OK && status == IS_OK && add_row(out, cells, count) != IS_OK)
            result = is_yaml_no_memory(error, node);
        if (result == IS_OK)
            last = cells[0];
        else
            status = result;
    }
    if (status != IS_OK)
        is_wavelength_table_free(out);
    return status;
}
