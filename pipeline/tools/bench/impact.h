/* What one part of the physics costs: bench with the part and without it. */
#ifndef ICS_TOOLS_BENCH_IMPACT_H
#define ICS_TOOLS_BENCH_IMPACT_H

#include "pipeline/icestream.h"

/* Measures the configuration twice, as icestream_bench() does with the same options, the second
 * time without the part, and writes the ratio of the times per bounce as a table or as JSON. The
 * part is switched off by a setting: features of the ice by their key, and `collide` by modules
 * with a radius of 1 mm, which no light meets. ICESTREAM_E_USAGE: there is no such part;
 * ICESTREAM_E_CONFIG: the configuration does not have it, because both runs have equal bounces and
 * hits. Otherwise the errors of icestream_bench. */
int ics_impact_measure(const icestream_config *config, const icestream_bench_options *options,
                       const char *part, FILE *out, icestream_error *error);

#endif
