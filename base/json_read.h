/* Texts from outside as JSON: the whole value or none. */
#ifndef ICS_BASE_JSON_READ_H
#define ICS_BASE_JSON_READ_H

#include <jansson.h>
#include <stddef.h>

/* Reads `length` bytes as one JSON array or object, which the caller releases; `flags` are
 * JSON_REJECT_DUPLICATES or 0. jansson (2.14) leaves a character out of a text or of a number when
 * it has no memory for a longer one, and goes on. This function returns no such value.
 *
 * NULL: errno is ENOMEM, and there is no memory; or the text is no JSON, and *why says why and
 * where, with positions in `text`. `why` may be NULL. Any thread. */
json_t *ics_json_read(const char *text, size_t length, size_t flags, json_error_t *why);

/* The same for a text that ends with a zero byte; `text` may be NULL, which is no JSON. */
json_t *ics_json_read_text(const char *text, size_t flags, json_error_t *why);

#endif
