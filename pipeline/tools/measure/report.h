/* A table for people: columns as wide as what is in them, or Markdown. */
#ifndef ICS_TOOLS_MEASURE_REPORT_H
#define ICS_TOOLS_MEASURE_REPORT_H

#include "pipeline/icestream.h"

typedef struct ics_report ics_report;

/* A table with these headings (column_count of them, up to ICS_REPORT_COLUMNS), without rows. The
 * first column is aligned to the left, the others to the right. Texts are copied. NULL: out of
 * memory; the functions below accept that and ics_report_print tells of it. */
enum { ICS_REPORT_COLUMNS = 24 };
ics_report *ics_report_create(const char *const *headings, size_t column_count);
/* Accepts NULL. */
void ics_report_destroy(ics_report *report);

/* Fills the next cell, row after row. */
void ics_report_cell(ics_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a number of which only some rows have one: a dash where it is not above zero.
 * `decimals`: digits after the point. */
void ics_report_number(ics_report *report, double value, int decimals);

/* Writes headings and rows, `indent` blanks before each (not in Markdown). Columns without an entry
 * (nothing but dashes and empty texts) are left out. ICESTREAM_E_MEMORY: a cell was lost. Look at
 * ferror(out) for the rest. */
int ics_report_print(const ics_report *report, bool markdown, int indent, FILE *out,
                     icestream_error *error);

/* Writes JSON and destroys it; NULL: out of memory. `command` is named in errors.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
struct json_t;
int ics_report_json(const char *command, struct json_t *value, FILE *out, icestream_error *error);
/* The same number as ics_report_number for JSON: null where it is not above zero. */
struct json_t *ics_report_json_number(double value);
/* After all text has been written: whether it arrived. ICESTREAM_E_OUTPUT. */
int ics_report_end(const char *command, FILE *out, icestream_error *error);

#endif
