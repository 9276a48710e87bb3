/* The kernels of fast maths in a trailer: what is stored is read again, kernels of several kinds
 * are "mixed", and portable maths leaves nothing. To join: a new part of the identity joins in
 * `kinds`. */
#include "pipeline/photons/files/kernels_record.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <string.h>

static const struct {
    const char *gpu;
    int architecture;
    const char *compiler;
    bool is_ptx;
    const char *text;
} kinds[] = {
    {"NVIDIA H200", 90, "nvrtc 13.0", false, "NVIDIA H200 (compute capability 9.0, nvrtc 13.0)"},
    {"NVIDIA B300", 103, "nvrtc 12.4", true,
     "NVIDIA B300 (compute capability 10.3, nvrtc 12.4, driver)"},
    {"", 75, "nvrtc 12.9", false, "a GPU (compute capability 7.5, nvrtc 12.9)"},
};

START_TEST(kernels_are_read_as_they_are_stored)
{
    char text[128];
    icestream_error error;
    json_t *metadata = json_object();
    const ics_kernels made =
        ics_kernels_of(kinds[_i].gpu, kinds[_i].architecture, kinds[_i].compiler, kinds[_i].is_ptx);
    ck_assert_uint_ne(made.code, 0);
    ck_assert_int_eq(ics_kernels_record_set(metadata, &made, &error), ICESTREAM_OK);
    const ics_kernels found = ics_kernels_record_get(metadata);
    ck_assert_uint_eq(found.code, made.code);
    ck_assert_str_eq(found.gpu, kinds[_i].gpu);
    ck_assert_str_eq(ics_kernels_text(&found, text, sizeof text), kinds[_i].text);
    json_decref(metadata);
}
END_TEST

START_TEST(kernels_of_all_kinds_differ)
{
    for (size_t i = 0; i < COUNT(kinds); ++i) {
        const ics_kernels one =
            ics_kernels_of("A", kinds[i].architecture, kinds[i].compiler, kinds[i].is_ptx);
        const ics_kernels other =
            ics_kernels_of("A", kinds[i].architecture, kinds[i].compiler, !kinds[i].is_ptx);
        ics_kernels sum = {.code = 0};
        ics_kernels_add(&sum, &one);
        ics_kernels_add(&sum, &(ics_kernels){.code = 0}); /* a batch of portable maths */
        ics_kernels_add(&sum, &(ics_kernels){.code = one.code});
        ck_assert_uint_eq(sum.code, one.code);
        ck_assert_str_eq(sum.gpu, "A");
        ics_kernels_add(&sum, &other);
        ck_assert_uint_eq(sum.code, ICS_KERNELS_MIXED);
    }
}
END_TEST

START_TEST(mixed_and_unknown_kernels)
{
    icestream_error error;
    json_t *metadata = json_object();
    const ics_kernels none = {.code = 0}, mixed = {.code = ICS_KERNELS_MIXED};
    ck_assert_int_eq(ics_kernels_record_set(metadata, &none, &error), ICESTREAM_OK);
    ck_assert_ptr_null(json_object_get(metadata, "kernels"));
    ck_assert_int_eq(ics_kernels_record_set(metadata, &mixed, &error), ICESTREAM_OK);
    ck_assert_str_eq(json_string_value(json_object_get(metadata, "kernels")), "mixed");
    ck_assert_uint_eq(ics_kernels_record_get(metadata).code, ICS_KERNELS_MIXED);
    json_decref(metadata);
    ck_assert_uint_eq(ics_kernels_of("A", 90, "another compiler", false).code, 0);
    ck_assert_uint_eq(ics_kernels_code("9.0", "nvrtc 13"), 0);
    ck_assert_uint_eq(ics_kernels_code("9.0x", "nvrtc 13.0"), 0);
    ck_assert_uint_eq(ics_kernels_code("9.0", "nvrtc 13.0, another"), 0);
}
END_TEST

ICS_TEST_MAIN("kernels_record")
{
    TCase *tests = tcase_create("kernels_record");
    tcase_add_loop_test(tests, kernels_are_read_as_they_are_stored, 0, COUNT(kinds));
    tcase_add_test(tests, kernels_of_all_kinds_differ);
    tcase_add_test(tests, mixed_and_unknown_kernels);
    suite_add_tcase(suite, tests);
}
