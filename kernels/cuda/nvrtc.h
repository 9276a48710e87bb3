/* NVRTC, the run-time compiler of the CUDA toolkit, loaded when the program runs.
 *
 * The build needs no part of the toolkit: a program that was built without it compiles kernels on
 * every machine that has the library. The library is searched under the names libnvrtc.so.13, .12
 * and libnvrtc.so: first where the system keeps libraries, then in the folder of the toolkit that
 * the program was built with, then in /usr/local/cuda/lib64. The environment variable
 * ICESTREAM_NVRTC names another library instead. A library that does not compile for the GPU, or
 * whose kernels the driver of this machine cannot load, is passed over.
 */
#ifndef ICS_KERNELS_CUDA_NVRTC_H
#define ICS_KERNELS_CUDA_NVRTC_H

#include "base/icestream_error.h"
#include "kernels/embedded.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct ics_nvrtc ics_nvrtc;

/* Loads a library that compiles for an architecture: 90 is sm_90, 0 means any. A newer architecture
 * than all that a library knows is no fault: it gets PTX. Returns ICESTREAM_OK, ICESTREAM_E_CONFIG
 * (none is there, or none serves) or ICESTREAM_E_MEMORY. */
int ics_nvrtc_create(int architecture, ics_nvrtc **out, icestream_error *error);
/* Accepts NULL. */
void ics_nvrtc_destroy(ics_nvrtc *nvrtc);

/* "nvrtc 13.0". Results of different versions differ, so cache keys contain this text. */
const char *ics_nvrtc_version(const ics_nvrtc *nvrtc);
/* The newest architecture that the library compiles for; 90 means sm_90. */
int ics_nvrtc_newest(const ics_nvrtc *nvrtc);
/* Prints version, capabilities and file in one line. */
void ics_nvrtc_print(const ics_nvrtc *nvrtc, FILE *out);

/* What to compile. */
typedef struct ics_nvrtc_job {
    const char *source;                 /* the main file */
    const ics_embedded_source *headers; /* [header_count] all files that can be included */
    size_t header_count;
    const char *const *options; /* [option_count] */
    size_t option_count;
    bool as_ptx; /* PTX, else a cubin */
} ics_nvrtc_job;

/* The result: the caller frees both. */
typedef struct ics_nvrtc_output {
    void *image; /* [bytes]; PTX has its final 0 */
    size_t bytes;
    char *log; /* messages of the compiler, also if it failed; NULL: there are none */
} ics_nvrtc_output;

/* Compiles. ICESTREAM_E_CONFIG: `error` has NVRTC's name of the error, output->log its messages. */
int ics_nvrtc_compile(const ics_nvrtc *nvrtc, const ics_nvrtc_job *job, ics_nvrtc_output *output,
                      icestream_error *error);

#endif
