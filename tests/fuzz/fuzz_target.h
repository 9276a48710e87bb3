/* What every fuzz target needs: the function that the fuzzer calls, and a check that ends the
 * process.
 *
 * To add a target: write fuzz_THING.c with LLVMFuzzerTestOneInput(), which gets any bytes and calls
 * require() for every promise of the code under test, and put good inputs into corpus/THING.
 */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Runs the target with one input. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts if a promise is broken, which the fuzzer reports with the input. */
static inline void require(bool promise)
{
    if (!promise) {
        abort();
    }
}

/* Returns the input with a NUL byte behind it, or NULL without memory. The caller frees it. */
static inline char *copy_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text != NULL) {
        memcpy(text, data, size);
        text[size] = 0;
    }
    return text;
}

#endif
