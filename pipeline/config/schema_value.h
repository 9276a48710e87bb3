/* One field of a structure: reading and clearing it by its type. Private to the readers and
 * printers of schema.h, and to config_check.c. */
#ifndef IS_SCHEMA_VALUE_H
#define IS_SCHEMA_VALUE_H

#include "pipeline/config/schema.h"

/* Reads a node into the target, freeing what was there. 0, IS_E_CONFIG, IS_E_MEMORY. */
int is_schema_value_read(const is_schema_field *field, const is_yaml_node *node, void *target,
                         is_error *error);
/* Frees what a field owns and sets it to zeros; numbers become zero. */
void is_schema_value_clear(const is_schema_field *field, void *target);

/* Describes what a field may be: "a whole number from 1 to 1024, or auto". Returns buffer. */
const char *is_schema_value_expected(const is_schema_field *field, char *buffer, size_t size);

/* The number in an unsigned, choice or bool member. */
uint64_t is_schema_value_unsigned(const is_schema_field *field, const void *target);

/* "folder/name", or just name where it is absolute, "-", or the folder is "". With `is_pattern`,
 * glob characters of the folder are escaped by backslashes. The caller frees it; NULL: no memory.
 */
char *is_schema_join(const char *folder, const char *name, bool is_pattern);

#endif
