/* The map of clearances as a GPU reads it: as an array, or with fast maths as a texture
 * (stages/reach.h). The tables of all functions must be those of the host. */
#ifndef ICS_TABLES_TABLES_NEAR_IMAGE_H
#define ICS_TABLES_TABLES_NEAR_IMAGE_H

#include "stages/tables.h"

/* The numbers of a cell: those of ice_near_cell. */
#define ICS_NEAR_NUMBERS 4

/* Writes all cells into cells[clearance_ny][clearance_nx], to the bit what ice_surroundings_at()
 * gives on the host. */
void ics_tables_near_fill(const ice_tables *tables, ice_near_cell *cells);
/* Writes the numbers of all texels into numbers[clearance_ny][clearance_nx][ICS_NEAR_NUMBERS], m,
 * which are aligned as an ice_near_cell. They hold for every cell that a texture unit may take. */
void ics_tables_near_texels(const ice_tables *tables, float *numbers);

#endif
