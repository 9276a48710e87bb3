/* How large a bin is, and clsim's normalisation (tables.md 4). */
#ifndef ICS_TABLE_TABLE_VOLUME_H
#define ICS_TABLE_TABLE_VOLUME_H

#include "pipeline/table/table.h"

/* Whether the bins of this azimuth hold the light of both halves, see below. */
bool ics_table_volume_is_half(ics_table_geometry geometry, const ics_table_axis *azimuth);

/* The volume (m^3) of the bin at the numbers `bin` of the first three axes, from 0. Spherical
 * tables whose azimuth ends at 180 degrees or below, and cylindrical ones whose azimuth ends at pi
 * or below, hold the light of both halves, so their bins count twice. The geometry must not be
 * custom. */
double ics_table_volume(const ics_table *table, const uint32_t bin[3]);

/* By what clsim divides the sums of cell `cell`: volume / (step length * area). Cells of under- and
 * overflow take the volume of the nearest bin, as clsim's do. */
double ics_table_norm(const ics_table *table, uint64_t cell);

/* Checks that the table has the geometry and the axes that the volume needs. `name` is for the
 * error. ICESTREAM_E_INPUT. */
int ics_table_volume_check(const ics_table *table, const char *name, icestream_error *error);

#endif
