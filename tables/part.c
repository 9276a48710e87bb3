/* The part of tables that depends only on the detector.
 *
 * It is built alone, into tables whose other members are all zero. Tables with this part begin as a
 * copy of them, and share the arrays. */
#include "base/error.h"
#include "tables/internal.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct ics_detector_part {
    ice_tables tables;         /* only the members of the detector; the others are zero */
    ics_table_builder builder; /* its arrays */
};

int ics_tables_part_create(const ice_detector *detector, ics_detector_part **out,
                           icestream_error *error)
{
    *out = NULL;
    ics_detector_part *part = calloc(1, sizeof *part);
    if (part == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for tables");
    }
    part->builder.tables = &part->tables;
    part->builder.error = error;
    const int status = ics_tables_build_detector(&part->builder, detector);
    part->builder.error = NULL; /* it may end before the part */
    if (status != ICESTREAM_OK) {
        ics_tables_part_destroy(part);
        return status;
    }
    *out = part;
    return ICESTREAM_OK;
}

void ics_tables_part_destroy(ics_detector_part *part)
{
    if (part != NULL) {
        ics_tables_free_arrays(&part->builder);
        free(part);
    }
}

void ics_tables_copy_part(ice_tables *tables, const ics_detector_part *part)
{
    memcpy(tables, &part->tables, sizeof *tables); /* with the bytes between the members */
}

void ics_tables_share_arrays(ics_table_builder *builder, const ics_detector_part *part)
{
    const ics_table_builder *from = &part->builder;
    for (size_t i = 0; i < from->array_count; ++i) {
        const ptrdiff_t offset = (char *)from->arrays[i].pointer - (const char *)&part->tables;
        const size_t n = builder->array_count++;
        builder->arrays[n] = from->arrays[i];
        builder->arrays[n].pointer = (char *)builder->tables + offset;
        builder->arrays[n].is_shared = true;
    }
}
