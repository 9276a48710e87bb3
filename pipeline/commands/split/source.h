/* The steps that are split: those of a file, or of particles or a workload. They come exactly as a
 * step file stores them: a direction that is normalised twice may have other last digits, and its
 * photons other hits. */
#ifndef ICS_COMMANDS_SPLIT_SOURCE_H
#define ICS_COMMANDS_SPLIT_SOURCE_H

#include "pipeline/photons/session/world.h"

#include <jansson.h>

typedef struct ics_split_source ics_split_source;

/* Opens the steps of the file `input`, or for NULL those that the configuration makes. A file is
 * checked as a run checks it. Configuration and models must outlive *out. The caller destroys *out,
 * also after an error. ICESTREAM_E_INPUT, ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_split_source_open(const icestream_config *config, const ics_models *models,
                          const char *input, ics_split_source **out, icestream_error *error);
/* Accepts NULL. */
void ics_split_source_destroy(ics_split_source *source);

/* Returns the next steps; *count 0: there are no more. They stay until the next call. */
int ics_split_source_next(ics_split_source *source, const icestream_step **steps, size_t *count,
                          icestream_error *error);

/* Goes back to the first step. */
int ics_split_source_rewind(ics_split_source *source, icestream_error *error);

/* Returns the record of the light (models/light_record.h), which the source owns; NULL: none. */
const json_t *ics_split_source_light(const ics_split_source *source);

#endif
