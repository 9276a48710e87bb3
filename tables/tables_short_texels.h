/* Texels of textures with 16 bits for a number, because float numbers would need twice the cache of
 * a GPU. Such a number counts steps. The texture unit returns it divided by ICS_TEXEL_STEPS, the
 * largest one, as a number from -1 to 1. */
#ifndef ICS_TABLES_TABLES_SHORT_TEXELS_H
#define ICS_TABLES_TABLES_SHORT_TEXELS_H

#include <stddef.h>
#include <stdint.h>

#define ICS_TEXEL_STEPS 32767

/* Writes `count` numbers from -1 to 1 as numbers of steps, each the nearest one. */
void ics_tables_shorten_texels(const float *numbers, size_t count, int16_t *out);

#endif
