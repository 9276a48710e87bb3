/* Memory for small things in code of the program, which needs no branch for a machine without
 * memory. If there is none, these functions write "icestream: out of memory" to standard error and
 * end the process at once with the exit status of ICESTREAM_E_MEMORY. What a run has written stays
 * as it is, as after a kill.
 *
 * Two kinds of code do not use them. What a session calls returns ICESTREAM_E_MEMORY, because
 * libicestream never ends a process (docs/library.md; icestream_run is the whole command, and may).
 * And memory whose size a user chooses (batches, pools, hits, lists of a million names) is asked
 * for with malloc() and its like, so that the error names what was too large.
 *
 * Everything is freed with free(). Any thread. */
#ifndef ICS_BASE_NEW_H
#define ICS_BASE_NEW_H

#include <jansson.h>
#include <stddef.h>

/* Returns a `type` of zeros, or `count` of them. */
#define ICS_NEW(type)              ((type *)ics_new_zeros(1, sizeof(type)))
#define ICS_NEW_ARRAY(type, count) ((type *)ics_new_zeros((count), sizeof(type)))

/* Ends the process, as the other functions do without memory. */
void ics_new_fail(void) __attribute__((noreturn));
void *ics_new_zeros(size_t count, size_t size) __attribute__((returns_nonnull, malloc));
/* Returns the array with `count` items of `size` bytes each, as realloc() does; new items have no
 * content. `array` may be NULL. */
void *ics_new_size(void *array, size_t count, size_t size) __attribute__((returns_nonnull));
/* Returns a copy of a text; NULL for NULL. */
char *ics_new_copy(const char *text);
/* Returns a text as asprintf() makes it. */
char *ics_new_text(const char *format, ...) __attribute__((returns_nonnull, format(printf, 1, 2)));
/* Returns what another library has made, and ends the process if that is NULL. Use it only for
 * functions that return NULL for one reason: there was no memory. */
void *ics_new_made(void *made) __attribute__((returns_nonnull));

/* Adds a value to an object or to an array, which takes the reference over. These functions take
 * NULL as a value that could not be made without memory. jansson also returns NULL for texts that
 * are not UTF-8, so do not use them for such texts. */
void ics_new_member(json_t *object, const char *key, json_t *value);
void ics_new_item(json_t *array, json_t *value);

#endif
