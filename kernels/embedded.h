/* A source file that the program contains as text, for a compiler at run time. ics_embed() in
 * cmake/Embed.cmake makes the lists of these files when the program is built. */
#ifndef ICS_KERNELS_EMBEDDED_H
#define ICS_KERNELS_EMBEDDED_H

#include <stddef.h>

typedef struct ics_embedded_source {
    const char *name; /* as in an include line: "stages/photon.h" */
    const char *text;
} ics_embedded_source;

#endif
