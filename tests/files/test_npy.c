/* The parts of the file format: headers, types, checksums, digests, tails and metadata. */
#include "pipeline/files/digest.h"
#include "pipeline/files/format/conversion.h"
#include "pipeline/files/format/crc32c.h"
#include "pipeline/files/format/npy.h"
#include "pipeline/files/format/trailer.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- headers: ours -------------------------------------------------------------------------- */

START_TEST(own_header_has_the_normative_bytes)
{
    unsigned char header[1024];
    ics_npy_write_header(ics_layout_steps(), 17, header);
    ck_assert_mem_eq(header, "\x93NUMPY\x01\x00\xf6\x03", 10); /* 0x03f6 = 1014 */
    ck_assert_mem_eq(header + 10, "{'shape': (", 11);
    ck_assert_mem_eq(header + 21, "                  17", 20);
    static const char rest[] =
        ",), 'descr': [('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('t', '<f4'), ('dx', '<f4'), "
        "('dy', '<f4'), ('dz', '<f4'), ('length', '<f4'), ('beta', '<f4'), ('weight', '<f4'), "
        "('photons', '<u4'), ('source_id', '<u4'), ('event_id', '<u8'), ('step_id', '<u4'), "
        "('kind', '|u1'), ('spectrum', '|u1'), ('flags', '<u2')], 'fortran_order': False, }";
    ck_assert_mem_eq(header + 41, rest, sizeof rest - 1);
    for (size_t i = 41 + sizeof rest - 1; i < 1023; ++i) {
        ck_assert_int_eq(header[i], ' ');
    }
    ck_assert_int_eq(header[1023], '\n');

    ics_npy_write_header(ics_layout_hits(), UINT64_MAX, header);
    static const char hits[] =
        "18446744073709551615,), 'descr': [('event_id', '<u8'), ('t', '<f8'), ('x', '<f4'), "
        "('y', '<f4'), ('z', '<f4'), ('dx', '<f4'), ('dy', '<f4'), ('dz', '<f4'), "
        "('wavelength', '<f4'), ('weight', '<f4'), ('step_id', '<u4'), ('photon_id', '<u4'), "
        "('string', '<u2'), ('module', '<u2'), ('pmt', '<i2'), ('scatters', '<u2')], ";
    ck_assert_mem_eq(header + 21, hits, sizeof hits - 1);
}
END_TEST

START_TEST(own_header_is_read_back)
{
    unsigned char bytes[1024];
    ics_npy_header header;
    icestream_error error;
    ics_npy_write_header(ics_layout_hits(), 123456, bytes);
    ck_assert_int_eq(ics_npy_parse("a.npy", bytes, sizeof bytes, &header, &error), 0);
    ck_assert_uint_eq(header.rows, 123456);
    ck_assert_uint_eq(header.row_bytes, 64);
    ck_assert_uint_eq(header.header_bytes, 1024);
    ck_assert_uint_eq(header.field_count, 16);
    ck_assert_str_eq(header.fields[14].name, "pmt");
    ck_assert_uint_eq(header.fields[14].offset, 60);
    ck_assert_int_eq(header.fields[14].type.kind, 'i');
    ics_conversion conversion;
    ck_assert_ptr_eq(ics_conversion_recognise(header.fields, header.field_count),
                     ics_layout_hits());
    ck_assert_int_eq(ics_conversion_create("a.npy", header.fields, header.field_count, 64,
                                           ics_layout_hits(), &conversion, &error),
                     0);
    ck_assert(conversion.identical);
    ics_npy_header_free(&header);
}
END_TEST

/* ---- headers: anybody's --------------------------------------------------------------------- */

/* Puts magic string, version and length before a dictionary. Returns the size. */
static size_t frame(int version, const char *dictionary, size_t length, unsigned char *bytes)
{
    size_t preamble = version == 1 ? 10 : 12;
    memset(bytes, 0, 12);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)(length & 255);
    bytes[9] = (unsigned char)(length >> 8 & 255);
    memcpy(bytes + preamble, dictionary, length);
    return preamble + length;
}

