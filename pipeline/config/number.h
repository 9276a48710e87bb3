/* Numbers as people write them in YAML and in tables: strict about everything else. */
#ifndef IS_NUMBER_H
#define IS_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum is_number_result {
    IS_NUMBER_OK,
    IS_NUMBER_NONE,      /* not a number at all, or followed by something else */
    IS_NUMBER_NOT_WHOLE, /* a number, but not a whole one */
    IS_NUMBER_NEGATIVE,  /* below zero where only unsigned ones are possible */
    IS_NUMBER_TOO_LARGE  /* beyond the type */
} is_number_result;

/* A finite decimal number: [+-] digits [. digits] [e [+-] digits], with digits on one side of the
 * point at least, or [+-] 0x and hexadecimal digits. No blanks, NaN or infinity, and no leading
 * zeros before another digit ("010"), which other languages read as octal. */
is_number_result is_number_double(const char *text, double *out);

/* The same forms for a whole number from 0 to 2^64-1, read exactly: "200000", "1e6", "2.5e3",
 * "0xff". */
is_number_result is_number_unsigned(const char *text, uint64_t *out);

/* Enough digits, and no more, to read back the same value. Returns buffer. */
enum { IS_NUMBER_DIGITS = 32 };
const char *is_number_print(double value, char buffer[IS_NUMBER_DIGITS]);

#endif
