/* Photon tables in the formats of other programs (tables.md 4, 5). */
#ifndef ICS_TABLE_TABLE_EXPORT_H
#define ICS_TABLE_TABLE_EXPORT_H

#include "pipeline/table/table.h"

/* Writes the table to an HDF5 file, as a histogram of the Unified Histogram Interface in the group
 * /table. ICESTREAM_E_OUTPUT; ICESTREAM_E_USAGE: icestream was built without HDF5. */
int ics_table_export_hdf5(const ics_table *table, const char *path, bool force,
                          icestream_error *error);

/* Writes the table to a FITS file in the layout of clsim's tabulator. `name` is that of the table,
 * for errors. ICESTREAM_E_INPUT: the volume of a bin is not known, see ics_table_volume_check();
 * ICESTREAM_E_OUTPUT; ICESTREAM_E_MEMORY; ICESTREAM_E_USAGE: icestream was built without cfitsio.
 */
int ics_table_export_fits(const ics_table *table, const char *name, const char *path, bool force,
                          icestream_error *error);

#endif
