/* How much memory this process may still take, and memory for large arrays. */
#ifndef ICS_BASE_MEMORY_H
#define ICS_BASE_MEMORY_H

#include "base/icestream_error.h"

#include <stddef.h>

/* Checks a request for memory before it is made, so that a wrong number in a configuration is an
 * error, and not a process that the kernel kills. `what` names what needs `bytes` of memory, with
 * the verb ("the steps need"), and `reserved` bytes of address space in addition (stacks, for
 * example). The limits are the memory that the machine has available, that of the control group
 * (v2) of the process, and for the address space RLIMIT_AS (ulimit -v). A limit that cannot be read
 * is none. ICESTREAM_E_MEMORY: "the steps need 12 GB, but the machine has 3 GB". */
int ics_memory_check(const char *what, double bytes, double reserved, icestream_error *error);

/* Returns `bytes` bytes of zeros for an array that is read and written at random, or NULL if
 * the machine lacks the memory. The kernel is asked for huge pages, so that the processor finds the
 * address of a page more often without a walk through tables in memory. A kernel without huge pages
 * gives ordinary ones. ics_memory_unmap() frees the array. bytes >= 1. */
void *ics_memory_map(size_t bytes);
/* Frees what ics_memory_map() returned for the same number of bytes. Accepts NULL. */
void ics_memory_unmap(void *memory, size_t bytes);

/* Asks the kernel for huge pages within an array that malloc() or its like returned, so that the
 * process is interrupted less often when the array is first used. Does nothing for small arrays and
 * on kernels without huge pages. Any thread. */
void ics_memory_prefer_large(void *memory, size_t bytes);
/* Returns `bytes` bytes without content for free(), as malloc() does, or NULL. A large array
 * prefers huge pages, with which its first use takes a fraction of the time. Any thread. */
void *ics_memory_large(size_t bytes);
/* Returns an array of `count` items of `size` bytes, all zero, as calloc() does, for free(); NULL:
 * the machine lacks the memory. A large array prefers huge pages. count, size >= 1. Any thread. */
void *ics_memory_zeros(size_t count, size_t size);

/* Makes room for an item behind the `count` items of a growing array, as realloc() does; `capacity`
 * counts the items for which there is room (0: array is NULL). Returns the array, or NULL: the
 * machine lacks the memory, and the old array stays. size >= 1. Any thread. */
void *ics_memory_grow(void *array, size_t count, size_t *capacity, size_t size);

#endif
