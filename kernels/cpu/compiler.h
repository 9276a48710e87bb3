/* The system's C compiler as a child process. */
#ifndef ICS_KERNELS_CPU_COMPILER_H
#define ICS_KERNELS_CPU_COMPILER_H

#include "base/icestream_error.h"

#include <stddef.h>

typedef struct ics_compiler {
    char **command; /* [word_count], the words of $CC, or cc; and NULL */
    size_t word_count;
    char *version; /* what the compiler prints with --version */
} ics_compiler;

/* Finds the compiler and reads its version. Returns ICESTREAM_OK, ICESTREAM_E_CONFIG (there is no
 * compiler, or it fails) or ICESTREAM_E_MEMORY. */
int ics_compiler_create(ics_compiler *out, icestream_error *error);
/* Accepts a zeroed struct. */
void ics_compiler_destroy(ics_compiler *compiler);

/* Runs the compiler with these arguments, and with the options in $CC behind them, and waits for
 * it. Sets *output to everything that it printed; the caller frees it. Returns ICESTREAM_OK,
 * ICESTREAM_E_CONFIG or ICESTREAM_E_MEMORY. After an error, *output is NULL if the compiler did not
 * run (`error` has the reason), and else holds the messages of the compiler (`error` is unchanged).
 */
int ics_compiler_run(const ics_compiler *compiler, const char *const *arguments, size_t count,
                     char **output, icestream_error *error);

#endif
