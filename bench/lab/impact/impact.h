/* `icestream-lab impact`: what one part of the work costs. */
#ifndef ICS_BENCH_LAB_IMPACT_IMPACT_H
#define ICS_BENCH_LAB_IMPACT_IMPACT_H

#include "bench/lab/lab.h"

/* Measures the configuration twice, as ics_speed_measure() does with the same options, the second
 * time without the part, and writes the ratio of the times per bounce as a table or as JSON, with
 * what was changed. Features of the ice are switched off by their key, and `collide` by modules
 * with a radius of 1 mm, which no light meets. `random` and `divergence` are left out by other
 * kernels (ics_without), which need a GPU and a schedule other than auto. ICESTREAM_E_USAGE: there
 * is no such part; such a schedule with the last two; a table. ICESTREAM_E_CONFIG: the
 * configuration does not have the part, because both runs have equal bounces and hits; no GPU is
 * configured for the last two. Otherwise the errors of ics_speed_measure. */
int ics_impact_measure(const icestream_config *config, const ics_lab_options *options,
                       const char *name, FILE *out, icestream_error *error);

#endif
