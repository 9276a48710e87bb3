/* A table for people: columns as wide as what is in them, or Markdown. */
#ifndef IS_REPORT_H
#define IS_REPORT_H

#include "pipeline/icestream.h"

typedef struct is_report is_report;

/* A table with these headings (column_count of them, up to IS_REPORT_COLUMNS), without rows. The
 * first column is aligned to the left, the others to the right. Texts are copied. NULL: out of
 * memory; the functions below accept that and is_report_print tells of it. */
enum { IS_REPORT_COLUMNS = 24 };
is_report *is_report_create(const char *const *headings, size_t column_count);
/* Accepts NULL. */
void is_report_destroy(is_report *report);

/* Fills the next cell, row after row. */
void is_report_cell(is_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a number of which only some rows have one: a dash where it is not above zero.
 * `decimals`: digits after the point. */
void is_report_number(is_report *report, double value, int decimals);

/* Writes headings and rows, `indent` blanks before each (not in Markdown). Columns without an entry
 * (nothing but dashes and empty texts) are left out. IS_E_MEMORY: a cell was lost. Look at
 * ferror(out) for the rest. */
int is_report_print(const is_report *report, bool markdown, int indent, FILE *out, is_error *error);

/* Writes JSON and destroys it; NULL: out of memory. `command` is named in errors. IS_E_MEMORY,
 * IS_E_OUTPUT. */
struct json_t;
int is_report_json(const char *command, struct json_t *value, FILE *out, is_error *error);
/* The same number as is_report_number for JSON: null where it is not above zero. */
struct json_t *is_report_json_number(double value);
/* After all text has been written: whether it arrived. IS_E_OUTPUT. */
int is_report_end(const char *command, FILE *out, is_error *error);

#endif
