#include "pipeline/photons/files/hit_csv.h"

#include "base/error.h"
#include "pipeline/photons/files/format/layout.h"
#include "pipeline/photons/files/hit_lines.h"

#include <float.h>
#include <inttypes.h>
#include <string.h>

enum { COLUMN_NAME = 40 };

/* The name of a field with its unit: "t_ns", and without a unit "weight". Returns `name`. */
static const char *column(const ics_layout_field *field, char name[COLUMN_NAME])
{
    const bool has_unit = strcmp(field->unit, "1") != 0;
    snprintf(name, COLUMN_NAME, "%s%s%s", field->name, has_unit ? "_" : "",
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
    char line[ICS_TEXT_OUTPUT_LINE], name[COLUMN_NAME];
    size_t length = 0;
    for (size_t i = 0; i < layout->field_count && length < sizeof line; ++i) {
        const ics_layout_field *field = &layout->fields[i];
        char *text = line + length;
        const size_t room = sizeof line - length;
        length += (size_t)(hit != NULL ? print_field(field, (const unsigned char *)hit, text, room)
                                       : snprintf(text, room, "%s", column(field, name)));
        if (length < sizeof line) {
            line[length++] = i + 1 < layout->field_count ? ',' : '\n';
        }
    }
    return length < sizeof line ? ics_text_output_put_bytes(file, line, length, error)
                                : ics_error_set(error, ICESTREAM_E_FAILED,
                                                "internal error: a line of %zu bytes", length);
}

static int put_names(ics_text_output *file, icestream_error *error)
{
    return put_line(file, NULL, error);
}

static int put_hit(ics_text_output *file, const icestream_hit *hit, const icestream_hit *before,
                   icestream_error *error)
{
    (void)before;
    return put_line(file, hit, error);
}

int ics_hit_csv_export(const char *from, const char *to, bool force, icestream_error *error)
{
    static const ics_hit_form form = {.begin = put_names, .put = put_hit};
    return ics_hit_lines_export(from, to, force, &form, error);
}
