/* The description of a photon table for people and for programs (tables.md 3). */
#ifndef ICS_PHOTONS_TABLE_ABOUT_H
#define ICS_PHOTONS_TABLE_ABOUT_H

#include "pipeline/photons/table/table.h"

#include <jansson.h>
#include <stdio.h>

/* Prints axes, photons, sums and origin, with `name` as the name of the table. Check ferror(out)
 * afterwards. */
void ics_table_about_print(const ics_table *table, const char *name, FILE *out);

/* Makes the object {"bins": without under- and overflow, "bins_with_light", "sum_inside": the sum
 * of the weights in the bins, "sum_outside": in under- and overflow, "metadata": of tables.md 2}.
 * The caller owns *out. ICESTREAM_E_MEMORY. */
int ics_table_about_json(const ics_table *table, json_t **out, icestream_error *error);

#endif
