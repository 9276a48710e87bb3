/* Writes HTML. All texts that come from files go through ics_html_text(), which escapes them, so
 * that no name of a file and no reason becomes HTML. */
#ifndef ICS_TOOLS_REPORT_HTML_H
#define ICS_TOOLS_REPORT_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { ICS_HTML_TEXT = 2048 }; /* bytes of a text that are shown; the rest is cut */

/* Writes a text with its special characters escaped. Control characters and bytes that are not
 * UTF-8 become \xNN; a newline becomes a space. NULL: nothing. Check ferror(out) at the end. */
void ics_html_text(FILE *out, const char *text);
/* The same, and newlines stay: for preformatted text of any length. */
void ics_html_lines(FILE *out, const char *text);

/* Begins and ends a section with a heading and an anchor, which are constants of the program. */
void ics_html_section(FILE *out, const char *anchor, const char *heading);
void ics_html_section_end(FILE *out);

/* A table. `headings`: texts that end with NULL; a heading that begins with '#' is that of a column
 * of numbers, and '#' is not shown. */
void ics_html_table(FILE *out, const char *const *headings);
void ics_html_table_end(FILE *out);
void ics_html_row(FILE *out);
/* Cells of a row, which ends where the next row or the table ends. */
void ics_html_cell(FILE *out, const char *text);
/* A text that may be long and that may be divided anywhere: the name of a file, a reason. */
void ics_html_long(FILE *out, const char *text);
void ics_html_number(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A whole number; from five digits on with a thin space between groups of three. */
void ics_html_count(FILE *out, uint64_t count);

/* Begins and ends a part that opens at a click: tables of the numbers that a picture shows.
 * `is_open`: it is open from the beginning. */
void ics_html_fold(FILE *out, const char *title, int is_open);
void ics_html_fold_end(FILE *out);

/* Writes a number with groups of three digits into `buffer`, and returns `buffer`. */
enum { ICS_HTML_COUNT = 96 };
const char *ics_html_count_text(uint64_t count, char buffer[ICS_HTML_COUNT]);

#endif
