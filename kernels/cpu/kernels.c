#include "kernels/cpu/kernels.h"

#include <string.h>

extern const is_cpu_kernels is_cpu_kernels_baseline;
#if defined(IS_HAVE_X86_KERNELS)
extern const is_cpu_kernels is_cpu_kernels_avx2;
extern const is_cpu_kernels is_cpu_kernels_avx512;
#endif

/* Whether this machine runs them. */
static bool runs(const is_cpu_kernels *kernels)
{
#if defined(IS_HAVE_X86_KERNELS)
    __builtin_cpu_init();
    if (kernels == &is_cpu_kernels_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd");
    if (kernels == &is_cpu_kernels_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#endif
    (void)kernels;
    return true;
}

/* Widest first. */
static const is_cpu_kernels *const all_kernels[] = {
#if defined(IS_HAVE_X86_KERNELS)
    &is_cpu_kernels_avx512,
    &is_cpu_kernels_avx2,
#endif
    &is_cpu_kernels_baseline,
};

const is_cpu_kernels *is_cpu_kernels_find(const char *name)
{
    for (size_t i = 0; i < sizeof all_kernels / sizeof *all_kernels; ++i)
        if ((!strcmp(name, "auto") || !strcmp(name, all_kernels[i]->name)) && runs(all_kernels[i]))
            return all_kernels[i];
    return NULL;
}
