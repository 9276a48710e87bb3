/* Threads of the process that runs the test. */
#ifndef TESTS_SUPPORT_THREADS_H
#define TESTS_SUPPORT_THREADS_H

#include <stddef.h>

/* Counts the threads with this name. The program names its threads, so neither the thread of main()
 * nor threads of a sanitizer count. SIZE_MAX: the system does not list threads. */
size_t threads_named(const char *name);

#endif
