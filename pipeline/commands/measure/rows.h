/* Measurements as rows of tables and of JSON, for compare and bench. */
#ifndef ICS_COMMANDS_MEASURE_ROWS_H
#define ICS_COMMANDS_MEASURE_ROWS_H

#include "pipeline/commands/measure/experiment.h"

#include <jansson.h>

/* One row: the best of several measurements. */
typedef struct ics_row {
    char name[64];
    ics_measurement best;  /* its hits may be freed already */
    double median_seconds; /* of all repeats (s); 0 if there was only one */
    double median_kernel_seconds;
    double scaling;          /* speed divided by that of one thread; 0: not measured */
    double stage_seconds[6]; /* of a run with profile, as in ics_gpu_usage; 0 without such a run */
} ics_row;

/* Names the row "monolithic", or "auto (monolithic)" if auto chose the schedule. */
void ics_rows_set_name(ics_row *row);

/* Prints a table of speeds and, for GPUs, a table of settings. ICESTREAM_E_MEMORY. */
int ics_rows_print(const ics_row *const *rows, size_t count, bool markdown, FILE *out,
                   icestream_error *error);

/* Returns the row as a JSON object, or NULL if there is no memory. The caller releases it. */
json_t *ics_rows_json(const ics_row *row);

#endif
