/* The map of clearances as a GPU reads it: as an array, or with fast maths as a texture
 * (stages/reach.h). The tables of all functions must be those of the host. */
#ifndef ICS_TABLES_NEAR_IMAGE_H
#define ICS_TABLES_NEAR_IMAGE_H

#include "stages/tables.h"

#include <stdbool.h>
#include <stddef.h>

/* The numbers of a cell: those of ice_near_cell. */
#define ICS_NEAR_NUMBERS 4

/* Writes all cells into cells[clearance_ny][clearance_nx], to the bit what ice_surroundings_at()
 * gives on the host. */
void ics_tables_near_fill(const ice_tables *tables, ice_near_cell *cells);

/* The numbers of a texel have 16 bits (tables/short_texels.h). This is the coarsest step (m)
 * for positions of axes. A detector that is so large that it needs a coarser step has texels of
 * float numbers. */
#define ICS_NEAR_STEP_WIDEST 0.0625
/* The step (m) for distances to others, which are rounded down. */
#define ICS_NEAR_STEP_OTHERS 0.25

/* Sets near_scale, near_others and near_radius by the size of the map. */
void ics_tables_near_set_scale(ice_tables *tables);
/* Whether texels have 16 bits. */
bool ics_tables_near_is_short(const ice_tables *tables);
/* Writes the numbers of all texels into numbers[clearance_ny][clearance_nx][ICS_NEAR_NUMBERS], as a
 * texture unit returns them, in units of near_scale and near_others. They hold for every cell
 * that it may take. */
void ics_tables_near_texels(const ice_tables *tables, float *numbers);

#endif
