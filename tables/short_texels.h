/* The texels of a texture may have numbers of 16 bits, which take half of the cache that float
 * numbers take. Such a number counts steps. The texture unit divides it by ICS_TEXEL_STEPS, the
 * largest one, and returns a number from -1 to 1. */
#ifndef ICS_TABLES_SHORT_TEXELS_H
#define ICS_TABLES_SHORT_TEXELS_H

#include <stddef.h>
#include <stdint.h>

#define ICS_TEXEL_STEPS 32767

/* Writes `count` numbers from -1 to 1 as numbers of steps, each the nearest one. */
void ics_tables_shorten_texels(const float *numbers, size_t count, int16_t *out);

#endif
