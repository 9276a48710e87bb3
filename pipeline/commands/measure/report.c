#include "pipeline/commands/measure/report.h"

#include "base/error.h"
#include "base/json_dump.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct ics_report {
    char **cells; /* [count], headings first */
    size_t columns, count, capacity;
    bool lost; /* a cell could not be stored: out of memory */
};

static void add_cell(ics_report *report, char *text)
{
    if (report->count == report->capacity) {
        size_t capacity = report->capacity * 2 + 4 * report->columns;
        char **cells = reallocarray(report->cells, capacity, sizeof *cells);
        if (cells != NULL) {
            report->cells = cells;
            report->capacity = capacity;
        }
    }
    if (text == NULL || report->count == report->capacity) {
        free(text);
        report->lost = true;
        return;
    }
    report->cells[report->count++] = text;
}

ics_report *ics_report_create(const char *const *headings, size_t column_count)
{
    ics_report *report = calloc(1, sizeof *report);
    if (report == NULL) {
        return NULL;
    }
    report->columns = column_count;
    for (size_t i = 0; i < column_count; ++i) {
        add_cell(report, strdup(headings[i]));
    }
    return report;
}

void ics_report_destroy(ics_report *report)
{
    if (report == NULL) {
        return;
    }
    for (size_t i = 0; i < report->count; ++i) {
        free(report->cells[i]);
    }
    free(report->cells);
    free(report);
}

void ics_report_cell(ics_report *report, const char *format, ...)
{
    if (report == NULL) {
        return;
    }
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL;
    }
    va_end(arguments);
    add_cell(report, text);
}

void ics_report_number(ics_report *report, double value, int decimals)
{
    if (value > 0) {
        ics_report_cell(report, "%.*f", decimals, value);
    } else {
        ics_report_cell(report, "-");
    }
}

json_t *ics_report_json_number(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

/* Returns whether a column has an entry below its heading. In a table without rows all do. */
static bool is_used(const ics_report *report, size_t column)
{
    bool used = report->count <= report->columns;
    for (size_t i = report->columns + column; i < report->count; i += report->columns) {
        used |= report->cells[i][0] != '\0' && strcmp(report->cells[i], "-") != 0;
    }
    return used;
}

static size_t width_of(const ics_report *report, size_t column)
{
    size_t width = 0;
    for (size_t i = column; i < report->count; i += report->columns) {
        size_t length = strlen(report->cells[i]);
        width = length > width ? length : width;
    }
    return width;
}

static void print_rule(const ics_report *report, const bool *used, FILE *out)
{
    for (size_t i = 0; i < report->columns; ++i) {
        if (used[i]) {
            fputs(i == 0 ? "|---" : "|---:", out);
        }
    }
    fputs("|\n", out);
}

int ics_report_print(const ics_report *report, bool markdown, int indent, FILE *out,
                     icestream_error *error)
{
    if (report == NULL || report->lost) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a table");
    }
    bool used[ICS_REPORT_COLUMNS];
    int width[ICS_REPORT_COLUMNS];
    for (size_t i = 0; i < report->columns; ++i) {
        used[i] = is_used(report, i);
        width[i] = (int)width_of(report, i);
    }
    for (size_t first = 0; first < report->count; first += report->columns) {
        fprintf(out, "%*s", markdown ? 0 : indent, "");
        for (size_t i = 0; i < report->columns && first + i < report->count; ++i) {
            const char *text = report->cells[first + i];
            if (!used[i]) {
                continue;
            }
            if (markdown) {
                fprintf(out, "| %s ", text);
            } else {
                fprintf(out, "%s%*s", i > 0 ? "  " : "", i > 0 ? width[i] : -width[i], text);
            }
        }
        fputs(markdown ? "|\n" : "\n", out);
        if (markdown && first == 0) {
            print_rule(report, used, out);
        }
    }
    return ICESTREAM_OK;
}

int ics_report_json(const char *command, json_t *value, FILE *out, icestream_error *error)
{
    int status = ICESTREAM_OK;
    char *text = ics_json_dump(value, JSON_INDENT(2));
    if (text == NULL) {
        status =
            ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for the report", command);
    } else if (fprintf(out, "%s\n", text) < 0) {
        status = ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: cannot write the report", command);
    }
    free(text);
    json_decref(value);
    return status;
}

int ics_report_end(const char *command, FILE *out, icestream_error *error)
{
    return fflush(out) == 0 && !ferror(out)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: cannot write the report", command);
}
