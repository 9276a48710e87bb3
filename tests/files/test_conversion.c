/* Promise: fields of other number types are converted to those of steps and hits if every number
 * fits, and a number or a field that does not fit is an error that names it. To join: a new fault
 * of a number is a row of `misfits`. */
#include "pipeline/photons/files/format/conversion.h"
#include "tests/files/npy_text.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* Converts one row with one field to the step field with the same name. */
static int convert_one(const char *field, ics_layout_number_type type, const void *value,
                       icestream_step *out, icestream_error *error)
{
    const ics_layout *schema = ics_layout_steps();
    ics_npy_field fields[ICS_LAYOUT_FIELDS_MAX] = {{{0}, {0}, {0, 0}, 0}};
    unsigned char row[256] = {0};
    for (size_t i = 0; i < schema->field_count; ++i) {
        snprintf(fields[i].name, sizeof fields[i].name, "%s", schema->fields[i].name);
        fields[i].offset = 8 * i;
        fields[i].type = schema->fields[i].type;
        if (strcmp(field, fields[i].name) == 0) {
            fields[i].type = type;
            memcpy(row + 8 * i, value, type.bytes);
        }
    }
    ics_conversion conversion;
    ck_assert_int_eq(ics_conversion_create("a.npy", fields, schema->field_count, 8 * 17, schema,
                                           &conversion, error),
                     0);
    ck_assert(!conversion.identical);
    return ics_conversion_rows(&conversion, "a.npy", 40, row, 1, out, error);
}

/* Bytes of a number, the lowest one first, and the value that x of a step gets. */
static const struct {
    ics_layout_number_type type;
    const char *bytes;
    float x;
} good_numbers[] = {
    {{'f', 8}, "\x9a\x99\x99\x99\x99\x99\xb9\xbf", -0.1f},
    {{'f', 2}, "\x55\x35", 0.333251953125f}, /* the half-precision number nearest to a third */
    {{'f', 2}, "\x01\x80", -0x1p-24f},       /* the smallest one, negative */
    {{'f', 2}, "\x00\xfc", -INFINITY},
    {{'f', 2}, "\x00\x7e", NAN},
    {{'i', 1}, "\x80", -128.0f},
    {{'i', 8}, "\0\0\0\0\0\0\0\x80", -0x1p63f},
};

START_TEST(numbers_that_fit_are_converted)
{
    icestream_step step;
    icestream_error error;
    const float x = good_numbers[_i].x;
    ck_assert_int_eq(convert_one("x", good_numbers[_i].type, good_numbers[_i].bytes, &step, &error),
                     0);
    ck_assert(isnan(x) ? isnan(step.x) : step.x == x);
}
END_TEST

START_TEST(whole_numbers_are_kept)
{
    icestream_step step;
    icestream_error error;
    const int64_t large = 4294967295;
    const double real = 200;
    const uint8_t yes = 1;
    ck_assert_int_eq(
        convert_one("photons", (ics_layout_number_type){'i', 8}, &large, &step, &error), 0);
    ck_assert_uint_eq(step.photons, 4294967295u);
    ck_assert_int_eq(convert_one("photons", (ics_layout_number_type){'f', 8}, &real, &step, &error),
                     0);
    ck_assert_uint_eq(step.photons, 200);
    ck_assert_int_eq(convert_one("flags", (ics_layout_number_type){'b', 1}, &yes, &step, &error),
                     0);
    ck_assert_uint_eq(step.flags, 1);
}
END_TEST

static const struct {
    const char *field;
    ics_layout_number_type type;
    double real;
    int64_t integer;
    const char *expected;
} misfits[] = {
    {"x",
     {'f', 8},
     1e39,
     0,
     "row 40, field x: found 1e+39, expected a value that fits a 4-byte float"},
    {"photons",
     {'f', 8},
     0.5,
     0,
     "field photons: found 0.5, expected a value that fits a 4-byte uns"},
    {"photons", {'f', 8}, -1, 0, "field photons: found -1, expected"},
    {"photons", {'f', 8}, NAN, 0, "field photons: found nan, expected"},
    {"photons", {'f', 8}, INFINITY, 0, "field photons: found inf, expected"},
    {"photons", {'f', 8}, 4294967296.0, 0, "field photons: found 4.2949673e+09, expected"},
    {"photons", {'i', 8}, 0, 4294967296, "field photons: found 4294967296, expected"},
    {"photons", {'i', 8}, 0, -1, "field photons: found -1, expected"},
    {"photons", {'i', 8}, 0, INT64_MIN, "field photons: found -9223372036854775808, expected"},
    {"event_id", {'f', 8}, 18446744073709551616.0, 0, "field event_id: found 1.84467441e+19"},
    /* Other events were rounded to these. */
    {"event_id",
     {'f', 8},
     0x1p53 + 2,
     0,
     "row 40, field event_id: found 9007199254740994 in a float of 8 bytes, which rounds whole "
     "numbers of this size; expected an integer type"},
    {"source_id", {'f', 8}, 0x1p60, 0, "field source_id: found 1.152921504606847e+18 in a float"},
    {"kind",
     {'u', 8},
     0,
     256,
     "field kind: found 256, expected a value that fits a 1-byte unsigned"},
    {"flags", {'i', 8}, 0, 65536, "field flags: found 65536, expected"},
};

