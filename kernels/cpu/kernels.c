/* The choice of the CPU kernels for an instruction set. */
#include "kernels/cpu/kernels.h"

#include <string.h>

extern const ics_cpu_kernels ics_cpu_kernels_baseline;
#if defined(ICS_HAVE_X86_KERNELS)
extern const ics_cpu_kernels ics_cpu_kernels_avx2;
extern const ics_cpu_kernels ics_cpu_kernels_avx512;
#endif

/* Whether this machine has the instructions of the kernels. */
static bool runs(const ics_cpu_kernels *kernels)
{
#if defined(ICS_HAVE_X86_KERNELS)
    __builtin_cpu_init();
    if (kernels == &ics_cpu_kernels_avx512) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd");
    }
    if (kernels == &ics_cpu_kernels_avx2) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    }
#endif
    (void)kernels;
    return true;
}

/* All kernels, those with the widest instructions first. */
static const ics_cpu_kernels *const all_kernels[] = {
#if defined(ICS_HAVE_X86_KERNELS)
    &ics_cpu_kernels_avx512,
    &ics_cpu_kernels_avx2,
#endif
    &ics_cpu_kernels_baseline,
};

const ics_cpu_kernels *ics_kernels_find(const char *name)
{
    for (size_t i = 0; i < sizeof all_kernels / sizeof *all_kernels; ++i) {
        if ((!strcmp(name, "auto") || !strcmp(name, all_kernels[i]->name)) &&
            runs(all_kernels[i])) {
            return all_kernels[i];
        }
    }
    return NULL;
}
