/* From rows as somebody wrote them to rows of a schema: fields are matched by name and converted;
 * a value that does not fit is an error, never cut. */
#ifndef IS_CONVERSION_H
#define IS_CONVERSION_H

#include "pipeline/files/format/npy.h"

typedef struct is_conversion {
    const is_schema *schema;
    size_t source_row_bytes;
    bool identical; /* the source's rows are the schema's: nothing to convert */
    struct {
        size_t offset;
        is_number_type type;
    } sources[IS_SCHEMA_FIELDS_MAX]; /* one per field of the schema */
} is_conversion;

/* The schema that the fields' names belong to; NULL: to none. */
const is_schema *is_conversion_recognise(const is_npy_field *fields, size_t count);

/* Matches a source's fields with a schema. IS_E_INPUT: a field is missing, there twice, or not a
 * little-endian number. */
int is_conversion_create(const char *name, const is_npy_field *fields, size_t count,
                         size_t row_bytes, const is_schema *schema, is_conversion *out,
                         is_error *error);

/* Converts `count` rows; `first_row` is the number of the first one, for messages. IS_E_INPUT: a
 * value does not fit its field. */
int is_conversion_rows(const is_conversion *conversion, const char *name, uint64_t first_row,
                       const void *source, size_t count, void *target, is_error *error);

#endif
