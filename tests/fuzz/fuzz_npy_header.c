/* Any bytes as an .npy header: refused with words, or a header that keeps what npy.h promises. */
#include "pipeline/files/format/conversion.h"
#include "pipeline/files/format/npy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    is_npy_header header;
    is_error error = {.status = IS_OK, .text = ""};
    if (is_npy_parse("fuzz", bytes, size, &header, &error)) {
        require(error.status == IS_E_INPUT && strncmp(error.text, "fuzz: ", 6) == 0);
        return 0;
    }
    require(header.header_bytes <= size && header.row_bytes > 0);
    require(header.row_bytes <= IS_NPY_ROW_MAX && header.rows <= INT64_MAX / header.row_bytes);
    for (size_t i = 0; i < header.field_count; ++i)
        require(header.fields[i].offset + header.fields[i].type.bytes <= header.row_bytes);

    /* Where its fields are those of a table, a row of any bytes converts or is refused. */
    is_conversion conversion;
    const is_schema *schema = is_conversion_recognise(header.fields, header.field_count);
    if (schema && is_conversion_create("fuzz", header.fields, header.field_count, header.row_bytes,
                                       schema, &conversion, &error) == IS_OK) {
        unsigned char *row = calloc(1, header.row_bytes), target[IS_ROW_BYTES_MAX];
        require(row != NULL);
        memcpy(row, bytes, size < header.row_bytes ? size : header.row_bytes);
        (void)is_conversion_rows(&conversion, "fuzz", 0, row, 1, target, &error);
        free(row);
    }
    is_npy_header_free(&header);
    return 0;
}
