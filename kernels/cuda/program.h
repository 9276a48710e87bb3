/* The specialised kernels of one run: CUDA C from the headers that are embedded in this program,
 * compiled by NVRTC at start-up, or found compiled in a cache.
 *
 * Needs neither a GPU nor its driver. NVRTC is loaded when it is first wanted; without it only what
 * a cache holds can run. A cache entry is named after the SHA-256 of everything that it is made
 * from: all embedded sources, definitions, the user's headers, options, architecture and compiler.
 * Looked for in $XDG_CACHE_HOME/icestream (else ~/.cache/icestream), then in the installed,
 * read-only cache that the build target `kernels` fills. Concurrent processes may share a cache:
 * entries appear by rename and never change. A cache that cannot be written is not an error.
 */
#ifndef ICS_KERNELS_CUDA_PROGRAM_H
#define ICS_KERNELS_CUDA_PROGRAM_H

#include "base/icestream_error.h"
#include "kernels/cache/cache.h"
#include "kernels/stage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ics_program_options {
    const char *entry;         /* embedded file with the kernels, "kernels/cuda/device/fused.h" */
    const char *definitions;   /* lines "#define NAME VALUE\n" that come first; never NULL */
    const char *const *custom; /* [ICS_STAGES] the user's stage headers (paths), NULL: none; may be
                                  NULL itself. The header of stage S defines ice_S_custom(), see
                                  stages/variants.h */
    bool fast_math;            /* defines ICE_MATH_FAST */
    int architecture;          /* 90 for sm_90 */
    bool use_cache;            /* false: compile, neither read nor write a cache */
} ics_program_options;

/* What a kernel takes, as the compiler reports it. */
typedef struct ics_kernel_resources {
    char name[64];
    uint32_t registers;                 /* per thread */
    uint32_t shared_bytes;              /* static, per block */
    uint32_t stack_bytes;               /* per thread */
    uint32_t spill_stores, spill_loads; /* bytes */
} ics_kernel_resources;

typedef enum ics_program_origin {
    ICS_PROGRAM_COMPILED,
    ICS_PROGRAM_CACHED,
    ICS_PROGRAM_INSTALLED /* from the read-only cache */
} ics_program_origin;

typedef struct ics_program {
    void *image; /* [bytes] cubin for the architecture, or PTX text (with its final 0) */
    size_t bytes;
    bool is_ptx;
    ics_kernel_resources *kernels; /* [kernel_count] */
    size_t kernel_count;
    ics_program_origin origin;
    double seconds; /* that it took to get */
    char key[65];   /* hex SHA-256 */
} ics_program;

/* Returns 0, or -1 with a message in `why`: no NVRTC and nothing in a cache; an error in a user's
 * header, with the compiler's lines, which name the user's file and line; out of memory. An
 * architecture newer than NVRTC knows gets PTX for the newest that it does know. */
int ics_program_create(const ics_program_options *options, ics_program **out,
                       icestream_error *error);
/* Accepts NULL. */
void ics_program_destroy(ics_program *program);

/* A kernel's resources by name, NULL: no such kernel. */
const ics_kernel_resources *ics_program_kernel(const ics_program *program, const char *name);

/* Compiles the entries of one set of options for an architecture into `directory`, for the target
 * `kernels`; as ics_program_create otherwise. `as_ptx`: PTX for any GPU from `architecture` on. */
int ics_program_store(const ics_program_options *options, bool as_ptx, const char *directory,
                      icestream_error *error);

#endif
