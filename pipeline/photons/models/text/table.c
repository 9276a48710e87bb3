/* Tables of numbers, with or without a line of column names. */
#include "base/error.h"
#include "base/memory.h"
#include "pipeline/photons/models/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int ics_text_table_add(const ics_text_reader *reader, ics_text_table *table, const double *values,
                       size_t line)
{
    const size_t row_size = table->columns * sizeof *values;
    size_t capacity = table->capacity;
    void *rows = ics_memory_grow(table->values, table->rows, &capacity, row_size);
    table->values = rows != NULL ? rows : table->values;
    void *lines = ics_memory_grow(table->lines, table->rows, &table->capacity, sizeof line);
    table->lines = lines != NULL ? lines : table->lines;
    if (rows == NULL || lines == NULL) {
        return ics_error_no_memory(reader->error, reader->name);
    }
    memcpy(table->values + table->rows * table->columns, values, table->columns * sizeof *values);
    table->lines[table->rows++] = line;
    return ICESTREAM_OK;
}

void ics_text_table_free(ics_text_table *table)
{
    if (table == NULL) {
        return;
    }
    free(table->values);
    free(table->lines);
    *table = (ics_text_table){0};
}

/* ---- other separators ------------------------------------------------------------------------ */

/* Names what separates the columns of a line that has one field between the expected separators.
 * NULL: nothing that is known. */
static const char *other_separator(const ics_text_line *line, char expected)
{
    static const struct {
        char character;
        const char *name;
    } separators[] = {{';', "semicolons"}, {'\t', "tabs"}, {',', "commas"}, {' ', "blanks"}};
    for (size_t i = 0; line->count == 1 && i < sizeof separators / sizeof *separators; ++i) {
        if (separators[i].character != expected &&
            memchr(line->fields[0].start, separators[i].character, line->fields[0].length) !=
                NULL) {
            return separators[i].name;
        }
    }
    return NULL;
}

bool ics_text_wrong_separator(ics_text_reader *reader, const ics_text_line *line,
                              const char *expected)
{
    const char *found = other_separator(line, reader->separator);
    if (found == NULL) {
        return false;
    }
    ics_text_fault(reader, line->number, 0,
                   "found %s between the columns, expected %s between them: %s", found,
                   reader->separator == ',' ? "commas" : "blanks", expected);
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Ends both readers: a table with faults becomes empty. */
static int finish(ics_text_reader *reader, ics_text_table *table, int status, const char *expected)
{
    if (status == ICESTREAM_OK && reader->faults == 0 && table->rows == 0) {
        ics_text_fault(reader, 0, 0, "found no rows of numbers, expected columns %s", expected);
    }
    status = status ? status : ics_text_status(reader);
    if (status != ICESTREAM_OK) {
        ics_text_table_free(table);
    }
    return status;
}

static bool too_many_rows(ics_text_reader *reader, const ics_text_table *table,
                          const ics_text_line *line, size_t most_rows)
{
    if (table->rows < most_rows) {
        return false;
    }
    ics_text_fault(reader, line->number, 0, "found more than %zu rows, expected at most %zu",
                   most_rows, most_rows);
    return true;
}

/* What ics_text_table_read() expects of a text. */
typedef struct expected_table {
    size_t least_columns, most_columns, most_rows;
    const char *columns;
    bool is_ragged; /* rows need not have as many columns as the first row */
} expected_table;

static bool is_wrong_count(ics_text_reader *reader, const ics_text_line *line,
                           const expected_table *expected, const ics_text_table *table)
{
    if (line->count < expected->least_columns || line->count > expected->most_columns) {
        ics_text_fault(reader, line->number, 0, "found %zu columns, expected %s", line->count,
                       expected->columns);
        return true;
    }
    if (!expected->is_ragged && table->columns > 0 && line->count != table->columns) {
        ics_text_fault(reader, line->number, 0,
                       "found %zu columns, expected %zu as in the first row", line->count,
                       table->columns);
        return true;
    }
    return false;
}

static int read_table(const ics_text *text, const expected_table *expected, ics_text_table *out,
                      icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ' ', error);
    ics_text_line line;
    int status = ICESTREAM_OK;
    *out = (ics_text_table){0};
    while (status == ICESTREAM_OK && ics_text_next(&reader, &line)) {
        double values[ICS_TEXT_FIELDS_MAX];
        bool good = true;
        if (too_many_rows(&reader, out, &line, expected->most_rows) ||
            (line.count < expected->least_columns &&
             ics_text_wrong_separator(&reader, &line, expected->columns))) {
            break;
        }
        if (is_wrong_count(&reader, &line, expected, out)) {
            continue;
        }
        out->columns = expected->is_ragged ? expected->most_columns : line.count;
        for (size_t i = 0; i < out->columns; ++i) {
            char what[32];
            snprintf(what, sizeof what, "column %zu", i + 1);
            values[i] = NAN;
            good &= i >= line.count || ics_text_number(&reader, &line, i, what, &values[i]);
        }
        if (good) {
            status = ics_text_table_add(&reader, out, values, line.number);
        }
    }
    return finish(&reader, out, status, expected->columns);
}

