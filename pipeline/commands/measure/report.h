/* A table for people, as text with aligned columns or as Markdown. */
#ifndef ICS_COMMANDS_MEASURE_REPORT_H
#define ICS_COMMANDS_MEASURE_REPORT_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"

typedef struct ics_report ics_report;

/* Creates a table without rows. It has column_count headings, at most ICS_REPORT_COLUMNS. The first
 * column is aligned to the left, the others to the right. Texts are copied. Returns NULL if there
 * is no memory: the functions below accept NULL, and ics_report_print returns the error. */
enum { ICS_REPORT_COLUMNS = 24 };
ics_report *ics_report_create(const char *const *headings, size_t column_count);
/* Accepts NULL. */
void ics_report_destroy(ics_report *report);
ICS_CAN_DESTROY(ics_report, ics_report_destroy)

/* Fills the next cell, row after row. */
void ics_report_cell(ics_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Fills the next cell with a number that only some rows have: a dash if it is not above 0.
 * `decimals`: digits after the point. */
void ics_report_number(ics_report *report, double value, int decimals);

/* Writes headings and rows, with `indent` blanks before each line (not in Markdown). Columns that
 * have only dashes and empty texts are left out. ICESTREAM_E_MEMORY: a cell could not be stored.
 * Write errors are not reported here; ics_report_end finds them. */
int ics_report_print(const ics_report *report, bool markdown, int indent, FILE *out,
                     icestream_error *error);

/* Writes JSON and releases it. `value` is NULL if the caller had no memory for it. Errors name
 * `command`. ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
struct json_t;
int ics_report_json(const char *command, struct json_t *value, FILE *out, icestream_error *error);
/* Returns a number as JSON, or null if it is not above 0. */
struct json_t *ics_report_json_number(double value);
/* Checks after the last text that all of it was written. ICESTREAM_E_OUTPUT. */
int ics_report_end(const char *command, FILE *out, icestream_error *error);

#endif
