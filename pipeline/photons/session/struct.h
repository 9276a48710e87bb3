/* Structs that callers pass, whose first member is their size: programs that were compiled for
 * another version of the library have shorter or longer ones. */
#ifndef ICS_PHOTONS_SESSION_STRUCT_H
#define ICS_PHOTONS_SESSION_STRUCT_H

#include "pipeline/photons/session/state.h"

/* Copies a struct that a caller gives into out[size], the struct as this version of the library has
 * it. Members that the caller's struct lacks are zeros. `least`: its size in the first version;
 * `name`: of the struct, for messages.
 * ICESTREAM_E_USAGE: it is NULL, shorter than the first version, or longer than this one with a
 * member that is not zero. */
int ics_session_copy_in(const char *name, const void *given, uint32_t least, uint32_t size,
                        void *out, icestream_error *error);

/* Checks the size of a struct that the library fills. `size`: of the struct in this version.
 * ICESTREAM_E_USAGE. */
int ics_session_check_out(const char *name, const void *given, uint32_t size,
                          icestream_error *error);
/* Copies as much of a filled struct as the caller's struct, which was checked, has room for. Zeros
 * what is longer, and keeps its size. */
void ics_session_copy_out(const void *filled, uint32_t size, void *out);

#endif
