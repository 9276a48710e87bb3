/* The configured workload, step by step: every step is a pure function of its number, so that it
 * can be written in blocks of any size, or made in memory, and is the same everywhere.
 *
 * Formulas of `cascade` and `uniform` and the generator of their random numbers (splitmix64) are
 * those of the clsim benchmark; all arithmetic in double, stored as float.
 */
#ifndef IS_WORKLOAD_H
#define IS_WORKLOAD_H

#include "pipeline/config/config.h"

typedef struct is_workload is_workload;

/* Takes what it needs from the configuration, which may go away afterwards. IS_E_CONFIG: a
 * workload that makes no legal steps (a direction without length); IS_E_MEMORY. */
int is_workload_create(const is_config *config, is_workload **out, is_error *error);
/* Accepts NULL. */
void is_workload_destroy(is_workload *workload);

/* Number of steps. */
uint64_t is_workload_steps(const is_workload *workload);
/* Photons of all steps together; shuffling keeps the total. Below 2^62. */
uint64_t is_workload_photons(const is_workload *workload);
/* Makes steps first .. first + count - 1 into steps[count]; first + count <= is_workload_steps. */
void is_workload_fill(const is_workload *workload, uint64_t first, size_t count, is_step *steps);

/* One word for reports and metadata: "cascade", "uniform", "point". */
const char *is_workload_name(const is_workload *workload);

#endif
