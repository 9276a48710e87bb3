#include "pipeline/photons/files/format/conversion.h"

#include "base/error.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A number of any type in a file. The long double of all our processors has at least the 64 bits of
 * the widest integer. */
typedef struct number {
    bool real; /* it was a floating-point number */
    long double value;
} number;

static const ics_npy_field *find_field(const ics_npy_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(fields[i].name, name) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

const ics_layout *ics_conversion_recognise(const ics_npy_field *fields, size_t count)
{
    /* Each name belongs to one schema only, among this one and those after it, and is unlikely in
     * other files. */
    if (find_field(fields, count, "photon_id") != NULL) {
        return find_field(fields, count, "point") != NULL ? ics_layout_paths() : ics_layout_hits();
    }
    if (find_field(fields, count, "photons") != NULL) {
        return ics_layout_steps();
    }
    if (find_field(fields, count, "bin") != NULL) {
        return ics_layout_waveforms();
    }
    return NULL;
}

static const char *kind_text(char kind)
{
    return kind == 'f' ? "float" : kind == 'i' ? "signed integer" : "unsigned integer";
}

int ics_conversion_create(const char *name, const ics_npy_field *fields, size_t count,
                          size_t row_bytes, const ics_layout *schema, ics_conversion *out,
                          icestream_error *error)
{
    icestream_error found = {.status = ICESTREAM_OK};
    *out = (ics_conversion){.schema = schema, .source_row_bytes = row_bytes};
    out->identical = row_bytes == schema->row_bytes;
    for (size_t i = 0; i < schema->field_count; ++i) {
        const ics_layout_field *field = &schema->fields[i];
        const ics_npy_field *source = find_field(fields, count, field->name);
        if (source == NULL) {
            ics_error_add(&found, ICESTREAM_E_INPUT,
                          "%s: field %s: found none of this name, expected the fields of %s", name,
                          field->name, schema->short_name);
            continue;
        }
        size_t rest = count - (size_t)(source - fields) - 1;
        if (find_field(source + 1, rest, field->name) != NULL) {
            ics_error_add(&found, ICESTREAM_E_INPUT,
                          "%s: field %s: found it twice, expected it once", name, field->name);
        }
        if (!source->type.kind) {
            ics_error_add(&found, ICESTREAM_E_INPUT,
                          "%s: field %s: found type %s, expected a little-endian number", name,
                          field->name, source->found);
        }
        out->sources[i].offset = source->offset;
        out->sources[i].type = source->type;
        out->identical &= source->offset == field->offset &&
                          source->type.kind == field->type.kind &&
                          source->type.bytes == field->type.bytes;
    }
    const ics_layout *other = ics_conversion_recognise(fields, count);
    if (found.status != ICESTREAM_OK && other != NULL && other != schema) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found a file of %s (its fields are theirs), expected one of %s",
                             name, other->short_name, schema->short_name);
    }
    return ics_error_copy(error, found.status ? &found : NULL);
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    int fraction = bits & 1023;
    double value = exponent == 31  ? (fraction ? NAN : INFINITY)
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static number load(ics_layout_number_type type, const unsigned char *bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, type.bytes);
    if (type.kind == 'f' && type.bytes == 8) {
        double value;
        memcpy(&value, bytes, sizeof value);
        return (number){true, value};
    }
    if (type.kind == 'f' && type.bytes == 4) {
        float value;
        memcpy(&value, bytes, sizeof value);
        return (number){true, (double)value};
    }
    if (type.kind == 'f') {
        return (number){true, half_value((uint16_t)bits)};
    }
    const unsigned unused = 64 - 8u * type.bytes; /* bits above those of the integer */
    return type.kind == 'i' ? (number){false, (int64_t)(bits << unused) >> unused}
                            : (number){false, bits};
}

/* Whether a floating-point number of this type has lost whole numbers next to it: an identity that
 * was stored in it may be another one now. */
static bool is_rounded(ics_layout_number_type type, number value)
{
    const double exact = type.bytes == 8 ? 0x1p53 : type.bytes == 4 ? 0x1p24 : 0x1p11;
    return value.real && fabsl(value.value) >= exact;
}

static bool is_identity(const ics_layout_field *field)
{
    const size_t length = strlen(field->name);
    return length > 3 && strcmp(field->name + length - 3, "_id") == 0;
}

/* Stores a number in a field. Returns false if it does not fit. */
static bool store(ics_layout_number_type type, number from, unsigned char *bytes)
{
    const double real = (double)from.value;
    if (type.kind == 'f' && type.bytes == 8) {
        memcpy(bytes, &real, sizeof real);
        return true;
    }
    if (type.kind == 'f') {
        const bool fits = !isfinite(real) || fabs(real) <= (double)FLT_MAX;
        const float single = fits ? (float)real : 0.0f;
        memcpy(bytes, &single, sizeof single);
        return fits;
    }
    const bool is_signed = type.kind == 'i';
    const long double end = ldexpl(1.0L, 8 * type.bytes - is_signed);
    if (!(from.value >= (is_signed ? -end : 0.0L) && from.value < end) ||
        truncl(from.value) != from.value) {
        return false;
    }
    const uint64_t stored = from.value < 0 ? (uint64_t)(int64_t)from.value : (uint64_t)from.value;
    memcpy(bytes, &stored, type.bytes);
    return true;
}

static int misfit(const char *name, uint64_t row, const ics_layout_field *field, number value,
                  icestream_error *error)
{
    char text[40];
    snprintf(text, sizeof text, value.real ? "%.9Lg" : "%.0Lf", value.value);
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: row %" PRIu64 ", field %s: found %s, expected a value that fits a "
                         "%d-byte %s",
                         name, row, field->name, text, field->type.bytes,
                         kind_text(field->type.kind));
}

static int rounded(const char *name, uint64_t row, const ics_layout_field *field,
                   ics_layout_number_type type, number value, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: row %" PRIu64 ", field %s: found %.17Lg in a float of %d bytes, "
                         "which rounds whole numbers of this size; expected an integer type",
                         name, row, field->name, value.value, type.bytes);
}

bool ics_conversion_is_single(const ics_conversion *conversion, const char *name)
{
    for (size_t i = 0; i < conversion->schema->field_count; ++i) {
        if (strcmp(conversion->schema->fields[i].name, name) == 0) {
            return conversion->sources[i].type.kind == 'f' && conversion->sources[i].type.bytes < 8;
        }
    }
    return false;
}

int ics_conversion_rows(const ics_conversion *conversion, const char *name, uint64_t first_row,
                        const void *source, size_t count, void *target, icestream_error *error)
{
    if (conversion->identical) {
        memcpy(target, source, count * conversion->schema->row_bytes);
        return ICESTREAM_OK;
    }
    for (size_t row = 0; row < count; ++row) {
        const unsigned char *from =
            (const unsigned char *)source + row * conversion->source_row_bytes;
        unsigned char *to = (unsigned char *)target + row * conversion->schema->row_bytes;
        for (size_t i = 0; i < conversion->schema->field_count; ++i) {
            const ics_layout_field *field = &conversion->schema->fields[i];
            number value = load(conversion->sources[i].type, from + conversion->sources[i].offset);
            if (!store(field->type, value, to + field->offset)) {
                return misfit(name, first_row + row, field, value, error);
            }
            if (is_rounded(conversion->sources[i].type, value) && is_identity(field)) {
                return rounded(name, first_row + row, field, conversion->sources[i].type, value,
                               error);
            }
        }
    }
    return ICESTREAM_OK;
}
