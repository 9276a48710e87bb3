/* Promises of copies of file: URLs that the program from outside
 * (tests/cli/exchange/test_transfer.sh) does not show: links in the way, URLs that name no file,
 * and errands next to a loop. */
#include "base/error.h"
#include "pipeline/production/transfer/errand.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 2500 };

static struct {
    scratch place;
    char local[SCRATCH_PATH]; /* a file of BYTES bytes */
    unsigned char bytes[BYTES];
} test;

static icestream_error error;

static void set_up(void)
{
    test.place = scratch_create();
    for (size_t i = 0; i < BYTES; ++i) {
        test.bytes[i] = (unsigned char)(i * i >> 3);
    }
    scratch_write(scratch_path(&test.place, "local", test.local), test.bytes, BYTES);
    error = (icestream_error){.status = ICESTREAM_OK};
}

static void tear_down(void)
{
    scratch_remove(&test.place);
}

static void assert_bytes(const char *path)
{
    size_t size = 0;
    unsigned char *found = scratch_read(path, &size);
    ck_assert_uint_eq(size, BYTES);
    ck_assert_mem_eq(found, test.bytes, BYTES);
    free(found);
}

static int fetch(const char *to)
{
    char url[SCRATCH_PATH + 8];
    snprintf(url, sizeof url, "file://%s", test.local);
    const ics_transfer_request request = {.url = url, .path = to};
    error = (icestream_error){.status = ICESTREAM_OK};
    return ics_transfer_fetch(&request, &error);
}

/* Another user may have made links in a folder that many write to. */
START_TEST(links_in_the_way)
{
    char to[SCRATCH_PATH], part[SCRATCH_PATH], victim[SCRATCH_PATH];
    scratch_path(&test.place, "to", to);
    scratch_write(scratch_path(&test.place, "victim", victim), "mine", 4);
    ck_assert_int_eq(symlink(victim, scratch_path(&test.place, "to.part", part)), 0);
    ck_assert_int_eq(fetch(to), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(error.cause, ELOOP);
    unlink(part);
    ck_assert_int_eq(symlink(victim, to), 0);
    ck_assert_int_eq(fetch(to), ICESTREAM_OK);
    size_t size = 0;
    free(scratch_read(victim, &size));
    ck_assert_uint_eq(size, 4);
    assert_bytes(to);
}
END_TEST

START_TEST(urls)
{
    static const char *const bad[] = {"file://host/x",     "file:///x%zz.npy", "file:///x%0",
                                      "file:///x%00",      "file:///x?y=z",    "file:///a b",
                                      "http://host/x.npy", "s3://bucket/x",    "http//x"};
    for (size_t i = 0; i < COUNT(bad); ++i) {
        error = (icestream_error){.status = ICESTREAM_OK};
        ck_assert_msg(ics_transfer_check(bad[i], &error) == ICESTREAM_E_CONFIG, "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(error.text, "expected "));
    }
    char *longest = calloc(1, 64 << 10);
    memset(stpcpy(longest, "file:///"), 'x', 50000);
    ck_assert_int_eq(ics_transfer_check(longest, &error), ICESTREAM_E_CONFIG);
    free(longest);
}
END_TEST

static int ended;

static void count_end(void *user, const icestream_error *why)
{
    ck_assert_int_eq(why->status, *(const int *)user);
    ended++;
}

/* Several files at a time, of which one does not exist. */
START_TEST(next_to_a_loop)
{
    static const int good = ICESTREAM_OK, bad = ICESTREAM_E_OUTPUT;
    char to[3][SCRATCH_PATH], url[SCRATCH_PATH + 8];
    uv_loop_t loop;
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    snprintf(url, sizeof url, "file://%s", test.local);
    for (int i = 0; i < 3; ++i) {
        char name[8];
        snprintf(name, sizeof name, "to%d", i);
        const ics_errand_order order = {.request = {.url = i == 1 ? "file:///none/none" : url,
                                                    .path = scratch_path(&test.place, name, to[i])},
                                        .then = count_end,
                                        .user = (void *)(i == 1 ? &bad : &good)};
        ck_assert_ptr_nonnull(ics_errand_start(&loop, &order));
    }
    ended = 0;
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_int_eq(ended, 3);
    assert_bytes(to[0]);
    assert_bytes(to[2]);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

ICS_TEST_MAIN("transfer")
{
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, links_in_the_way);
    tcase_add_test(all, urls);
    tcase_add_test(all, next_to_a_loop);
    suite_add_tcase(suite, all);
}
