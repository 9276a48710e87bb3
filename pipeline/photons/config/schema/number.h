/* Numbers as people write them in YAML and in tables. Everything that is not clearly a number is
 * refused. */
#ifndef ICS_PHOTONS_CONFIG_SCHEMA_NUMBER_H
#define ICS_PHOTONS_CONFIG_SCHEMA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ics_number_result {
    ICS_NUMBER_OK,
    ICS_NUMBER_NONE,      /* not a number, or a number with more text behind it */
    ICS_NUMBER_NOT_WHOLE, /* a number, but not a whole one */
    ICS_NUMBER_NEGATIVE,  /* below zero, and the type is unsigned */
    ICS_NUMBER_TOO_LARGE  /* beyond the type */
} ics_number_result;

/* Bytes that a printed number needs. */
enum { ICS_NUMBER_DIGITS = 32 };

/* Reads a finite decimal number: [+-] digits [. digits] [e [+-] digits], with digits on at least
 * one side of the point, or [+-] 0x and hexadecimal digits. No blanks, NaN or infinity, and no
 * leading zeros before another digit ("010"), which other languages read as octal. */
ics_number_result ics_number_double(const char *text, double *out);

/* Reads a whole number from 0 to 2^64-1 exactly, in the same forms: "200000", "1e6", "2.5e3",
 * "0xff". */
ics_number_result ics_number_unsigned(const char *text, uint64_t *out);

/* Reads a size in bytes: a number as above, not negative, and a unit: B, kB, MB, GB, TB (powers of
 * 1000) or KiB, MiB, GiB, TiB (powers of 1024), with or without a blank between them; without a
 * unit it is in bytes. Fractions are rounded to a byte. ICS_NUMBER_TOO_LARGE beyond 2^53. */
ics_number_result ics_number_bytes(const char *text, uint64_t *out);

/* Writes a size in the largest unit that makes it a whole number: "4 GB", "3 GiB", "4097". Returns
 * buffer. */
const char *ics_number_print_bytes(uint64_t size, char buffer[ICS_NUMBER_DIGITS]);

/* Writes the fewest digits (at least 6 significant ones, without zeros at the end) that read back
 * to the same value. Returns buffer. */
const char *ics_number_print(double value, char buffer[ICS_NUMBER_DIGITS]);

#endif
