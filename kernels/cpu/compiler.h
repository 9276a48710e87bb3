/* The system's C compiler as a child process. */
#ifndef ICS_KERNELS_CPU_COMPILER_H
#define ICS_KERNELS_CPU_COMPILER_H

#include "base/icestream_error.h"

#include <stddef.h>

typedef struct ics_compiler {
    char **command; /* [word_count], the words of $CC, or cc */
    size_t word_count;
    char *version; /* what it says about itself */
} ics_compiler;

/* Finds the compiler and asks it for its version. Returns 0, or -1 with a sentence in `why`: there
 * is none, out of memory. */
int ics_compiler_create(ics_compiler *out, icestream_error *error);
/* Accepts one of zeros. */
void ics_compiler_destroy(ics_compiler *compiler);

/* Runs it with these arguments. Returns 0, or -1: `why` is empty if the compiler itself refused,
 * and *output is what it said; else `why` says why it could not run. The caller frees *output. */
int ics_compiler_run(const ics_compiler *compiler, const char *const *arguments, size_t count,
                     char **output, icestream_error *error);

#endif
