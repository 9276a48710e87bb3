/* Rooflines as tables for people and as JSON. */
#ifndef ICS_BENCH_LAB_ROOFLINE_REPORT_H
#define ICS_BENCH_LAB_ROOFLINE_REPORT_H

#include "bench/lab/roofline/roofline.h"

#include <jansson.h>

/* Prints two tables: counters per bounce (of a table: per sample), and points on the roofline. A
 * schedule of several kernels has a row for all of them and a row for each. ICESTREAM_E_MEMORY. */
int ics_roofline_print(const ics_roofline *schedules, size_t count, bool markdown, FILE *out,
                       icestream_error *error);

/* Returns an array with one object for each schedule, or NULL if there is no memory. That of a
 * table has `samples`, and counts per sample have names with `per_sample`. The caller releases it.
 */
json_t *ics_roofline_json(const ics_roofline *schedules, size_t count);

#endif
