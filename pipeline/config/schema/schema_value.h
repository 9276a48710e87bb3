/* One field of a structure: reading and clearing it by its type. Private to the readers and
 * printers of schema.h, and to config_check.c. */
#ifndef ICS_CONFIG_SCHEMA_SCHEMA_VALUE_H
#define ICS_CONFIG_SCHEMA_SCHEMA_VALUE_H

#include "pipeline/config/schema/schema.h"

/* Reads a node into the target, freeing what was there. 0, ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY.
 */
int ics_schema_value_read(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                          icestream_error *error);
/* Frees what a field owns and sets it to zeros; numbers become zero. */
void ics_schema_value_clear(const ics_schema_field *field, void *target);

/* Describes what a field may be: "a whole number from 1 to 1024, or auto". Returns buffer. */
const char *ics_schema_value_expected(const ics_schema_field *field, char *buffer, size_t size);

/* The number in an unsigned, choice or bool member. */
uint64_t ics_schema_value_unsigned(const ics_schema_field *field, const void *target);

/* "folder/name", or just name where it is absolute, "-", or the folder is "". With `ics_pattern`,
 * glob characters of the folder are escaped by backslashes. The caller frees it; NULL: no memory.
 */
char *ics_schema_join(const char *folder, const char *name, bool ics_pattern);

#endif
