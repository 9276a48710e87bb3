/* The stages whose variant may be a header of the user. Lists of such headers have this order. */
#ifndef ICS_KERNELS_STAGE_H
#define ICS_KERNELS_STAGE_H

#include "base/icestream_error.h"

#include <stddef.h>

typedef enum ics_stage {
    ICS_STAGE_CREATE,
    ICS_STAGE_PROPAGATE,
    ICS_STAGE_COLLIDE,
    ICS_STAGE_SCATTER,
    ICS_STAGE_TABULATE, /* only where a table is filled */
    ICS_STAGES
} ics_stage;

/* What to call when a compiler begins to run for headers, which takes seconds to minutes. */
typedef struct ics_stage_compiling {
    void (*compiles)(void *user, const char *line); /* a line for people; NULL: a program writes
                                                       it to standard error, a library nowhere */
    void *user;
} ics_stage_compiling;

/* Returns the name of a stage, such as "scatter", as in ice_scatter_custom and in YAML. */
const char *ics_stage_name(ics_stage stage);

/* Reads a stage header of the user; the caller frees *text. The header may include only headers of
 * icestream ("stages/...") and of the compiler, because the keys of caches do not contain the text
 * of other files. It may have no variables that keep a value. Returns ICESTREAM_OK,
 * ICESTREAM_E_MEMORY, or ICESTREAM_E_CONFIG with a message "PATH: ..." or "PATH(LINE): error: ...".
 */
int ics_stage_header_read(const char *path, char **text, icestream_error *error);

#endif
