/* The stages whose variant may be a user's own header, in the order of lists of such headers. */
#ifndef ICS_KERNELS_STAGE_H
#define ICS_KERNELS_STAGE_H

#include "base/icestream_error.h"

#include <stddef.h>

typedef enum ics_stage {
    ICS_STAGE_CREATE,
    ICS_STAGE_PROPAGATE,
    ICS_STAGE_COLLIDE,
    ICS_STAGE_SCATTER,
    ICS_STAGES
} ics_stage;

/* "scatter", as in ice_scatter_custom and in YAML. */
const char *ics_stage_name(ics_stage stage);

/* Reads a user's stage header, which is to be a text that includes headers of icestream
 * ("stages/...") and of the compiler only: what else it includes would be no part of the keys of
 * caches. The caller frees *text. Returns 0, or -1 with a message in `why`: "PATH: ..." or
 * "PATH(LINE): error: ...". */
int ics_stage_header_read(const char *path, char **text, icestream_error *error);

#endif
