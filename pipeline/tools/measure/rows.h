/* Measurements as rows of tables and of JSON, for compare and bench. */
#ifndef ICS_TOOLS_MEASURE_ROWS_H
#define ICS_TOOLS_MEASURE_ROWS_H

#include "pipeline/tools/measure/experiment.h"

#include <jansson.h>

/* One line: a measurement, the best of several. */
typedef struct ics_row {
    char name[64];
    ics_measurement best;  /* hits may be freed already */
    double median_seconds; /* of all repeats; 0: there was one */
    double median_kernel_seconds;
    double scaling;          /* times as fast as one thread; 0: not measured */
    double stage_seconds[6]; /* of a run with profile, as in ics_gpu_usage; zeros: there was none */
} ics_row;

/* "fused", or "auto (fused)" for the choice of auto. */
void ics_rows_set_name(ics_row *row);

/* Two tables: how fast, and (GPU) with what. `rows`: pointers, so that rows may be parts of
 * something else. ICESTREAM_E_MEMORY. */
int ics_rows_print(const ics_row *const *rows, size_t count, bool markdown, FILE *out,
                   icestream_error *error);

/* A JSON object; NULL: out of memory. */
json_t *ics_rows_json(const ics_row *row);

#endif
