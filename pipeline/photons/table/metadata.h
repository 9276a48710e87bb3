/* The metadata of a photon table: the JSON object of its trailer (tables.md 2). Private to
 * pipeline/photons/table and its tests. */
#ifndef ICS_PHOTONS_TABLE_METADATA_H
#define ICS_PHOTONS_TABLE_METADATA_H

#include "pipeline/photons/table/table.h"

#include <jansson.h>

/* Makes the object without the keys that the writer of a trailer adds. The caller owns *out.
 * ICESTREAM_E_MEMORY. */
int ics_table_metadata_create(const ics_table *table, json_t **out, icestream_error *error);

/* Makes a table of zeros from the object. `rows` is how many numbers of 8 bytes the file holds. The
 * caller owns *out. ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_table_metadata_read(const char *name, const json_t *metadata, uint64_t rows,
                            ics_table **out, icestream_error *error);

#endif
