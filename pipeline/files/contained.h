/* Work that may break the process, done in a process of its own: libraries that read files without
 * looking. */
#ifndef ICS_FILES_CONTAINED_H
#define ICS_FILES_CONTAINED_H

#include "pipeline/icestream.h"

/* Calls work(user, error) in a child process and returns what it returned, with its error. What it
 * changes in memory is lost; files that it writes stay. ICESTREAM_E_INPUT, naming `file`, where the
 * child ends in another way, by a fault for example; ICESTREAM_E_FAILED: there can be no child.
 * Waits until it has ended. Not for processes whose other threads hold locks that `work` needs. */
int ics_contained_check(int (*work)(void *user, icestream_error *error), void *user,
                        const char *file, icestream_error *error);

#endif
