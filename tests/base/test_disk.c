/* Promises of base/disk.h, base/host_port.h and base/clock.h: a folder is made once and with all
 * folders above it, HOST:PORT is split in the same way for every key, and clocks and deadlines
 * agree.
 *
 * How to join: add one test for each new promise of the three headers. */
#include "base/clock.h"
#include "base/disk.h"
#include "base/host_port.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

START_TEST(folders_are_made)
{
    const scratch place = scratch_create();
    char path[SCRATCH_PATH];
    struct stat about;
    ck_assert_int_eq(ics_disk_make_folder(scratch_path(&place, "a", path), 0700), 0);
    ck_assert_int_eq(ics_disk_make_folder(path, 0700), 0);
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_uint_eq(about.st_mode & 0777, 0700);
    ck_assert_int_eq(ics_disk_make_folder(scratch_path(&place, "b/c", path), 0700), -1);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(ics_disk_make_folders(scratch_path(&place, "b/c//d/", path), 0700), 0);
    ck_assert(scratch_exists(&place, "b/c/d"));
    ck_assert_int_eq(ics_disk_make_folders(path, 0700), 0);

    scratch_write(scratch_path(&place, "file", path), "x", 1);
    ck_assert_int_eq(ics_disk_make_folder(path, 0700), -1);
    ck_assert_int_eq(errno, ENOTDIR);
    ck_assert_int_eq(ics_disk_make_folders(scratch_path(&place, "file/e", path), 0700), -1);
    ck_assert_int_eq(errno, ENOTDIR);

    char longest[PATH_MAX + 1];
    memset(longest, 'x', PATH_MAX);
    longest[PATH_MAX] = 0;
    ck_assert_int_eq(ics_disk_make_folders(longest, 0700), -1);
    ck_assert_int_eq(errno, ENAMETOOLONG);
    scratch_remove(&place);
}
END_TEST

static const struct {
    const char *text;
    ics_host_port_result result;
    ics_host_port expected;
} addresses[] = {
    {"localhost:80", ICS_HOST_PORT_GOOD, {"localhost", false, 80}},
    {"127.0.0.1:0", ICS_HOST_PORT_GOOD, {"127.0.0.1", false, 0}},
    {"[::1]:65535", ICS_HOST_PORT_GOOD, {"::1", true, 65535}},
    {"::1:7", ICS_HOST_PORT_GOOD, {"::1", false, 7}},
    {"[]:7", ICS_HOST_PORT_GOOD, {"[]", false, 7}},
    {"localhost", ICS_HOST_PORT_BAD_HOST, {.port = 0}},
    {":80", ICS_HOST_PORT_BAD_HOST, {.port = 0}},
    {"localhost:", ICS_HOST_PORT_BAD_PORT, {.port = 0}},
    {"localhost:65536", ICS_HOST_PORT_BAD_PORT, {.port = 0}},
    {"localhost:-1", ICS_HOST_PORT_BAD_PORT, {.port = 0}},
    {"localhost: 1", ICS_HOST_PORT_BAD_PORT, {.port = 0}},
    {"localhost:1x", ICS_HOST_PORT_BAD_PORT, {.port = 0}},
    {"localhost:99999999999999999999", ICS_HOST_PORT_BAD_PORT, {.port = 0}},
};

START_TEST(addresses_are_split)
{
    ics_host_port found;
    ck_assert_int_eq(ics_host_port_parse(addresses[_i].text, &found), addresses[_i].result);
    if (addresses[_i].result == ICS_HOST_PORT_GOOD) {
        ck_assert_str_eq(found.host, addresses[_i].expected.host);
        ck_assert_int_eq(found.is_bracketed, addresses[_i].expected.is_bracketed);
        ck_assert_uint_eq(found.port, addresses[_i].expected.port);
    }
}
END_TEST

START_TEST(long_host)
{
    char text[300];
    ics_host_port found;
    memset(text, 'h', sizeof text);
    strcpy(text + 255, ":1");
    ck_assert_int_eq(ics_host_port_parse(text, &found), ICS_HOST_PORT_GOOD);
    ck_assert_uint_eq(strlen(found.host), 255);
    text[255] = 'h';
    strcpy(text + 256, ":1");
    ck_assert_int_eq(ics_host_port_parse(text, &found), ICS_HOST_PORT_BAD_HOST);
}
END_TEST

START_TEST(clocks)
{
    const double before = ics_clock_seconds();
    const struct timespec until = ics_clock_deadline(1.75);
    const double after = ics_clock_seconds();
    const double deadline = (double)until.tv_sec + 1e-9 * (double)until.tv_nsec;
    ck_assert(until.tv_nsec >= 0 && until.tv_nsec < 1000000000);
    ck_assert_double_ge(deadline, before + 1.75 - 1e-6);
    ck_assert_double_le(deadline, after + 1.75 + 1e-6);
    ck_assert_double_gt(ics_clock_unix(), 1.6e9); /* later than September 2020 */
    const double used = ics_clock_thread();
    ck_assert_double_ge(used, 0.0);
    ck_assert_double_ge(ics_clock_thread(), used);
}
END_TEST

ICS_TEST_MAIN("disk, addresses and clocks")
{
    TCase *tests = tcase_create("base");
    tcase_add_test(tests, folders_are_made);
    tcase_add_loop_test(tests, addresses_are_split, 0, sizeof addresses / sizeof *addresses);
    tcase_add_test(tests, long_host);
    tcase_add_test(tests, clocks);
    suite_add_tcase(suite, tests);
}
