/* The names of the hit files in a folder. */
#ifndef ICS_COMMANDS_MERGE_HIT_NAMES_H
#define ICS_COMMANDS_MERGE_HIT_NAMES_H

#include "pipeline/icestream.h"

#include <dirent.h>

typedef struct ics_hit_names {
    struct dirent **items; /* [count], names in *.hits.npy, in ascending order */
    size_t count;
} ics_hit_names;

/* ICESTREAM_E_INPUT: the folder cannot be read. */
int ics_hit_names_read(const char *folder, ics_hit_names *out, icestream_error *error);
void ics_hit_names_free(ics_hit_names *names);
/* Returns FOLDER/NAME, for the caller to free. */
char *ics_hit_names_path(const char *folder, const char *name);

#endif
