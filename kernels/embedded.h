/* Source files that the program carries along as text, for compilers at run time; the lists of them
 * are made at build time by is_embed() of cmake/Embed.cmake. */
#ifndef IS_EMBEDDED_H
#define IS_EMBEDDED_H

#include <stddef.h>

typedef struct is_embedded_source {
    const char *name; /* that it is included by, "stages/photon.h" */
    const char *text;
} is_embedded_source;

#endif
