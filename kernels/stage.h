/* The stages whose variant may be a user's own header, in the order of lists of such headers. */
#ifndef IS_STAGE_H
#define IS_STAGE_H

#include <stddef.h>

typedef enum is_stage {
    IS_STAGE_CREATE,
    IS_STAGE_PROPAGATE,
    IS_STAGE_COLLIDE,
    IS_STAGE_SCATTER,
    IS_STAGES
} is_stage;

/* "scatter", as in ice_scatter_custom and in YAML. */
const char *is_stage_name(is_stage stage);

/* Reads a user's stage header, which is to be a text that includes headers of icestream
 * ("stages/...") and of the compiler only: what else it includes would be no part of the keys of
 * caches. The caller frees *text. Returns 0, or -1 with a message in `why`: "PATH: ..." or
 * "PATH(LINE): error: ...". */
int is_stage_header_read(const char *path, char **text, char *why, size_t why_size);

#endif