static int parse(int version, const char *dictionary, ics_npy_header *header,
                 icestream_error *error)
{
    unsigned char bytes[4096];
    size_t size = frame(version, dictionary, strlen(dictionary), bytes);
    error->text[0] = 0;
    return ics_npy_parse("a.npy", bytes, size, header, error);
}

static const struct {
    int version;
    const char *dictionary;
    uint64_t rows;
    size_t row_bytes, fields, last_offset;
    char last_kind; /* 0: no number that we convert */
} good_headers[] = {
    {1, "{'descr': [('x', '<f4'), ('e', '<u8')], 'fortran_order': False, 'shape': (3,), }  \n", 3,
     12, 2, 4, 'u'},
    {2,
     "{'descr': [('a', '|u1'), ('', '|V3'), ('b', '<f4')], 'fortran_order': False, 'shape': (0,)}",
     0, 8, 3, 4, 'f'},
    {3,
     "{'descr': [('\xc3\xa4', '|u1'), (\"it's\", '<i8')], 'fortran_order': False, 'shape': (1,)}",
     1, 9, 2, 1, 'i'},
    {1, "{'shape':(5,),'fortran_order':False,'descr':[(('a title','nm'),'=f8',),]}", 5, 8, 1, 0,
     'f'},
    {1,
     "{'descr': [('v', '<f4', (3,)), ('w', '<f4', (2, 2)), ('u', '<f4', 5)], "
     "'fortran_order': False, 'shape': (1,)}",
     1, 48, 3, 28, 0},
    {1,
     "{'descr': [('s', [('a', '<f4'), ('b', [('c', '|u1')])]), ('t', '|b1')], "
     "'fortran_order': False, 'shape': (1,)}",
     1, 6, 2, 5, 'b'},
    {1,
     "{'descr': [('n', '<U10'), ('d', '<M8[ns]'), ('x', '>f4')], 'fortran_order': False, "
     "'shape': (1,)}",
     1, 52, 3, 48, 0},
    {1, "{'descr': [('x', '>u1')], 'fortran_order': False, 'shape': (1,)}", 1, 1, 1, 0, 'u'},
    {1, "{'descr': [('x\\'y', '<f2')], 'fortran_order': False, 'shape': (1,)}", 1, 2, 1, 0, 'f'},
};

START_TEST(good_header_is_read)
{
    ics_npy_header header;
    icestream_error error;
    ck_assert_msg(parse(good_headers[_i].version, good_headers[_i].dictionary, &header, &error) ==
                      0,
                  "%s", error.text);
    ck_assert_uint_eq(header.rows, good_headers[_i].rows);
    ck_assert_uint_eq(header.row_bytes, good_headers[_i].row_bytes);
    ck_assert_uint_eq(header.field_count, good_headers[_i].fields);
    ck_assert_uint_eq(header.fields[header.field_count - 1].offset, good_headers[_i].last_offset);
    ck_assert_int_eq(header.fields[header.field_count - 1].type.kind, good_headers[_i].last_kind);
    ics_npy_header_free(&header);
}
END_TEST

#define FIELDS "{'descr': [('x', '<f4')], "
#define ORDER  "'fortran_order': False, "

