/* `icestream info` for a photon table (tables.md). */
#ifndef ICS_COMMANDS_INFO_TABLE_H
#define ICS_COMMANDS_INFO_TABLE_H

#include "pipeline/icestream.h"

/* The form of a description. */
typedef struct ics_info_form {
    bool is_verified; /* the description says what was checked */
    bool json;        /* a JSON object instead of text */
    bool is_list;     /* the object is one line */
} ics_info_form;

/* Reads the table in the file `npy`, which checks everything in it, and prints its description with
 * the name `path`. *sums: how many sums the file holds. Check ferror(out) afterwards.
 * ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_info_table(const char *path, const char *npy, ics_info_form form, FILE *out, uint64_t *sums,
                   icestream_error *error);

#endif
