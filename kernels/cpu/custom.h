/* CPU kernels with a user's stage headers in them: compiled at run time, without a rebuild.
 *
 * The program carries the sources of its kernels along (kernels/cpu/sources.h). The system's
 * compiler, $CC or cc, compiles them again with the user's headers into a shared object, which is
 * kept in the cache folder (kernels/cache/cache.h) under the SHA-256 of all it is made from:
 * sources, headers, options and the compiler's version. Only the first run with a header waits for
 * a compiler; any number of processes may do so at the same time.
 */
#ifndef ICS_KERNELS_CPU_CUSTOM_H
#define ICS_KERNELS_CPU_CUSTOM_H

#include "kernels/cpu/kernels.h"
#include "kernels/stage.h"

typedef struct ics_custom_kernels ics_custom_kernels;

/* Kernels in which ICE_STAGE_custom is ice_STAGE_custom() of the header custom[stage]; NULL: none
 * for this stage. `instruction_set`: "baseline", "avx2" or "avx512", one that this machine runs.
 * Returns 0, or -1 with a message in `why`: a header that cannot be read; what the compiler said
 * about it, with the user's file and line; no compiler. */
int ics_custom_kernels_create(const char *const custom[ICS_STAGES], const char *instruction_set,
                              ics_custom_kernels **out, icestream_error *error);
/* Accepts NULL. The kernels must not run any more. */
void ics_custom_kernels_destroy(ics_custom_kernels *custom);

/* They live as long as `custom`. */
const ics_cpu_kernels *ics_custom_kernels_get(const ics_custom_kernels *custom);

#endif
