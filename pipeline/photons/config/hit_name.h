/* Names of hit files, made of sink.name: "{stem}" in it stands for the name of the step file
 * without its ending. A name is part of no digest, because hits do not depend on it. */
#ifndef ICS_PHOTONS_CONFIG_HIT_NAME_H
#define ICS_PHOTONS_CONFIG_HIT_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* What sink.name is if it is not given. */
#define ICS_HIT_NAME_USUAL "{stem}.hits.npy"

/* Whether the name has "{stem}", so that several step files have hit files of different names. */
bool ics_hit_name_has_stem(const char *pattern);

/* Why the name cannot be used, as "expected ..."; NULL: it can. */
const char *ics_hit_name_fault(const char *pattern);

/* The name for a step file: the pattern with the first `length` bytes of `stem` in place of every
 * "{stem}". NULL: out of memory. The caller frees it. */
char *ics_hit_name_make(const char *pattern, const char *stem, size_t length);

#endif
