/* Work that several threads do at the same time, each a part of it. */
#ifndef ICS_BASE_PARTS_H
#define ICS_BASE_PARTS_H

#include <stddef.h>

/* The largest number of parts of ics_parts_run(). */
#define ICS_PARTS_MAX 16

/* Returns into how many parts work with `items` items should be cut, so that each part has at least
 * `least` items (>= 1): 1 .. ICS_PARTS_MAX, and at most the number of processors of this process.
 * Any thread. */
size_t ics_parts_count(size_t items, size_t least);

/* Calls function(user, i) once for every i = 0 .. count - 1 and returns after all calls have ended.
 * The caller's thread does part 0, and each other part has a thread. A part whose thread cannot
 * be started is done by the caller's thread, after part 0. count: 0 .. ICS_PARTS_MAX. The threads
 * block all signals. Any thread. */
void ics_parts_run(size_t count, void (*function)(void *user, size_t part), void *user);

#endif
