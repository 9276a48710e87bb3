/* Promise: checksums, digests, tails and metadata of our files have the bytes of files.md 2 and 3,
 * and each damage is explained. To join: a new fault of the metadata is a row of `metadata_texts`,
 * if tests/cli/bad_inputs/bad_inputs_steps.py cannot make it. */
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/photons/files/format/digest.h"
#include "pipeline/photons/files/format/trailer.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

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
    ics_digest_text(digest, text); /* reading the digest does not change it */
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

START_TEST(monstrous_metadata_are_refused)
{
    ics_tail back;
    icestream_error error;
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
    {"{\"schema\":", "of the metadata"},
    {"{\"a\":1,\"a\":2}", "duplicate"},
    {HEAD SUMS " x", "end of file expected"},
    {"{}", "schema: found nothing, expected icestream.steps"},
    {"{\"schema\":\"icestream.steps\",\"version\":1,\"rows\":\"3\"}",
     "rows: found \"3\", expected 3"},
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
    const ics_trailer_table table = {.schema = ics_layout_steps(), .rows = 3, .row_bytes = 72};
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
        ck_assert_int_eq(ics_trailer_verify(&trailer, "a.npy", &sums, 72, &error),
                         ICESTREAM_E_INPUT);
        ck_assert_ptr_nonnull(strstr(error.text,
                                     "rows 0 to 14563: found CRC-32C 00000008, expected "
                                     "00000007"));
        ics_trailer_free(&trailer);
    }
}
END_TEST

START_TEST(metadata_checksum_is_checked)
{
    static const char text[] = HEAD SUMS;
    const ics_tail tail = {1024 + 192, sizeof text - 1, 1};
    const ics_trailer_table table = {.schema = ics_layout_steps(), .rows = 3, .row_bytes = 72};
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
    ck_assert_int_eq(json_integer_value(json_object_get(given, "rows")),
                     99); /* the given metadata are not changed */
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

ICS_TEST_MAIN("trailer")
{
    TCase *trailers = tcase_create("trailers");
    tcase_add_test(trailers, checksums_have_the_published_values);
    tcase_add_test(trailers, blocks_do_not_depend_on_how_bytes_arrive);
    tcase_add_test(trailers, tail_has_the_normative_bytes);
    tcase_add_test(trailers, monstrous_metadata_are_refused);
    tcase_add_loop_test(trailers, metadata_are_checked, 0, COUNT(metadata_texts));
    tcase_add_test(trailers, metadata_checksum_is_checked);
    tcase_add_test(trailers, metadata_are_completed);
    suite_add_tcase(suite, trailers);
}
