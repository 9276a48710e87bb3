/* The names of the parts of a split: a pattern with {part} in place of a number of six digits. */
#ifndef ICS_COMMANDS_SPLIT_NAMES_H
#define ICS_COMMANDS_SPLIT_NAMES_H

#include "pipeline/icestream.h"

enum { ICS_SPLIT_DIGITS = 6, ICS_SPLIT_PARTS_MAX = 1000000 };

typedef struct ics_split_names {
    char folder[4096]; /* "." if the pattern names none */
    char before[256];  /* the name up to {part}, and after it */
    char after[256];
} ics_split_names;

/* Reads a pattern. ICESTREAM_E_USAGE: {part} is not there once in the last part of the path, the
 * name has the ending of another format, or it is too long. */
int ics_split_names_read(const char *pattern, ics_split_names *out, icestream_error *error);

/* Returns the path of part `number`, < ICS_SPLIT_PARTS_MAX. The caller frees it. */
char *ics_split_names_path(const ics_split_names *names, uint32_t number);

/* Refuses a folder in which another split left parts with these names, because workers would
 * compute them, too: any part without `force`, and with it the input or parts whose number is
 * `count` or more. ICESTREAM_E_USAGE names the part; ICESTREAM_E_OUTPUT: the folder cannot be read.
 * `input`: NULL is allowed. */
int ics_split_names_check(const ics_split_names *names, uint32_t count, const char *input,
                          bool force, icestream_error *error);

#endif
