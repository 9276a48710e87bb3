/* Fuzzes .npy headers. A header is refused with an explanation, or keeps the promises of npy.h.
 * Good inputs are in corpus/npy_header. */
#include "pipeline/photons/files/format/conversion.h"
#include "pipeline/photons/files/format/npy.h"
#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    ics_npy_header header;
    icestream_error error = {.status = ICESTREAM_OK, .text = ""};
    if (ics_npy_parse("fuzz", bytes, size, &header, &error)) {
        require(error.status == ICESTREAM_E_INPUT && strncmp(error.text, "fuzz: ", 6) == 0);
        return 0;
    }
    require(header.header_bytes <= size && header.row_bytes > 0);
    require(header.row_bytes <= ICS_NPY_ROW_MAX && header.rows <= INT64_MAX / header.row_bytes);
    for (size_t i = 0; i < header.field_count; ++i) {
        require(header.fields[i].offset + header.fields[i].type.bytes <= header.row_bytes);
    }

    /* If the fields are those of a table, a row of any bytes is converted or refused. */
    ics_conversion conversion;
    const ics_layout *schema = ics_conversion_recognise(header.fields, header.field_count);
    if (schema != NULL &&
        ics_conversion_create("fuzz", header.fields, header.field_count, header.row_bytes, schema,
                              &conversion, &error) == ICESTREAM_OK) {
        unsigned char *row = calloc(1, header.row_bytes), target[ICS_ROW_BYTES_MAX];
        require(row != NULL);
        memcpy(row, bytes, size < header.row_bytes ? size : header.row_bytes);
        (void)ics_conversion_rows(&conversion, "fuzz", 0, row, 1, target, &error);
        free(row);
    }
    ics_npy_header_free(&header);
    return 0;
}
