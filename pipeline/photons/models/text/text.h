/* Text files of numbers: ice models, geometries and spectra. A line consists of fields, '#' begins
 * a comment, blank lines are ignored. Every fault is reported as "name:line:column: error: field:
 * found ..., expected ...", and all faults of a file are reported together. */
#ifndef ICS_PHOTONS_MODELS_TEXT_TEXT_H
#define ICS_PHOTONS_MODELS_TEXT_TEXT_H

#include "pipeline/icestream.h"

#include <stdbool.h>
#include <stddef.h>

/* A whole file in memory. */
typedef struct ics_text {
    const char *name; /* for messages, not owned */
    char *data;       /* [size], not terminated; a byte order mark is already skipped */
    size_t size;
    void *memory; /* what ics_text_free releases; NULL if the caller owns the text */
    char *path;   /* the same: the name, if the text owns it */
} ics_text;

/* Reads a regular file. ICESTREAM_E_CONFIG (missing, unreadable, a folder, no text, larger than 1
 * GiB), ICESTREAM_E_MEMORY. The name stays the caller's and must live as long as the text. */
int ics_text_read(const char *path, ics_text *out, icestream_error *error);
/* The same for a file that need not be text, whose bytes are kept as they are. */
int ics_text_read_bytes(const char *path, ics_text *out, icestream_error *error);
/* The same as ics_text_read() for a path from malloc(), which the text owns afterwards, also after
 * an error. NULL: ICESTREAM_E_MEMORY. */
int ics_text_read_own(char *path, ics_text *out, icestream_error *error);
/* Opens a regular file of at most `most` bytes for reading. The caller closes *descriptor.
 * ICESTREAM_E_CONFIG. */
int ics_text_open_file(const char *path, size_t most, int *descriptor, size_t *size,
                       icestream_error *error);
/* Returns a text that is in memory already; the caller keeps the data alive. */
ics_text ics_text_borrow(const char *name, const char *data, size_t size);
void ics_text_free(ics_text *text);

/* One piece of a line. */
typedef struct ics_text_field {
    const char *start;
    size_t length;
    size_t column; /* place of its first byte in the line, from 1 */
} ics_text_field;

enum { ICS_TEXT_FIELDS_MAX = 512 }; /* a tilt map has a column for every node */

typedef struct ics_text_line {
    ics_text_field fields[ICS_TEXT_FIELDS_MAX];
    size_t count;   /* number of fields in the line; the first ICS_TEXT_FIELDS_MAX are kept */
    size_t number;  /* number of the line, from 1 */
    char separator; /* separator at which its fields were split */
} ics_text_line;

/* The separator of a CSV file: the first line with fields decides for commas, semicolons or tabs.
 * Fields may be in double quotes, which are left out; separators within them separate nothing. */
enum { ICS_TEXT_CSV = 0 };

/* Reads a text line by line and counts its faults. */
typedef struct ics_text_reader {
    const char *name, *next, *end;
    size_t line;
    char separator;         /* ' ': any blanks between fields; ICS_TEXT_CSV until the first line */
    size_t faults;          /* how many were reported */
    icestream_error *error; /* may be NULL */
} ics_text_reader;

ics_text_reader ics_text_open(const ics_text *text, char separator, icestream_error *error);
/* The next line that has fields; false at the end. */
bool ics_text_next(ics_text_reader *reader, ics_text_line *line);

/* Returns ICESTREAM_OK, or ICESTREAM_E_CONFIG if a fault was reported. */
static inline int ics_text_status(const ics_text_reader *reader)
{
    return reader->faults > 0 ? ICESTREAM_E_CONFIG : ICESTREAM_OK;
}

