/* Promises: the digest of a small file is what sha256sum prints; that of a large file is made of
 * its parts, each whole part and the rest counts, and the number of threads does not matter; a file
 * that cannot be read is an error with its name. */
#include "base/error.h"
#include "pipeline/photons/provenance/output_digest.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that differ from part to part. */
static unsigned char *make_content(size_t size)
{
    unsigned char *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    uint32_t state = 1;
    for (size_t i = 0; i < size; ++i) {
        state = state * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(state >> 24);
    }
    return bytes;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* The digest that is expected: one thread, one part after the other. */
static void expect_parts(const unsigned char *bytes, size_t size, char text[ICS_PARTS_DIGEST_TEXT])
{
    icestream_error error;
    ics_digest *lines = NULL;
    char part[ICS_DIGEST_TEXT], whole[ICS_DIGEST_TEXT];
    size_t count = 0;
    ck_assert_int_eq(ics_digest_create(&lines, &error), ICESTREAM_OK);
    for (size_t at = 0; at < size; at += ICS_DIGEST_PART, ++count) {
        const size_t length = size - at < ICS_DIGEST_PART ? size - at : ICS_DIGEST_PART;
        ck_assert_int_eq(ics_digest_of(bytes + at, length, part, &error), ICESTREAM_OK);
        ics_digest_add(lines, part, strlen(part));
        ics_digest_add(lines, "  -\n", 4);
    }
    ics_digest_text(lines, whole);
    ics_digest_destroy(lines);
    snprintf(text, ICS_PARTS_DIGEST_TEXT, "%s-%zu", whole, count);
}

static const size_t sizes[] = {
    0, 1, ICS_DIGEST_PART, ICS_DIGEST_PART + 1, 2 * ICS_DIGEST_PART, 3 * ICS_DIGEST_PART - 1};

START_TEST(digests_of_sizes)
{
    const size_t size = sizes[_i];
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], plain[ICS_DIGEST_TEXT], expected[ICS_PARTS_DIGEST_TEXT];
    char found[ICS_PARTS_DIGEST_TEXT], whole[ICS_DIGEST_TEXT];
    icestream_error error;
    unsigned char *bytes = make_content(size + 1);
    model_folder_write(&folder, "file", "", path);
    write_file(path, bytes, size);
    ck_assert_int_eq(ics_digest_of(bytes, size, plain, &error), ICESTREAM_OK);
    if (size <= ICS_DIGEST_PART) {
        snprintf(expected, sizeof expected, "%s", plain);
    } else {
        expect_parts(bytes, size, expected);
    }
    ck_assert_int_eq(ics_output_digest_in_parts(path, found, &error), ICESTREAM_OK);
    ck_assert_str_eq(found, expected);
    ck_assert_int_eq(ics_output_digest_of(path, whole, &error), ICESTREAM_OK);
    ck_assert_str_eq(whole, plain);
    free(bytes);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(missing_file)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], found[ICS_PARTS_DIGEST_TEXT] = "old";
    icestream_error error;
    model_folder_write(&folder, "file", "", path);
    remove(path);
    ck_assert_int_eq(ics_output_digest_in_parts(path, found, &error), ICESTREAM_E_OUTPUT);
    ck_assert_str_eq(found, "");
    ck_assert_ptr_nonnull(strstr(error.text, path));
    ck_assert_ptr_nonnull(strstr(error.text, "No such file or directory"));
    model_folder_remove(&folder);
}
END_TEST
ICS_TEST_MAIN("output digest")
{
    TCase *tests = tcase_create("output digest");
    tcase_add_loop_test(tests, digests_of_sizes, 0, sizeof sizes / sizeof *sizes);
    tcase_add_test(tests, missing_file);
    suite_add_tcase(suite, tests);
}
