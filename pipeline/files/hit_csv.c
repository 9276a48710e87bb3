#include "pipeline/files/hit_csv.h"

#include "base/error.h"
#include "pipeline/files/hit_lines.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

const char *ics_hit_csv_column(const ics_layout_field *field, char name[ICS_COLUMN_NAME])
{
    const bool has_unit = strcmp(field->unit, "1") != 0;
    snprintf(name, ICS_COLUMN_NAME, "%s%s%s", field->name, has_unit ? "_" : "",
             has_unit ? field->unit : "");
    return name;
}

/* Prints one field of a row. Returns the number of characters. */
static int print_field(const ics_layout_field *field, const unsigned char *row, char *text,
                       size_t size)
{
    union {
        double f8;
        float f4;
        uint64_t u8;
        uint32_t u4;
        uint16_t u2;
        int16_t i2;
    } value;
    memcpy(&value, row + field->offset, field->type.bytes);
    if (field->type.kind == 'f') {
        return field->type.bytes == sizeof value.f8
                   ? snprintf(text, size, "%.*g", DBL_DECIMAL_DIG, value.f8)
                   : snprintf(text, size, "%.*g", FLT_DECIMAL_DIG, (double)value.f4);
    }
    if (field->type.kind == 'i') { /* the PMT is the only one */
        return snprintf(text, size, "%d", value.i2);
    }
    const uint64_t whole = field->type.bytes == sizeof value.u8   ? value.u8
                           : field->type.bytes == sizeof value.u4 ? value.u4
                                                                  : value.u2;
    return snprintf(text, size, "%" PRIu64, whole);
}

/* Writes the line of a hit, or with NULL the line of names. */
static int put_line(ics_text_output *file, const icestream_hit *hit, icestream_error *error)
{
    const ics_layout *layout = ics_layout_hits();
    char line[ICS_TEXT_OUTPUT_LINE], name[ICS_COLUMN_NAME];
    size_t length = 0;
    for (size_t i = 0; i < layout->field_count && length < sizeof line; ++i) {
        const ics_layout_field *field = &layout->fields[i];
        char *text = line + length;
        const size_t room = sizeof line - length;
        length +=
            (size_t)(hit != NULL ? print_field(field, (const unsigned char *)hit, text, room)
                                 : snprintf(text, room, "%s", ics_hit_csv_column(field, name)));
        if (length < sizeof line) {
            line[length++] = i + 1 < layout->field_count ? ',' : '\n';
        }
    }
    return length < sizeof line ? ics_text_output_put_bytes(file, line, length, error)
                                : ics_error_set(error, ICESTREAM_E_FAILED,
                                                "internal error: a line of %zu bytes", length);
}

static int put_hits(ics_text_output *file, ics_hit_reader *reader, icestream_hit *hits,
                    icestream_error *error)
{
    int status = put_line(file, NULL, error);
    for (size_t got = 1; status == ICESTREAM_OK && got > 0;) {
        status = ics_hit_reader_read(reader, hits, ICS_HIT_LINES_BLOCK, &got, error);
        for (size_t i = 0; status == ICESTREAM_OK && i < got; ++i) {
            status = put_line(file, &hits[i], error);
        }
        if (status == ICESTREAM_OK) {
            status = ics_text_output_pass_on(file, error);
        }
    }
    return status;
}

int ics_hit_csv_export(const char *from, const char *to, bool force, icestream_error *error)
{
    return ics_hit_lines_export(from, to, force, put_hits, error);
}
