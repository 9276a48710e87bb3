/* Which source the coordinates of a table begin at, for each step (table.source). */
#ifndef ICS_COMMANDS_TABULATE_TABLE_SOURCES_H
#define ICS_COMMANDS_TABULATE_TABLE_SOURCES_H

#include "pipeline/commands/measure/step_list.h"
#include "pipeline/photons/devices/table.h"

/* Sets where the photons of steps come from. With table.source: auto it is the particle, the
 * cascade of the workload, or the step; the caller frees *emitters, [out->emitter_count], which out
 * refers to. ICESTREAM_E_CONFIG: the particles cannot be read a second time. ICESTREAM_E_INPUT:
 * steps count as sources, and several of them are parts of one source. ICESTREAM_E_MEMORY. */
int ics_table_sources_find(const icestream_config *config, const ics_models *models,
                           const ics_step_list *steps, ics_device_table_source *out,
                           ics_device_table_emitter **emitters, icestream_error *error);

#endif
