/* The configured workload, step by step: every step is a pure function of its number, so that it
 * can be written in blocks of any size, or made in memory, and is the same everywhere.
 *
 * Formulas of `cascade` and `uniform` and the generator of their random numbers (splitmix64) are
 * those of the clsim benchmark; all arithmetic in double, stored as float.
 */
#ifndef ICS_TOOLS_MEASURE_WORKLOAD_H
#define ICS_TOOLS_MEASURE_WORKLOAD_H

#include "pipeline/config/config.h"

typedef struct ics_workload ics_workload;

/* Takes what it needs from the configuration, which may go away afterwards. ICESTREAM_E_CONFIG: a
 * workload that makes no legal steps (a direction without length); ICESTREAM_E_MEMORY. */
int ics_workload_create(const icestream_config *config, ics_workload **out, icestream_error *error);
/* Accepts NULL. */
void ics_workload_destroy(ics_workload *workload);

/* Number of steps. */
uint64_t ics_workload_steps(const ics_workload *workload);
/* Photons of all steps together; shuffling keeps the total. Below 2^62. */
uint64_t ics_workload_photons(const ics_workload *workload);
/* Makes steps first .. first + count - 1 into steps[count]; first + count <= ics_workload_steps. */
void ics_workload_fill(const ics_workload *workload, uint64_t first, size_t count,
                       icestream_step *steps);

/* One word for reports and metadata: "cascade", "uniform", "point". */
const char *ics_workload_name(const ics_workload *workload);

#endif
