/* Tables of photons: follows all photons of a configuration and writes the table of their samples.
 */
#ifndef ICS_TOOLS_TABULATE_TABULATE_H
#define ICS_TOOLS_TABULATE_TABULATE_H

#include "pipeline/config/config.h"

#include <stdio.h>

/* Fills the table of stages.tabulate with the photons of source.files or, where a run would make
 * its steps itself, of the particles or the workload, and writes it to `path`. `report` (NULL:
 * nothing) receives lines for people. ICESTREAM_E_CONFIG, ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_tabulate_make(const icestream_config *config, const char *path, bool force, FILE *report,
                      icestream_error *error);

#endif
