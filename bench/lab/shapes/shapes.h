/* `icestream-lab shapes`: how fast modules of many shapes are. */
#ifndef ICS_BENCH_LAB_SHAPES_SHAPES_H
#define ICS_BENCH_LAB_SHAPES_SHAPES_H

#include "bench/lab/lab.h"

/* Measures every case (cases.h) with every schedule at each oversize, one after the other, and
 * writes the table or JSON. `only`: the only oversize; 0: those of the table, 1 and 5.
 * ICESTREAM_E_USAGE: the configuration makes a table; ICESTREAM_E_CONFIG: its detector has types;
 * errors of ics_lab_open,
 * ics_bench_open, ics_bench_measure and ics_shape_world_create; ICESTREAM_E_OUTPUT. */
int ics_shapes_measure(const icestream_config *config, const icestream_bench_options *options,
                       double only, FILE *out, icestream_error *error);

#endif
