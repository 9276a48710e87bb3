/* `icestream bench --sweep`: the speed of a schedule for a grid of sizes of blocks and limits of
 * registers. */
#ifndef ICS_TOOLS_BENCH_SWEEP_H
#define ICS_TOOLS_BENCH_SWEEP_H

#include "pipeline/tools/bench/measure.h"

/* Measures and prints what the options of the benchmark ask for. ICESTREAM_E_DEVICE: there is no
 * GPU; ICESTREAM_E_CONFIG: the configuration wants none; ICESTREAM_E_FAILED: settings changed the
 * number of bounces or hits; and the errors of ics_bench_open and ics_bench_measure. */
int ics_bench_sweep(ics_bench *bench, FILE *out, icestream_error *error);

#endif
