/* The deflections of birefringence as a GPU with fast maths reads them: a texture with one
 * dimension (ice_deflection_at() of stages/birefringence.h). */
#ifndef ICS_TABLES_DEFLECTION_IMAGE_H
#define ICS_TABLES_DEFLECTION_IMAGE_H

#include "stages/tables.h"

/* A texel for each row of the table, and one behind the last row. */
#define ICS_DEFLECTION_TEXELS (ICE_DEFLECTION_KNOTS + 1)
/* The numbers of a texel: sx / 2, sy / 2, mx / 2 divided by the sine, and 0. */
#define ICS_DEFLECTION_NUMBERS 4

/* Writes the numbers of all texels into numbers[ICS_DEFLECTION_TEXELS][ICS_DEFLECTION_NUMBERS]. The
 * tables must be those of the host, with birefringence. */
void ics_tables_deflection_texels(const ice_tables *tables, float *numbers);

#endif
