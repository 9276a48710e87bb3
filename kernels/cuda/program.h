/* The specialised kernels of one run. Their CUDA C sources are embedded in this program; NVRTC
 * compiles them when a run starts, or a cache already has the compiled program.
 *
 * This part needs neither a GPU nor its driver. Without NVRTC, only programs in a cache can run.
 * The name of a cache entry is the SHA-256 of everything that the program is made from: all
 * embedded sources, definitions, the user's headers, options, architecture and compiler. The
 * program is searched in $XDG_CACHE_HOME/icestream (else ~/.cache/icestream), then in the
 * installed, read-only cache that the build target `kernels` fills. Several processes may share a
 * cache, because entries appear by rename and never change. A cache that cannot be written is not
 * an error.
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
    const char *entry; /* embedded file with the kernels: "kernels/cuda/device/event_wavefront.h" */
    const char *definitions;   /* lines "#define NAME VALUE\n" in front of the entry; never NULL */
    const char *const *custom; /* [ICS_STAGES] paths of the user's stage headers, NULL: none; the
                                  array may be NULL, too. The header of stage S defines
                                  ice_S_custom(), see stages/variants.h */
    bool fast_math;            /* defines ICE_MATH_FAST */
    int architecture;          /* 90 means sm_90 */
    bool use_cache;            /* false: always compile, and neither read nor write a cache */
} ics_program_options;

/* The resources of a kernel, as the compiler reports them. */
typedef struct ics_kernel_resources {
    char name[64];
    uint32_t registers;                 /* registers of a thread */
    uint32_t shared_bytes;              /* static, per block */
    uint32_t stack_bytes;               /* stack of a thread (bytes) */
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
    char compiler[64]; /* "nvrtc 13.0" */
    double seconds;    /* time to compile or find the program (s) */
    char key[65];      /* hex SHA-256 */
} ics_program;

/* Finds the program in a cache, or compiles it. A process makes each program once: a thread waits
 * while another one makes the same program, and gets a copy. Returns ICESTREAM_OK,
 * ICESTREAM_E_MEMORY, or ICESTREAM_E_CONFIG: there is no NVRTC and no cache has the program, or a
 * header of the user does not compile (the message has the compiler's lines with the user's file
 * and line). For an architecture that NVRTC does not know, the program is PTX for the newest that
 * it knows. */
int ics_program_create(const ics_program_options *options, ics_program **out,
                       icestream_error *error);
/* Checks that ics_program_create() would not fail for lack of a compiler or because of a header of
 * the user, with the same errors. Only a program with a header of the user is compiled for this. */
int ics_program_check(const ics_program_options *options, icestream_error *error);
/* Accepts NULL. */
void ics_program_destroy(ics_program *program);

/* Writes a digest of everything that ics_program_create makes a program from: the recipe, the
 * architecture, and the version of NVRTC (none if NVRTC cannot be loaded). Compiles nothing. Errors
 * are ICESTREAM_E_MEMORY, and ICESTREAM_E_CONFIG: a header cannot be used. */
int ics_program_digest(const ics_program_options *options, char digest[65], icestream_error *error);

/* A kernel's resources by name, NULL: no such kernel. */
const ics_kernel_resources *ics_program_kernel(const ics_program *program, const char *name);

/* Compiles a program into `directory`, unless it is there already; for the build target `kernels`.
 * `as_ptx`: PTX for all GPUs from options->architecture on. Errors are those of ics_program_create,
 * and ICESTREAM_E_CONFIG if the directory cannot be written. */
int ics_program_store(const ics_program_options *options, bool as_ptx, const char *directory,
                      icestream_error *error);

#endif
