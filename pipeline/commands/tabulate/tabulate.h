/* Tables of photons: follows all photons of a configuration and writes the table of their samples.
 */
#ifndef ICS_COMMANDS_TABULATE_TABULATE_H
#define ICS_COMMANDS_TABULATE_TABULATE_H

#include "pipeline/photons/config/config.h"

#include <stdio.h>

/* Fills the table of stages.tabulate with the photons of source.files or, where a run would make
 * its steps itself, of the particles or the workload, and writes it to `path`. `report` (NULL:
 * nothing) receives lines for people. ICESTREAM_E_CONFIG, ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_tabulate_make(const icestream_config *config, const char *path, bool force, FILE *report,
                      icestream_error *error);

/* How fast a table is filled. */
typedef struct ics_tabulate_speed {
    char origin[256]; /* of the steps: "workload cascade" */
    char device[256]; /* with the maths, for people */
    char name[256];   /* of the device alone */
    bool on_gpu;
    size_t steps;
    uint64_t photons, cells;   /* of the steps, and of the table with under- and overflow */
    uint64_t samples, bounces; /* of the best run */
    double seconds; /* of the best run: from the first batch to the last addition of a sum (s) */
} ics_tabulate_speed;

/* Fills the table of stages.tabulate, which must not be none, `repeats` times with the same
 * photons, and writes no file. 0: once, and without the run that otherwise comes first on a GPU, so
 * that a profiler sees one run. `files`: the steps of source.files, where a run would read them;
 * otherwise they are generated. If `progress` is a terminal, it shows the progress. Errors as in
 * ics_tabulate_make. */
int ics_tabulate_measure(const icestream_config *config, bool files, uint32_t repeats,
                         FILE *progress, ics_tabulate_speed *out, icestream_error *error);

#endif
