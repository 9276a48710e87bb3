/* The threads of the test process. */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>
#include <stddef.h>

/* How many threads of this process have this name, as pthread_setname_np() set it. SIZE_MAX: the
 * threads cannot be listed. */
size_t threads_named(const char *name);

/* Waits up to a minute until no thread has this name: the system may list a thread a moment longer
 * than it lives. Returns whether none is left. */
bool threads_end(const char *name);

#endif
