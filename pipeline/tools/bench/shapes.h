/* `icestream bench --shapes`: how fast modules of many shapes are. */
#ifndef ICS_TOOLS_BENCH_SHAPES_H
#define ICS_TOOLS_BENCH_SHAPES_H

#include "pipeline/tools/bench/measure.h"

/* Measures every case (shape_cases.h) with every schedule at each oversize, one after the other,
 * and writes the table or JSON. bench->config, options, repeats and progress are set.
 * ICESTREAM_E_CONFIG: the detector of the configuration has types; errors of ics_bench_open,
 * ics_bench_measure and ics_shape_world_create; ICESTREAM_E_OUTPUT. */
int ics_bench_shapes(ics_bench *bench, FILE *out, icestream_error *error);

#endif
