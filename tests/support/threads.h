/* The threads of the test process. */
#ifndef THREADS_H
#define THREADS_H

#include <stddef.h>

/* How many threads of this process have this name, as pthread_setname_np() set it. SIZE_MAX: the
 * threads cannot be listed. */
size_t threads_named(const char *name);

#endif
