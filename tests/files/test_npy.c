/* Promise: our .npy headers have the bytes of files.md 2, headers of other programs are understood,
 * and each damaged header is refused with the reason. To join: a header of another program is a row
 * of `good_headers`. More faults are in tests/cli/bad_inputs/bad_inputs_steps.py. */
#include "pipeline/photons/files/format/conversion.h"
#include "tests/files/npy_text.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <string.h>

/* ---- our headers ---------------------------------------------------------------------------- */

START_TEST(own_header_has_the_normative_bytes)
{
    unsigned char header[1024];
    ics_npy_write_header(ics_layout_steps(), 17, header);
    ck_assert_mem_eq(header, "\x93NUMPY\x01\x00\xf6\x03", 10); /* 0x03f6 = 1014 */
    ck_assert_mem_eq(header + 10, "{'shape': (", 11);
    ck_assert_mem_eq(header + 21, "                  17", 20);
    static const char rest[] =
        ",), 'descr': [('x', '<f4'), ('y', '<f4'), ('z', '<f4'), ('photons', '<u4'), "
        "('dx', '<f4'), ('dy', '<f4'), ('dz', '<f4'), ('length', '<f4'), ('beta', '<f4'), "
        "('weight', '<f4'), ('t', '<f8'), ('event_id', '<u8'), ('step_id', '<u4'), "
        "('kind', '|u1'), ('spectrum', '|u1'), ('flags', '<u2'), ('source_id', '<u8')], "
        "'fortran_order': False, }";
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

/* ---- headers of other programs -------------------------------------------------------------- */

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
    {FIELDS ORDER "'shape': 3}", "found '3', expected '('"},
    {FIELDS ORDER "'shape': (18446744073709551616,)}", "found a number of 2^64 or more"},
    {FIELDS ORDER "'shape': (99999999999999999999999999,)}", "found a number of 2^64 or more"},
    {FIELDS ORDER "'shape': (18446744073709551615,)}", "expected less than 2^63 bytes in all"},
    {FIELDS ORDER "'shape': (4611686018427387904,)}", "expected less than 2^63 bytes in all"},
    {FIELDS ORDER "'shape': (3,), 'more': 1}", "found key 'more', expected descr"},
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

/* A good header that is cut at any byte is an error, not a crash and not a success. */
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

ICS_TEST_MAIN("npy")
{
    TCase *headers = tcase_create("headers");
    tcase_add_test(headers, own_header_has_the_normative_bytes);
    tcase_add_test(headers, own_header_is_read_back);
    tcase_add_loop_test(headers, good_header_is_read, 0, COUNT(good_headers));
    tcase_add_loop_test(headers, bad_header_is_explained, 0, COUNT(bad_headers));
    tcase_add_test(headers, zero_byte_after_the_dictionary_is_an_error);
    tcase_add_test(headers, cut_header_is_an_error);
    suite_add_tcase(suite, headers);
}
