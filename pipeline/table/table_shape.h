/* Smaller tables from a table: a range or a bin of an axis, or the sum over axes (tables.md 3). All
 * sums stay whole numbers. */
#ifndef ICS_TABLE_TABLE_SHAPE_H
#define ICS_TABLE_TABLE_SHAPE_H

#include "pipeline/table/table.h"

/* "NAME=VALUE": the bin that holds VALUE, without the axis. "NAME=FROM:TO": the bins that lie in
 * the range, which must begin and end at edges; FROM or TO may be left out. What lies outside the
 * range joins under- and overflow, so no light is lost. `name` is that of the table, for errors.
 * ICESTREAM_E_USAGE: the text is wrong; ICESTREAM_E_FAILED: a sum overflows; ICESTREAM_E_MEMORY. */
int ics_table_slice(const ics_table *table, const char *name, const char *text, ics_table **out,
                    icestream_error *error);

/* The sum over all axes that are not among the `count` names, with their under- and overflow. The
 * new axes have the order of the names. ICESTREAM_E_USAGE: an unknown name, or one twice;
 * ICESTREAM_E_FAILED, ICESTREAM_E_MEMORY. */
int ics_table_project(const ics_table *table, const char *name, char *const *names, size_t count,
                      ics_table **out, icestream_error *error);

#endif
