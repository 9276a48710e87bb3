/* Cuts steps into parts of equal expected cost: step files that any workers may compute in any
 * order. Steps keep their event_id and step_id, so the hits of all parts together are those of the
 * whole (physics.md 14.3).
 *
 * The files of pipeline/commands/split:
 *   split_source   steps of a file, or of particles or a workload, exactly as they are stored
 *   split_names    the names of the parts
 *   split          two passes: the sum of the costs, and then the parts; what was made
 */
#ifndef ICS_COMMANDS_SPLIT_SPLIT_H
#define ICS_COMMANDS_SPLIT_SPLIT_H

#include "pipeline/photons/config/config.h"

typedef struct ics_split_options {
    const char *input;   /* a step file; NULL: the particles or the workload of the configuration */
    const char *pattern; /* the names of the parts, with {part} in place of their number */
    uint32_t parts;      /* how many, at least 1; 0: `bounces` decides */
    double bounces;      /* expected bounces of a part at most, about; > 0 */
    bool force;          /* replaces existing parts with the same names */
    bool json;
} ics_split_options;

/* Writes the parts, then a report to `out`. Each part is complete or does not exist. Steps stay in
 * their order, and a step is never divided, so there are fewer parts where a single step costs more
 * than a part. ICESTREAM_E_USAGE: the pattern, too many parts, parts of another split are there.
 * ICESTREAM_E_CONFIG: no light. ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_split(const icestream_config *config, const ics_split_options *options, FILE *out,
              icestream_error *error);

#endif
