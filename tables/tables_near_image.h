/* The map of clearances as the texture that a GPU with fast maths reads (stages/reach.h). */
#ifndef ICS_TABLES_TABLES_NEAR_IMAGE_H
#define ICS_TABLES_TABLES_NEAR_IMAGE_H

#include "stages/tables.h"

/* The numbers of a cell: those of ice_surroundings, and one that is not used. */
#define ICS_NEAR_NUMBERS 4

/* Writes the numbers of all cells into numbers[clearance_ny][clearance_nx][ICS_NEAR_NUMBERS], m.
 * The tables must be those of the host. */
void ics_tables_near_fill(const ice_tables *tables, float *numbers);

#endif
