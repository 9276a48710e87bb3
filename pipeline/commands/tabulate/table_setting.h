/* From the keys of a table to what the stage tabulate and the table itself need. */
#ifndef ICS_COMMANDS_TABULATE_TABLE_SETTING_H
#define ICS_COMMANDS_TABULATE_TABLE_SETTING_H

#include "pipeline/photons/config/table.h"
#include "pipeline/photons/devices/table.h"
#include "pipeline/photons/table/table.h"

/* Returns the number of axes, and writes them: [ICE_TABULATE_AXES]. Without table.axes they are
 * those of clsim's tabulator. */
size_t ics_table_setting_axes(const icestream_config *config, ics_table_axis *out);

/* Returns the geometry of the table: CUSTOM, whose bins have no volume, if an axis of position is
 * left out, or if a header of the user computes the coordinates. */
ics_table_geometry ics_table_setting_geometry(const icestream_config *config);

/* Fills everything but the memory of the sums. `tables` and `detector` are those of the
 * configuration. ICESTREAM_E_CONFIG: the ice, a stage or the acceptance of the modules cannot be
 * tabulated. */
int ics_table_setting_stage(const icestream_config *config, const ice_tables *tables,
                            const ice_detector *detector, ics_device_table *out,
                            icestream_error *error);

/* Returns the smallest phase index and the smallest group index of the medium, from 300 to 600 nm.
 */
void ics_table_setting_indices(const ice_tables *tables, double *phase, double *group);

/* Adds the keys of a table on which its sums depend, but not those that the metadata of a table
 * have (axes, step). Of the detector the acceptance by direction counts, if weights contain it. A
 * key that has no effect together with the others counts as its default. */
void ics_table_setting_digest(const icestream_config *config, const ice_detector *detector,
                              ics_digest *digest);

#endif