int ics_text_table_read(const ics_text *text, size_t least_columns, size_t most_columns,
                        size_t most_rows, const char *columns, ics_text_table *out,
                        icestream_error *error)
{
    const expected_table expected = {least_columns, most_columns, most_rows, columns, false};
    return read_table(text, &expected, out, error);
}

int ics_text_table_read_ragged(const ics_text *text, size_t least_columns, size_t most_columns,
                               size_t most_rows, const char *columns, ics_text_table *out,
                               icestream_error *error)
{
    const expected_table expected = {least_columns, most_columns, most_rows, columns, true};
    return read_table(text, &expected, out, error);
}

/* Reports a first line that cannot be one of names. Returns whether it did. */
static bool is_no_header(ics_text_reader *reader, const ics_text_line *line, const char *expected)
{
    const ics_text_field *first = &line->fields[0];
    double number;
    char shown[48];
    const size_t rest = (size_t)(reader->end - first->start);
    if (memchr(first->start, '\n', rest) == NULL && memchr(first->start, '\r', rest) != NULL) {
        ics_text_fault(reader, line->number, 0,
                       "found lines that end with CR alone, expected LF or CR LF");
    } else if (ics_text_field_number(first, &number)) {
        ics_text_fault(reader, line->number, first->column,
                       "found column %s, expected columns %s: their names in the first line",
                       ics_text_field_show(first, shown), expected);
    } else {
        return ics_text_wrong_separator(reader, line, expected);
    }
    return true;
}

/* The column with this name in other letters, as "String" for "string"; NULL: none. */
static const ics_csv_column *find_in_any_case(const ics_text_field *field,
                                              const ics_csv_column *columns, size_t column_count)
{
    for (size_t k = 0; k < column_count; ++k) {
        if (strlen(columns[k].name) == field->length &&
            strncasecmp(columns[k].name, field->start, field->length) == 0) {
            return &columns[k];
        }
    }
    return NULL;
}

static void report_unknown_column(ics_text_reader *reader, size_t line, const ics_text_field *field,
                                  const ics_csv_column *meant, const char *expected)
{
    char shown[48];
    ics_text_fault(reader, line, field->column, "found column %s, expected columns %s%s%s%s",
                   ics_text_field_show(field, shown), expected,
                   meant != NULL ? "; did you mean '" : "", meant != NULL ? meant->name : "",
                   meant != NULL ? "'?" : "");
}

