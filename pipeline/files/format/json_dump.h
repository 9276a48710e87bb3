/* JSON as text, whole or not at all. */
#ifndef ICS_FILES_FORMAT_JSON_DUMP_H
#define ICS_FILES_FORMAT_JSON_DUMP_H

#include <jansson.h>

/* The value as text, to be freed by the caller; `flags` are those of json_dumps. NULL: no memory,
 * or no value. Any thread, as long as nobody changes the value. */
char *ics_json_dump(const json_t *value, size_t flags);

#endif
