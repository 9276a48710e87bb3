/* The steps of the configured workload. Every step depends only on its number, so the steps are the
 * same in blocks of any size.
 *
 * The formulas of `cascade` and `uniform`, and the generator of their random numbers (splitmix64),
 * are those of the clsim benchmark. All arithmetic is double, and results are stored as float.
 */
#ifndef ICS_PHOTONS_GENERATOR_WORKLOAD_H
#define ICS_PHOTONS_GENERATOR_WORKLOAD_H

#include "pipeline/photons/config/config.h"

typedef struct ics_workload ics_workload;

/* Copies what it needs from the configuration. The caller destroys *out. ICESTREAM_E_CONFIG: the
 * workload makes no legal steps, because its direction has no length; ICESTREAM_E_MEMORY. */
int ics_workload_create(const icestream_config *config, ics_workload **out, icestream_error *error);
/* Accepts NULL. */
void ics_workload_destroy(ics_workload *workload);

/* Returns the number of steps. */
uint64_t ics_workload_steps(const ics_workload *workload);
/* Returns the number of photons of all steps together, below 2^62. Shuffling does not change it. */
uint64_t ics_workload_photons(const ics_workload *workload);
/* Makes the steps first to first + count - 1 and stores them in steps[count]. first + count is at
 * most ics_workload_steps. */
void ics_workload_fill(const ics_workload *workload, uint64_t first, size_t count,
                       icestream_step *steps);

/* Whether the steps are parts of one source: the electron of `cascade`, at the time 0. Sets where
 * it begins (m) and its direction. */
bool ics_workload_source(const icestream_config *config, double position[3], double direction[3]);

/* Returns the kind as one word: "cascade", "uniform" or "point". */
const char *ics_workload_name(const ics_workload *workload);

#endif