static const struct {
    const char *dictionary, *expected;
} bad_headers[] = {
    {"     ", "found the end of the header, expected '{'"},
    {"[1, 2, 3]", "found '[', expected '{'"},
    {"{'descr': '<f4', " ORDER "'shape': (3,)}", "found ''', expected a list of fields"},
    {"{'descr': [], " ORDER "'shape': (3,)}", "expected at least one field"},
    {"{'descr': [('x', '|V0')], " ORDER "'shape': (3,)}", "expected at least one field"},
    {"{'descr': [('x', '|O')], " ORDER "'shape': (3,)}", "field x: found Python objects"},
    {"{'descr': [('x', '<q4')], " ORDER "'shape': (3,)}", "field x: found type '<q4'"},
    {"{'descr': [('x', '<f')], " ORDER "'shape': (3,)}", "field x: found type '<f'"},
    {"{'descr': [('x', '')], " ORDER "'shape': (3,)}", "field x: found type ''"},
    {"{'descr': [('x', '<f4[3]')], " ORDER "'shape': (3,)}", "field x: found type '<f4[3]'"},
    {"{'descr': [('x', '|V99999999999')], " ORDER "'shape': (3,)}", "found type '|V99999999999'"},
    {"{'descr': [('x', '|V2000000')], " ORDER "'shape': (3,)}", "expected rows of at most 1 MiB"},
    {"{'descr': [('x', '<f4', (9999999,))], " ORDER "'shape': (3,)}", "a sub-array of less than"},
    {"{'descr': [('x', '<f4', (1, 'a'))], " ORDER "'shape': (3,)}", "the extent of a sub-array"},
    {"{'descr': [('x', '<f4', (1 2))], " ORDER "'shape': (3,)}", "expected ')'"},
    {"{'descr': [('x' '<f4')], " ORDER "'shape': (3,)}", "found ''', expected ','"},
    {"{'descr': [('x', '<f4') ('y', '<f4')], " ORDER "'shape': (3,)}", "found '(', expected ']'"},
    {"{'descr': [(3, '<f4')], " ORDER "'shape': (3,)}", "found '3', expected the name of a field"},
    {"{'descr': [('x', 4)], " ORDER "'shape': (3,)}", "expected a type such as '<f4'"},
    {"{'descr': [(('t', 3), '<f4')], " ORDER "'shape': (3,)}", "expected a field's name"},
    {"{'descr': [('x', '<f4'", "found the end of the header, expected ')'"},
    {"{'descr': [('x", "found the end of the header, expected the end of a string"},
    {"{'descr': [('x\\", "found the end of the header, expected the end of a string"},
    {"{'descr': [('x\n', '<f4')]}", "found byte 0x0a, expected the end of a string"},
    {"{'descr': [('s',[('s',[('s',[('s',[('s',[('s',[('s',[('s',[('s',[", "nested at most 8 deep"},
    {FIELDS "'fortran_order': True, 'shape': (3,)}", "expected fortran_order False"},
    {FIELDS "'fortran_order': 0, 'shape': (3,)}", "expected fortran_order False"},
    {FIELDS ORDER "'shape': ()}", "expected a shape of one dimension"},
    {FIELDS ORDER "'shape': (3)}", "expected a shape of one dimension"},
    {FIELDS ORDER "'shape': (3, 4)}", "found '4', expected a shape of one dimension"},
    {FIELDS ORDER "'shape': (-3,)}", "found '-', expected a shape of one dimension"},
    {FIELDS ORDER "'shape': 3}", "found '3', expected '('"},
    {FIELDS ORDER "'shape': (18446744073709551616,)}", "found a number of 2^64 or more"},
    {FIELDS ORDER "'shape': (99999999999999999999999999,)}", "found a number of 2^64 or more"},
    {FIELDS ORDER "'shape': (18446744073709551615,)}", "expected less than 2^63 bytes in all"},
    {FIELDS ORDER "'shape': (4611686018427387904,)}", "expected less than 2^63 bytes in all"},
    {FIELDS ORDER "}", "found no key 'shape'"},
    {FIELDS "'shape': (3,)}", "found no key 'fortran_order'"},
    {"{" ORDER "'shape': (3,)}", "found no key 'descr'"},
    {"{}        ", "found no key 'descr'"},
    {FIELDS ORDER "'shape': (3,), 'more': 1}", "found key 'more', expected descr"},
    {FIELDS ORDER "'shape': (3,), 'shape': (3,)}", "found key 'shape' again"},
    {FIELDS ORDER "'shape': (3,)} x", "found 'x', expected nothing but blanks"},
    {FIELDS ORDER "'shape' (3,)}", "found '(', expected ':'"},
    {FIELDS ORDER "shape: (3,)}", "found 's', expected a key"},
    {"\xff\xfe\xfd{'descr': 1}", "found byte 0xff, expected '{'"},
};

