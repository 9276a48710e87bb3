/* Hits as CSV, for programs that read tables. */
#ifndef ICS_FILES_HIT_CSV_H
#define ICS_FILES_HIT_CSV_H

#include "pipeline/files/format/layout.h"
#include "pipeline/icestream.h"

enum { ICS_COLUMN_NAME = 40 };

/* The name of a field with its unit: "t_ns", and without a unit "weight". Returns `name`. */
const char *ics_hit_csv_column(const ics_layout_field *field, char name[ICS_COLUMN_NAME]);

/* Writes all fields of all hits of a hit file, after a line with the names of the columns. Numbers
 * have as many digits as a program needs to read back the same value (files.md 10). The paths "-"
 * are standard input and output; rows are written as soon as a message is read. ICESTREAM_E_INPUT:
 * no good hit file; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY; ICESTREAM_E_USAGE: standard input is a
 * terminal. */
int ics_hit_csv_export(const char *from, const char *to, bool force, icestream_error *error);

#endif
