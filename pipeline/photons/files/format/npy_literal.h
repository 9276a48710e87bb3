/* The Python literals of a .npy header: strings, non-negative integers, and the brackets and commas
 * of tuples, lists and dictionaries. NumPy writes nothing else but True and False; npy.c reads
 * these. Private to npy.c.
 *
 * Functions that return a status: ICESTREAM_E_INPUT with the byte, what was found and what was
 * expected.
 */
#ifndef ICS_PHOTONS_FILES_FORMAT_NPY_LITERAL_H
#define ICS_PHOTONS_FILES_FORMAT_NPY_LITERAL_H

#include "pipeline/icestream.h"

/* Where the reader is in a header. */
typedef struct ics_npy_cursor {
    const char *name; /* name of the file in messages */
    const unsigned char *bytes;
    size_t size, at;
    int depth; /* depth of nested structures */
    icestream_error *error;
} ics_npy_cursor;

void ics_npy_literal_skip_blanks(ics_npy_cursor *c);
/* Returns the next character that is not blank, and stays in front of it; 0 at the end. (A zero
 * byte is not valid anywhere either.) */
unsigned char ics_npy_literal_peek(ics_npy_cursor *c);
/* The error that something else was found than `expected`. */
int ics_npy_literal_unexpected(ics_npy_cursor *c, const char *expected);
/* Takes this character if it is the next one that is not blank. */
bool ics_npy_literal_accept(ics_npy_cursor *c, char character);
/* The same; another character is an error. */
int ics_npy_literal_expect(ics_npy_cursor *c, char character);
/* Takes what follows an element of a tuple, list or dictionary: a comma, the closing bracket, or
 * both. *more is false after the closing bracket. */
int ics_npy_literal_next(ics_npy_cursor *c, char closing, bool *more);
/* Reads a string and cuts it to `capacity`, with its final 0. Escapes are kept as they are written,
 * because no name or type that we look for contains any. `what`: what the string is, for messages.
 */
int ics_npy_literal_string(ics_npy_cursor *c, char *text, size_t capacity, const char *what);
/* Reads an integer; 2^64 and more is an error. */
int ics_npy_literal_integer(ics_npy_cursor *c, uint64_t *value, const char *what);

#endif
