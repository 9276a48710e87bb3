/* Folders that a glob pattern leads to and that cannot be read, which glob() does not report. */
#ifndef ICS_BASE_BLOCKED_H
#define ICS_BASE_BLOCKED_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if a glob pattern could not find all its files for another reason than that they do
 * not exist. `where` gets the first folder that cannot be read (or the file, if the pattern has no
 * wildcards), cut at `size`, and *cause gets its errno. The state is that of now, not of the time
 * when the pattern was used. Any thread. */
bool ics_blocked_pattern(const char *pattern, char *where, size_t size, int *cause);

#endif
