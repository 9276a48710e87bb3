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
#ifndef IS_CUDA_PROGRAM_H
#define IS_CUDA_PROGRAM_H

#include "kernels/cache_directory.h"
#include "kernels/stage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct is_program_options {
    const char *entry;         /* embedded file with the kernels, "kernels/cuda/device/fused.h" */
    const char *definitions;   /* lines "#define NAME VALUE\n" that come first; never NULL */
    const char *const *custom; /* [IS_STAGES] the user's stage headers (paths), NULL: none; may be
                                  NULL itself. The header of stage S defines ice_S_custom(), see
                                  stages/variants.h */
    bool fast_math;            /* defines ICE_MATH_FAST */
    int architecture;          /* 90 for sm_90 */
    bool use_cache;            /* false: compile, neither read nor write a cache */
} is_program_options;

/* What a kernel takes, as the compiler reports it. */
typedef struct is_kernel_resources {
    char name[64];
    uint32_t registers;                 /* per thread */
    uint32_t shared_bytes;              /* static, per block */
    uint32_t stack_bytes;               /* per thread */
    uint32_t spill_stores, spill_loads; /* bytes */
} is_kernel_resources;

typedef enum is_program_origin {
    IS_PROGRAM_COMPILED,
    IS_PROGRAM_CACHED,
    IS_PROGRAM_INSTALLED /* from the read-only cache */
} is_program_origin;

typedef struct is_program {
    void *image; /* [bytes] cubin for the architecture, or PTX text (with its final 0) */
    size_t bytes;
    bool is_ptx;
    is_kernel_resources *kernels; /* [kernel_count] */
    size_t kernel_count;
    is_program_origin origin;
    double seconds; /* that it took to get */
    char key[65];   /* hex SHA-256 */
} is_program;

/* Returns 0, or -1 with a message in `why`: no NVRTC and nothing in a cache; an error in a user's
 * header, with the compiler's lines, which name the user's file and line; out of memory. An
 * architecture newer than NVRTC knows gets PTX for the newest that it does know. */
int is_program_create(const is_program_options *options, is_program **out, char *why,
                      size_t why_size);
/* Accepts NULL. */
void is_program_destroy(is_program *program);

/* A kernel's resources by name, NULL: no such kernel. */
const is_kernel_resources *is_program_kernel(const is_program *program, const char *name);

/* Compiles the entries of one set of options for an architecture into `directory`, for the target
 * `kernels`; as is_program_create otherwise. `as_ptx`: PTX for any GPU from `architecture` on. */
int is_program_store(const is_program_options *options, bool as_ptx, const char *directory,
                     char *why, size_t why_size);

#endif
