/* Reads the table that `ncu --csv --page raw` writes: a row of names, a row of units, and a row for
 * each launch of a kernel, between messages that begin with "==". */
#ifndef ICS_BENCH_LAB_ROOFLINE_NCU_CSV_H
#define ICS_BENCH_LAB_ROOFLINE_NCU_CSV_H

#include "bench/lab/roofline/counters.h"

/* One launch of a kernel. */
typedef struct ics_ncu_launch {
    char kernel[96]; /* the function, without namespaces, template arguments and parameters */
    double values[ICS_COUNTERS];
} ics_ncu_launch;

/* Gets every launch. Returns a status; another one than ICESTREAM_OK ends the reading. */
typedef int (*ics_ncu_launch_function)(const ics_ncu_launch *launch, void *user,
                                       icestream_error *error);

/* Reads text[size], which may contain any bytes, and calls `function` for every launch, in the
 * order of the text. ICESTREAM_E_INPUT: a row is damaged, a metric is missing, or a value is not a
 * number of the metric; the error names the line, the kernel and the metric, and what was found and
 * expected. Also if there is no table, because ncu saw no kernel. ICESTREAM_E_MEMORY. */
int ics_ncu_csv_read(const char *text, size_t size, ics_ncu_launch_function function, void *user,
                     icestream_error *error);

#endif
