/* Converts rows of another layout to rows of a schema. Fields are matched by name. A value that
 * does not fit into its field is an error, and so is an identity that a float may have rounded. */
#ifndef ICS_PHOTONS_FILES_FORMAT_CONVERSION_H
#define ICS_PHOTONS_FILES_FORMAT_CONVERSION_H

#include "pipeline/photons/files/format/npy.h"

typedef struct ics_conversion {
    const ics_layout *schema;
    size_t source_row_bytes;
    bool identical; /* the rows have the layout of the schema already */
    struct {
        size_t offset;
        ics_layout_number_type type;
    } sources[ICS_LAYOUT_FIELDS_MAX]; /* one per field of the schema */
} ics_conversion;

/* Finds the schema by the names of the fields. NULL: there is none. */
const ics_layout *ics_conversion_recognise(const ics_npy_field *fields, size_t count);

/* Matches the fields of a source with a schema. ICESTREAM_E_INPUT: a field is missing, exists
 * twice, or is not a little-endian number. */
int ics_conversion_create(const char *name, const ics_npy_field *fields, size_t count,
                          size_t row_bytes, const ics_layout *schema, ics_conversion *out,
                          icestream_error *error);

/* Whether the source has this field in single or half precision. */
bool ics_conversion_is_single(const ics_conversion *conversion, const char *name);

/* Converts `count` rows; `first_row` is the number of the first one, for error texts.
 * ICESTREAM_E_INPUT: a value does not fit its field. */
int ics_conversion_rows(const ics_conversion *conversion, const char *name, uint64_t first_row,
                        const void *source, size_t count, void *target, icestream_error *error);

#endif
