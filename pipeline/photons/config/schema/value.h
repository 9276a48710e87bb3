/* One field of a structure: its member, what it may be, reading its value. Private to the reader
 * and the printer of schema.h, and to pipeline/photons/config/check.c. */
#ifndef ICS_PHOTONS_CONFIG_SCHEMA_VALUE_H
#define ICS_PHOTONS_CONFIG_SCHEMA_VALUE_H

#include "pipeline/photons/config/schema/schema.h"

/* ---- members: value.c ----------------------------------------------------------------------- */

/* The number in an unsigned, choice or bool member. */
uint64_t ics_schema_value_unsigned(const ics_schema_field *field, const void *target);
void ics_schema_value_set_unsigned(const ics_schema_field *field, void *target, uint64_t value);
/* Stores a text that belongs to the target from now on, and frees the old one. */
void ics_schema_value_set_text(const ics_schema_field *field, void *target, char *text);
/* The same for the path of an ICS_SCHEMA_VARIANT. */
void ics_schema_value_set_source(const ics_schema_field *field, void *target, char *path);
/* The same for an array and its count: ICS_SCHEMA_PATTERNS and ICS_SCHEMA_LIST. */
void ics_schema_value_set_array(const ics_schema_field *field, void *target, void *items,
                                size_t count);
/* Returns the number of structures of an item. */
uint32_t ics_schema_value_structures(const ics_schema_list *list, const char *item);
/* Frees an array of items with all that they own. Accepts NULL. */
void ics_schema_value_free_list(const ics_schema_list *list, char *items, size_t count);
/* Frees what a field owns and sets it to zeros; numbers become zero. */
void ics_schema_value_clear(const ics_schema_field *field, void *target);

/* Describes what a field may be: "a whole number from 1 to 1024, or auto". Returns buffer. */
const char *ics_schema_value_expected(const ics_schema_field *field, char *buffer, size_t size);
/* Writes " from LOW to HIGH". */
void ics_schema_value_range(char *buffer, size_t size, double low, double high);

/* ---- reading: read.c ------------------------------------------------------------------------ */

/* Reads a node into the target and frees the old value. Of an ICS_SCHEMA_VARIANT only names, and no
 * ICS_SCHEMA_LIST. 0, ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_schema_value_read(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                          icestream_error *error);

/* ---- reading lists: list.c ------------------------------------------------------------------ */

/* Reads a mapping into a structure of zeros. Errors like ics_schema_read. */
typedef int ics_schema_mapping_reader(const ics_schema_list *list, const ics_yaml_node *mapping,
                                      void *target, icestream_error *error);
/* The same as ics_schema_value_read() for an ICS_SCHEMA_LIST. */
int ics_schema_list_read(const ics_schema_field *field, const ics_yaml_node *node, void *target,
                         ics_schema_mapping_reader *read, icestream_error *error);

/* ---- paths: read.c -------------------------------------------------------------------------- */

/* "folder/name", or just name if it is absolute or "-", or if the folder is "". `is_pattern`:
 * glob characters of the folder are escaped by backslashes. The caller frees the result; NULL: no
 * memory. */
char *ics_schema_join(const char *folder, const char *name, bool is_pattern);

#endif