START_TEST(bad_header_is_explained)
{
    ics_npy_header header;
    icestream_error error;
    int status = parse(1 + _i % 3, bad_headers[_i].dictionary, &header, &error);
    ck_assert_int_eq(status, ICESTREAM_E_INPUT);
    ck_assert_msg(strncmp(error.text, "a.npy: ", 7) == 0, "%s", error.text);
    ck_assert_msg(strstr(error.text, bad_headers[_i].expected) != NULL, "found '%s', expected '%s'",
                  error.text, bad_headers[_i].expected);
}
END_TEST

START_TEST(zero_byte_after_the_dictionary_is_an_error)
{
    static const char text[] = FIELDS ORDER "'shape': (3,)} \0   ";
    unsigned char bytes[256];
    ics_npy_header header;
    icestream_error error;
    size_t size = frame(1, text, sizeof text - 1, bytes);
    ck_assert_int_eq(ics_npy_parse("a.npy", bytes, size, &header, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found byte 0x00, expected the end of the header"));
}
END_TEST

static const struct {
    const char *bytes;
    size_t size;
    const char *expected;
} bad_preambles[] = {
    {"", 0, "found an empty file"},
    {"\x93NUM", 4, "found 4 bytes, expected a complete .npy header"},
    {"PK\x03\x04zipped...", 13, "found no .npy magic string"},
    {"\x93NUMPX\x01\x00\x76\x00{'", 12, "found no .npy magic string"},
    {"\x93NUMPY\x04\x00\x76\x00\x00\x00", 12, "found .npy version 4.0"},
    {"\x93NUMPY\x01\x01\x76\x00{'", 12, "found .npy version 1.1"},
    {"\x93NUMPY\x00\x00\x76\x00{'", 12, "found .npy version 0.0"},
    {"\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12,
     "found a header of 2147483647 bytes, expected at most 1048564"},
    {"\x93NUMPY\x03\x00\xff\xff\xff\xff", 12, "found a header of 4294967295 bytes"},
    {"\x93NUMPY\x01\x00\x00\x00{'", 12, "byte 8: found a header of 0 bytes, expected a dictionary"},
    {"\x93NUMPY\x01\x00\x03\x00[ ]", 13, "header byte 10: found '[', expected '{'"},
    {"\x93NUMPY\x01\x00\x00\x02{'", 12, "found 12 bytes, expected a header of 522"},
};

START_TEST(bad_preamble_is_explained)
{
    ics_npy_header header;
    icestream_error error;
    ck_assert_int_eq(ics_npy_parse("a.npy", (const unsigned char *)bad_preambles[_i].bytes,
                                   bad_preambles[_i].size, &header, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, bad_preambles[_i].expected) != NULL,
                  "found '%s', expected '%s'", error.text, bad_preambles[_i].expected);
}
END_TEST

/* Every cut of a good header is an error, never a crash or a success. */
START_TEST(cut_header_is_an_error)
{
    unsigned char bytes[1024];
    ics_npy_header header;
    icestream_error error;
    ics_npy_write_header(ics_layout_steps(), 5, bytes);
    for (size_t size = 0; size < sizeof bytes; ++size) {
        ck_assert_int_eq(ics_npy_parse("a.npy", bytes, size, &header, &error), ICESTREAM_E_INPUT);
    }
}
END_TEST

/* ---- conversion ----------------------------------------------------------------------------- */

/* One row with one field of interest, converted to the step field of the same name. */
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

START_TEST(numbers_that_fit_are_converted)
{
    icestream_step step;
    icestream_error error;
    double real = -0.1;
    ck_assert_int_eq(convert_one("x", (ics_layout_number_type){'f', 8}, &real, &step, &error), 0);
    ck_assert(step.x == -0.1f);
    uint16_t half = 0x3555; /* the half-precision number nearest to a third */
    ck_assert_int_eq(convert_one("x", (ics_layout_number_type){'f', 2}, &half, &step, &error), 0);
    ck_assert(step.x == 0.333251953125f);
    half = 0x8001; /* the smallest one, negative */
    ck_assert_int_eq(convert_one("x", (ics_layout_number_type){'f', 2}, &half, &step, &error), 0);
    ck_assert(step.x == -0x1p-24f);
    half = 0xfc00;
    ck_assert_int_eq(convert_one("x", (ics_layout_number_type){'f', 2}, &half, &step, &error), 0);
    ck_assert(isinf(step.x) && step.x < 0);
    half = 0x7e00;
    ck_assert_int_eq(convert_one("x", (ics_layout_number_type){'f', 2}, &half, &step, &error), 0);
    ck_assert(isnan(step.x));
    int8_t small = -128;
    ck_assert_int_eq(convert_one("z", (ics_layout_number_type){'i', 1}, &small, &step, &error), 0);
    ck_assert(step.z == -128.0f);
    int64_t large = INT64_MIN;
    ck_assert_int_eq(convert_one("z", (ics_layout_number_type){'i', 8}, &large, &step, &error), 0);
    ck_assert(step.z == -0x1p63f);
    large = 4294967295;
    ck_assert_int_eq(
        convert_one("photons", (ics_layout_number_type){'i', 8}, &large, &step, &error), 0);
    ck_assert_uint_eq(step.photons, 4294967295u);
    real = 200;
    ck_assert_int_eq(convert_one("photons", (ics_layout_number_type){'f', 8}, &real, &step, &error),
                     0);
    ck_assert_uint_eq(step.photons, 200);
    uint8_t yes = 1;
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

START_TEST(signed_fields_take_their_whole_range)
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

/* ---- checksums and digests ------------------------------------------------------------------ */

START_TEST(checksums_have_the_published_values)
{
    /* CRC-32C check value of RFC 3720 B.4 and of every catalogue; SHA-256 of FIPS 180-4. */
    char text[ICS_DIGEST_TEXT];
    icestream_error error;
    unsigned char zeros[32] = {0};
    ck_assert_uint_eq(ics_crc32c(0, "123456789", 9), 0xE3069283u);
    ck_assert_uint_eq(ics_crc32c(ics_crc32c(0, "1234", 4), "56789", 5), 0xE3069283u);
    ck_assert_uint_eq(ics_crc32c(0, zeros, sizeof zeros), 0x8A9136AAu);
    ck_assert_int_eq(ics_digest_of("abc", 3, text, &error), 0);
    ck_assert_str_eq(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");

    ics_digest *digest = NULL;
    ck_assert_int_eq(ics_digest_create(&digest, &error), 0);
    ics_digest_text(digest, text);
    ck_assert_str_eq(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    ics_digest_add(digest, "ab", 2);
    ics_digest_text(digest, text); /* looking does not disturb */
    ics_digest_add(digest, "c", 1);
    ics_digest_text(digest, text);
    ck_assert_str_eq(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ics_digest_reset(digest);
    ics_digest_text(digest, text);
    ck_assert_str_eq(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    ics_digest_destroy(digest);
}
END_TEST

START_TEST(blocks_do_not_depend_on_how_bytes_arrive)
{
    enum { SIZE = 3 * (1 << 20) + 1000 };
    unsigned char *bytes = malloc(SIZE);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < SIZE; ++i) {
        bytes[i] = (unsigned char)(i * 7 + (i >> 13));
    }
    ics_trailer_checksums whole = {0}, pieces = {0};
    icestream_error error;
    ck_assert_int_eq(ics_trailer_checksums_add(&whole, bytes, SIZE, &error), 0);
    for (size_t at = 0, step = 1; at < SIZE; at += step, step = step * 3 % 100003 + 1) {
        ck_assert_int_eq(ics_trailer_checksums_add(&pieces, bytes + at,
                                                   step < SIZE - at ? step : SIZE - at, &error),
                         0);
    }
    ck_assert_int_eq(ics_trailer_checksums_finish(&whole, &error), 0);
    ck_assert_int_eq(ics_trailer_checksums_finish(&pieces, &error), 0);
    ck_assert_uint_eq(whole.count, 4);
    ck_assert_uint_eq(pieces.count, 4);
    ck_assert_mem_eq(whole.values, pieces.values, 4 * sizeof *whole.values);
    ck_assert_uint_eq(whole.values[1], ics_crc32c(0, bytes + (1 << 20), 1 << 20));
    ics_trailer_checksums_free(&whole);
    ics_trailer_checksums_free(&pieces);
    free(bytes);
}
END_TEST

/* ---- trailers ------------------------------------------------------------------------------- */

START_TEST(tail_has_the_normative_bytes)
{
    const ics_tail tail = {.offset = 0x0102030405060708, .length = 0x11, .checksum = 0xa1b2c3d4};
    unsigned char bytes[32];
    ics_trailer_tail_write(&tail, bytes);
    ck_assert_mem_eq(bytes,
                     "\x08\x07\x06\x05\x04\x03\x02\x01" /* u8 offset of the JSON */
                     "\x11\0\0\0\0\0\0\0"               /* u8 length */
                     "\xd4\xc3\xb2\xa1"                 /* u4 CRC-32C */
                     "\x01\0\0\0"                       /* u4 version 1 */
                     "ISTRAIL1",
                     32);
    ics_tail back;
    icestream_error error;
    ck_assert_int_eq(
        ics_trailer_tail_parse("a.npy", bytes, tail.offset, tail.offset + 0x11 + 32, &back, &error),
        0);
    ck_assert_uint_eq(back.checksum, 0xa1b2c3d4);
    ck_assert_uint_eq(back.length, 0x11);
}
END_TEST

START_TEST(wrong_tail_is_explained)
{
    static const struct {
        size_t at;
        unsigned char value;
        const char *expected;
    } damages[] = {
        {31, 'X', "do not end in ISTRAIL1"},
        {24, 0, "do not end in ISTRAIL1"},
        {20, 2, "found version 2, expected 1"},
        {0, 1, "found metadata at byte 1025 with 17 bytes, expected it at byte 1024 with 17"},
        {8, 16, "found metadata at byte 1024 with 16 bytes, expected it at byte 1024 with 17"},
        {15, 255, "with 18374686479671623697 bytes"},
    };
    const ics_tail tail = {.offset = 1024, .length = 17, .checksum = 0};
    ics_tail back;
    icestream_error error;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; ++i) {
        unsigned char bytes[32];
        ics_trailer_tail_write(&tail, bytes);
        bytes[damages[i].at] = damages[i].value;
        ck_assert_int_eq(
            ics_trailer_tail_parse("a.npy", bytes, 1024, 1024 + 17 + 32, &back, &error),
            ICESTREAM_E_INPUT);
        ck_assert_msg(strstr(error.text, damages[i].expected) != NULL, "found '%s', expected '%s'",
                      error.text, damages[i].expected);
    }
    const ics_tail huge = {.offset = 1024, .length = (64 << 20) + 1, .checksum = 0};
    unsigned char bytes[32];
    ics_trailer_tail_write(&huge, bytes);
    ck_assert_int_eq(
        ics_trailer_tail_parse("a.npy", bytes, 1024, 1024 + huge.length + 32, &back, &error),
        ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "expected at most 67108864"));
}
END_TEST

#define HEAD "{\"schema\":\"icestream.steps\",\"version\":1,\"rows\":3,"
#define SUMS "\"crc32c\":{\"block_bytes\":1048576,\"values\":[7]}}"

static const struct {
    const char *text, *expected; /* NULL: good */
} metadata_texts[] = {
    {HEAD SUMS, NULL},
    {HEAD "\"more\":{\"a\":[1,null]}," SUMS, NULL},
    {"", "of the metadata"},
    {"[1]", "found another JSON value, expected a JSON object"},
    {"{\"schema\":", "of the metadata"},
    {"{\"a\":1,\"a\":2}", "duplicate"},
    {HEAD SUMS " x", "end of file expected"},
    {"{}", "schema: found nothing, expected icestream.steps"},
    {"{\"schema\":\"icestream.hits\"}",
     "schema: found \"icestream.hits\", expected icestream.steps"},
    {"{\"schema\":\"icestream.steps\",\"version\":2}", "version: found 2, expected 1"},
    {"{\"schema\":\"icestream.steps\",\"version\":1,\"rows\":4}", "rows: found 4, expected 3"},
    {"{\"schema\":\"icestream.steps\",\"version\":1,\"rows\":\"3\"}",
     "rows: found \"3\", expected 3"},
    {HEAD "\"crc32c\":7}", "crc32c.block_bytes: found nothing, expected 1048576"},
    {HEAD "\"crc32c\":{\"block_bytes\":64,\"values\":[7]}}", "crc32c.block_bytes: found 64"},
    {HEAD "\"crc32c\":{\"block_bytes\":1048576,\"values\":[]}}",
     "expected a list with one checksum"},
    {HEAD "\"crc32c\":{\"block_bytes\":1048576,\"values\":[1,2]}}", "expected a list with one"},
    {HEAD "\"crc32c\":{\"block_bytes\":1048576,\"values\":[-1]}}", "found -1, expected an integer"},
    {HEAD "\"crc32c\":{\"block_bytes\":1048576,\"values\":[4294967296]}}",
     "expected an integer of 32"},
    {HEAD "\"crc32c\":{\"block_bytes\":1048576,\"values\":[1.5]}}",
     "expected an integer of 32 bits"},
};

START_TEST(metadata_are_checked)
{
    const char *text = metadata_texts[_i].text;
    const ics_tail tail = {1024 + 192, strlen(text), ics_crc32c(0, text, strlen(text))};
    const ics_trailer_table table = {.schema = ics_layout_steps(), .rows = 3, .row_bytes = 64};
    ics_trailer trailer;
    icestream_error error = {.text = ""};
    int status = ics_trailer_parse("a.npy", text, &tail, &table, &trailer, &error);
    if (metadata_texts[_i].expected != NULL) {
        ck_assert_int_eq(status, ICESTREAM_E_INPUT);
        ck_assert_msg(strstr(error.text, metadata_texts[_i].expected) != NULL, "found '%s'",
                      error.text);
    } else {
        ck_assert_msg(status == 0, "%s", error.text);
        ck_assert_uint_eq(trailer.count, 1);
        ck_assert_uint_eq(trailer.checksums[0], 7);
        uint32_t other = 8;
        const ics_trailer_checksums sums = {.values = &other, .count = 1};
        ck_assert_int_eq(ics_trailer_verify(&trailer, "a.npy", &sums, 64, &error),
                         ICESTREAM_E_INPUT);
        ck_assert_ptr_nonnull(strstr(error.text,
                                     "rows 0 to 16383: found CRC-32C 00000008, expected "
                                     "00000007"));
        ics_trailer_free(&trailer);
    }
}
END_TEST

START_TEST(metadata_checksum_is_checked)
{
    static const char text[] = HEAD SUMS;
    const ics_tail tail = {1024 + 192, sizeof text - 1, 1};
    const ics_trailer_table table = {.schema = ics_layout_steps(), .rows = 3, .row_bytes = 64};
    ics_trailer trailer;
    icestream_error error;
    ck_assert_int_eq(ics_trailer_parse("a.npy", text, &tail, &table, &trailer, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "expected 00000001"));
}
END_TEST

START_TEST(metadata_are_completed)
{
    json_t *given = json_pack("{s:s, s:s, s:i}", "seed", "18446744073709551615", "producer",
                              "somebody 7", "rows", 99);
    uint32_t sum = 5;
    const ics_trailer_checksums sums = {.values = &sum, .count = 1};
    const ics_trailer_table table = {.schema = ics_layout_hits(), .rows = 2, .row_bytes = 64};
    char *text = NULL;
    size_t size = 0;
    icestream_error error;
    ck_assert_int_eq(ics_trailer_format(given, &table, &sums, 1024 + 128, &text, &size, &error), 0);
    static const char expected[] =
        "{\"seed\":\"18446744073709551615\",\"producer\":\"somebody 7\",\"rows\":2,"
        "\"schema\":\"icestream.hits\",\"version\":1,"
        "\"coordinates\":\"x, y, z from the module's centre, z up; t after the event's t0\","
        "\"units\":{\"event_id\":\"1\",\"t\":\"ns\",\"x\":\"m\",\"y\":\"m\",\"z\":\"m\",\"dx\":"
        "\"1\","
        "\"dy\":\"1\",\"dz\":\"1\",\"wavelength\":\"nm\",\"weight\":\"1\",\"step_id\":\"1\","
        "\"photon_id\":\"1\",\"string\":\"1\",\"module\":\"1\",\"pmt\":\"1\",\"scatters\":\"1\"},"
        "\"crc32c\":{\"block_bytes\":1048576,\"values\":[5]}}";
    ck_assert_uint_eq(size, sizeof expected - 1 + 32);
    ck_assert_mem_eq(text, expected, sizeof expected - 1);
    ck_assert_int_eq(json_integer_value(json_object_get(given, "rows")), 99); /* untouched */
    ics_tail tail;
    ics_trailer trailer;
    ck_assert_int_eq(ics_trailer_tail_parse("a", (unsigned char *)text + size - 32, 1152,
                                            1152 + size, &tail, &error),
                     0);
    ck_assert_int_eq(ics_trailer_parse("a", text, &tail, &table, &trailer, &error), 0);
    ics_trailer_free(&trailer);
    json_decref(given);
    free(text);
}
END_TEST

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

ICS_TEST_MAIN("npy")
{
    TCase *headers = tcase_create("headers");
    tcase_add_test(headers, own_header_has_the_normative_bytes);
    tcase_add_test(headers, own_header_is_read_back);
    tcase_add_loop_test(headers, good_header_is_read, 0, COUNT(good_headers));
    tcase_add_loop_test(headers, bad_header_is_explained, 0, COUNT(bad_headers));
    tcase_add_loop_test(headers, bad_preamble_is_explained, 0, COUNT(bad_preambles));
    tcase_add_test(headers, zero_byte_after_the_dictionary_is_an_error);
    tcase_add_test(headers, cut_header_is_an_error);
    suite_add_tcase(suite, headers);
    TCase *conversion = tcase_create("conversion");
    tcase_add_test(conversion, numbers_that_fit_are_converted);
    tcase_add_loop_test(conversion, number_that_does_not_fit_is_an_error, 0, COUNT(misfits));
    tcase_add_test(conversion, signed_fields_take_their_whole_range);
    tcase_add_test(conversion, unusable_fields_are_all_named);
    suite_add_tcase(suite, conversion);
    TCase *trailers = tcase_create("trailers");
    tcase_add_test(trailers, checksums_have_the_published_values);
    tcase_add_test(trailers, blocks_do_not_depend_on_how_bytes_arrive);
    tcase_add_test(trailers, tail_has_the_normative_bytes);
    tcase_add_test(trailers, wrong_tail_is_explained);
    tcase_add_loop_test(trailers, metadata_are_checked, 0, COUNT(metadata_texts));
    tcase_add_test(trailers, metadata_checksum_is_checked);
    tcase_add_test(trailers, metadata_are_completed);
    suite_add_tcase(suite, trailers);
}
