/* NVRTC, the run-time compiler of the CUDA toolkit, loaded when the program runs.
 *
 * Nothing of the toolkit is needed to build this: a program that was built without it compiles
 * kernels wherever it finds the library. Looked for as libnvrtc.so.13, .12 and libnvrtc.so where
 * the system keeps libraries, then in the folder of the toolkit that the program was built with and
 * in /usr/local/cuda/lib64. The variable ICESTREAM_NVRTC names another library instead.
 */
#ifndef ICS_KERNELS_CUDA_NVRTC_H
#define ICS_KERNELS_CUDA_NVRTC_H

#include "base/icestream_error.h"
#include "kernels/embedded.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct ics_nvrtc ics_nvrtc;

/* Returns 0, or -1 with what is missing in `why`. */
int ics_nvrtc_create(ics_nvrtc **out, icestream_error *error);
/* Accepts NULL. */
void ics_nvrtc_destroy(ics_nvrtc *nvrtc);

/* "nvrtc 13.0": what was compiled by another one is not the same. */
const char *ics_nvrtc_version(const ics_nvrtc *nvrtc);
/* The newest architecture that it compiles for, 90 for sm_90. */
int ics_nvrtc_newest(const ics_nvrtc *nvrtc);

/* What to compile. */
typedef struct ics_nvrtc_job {
    const char *source;                 /* the main file */
    const ics_embedded_source *headers; /* [header_count] all that can be included */
    size_t header_count;
    const char *const *options; /* [option_count] */
    size_t option_count;
    bool as_ptx; /* PTX, else a cubin */
} ics_nvrtc_job;

/* The result: the caller frees both. */
typedef struct ics_nvrtc_output {
    void *image; /* [bytes]; PTX has its final 0 */
    size_t bytes;
    char *log; /* what the compiler said, also if it failed; NULL: nothing */
} ics_nvrtc_output;

/* Returns 0, or -1 with NVRTC's name of the error in `why` and its reasons in output->log. */
int ics_nvrtc_compile(const ics_nvrtc *nvrtc, const ics_nvrtc_job *job, ics_nvrtc_output *output,
                      icestream_error *error);

#endif
