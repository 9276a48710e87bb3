/* What glob() does not tell: folders that a pattern leads to and that cannot be looked into. */
#ifndef ICS_FILES_BLOCKED_H
#define ICS_FILES_BLOCKED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether something but absence keeps a glob pattern from finding all that it stands for: then
 * `place` is the first such folder (or file, of a pattern without wildcards), cut at `size`, and
 * *cause its errno. It may have changed since the pattern was used. Any thread. */
bool ics_blocked_pattern(const char *pattern, char *place, size_t size, int *cause);

#endif
