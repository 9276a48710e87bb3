/* Source files that the program carries along as text, for compilers at run time; the lists of them
 * are made at build time by ics_embed() of cmake/Embed.cmake. */
#ifndef ICS_KERNELS_EMBEDDED_H
#define ICS_KERNELS_EMBEDDED_H

#include <stddef.h>

typedef struct ics_embedded_source {
    const char *name; /* that it is included by, "stages/photon.h" */
    const char *text;
} ics_embedded_source;

#endif