/* Reports a fault; column 0: the whole line, line 0: the whole file. Returns ICESTREAM_E_CONFIG. */
int ics_text_fault(ics_text_reader *reader, size_t line, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads a decimal number. Returns false for everything else (hexadecimal, nan, 1e999). */
bool ics_text_field_number(const ics_text_field *field, double *out);
/* Reads the number of a field, and reports "what: found ..., expected a number" if there is none.
 */
bool ics_text_number(ics_text_reader *reader, const ics_text_line *line, size_t field,
                     const char *what, double *out);
/* The same for `count` fields from `first` on, which `names` names. Returns false if one of them is
 * no number; all are read. */
bool ics_text_numbers(ics_text_reader *reader, const ics_text_line *line, size_t first,
                      const char *const *names, size_t count, double *out);
/* The field as it may be shown in a message: printable UTF-8, at most 40 bytes, quoted. */
const char *ics_text_field_show(const ics_text_field *field, char shown[48]);
/* What is wrong with a field that should be a number: "; ..." for decimal commas, commas between
 * thousands, and dashes of word processors; otherwise "". */
const char *ics_text_number_hint(const ics_text_field *field);
/* Reports a line that is one field, because something else than the reader's separator is between
 * its columns (semicolons, tabs, commas, blanks). `expected` names the columns. Returns whether it
 * did. */
bool ics_text_wrong_separator(ics_text_reader *reader, const ics_text_line *line,
                              const char *expected);
/* Whether the field is this word. */
bool ics_text_field_equals(const ics_text_field *field, const char *word);
/* Whether the name of a column says that it is none of the user's: the index that pandas writes has
 * no name, and gets "Unnamed: 0" if it is read and written again. Spreadsheets add empty columns.
 */
bool ics_text_is_unnamed(const ics_text_field *name);

/* What may be wrong with a line that has another number of fields than `expected`: "; ..." or "".
 */
const char *ics_text_count_hint(const ics_text_line *line, size_t expected);

/* ---- tables of numbers ----------------------------------------------------------------------- */

/* Rows of `columns` numbers, and the line that each came from. */
typedef struct ics_text_table {
    double *values; /* [rows][columns] */
    size_t *lines;  /* [rows] */
    size_t rows, columns, capacity;
} ics_text_table;

/* Row i, never NULL for i < rows. */
static inline const double *ics_text_table_row(const ics_text_table *table, size_t i)
{
    return table->values + i * table->columns;
}

/* Appends a row of table->columns numbers, which the reader has read. ICESTREAM_OK or
 * ICESTREAM_E_MEMORY. */
int ics_text_table_add(const ics_text_reader *reader, ics_text_table *table, const double *values,
                       size_t line);
void ics_text_table_free(ics_text_table *table);

/* Reads rows of blank-separated numbers, all with as many columns as the first row. `columns` says
 * in a message which columns are expected; most_columns <= ICS_TEXT_FIELDS_MAX. At least one row.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY; the table is empty then. */
int ics_text_table_read(const ics_text *text, size_t least_columns, size_t most_columns,
                        size_t most_rows, const char *columns, ics_text_table *out,
                        icestream_error *error);

/* The same where rows may be shorter than others: every row of the table has most_columns numbers,
 * and those that are missing in the text are NAN. */
int ics_text_table_read_ragged(const ics_text *text, size_t least_columns, size_t most_columns,
                               size_t most_rows, const char *columns, ics_text_table *out,
                               icestream_error *error);

/* A column that a CSV file may have. Several names may mean the same column. */
typedef struct ics_csv_column {
    const char *name;
    size_t index;   /* index of its numbers in a row */
    double offset;  /* added to the number */
    double missing; /* the value where the file has no such column, or an empty field if
                       may_be_empty */
    bool required;  /* true: one of the columns with this index must be there */
    bool may_be_empty;
    /* Not NULL: the column has words instead of numbers. Gives the number that a word stands for;
     * negative: there is none, and a fault names `expected`. */
    double (*number_of)(const void *user, const char *word, size_t length);
    const void *user;
    const char *expected;
} ics_csv_column;

/* What the columns of one CSV file mean. */
typedef struct ics_csv_plan {
    const ics_csv_column *columns; /* [column_count], borrowed: the columns that a file may have */
    size_t column_count;
    /* [width], of the columns of the file; NULL: a column that is passed over */
    const ics_csv_column *meaning[ICS_TEXT_FIELDS_MAX];
    size_t width;      /* number of columns of the file */
    char separator;    /* separator of the file */
    size_t row_length; /* numbers of a row: the largest index of `columns` plus 1 */
} ics_csv_plan;

/* Reads the first line of a CSV file, which names its columns. Returns false if the text has no
 * line or after a fault. `expected` names the possible columns in messages. */
bool ics_text_csv_begin(ics_text_reader *reader, const ics_csv_column *columns, size_t column_count,
                        const char *expected, ics_csv_plan *plan);
/* Reads the numbers of a line into values[plan->row_length], at most ICS_TEXT_FIELDS_MAX. Returns
 * false after a fault. Threads with a reader each may share a plan. */
bool ics_text_csv_row(ics_text_reader *reader, const ics_text_line *line, const ics_csv_plan *plan,
                      double *values);

/* Reads a CSV file whose first line names its columns, in any order. Rows of the table reach to the
 * largest index of `columns`. `expected` names the possible columns in messages.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY; the table is empty then. */
int ics_text_csv_read(const ics_text *text, const ics_csv_column *columns, size_t column_count,
                      size_t most_rows, const char *expected, ics_text_table *out,
                      icestream_error *error);

#endif
