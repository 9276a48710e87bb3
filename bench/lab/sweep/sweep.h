/* `icestream-lab sweep`: the speed of a schedule for a grid of sizes of blocks and limits of
 * registers. */
#ifndef ICS_BENCH_LAB_SWEEP_SWEEP_H
#define ICS_BENCH_LAB_SWEEP_SWEEP_H

#include "bench/lab/lab.h"

/* Measures and prints what the options ask for. ICESTREAM_E_DEVICE: there is no GPU;
 * ICESTREAM_E_CONFIG: the configuration wants none; ICESTREAM_E_FAILED: settings changed the number
 * of bounces or hits; and the errors of ics_lab_open, ics_bench_open and ics_bench_measure. */
int ics_sweep_measure(const icestream_config *config, const ics_lab_options *options, FILE *out,
                      icestream_error *error);

#endif