/* Finds the meaning of every column of the file. Returns false after a fault. */
static bool read_header(ics_text_reader *reader, const ics_text_line *line,
                        const ics_csv_column *columns, size_t column_count, const char *expected,
                        const ics_csv_column **meaning)
{
    bool known = true;
    if (line->count > ICS_TEXT_FIELDS_MAX) {
        ics_text_fault(reader, line->number, 0, "found %zu columns, expected %s", line->count,
                       expected);
        return false;
    }
    if (is_no_header(reader, line, expected)) {
        return false;
    }
    for (size_t i = 0; i < line->count; ++i) {
        meaning[i] = NULL;
        for (size_t k = 0; k < column_count; ++k) {
            if (ics_text_field_equals(&line->fields[i], columns[k].name)) {
                meaning[i] = &columns[k];
            }
        }
        if (meaning[i] == NULL && !ics_text_is_unnamed(&line->fields[i])) {
            known = false;
            meaning[i] = find_in_any_case(&line->fields[i], columns, column_count);
            report_unknown_column(reader, line->number, &line->fields[i], meaning[i], expected);
        }
        for (size_t k = 0; k < i && meaning[i] != NULL; ++k) {
            if (meaning[k] != NULL && meaning[k]->index == meaning[i]->index) {
                ics_text_fault(reader, line->number, line->fields[i].column,
                               "found column %s twice, expected it once", meaning[i]->name);
                break;
            }
        }
    }
    for (size_t k = 0; k < column_count; ++k) {
        bool there = !columns[k].required;
        for (size_t i = 0; i < line->count; ++i) {
            there |= meaning[i] != NULL && meaning[i]->index == columns[k].index;
        }
        /* If several names mean one column, the message asks only for the first. */
        for (size_t j = 0; j < k; ++j) {
            there |= columns[j].index == columns[k].index;
        }
        if (!there) {
            ics_text_fault(reader, line->number, 0, "found no column '%s', expected columns %s",
                           columns[k].name, expected);
        }
    }
    return known && reader->faults == 0;
}

/* Reads the number of a cell, or the number that its word stands for. */
static bool read_cell(ics_text_reader *reader, const ics_text_line *line, size_t i,
                      const ics_csv_column *column, double *out)
{
    const ics_text_field *field = &line->fields[i];
    char shown[48];
    if (column->number_of == NULL) {
        return ics_text_number(reader, line, i, column->name, out);
    }
    *out = column->number_of(column->user, field->start, field->length);
    if (*out < 0) {
        ics_text_fault(reader, line->number, field->column, "%s: found %s, expected %s",
                       column->name, ics_text_field_show(field, shown), column->expected);
    }
    return *out >= 0;
}

bool ics_text_csv_begin(ics_text_reader *reader, const ics_csv_column *columns, size_t column_count,
                        const char *expected, ics_csv_plan *plan)
{
    ics_text_line line;
    *plan = (ics_csv_plan){.columns = columns, .column_count = column_count, .row_length = 1};
    for (size_t k = 0; k < column_count; ++k) {
        if (columns[k].index >= plan->row_length) {
            plan->row_length = columns[k].index + 1;
        }
    }
    if (!ics_text_next(reader, &line) ||
        !read_header(reader, &line, columns, column_count, expected, plan->meaning)) {
        return false;
    }
    plan->width = line.count;
    plan->separator = line.separator;
    return true;
}

bool ics_text_csv_row(ics_text_reader *reader, const ics_text_line *line, const ics_csv_plan *plan,
                      double *values)
{
    if (line->count != plan->width) {
        ics_text_fault(reader, line->number, 0,
                       "found %zu columns, expected %zu as in the first line%s", line->count,
                       plan->width, ics_text_count_hint(line, plan->width));
        return false;
    }
    for (size_t k = 0; k < plan->column_count; ++k) {
        values[plan->columns[k].index] = plan->columns[k].missing;
    }
    bool good = true;
    for (size_t i = 0; i < plan->width; ++i) {
        const ics_csv_column *column = plan->meaning[i];
        double number = 0;
        if (column != NULL && column->may_be_empty && line->fields[i].length == 0) {
            continue;
        }
        if (column != NULL) {
            good &= read_cell(reader, line, i, column, &number);
            values[column->index] = number + column->offset;
        }
    }
    return good;
}

int ics_text_csv_read(const ics_text *text, const ics_csv_column *columns, size_t column_count,
                      size_t most_rows, const char *expected, ics_text_table *out,
                      icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ICS_TEXT_CSV, error);
    ics_csv_plan plan;
    ics_text_line line;
    int status = ICESTREAM_OK;
    *out = (ics_text_table){0};
    if (!ics_text_csv_begin(&reader, columns, column_count, expected, &plan)) {
        return finish(&reader, out, ICESTREAM_OK, expected);
    }
    out->columns = plan.row_length;
    while (status == ICESTREAM_OK && ics_text_next(&reader, &line)) {
        if (too_many_rows(&reader, out, &line, most_rows)) {
            break;
        }
        double values[ICS_TEXT_FIELDS_MAX];
        if (ics_text_csv_row(&reader, &line, &plan, values)) {
            status = ics_text_table_add(&reader, out, values, line.number);
        }
    }
    return finish(&reader, out, status, expected);
}
