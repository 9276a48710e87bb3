/* Numbers as people write them in YAML and in tables: strict about everything else. */
#ifndef ICS_CONFIG_SCHEMA_NUMBER_H
#define ICS_CONFIG_SCHEMA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ics_number_result {
    ICS_NUMBER_OK,
    ICS_NUMBER_NONE,      /* not a number at all, or followed by something else */
    ICS_NUMBER_NOT_WHOLE, /* a number, but not a whole one */
    ICS_NUMBER_NEGATIVE,  /* below zero where only unsigned ones are possible */
    ICS_NUMBER_TOO_LARGE  /* beyond the type */
} ics_number_result;

/* What a printed number takes. */
enum { ICS_NUMBER_DIGITS = 32 };

/* A finite decimal number: [+-] digits [. digits] [e [+-] digits], with digits on one side of the
 * point at least, or [+-] 0x and hexadecimal digits. No blanks, NaN or infinity, and no leading
 * zeros before another digit ("010"), which other languages read as octal. */
ics_number_result ics_number_double(const char *text, double *out);

/* The same forms for a whole number from 0 to 2^64-1, read exactly: "200000", "1e6", "2.5e3",
 * "0xff". */
ics_number_result ics_number_unsigned(const char *text, uint64_t *out);

/* A size in bytes: a number as above, not negative, and a unit: B, kB, MB, GB, TB (powers of 1000)
 * or KiB, MiB, GiB, TiB (powers of 1024), with or without a blank between them; without a unit it
 * is in bytes. Fractions are rounded to a byte. ICS_NUMBER_TOO_LARGE beyond 2^53. */
ics_number_result ics_number_bytes(const char *text, uint64_t *out);

/* Writes a size in the largest unit that makes it a whole number: "4 GB", "3 GiB", "4097". Returns
 * buffer. */
const char *ics_number_print_bytes(uint64_t size, char buffer[ICS_NUMBER_DIGITS]);

/* Enough digits, and no more, to read back the same value. Returns buffer. */
const char *ics_number_print(double value, char buffer[ICS_NUMBER_DIGITS]);

#endif
