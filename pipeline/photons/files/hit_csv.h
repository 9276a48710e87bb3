/* Hits as CSV, for programs that read tables. */
#ifndef ICS_PHOTONS_FILES_HIT_CSV_H
#define ICS_PHOTONS_FILES_HIT_CSV_H

#include "pipeline/icestream.h"

/* Writes all fields of all hits of a hit file, after a line with the names of the columns. Numbers
 * have as many digits as a program needs to read back the same value (files.md 10). Paths and
 * errors as ics_hit_lines_export(). */
int ics_hit_csv_export(const char *from, const char *to, bool force, icestream_error *error);

#endif
