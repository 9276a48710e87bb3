/* `icestream-lab sweep`: the speed of a schedule for a grid of sizes of blocks and limits of
 * registers: measured by sweep.c, reported by report.c. */
#ifndef ICS_BENCH_LAB_SWEEP_REPORT_H
#define ICS_BENCH_LAB_SWEEP_REPORT_H

#include "graphs/schedule.h"
#include "pipeline/icestream.h"

#include <jansson.h>

/* Measures and prints what the options ask for. ICESTREAM_E_USAGE: the configuration makes a table;
 * ICESTREAM_E_DEVICE: there is no GPU; ICESTREAM_E_CONFIG: the configuration wants none;
 * ICESTREAM_E_FAILED: settings changed the number of bounces or hits; and the errors of
 * ics_lab_open, ics_bench_open and ics_bench_measure. */
int ics_sweep_measure(const icestream_config *config, const icestream_bench_options *options,
                      FILE *out, icestream_error *error);

enum { ICS_SWEEP_POINTS_MAX = 64 }; /* of one kernel */

/* What was measured with one setting of one kernel. */
typedef struct ics_sweep_row {
    ics_schedule schedule;
    ics_tuned_kernel kernel;  /* ICS_TUNED_COUNT: all kernels as configured */
    ics_kernel_tune settings; /* blocks: as many as the registers allow */
    double photon_cost;       /* kernel time (ns) of a photon; 0: not known */
    double bounce_cost;       /* kernel time (ns) of a bounce */
    double ratio;             /* photon_cost, divided by that of the configured settings; 0: not
                                 known */
} ics_sweep_row;

/* All rows, and what they were measured with. */
typedef struct ics_sweep {
    ics_sweep_row *rows; /* [count] a configured row comes before the others of its schedule */
    size_t count;
    const char *device, *origin; /* name of the GPU; where the steps came from */
    uint64_t photons;
    size_t steps;
    uint32_t repeats;
    const ics_tune *configured; /* the settings of the other kernels; NULL: the defaults */
} ics_sweep;

/* Fills points[ICS_SWEEP_POINTS_MAX] with the settings of a kernel that are measured: those of the
 * grid that can work together with the other settings of `tune`. Returns their number. */
size_t ics_sweep_grid(ics_tuned_kernel kernel, const ics_tune *tune, ics_kernel_tune *points);

/* Sets the ratios of all rows. */
void ics_sweep_compare(ics_sweep *sweep);

/* Returns the fastest row of a schedule, of which there must be one. */
const ics_sweep_row *ics_sweep_best(const ics_sweep *sweep, ics_schedule schedule);

/* Prints a table, and the fastest settings of each schedule as a run file has them.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_sweep_print(const ics_sweep *sweep, bool markdown, FILE *out, icestream_error *error);

/* Returns the same as JSON, which the caller releases; NULL: no memory. The key `tune` has what
 * graph.tune may take from the file: the configured settings, replaced by the fastest ones of
 * each schedule. Of two schedules with the same kernel the first one counts. */
json_t *ics_sweep_json(const ics_sweep *sweep);

#endif
