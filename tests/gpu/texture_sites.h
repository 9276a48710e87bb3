/* What a GPU with fast maths reads from its textures for a position (stages/reach.h). */
#ifndef TEXTURE_SITES_H
#define TEXTURE_SITES_H

#include "stages/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct texture_site {
    float x, y, z;   /* the position, m */
    float height;    /* its height among the layers, m */
    float clearance; /* ice_clearance(), m */
} texture_site;

/* Sets height and clearance of all `count` sites, which are in memory of the host. `tables` are
 * those of the device. Returns a cudaError_t. */
int texture_sites(const ice_tables *tables, texture_site *sites, uint32_t count);

#ifdef __cplusplus
}
#endif

#endif
