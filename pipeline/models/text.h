/* Text files of numbers, as ice models, geometries and spectra come in: lines of fields, '#'
 * starts a comment, blank lines count for nothing. Every fault is reported as
 * "name:line:column: error: field: found ..., expected ...", all faults of a file together.
 */
#ifndef IS_TEXT_H
#define IS_TEXT_H

#include "pipeline/icestream.h"

#include <stdbool.h>
#include <stddef.h>

/* A whole file in memory. */
typedef struct is_text {
    const char *name; /* for messages, not owned */
    char *data;       /* [size], not terminated; a byte order mark is already skipped */
    size_t size;
    void *memory; /* what is_text_free releases; NULL for text that belongs to someone else */
} is_text;

/* Reads a regular file. IS_E_CONFIG (missing, unreadable, a folder, larger than 1 GiB),
 * IS_E_MEMORY. The name stays the caller's and must live as long as the text. */
int is_text_read(const char *path, is_text *out, is_error *error);
/* Text that is in memory already; data stays the caller's. */
is_text is_text_borrow(const char *name, const char *data, size_t size);
void is_text_free(is_text *text);

/* One piece of a line. */
typedef struct is_field {
    const char *start;
    size_t length;
    size_t column; /* from 1 */
} is_field;

enum { IS_FIELDS_MAX = 512 }; /* a tilt map has a column for every node */

typedef struct is_line {
    is_field fields[IS_FIELDS_MAX];
    size_t count;  /* how many the line has, of which the first IS_FIELDS_MAX are kept */
    size_t number; /* from 1 */
} is_line;

/* Goes through a text line by line and gathers its faults. */
typedef struct is_text_reader {
    const char *name, *next, *end;
    size_t line;
    char separator;  /* ',' : one comma between fields; ' ': any blanks between fields */
    size_t faults;   /* how many were reported */
    is_error *error; /* may be NULL */
} is_text_reader;

is_text_reader is_text_open(const is_text *text, char separator, is_error *error);
/* The next line that has fields; false at the end. */
bool is_text_next(is_text_reader *reader, is_line *line);

/* Reports a fault; column 0: the whole line, line 0: the whole file. Returns IS_E_CONFIG. */
int is_text_fault(is_text_reader *reader, size_t line, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads a decimal number. False where the field is anything else (hexadecimal, nan, 1e999). */
bool is_field_number(const is_field *field, double *out);
/* The same, and a fault "what: found ..., expected a number" where it fails. */
bool is_text_number(is_text_reader *reader, const is_line *line, size_t field, const char *what,
                    double *out);
/* The field as it may be shown in a message: printable, at most 40 characters, quoted. */
const char *is_field_show(const is_field *field, char shown[48]);
/* Whether the field is this word. */
bool is_field_equals(const is_field *field, const char *word);

/* ---- tables of numbers ----------------------------------------------------------------------- */

/* Rows of `columns` numbers, and the line that each came from. */
typedef struct is_number_table {
    double *values; /* [rows][columns] */
    size_t *lines;  /* [rows] */
    size_t rows, columns, capacity;
} is_number_table;

/* Row i, never NULL for i < rows. */
static inline const double *is_number_row(const is_number_table *table, size_t i)
{
    return table->values + i * table->columns;
}

/* Appends a row of table->columns numbers. IS_OK or IS_E_MEMORY. */
int is_number_table_add(is_number_table *table, const double *values, size_t line);
void is_number_table_free(is_number_table *table);

/* Reads rows of blank-separated numbers, all with as many columns as the first row. `columns` says
 * in a message which columns are expected; most_columns <= IS_FIELDS_MAX. At least one row.
 * IS_E_CONFIG, IS_E_MEMORY; the table is empty then. */
int is_number_table_read(const is_text *text, size_t least_columns, size_t most_columns,
                         size_t most_rows, const char *columns, is_number_table *out,
                         is_error *error);

/* A column that a CSV file may have. Several names may mean the same column. */
typedef struct is_csv_column {
    const char *name;
    size_t index;   /* where its numbers go in a row */
    double offset;  /* added to the number */
    bool required;  /* of the columns with this index one must be there */
    double missing; /* the value where the file has no such column */
} is_csv_column;

/* Reads a CSV file whose first line names its columns, in any order. `expected` says in messages
 * which columns there may be. IS_E_CONFIG, IS_E_MEMORY; the table is empty then. */
int is_csv_read(const is_text *text, const is_csv_column *columns, size_t column_count,
                size_t row_columns, size_t most_rows, const char *expected, is_number_table *out,
                is_error *error);

#endif
