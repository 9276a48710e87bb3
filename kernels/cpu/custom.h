/* CPU kernels with stage headers of the user, compiled at run time, without a rebuild of icestream.
 *
 * The program contains the sources of its kernels as text (kernels/cpu/sources.h). The compiler of
 * the system, $CC or cc, compiles these sources together with the user's headers into a shared
 * object. The cache (kernels/cache/cache.h) keeps the object under the SHA-256 of everything that
 * it is made from: sources, headers, options and the version of the compiler. Only the first run
 * with a header in ice of these features waits for the compiler. Any number of processes may
 * compile the same header at one time.
 */
#ifndef ICS_KERNELS_CPU_CUSTOM_H
#define ICS_KERNELS_CPU_CUSTOM_H

#include "kernels/cpu/kernels.h"
#include "kernels/stage.h"

typedef struct ics_custom_kernels ics_custom_kernels;

/* What kernels are for. */
typedef struct ics_custom_wanted {
    const char
        *headers[ICS_STAGES];    /* paths of the user's headers; NULL: no header for this stage */
    const char *instruction_set; /* "baseline", "avx2" or "avx512", one that this machine runs */
    /* The kernels are called with these variants (those of a header: ICE_STAGE_custom) and with
     * tables of these features alone (ice_tables.features): the compiler leaves out everything
     * else, and needs a third of the time. */
    ice_variants variants;
    uint32_t features;
    bool check;     /* whether the kernels check what every stage returns (stages/check.h) */
    bool tabulates; /* whether there are kernels for tables; else ics_cpu_kernels.tabulate and
                       carry_tabulated are NULL */
    ics_stage_compiling compiling;
} ics_custom_wanted;

/* Makes kernels whose variant ICE_STAGE_custom calls ice_STAGE_custom() of the header of the stage.
 * Returns ICESTREAM_OK, ICESTREAM_E_MEMORY, or ICESTREAM_E_CONFIG: a header cannot be read or does
 * not compile (the message has the compiler's lines with the user's file and line), or there is no
 * compiler. */
int ics_custom_kernels_create(const ics_custom_wanted *wanted, ics_custom_kernels **out,
                              icestream_error *error);
/* Accepts NULL. The kernels must not run any more. */
void ics_custom_kernels_destroy(ics_custom_kernels *custom);

/* The kernels are valid as long as `custom`. */
const ics_cpu_kernels *ics_custom_kernels_get(const ics_custom_kernels *custom);

#endif
