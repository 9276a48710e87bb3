/* Work that may break the process, done in a process of its own: libraries that read files without
 * looking. */
#ifndef IS_CONTAINED_H
#define IS_CONTAINED_H

#include "pipeline/icestream.h"

/* Calls work(user, error) in a child process and returns what it returned, with its error. What it
 * changes in memory is lost; files that it writes stay. IS_E_INPUT, naming `file`, where the child
 * ends in another way, by a fault for example; IS_E_FAILED: there can be no child. Waits until it
 * has ended. Not for processes whose other threads hold locks that `work` needs. */
int is_contained(int (*work)(void *user, is_error *error), void *user, const char *file,
                 is_error *error);

#endif
