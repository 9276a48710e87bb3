/* What differs between the C compiler of the CPU backend, nvcc and NVRTC. */
#ifndef ICS_STAGES_PLATFORM_H
#define ICS_STAGES_PLATFORM_H

#if defined(__CUDACC_RTC__)
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long size_t;
#else
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#endif

/* ICE_RARE_FN: a function that most photons never call. On a GPU it is a real call, so that it
 * takes no registers from the code around it. */
#if defined(__CUDACC__)
#define ICE_INFINITY    __int_as_float(0x7f800000) /* NVRTC has no math.h */
#define ICE_FN          static __device__ __forceinline__
#define ICE_RARE_FN     static __device__ __noinline__
#define ICE_ALIGNED(n)  alignas(n) /* before the first member of a structure */
#define ICE_UNLIKELY(x) (x)
#else
#define ICE_INFINITY   INFINITY
#define ICE_ALIGNED(n) _Alignas(n)
/* Inlining is a promise to the vectoriser, not a hint: a call in a loop over photons ends it.
 * Builds with sanitizers (ICE_KEEP_CALLS) do without, because clang would need minutes for a
 * function into which all stages are inlined. */
#if defined(ICE_KEEP_CALLS)
#define ICE_FN static inline __attribute__((unused))
#else
#define ICE_FN static inline __attribute__((always_inline, unused))
#endif
#define ICE_RARE_FN     static inline __attribute__((unused))
#define ICE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#endif

#endif
