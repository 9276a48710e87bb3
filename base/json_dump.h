/* JSON as text: the complete text or none. */
#ifndef ICS_BASE_JSON_DUMP_H
#define ICS_BASE_JSON_DUMP_H

#include <jansson.h>

/* Returns the value as text, which the caller frees; `flags` are those of json_dumps(). NULL: there
 * is no memory, or `value` is NULL. Any thread, as long as no thread changes the value. */
char *ics_json_dump(const json_t *value, size_t flags);

#endif