START_TEST(number_that_does_not_fit_is_an_error)
{
    icestream_step step;
    icestream_error error;
    const void *value = misfits[_i].type.kind == 'f' ? (const void *)&misfits[_i].real
                                                     : (const void *)&misfits[_i].integer;
    ck_assert_int_eq(convert_one(misfits[_i].field, misfits[_i].type, value, &step, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, misfits[_i].expected) != NULL, "found '%s', expected '%s'",
                  error.text, misfits[_i].expected);
}
END_TEST

START_TEST(signed_fields_have_their_whole_range)
{
    const ics_npy_field source = {.name = "pmt", .type = {'i', 8}, .offset = 0};
    ics_npy_field fields[ICS_LAYOUT_FIELDS_MAX];
    for (size_t i = 0; i < 16; ++i) {
        fields[i] = (ics_npy_field){.type = {'u', 1}, .offset = 8};
        snprintf(fields[i].name, sizeof fields[i].name, "%s", ics_layout_hits()->fields[i].name);
        if (strcmp(fields[i].name, "pmt") == 0) {
            fields[i] = source;
        }
    }
    ics_conversion conversion;
    icestream_error error;
    icestream_hit hit;
    ck_assert_int_eq(
        ics_conversion_create("a.npy", fields, 16, 9, ics_layout_hits(), &conversion, &error), 0);
    const int64_t values[] = {-32768, 32767, -32769, 32768};
    for (int i = 0; i < 4; ++i) {
        unsigned char row[9] = {0};
        memcpy(row, &values[i], 8);
        int status = ics_conversion_rows(&conversion, "a.npy", 0, row, 1, &hit, &error);
        ck_assert_int_eq(status, i < 2 ? 0 : ICESTREAM_E_INPUT);
        if (i < 2) {
            ck_assert_int_eq(hit.pmt, values[i]);
        }
    }
}
END_TEST

START_TEST(unusable_fields_are_all_named)
{
    ics_npy_header header;
    icestream_error error;
    ics_conversion conversion;
    ck_assert_int_eq(parse(1,
                           "{'descr': [('x', '>f4'), ('x', '<f4'), ('y', '<f4', (3,)), "
                           "('z', [('a', '<f4')]), ('t', '<c8')], 'fortran_order': False, "
                           "'shape': (1,)}",
                           &header, &error),
                     0);
    ck_assert_ptr_null(ics_conversion_recognise(header.fields, header.field_count));
    ck_assert_int_eq(ics_conversion_create("a.npy", header.fields, header.field_count,
                                           header.row_bytes, ics_layout_steps(), &conversion,
                                           &error),
                     ICESTREAM_E_INPUT);
    static const char *const expected[] = {
        "field x: found it twice, expected it once",
        "field x: found type >f4, expected a little-endian number",
        "field y: found type a sub-array, expected",
        "field z: found type a structure, expected",
        "field t: found type <c8, expected",
        "field beta: found none of this name",
        "field flags: found none of this name",
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        ck_assert_msg(strstr(error.text, expected[i]) != NULL, "'%s' is not in '%s'", expected[i],
                      error.text);
    }
    ics_npy_header_free(&header);
}
END_TEST

ICS_TEST_MAIN("conversion")
{
    TCase *conversion = tcase_create("conversion");
    tcase_add_loop_test(conversion, numbers_that_fit_are_converted, 0, COUNT(good_numbers));
    tcase_add_test(conversion, whole_numbers_are_kept);
    tcase_add_loop_test(conversion, number_that_does_not_fit_is_an_error, 0, COUNT(misfits));
    tcase_add_test(conversion, signed_fields_have_their_whole_range);
    tcase_add_test(conversion, unusable_fields_are_all_named);
    suite_add_tcase(suite, conversion);
}
