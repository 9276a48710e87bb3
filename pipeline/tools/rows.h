/* Measurements as rows of tables and of JSON, for compare and bench. */
#ifndef IS_ROWS_H
#define IS_ROWS_H

#include "pipeline/tools/experiment.h"

#include <jansson.h>

/* One line: a measurement, the best of several. */
typedef struct is_row {
    char name[64];
    is_measurement best;   /* hits may be freed already */
    double median_seconds; /* of all repeats; 0: there was one */
    double median_kernel_seconds;
    double scaling;          /* times as fast as one thread; 0: not measured */
    double stage_seconds[6]; /* of a run with profile, as in is_gpu_usage; zeros: there was none */
} is_row;

/* "fused", or "auto (fused)" for the choice of auto. */
void is_row_set_name(is_row *row);

/* Two tables: how fast, and (GPU) with what. `rows`: pointers, so that rows may be parts of
 * something else. IS_E_MEMORY. */
int is_rows_print(const is_row *const *rows, size_t count, bool markdown, FILE *out,
                  is_error *error);

/* A JSON object; NULL: out of memory. */
json_t *is_row_json(const is_row *row);

#endif
