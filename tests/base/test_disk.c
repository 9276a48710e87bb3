/* Promises of base/disk.h, base/host_port.h and base/clock.h: a folder is made once and with all
 * folders above it, a file is written whole or not at all, HOST:PORT is split in the same way for
 * every key, and clocks and deadlines agree.
 *
 * How to join: add one test for each new promise of the three headers. */
#include "base/clock.h"
#include "base/disk.h"
#include "base/host_port.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(locks_are_private)
{
    const scratch place = scratch_create();
    char path[SCRATCH_PATH], link_path[SCRATCH_PATH];
    struct stat about;
    scratch_path(&place, "lock", path);
    const int lock = ics_disk_lock(path);
    ck_assert_int_ge(lock, 0);
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_uint_eq(about.st_mode & 0777, 0600);
    ck_assert_int_eq(ics_disk_lock(path), -1);
    ck_assert_int_eq(errno, EWOULDBLOCK);
    ics_disk_unlock(path, lock);
    ck_assert_int_ne(access(path, F_OK), 0);
    const int again = ics_disk_lock(path);
    ck_assert_int_ge(again, 0);
    ics_disk_unlock(path, again);
    ics_disk_unlock(path, -1);
    /* Neither locks nor outputs follow a link. */
    ck_assert_int_eq(symlink("target", scratch_path(&place, "link", link_path)), 0);
    ck_assert_int_eq(ics_disk_lock(link_path), -1);
    ck_assert_int_eq(errno, ELOOP);
    ck_assert_int_eq(ics_disk_open_output(link_path, O_WRONLY | O_CREAT), -1);
    ck_assert_int_eq(errno, ELOOP);
    ck_assert(!scratch_exists(&place, "target"));
    ck_assert(ics_disk_is_own_stream("/dev/stdout"));
    ck_assert(!ics_disk_is_own_stream("/dev/shm/stdout"));
    scratch_remove(&place);
}
END_TEST

START_TEST(only_regular_files_are_opened)
{
    const scratch place = scratch_create();
    char path[SCRATCH_PATH];
    const char *why = NULL;
    scratch_write(scratch_path(&place, "file", path), "text", 4);
    const int file = ics_disk_open_regular(path, &why);
    ck_assert_int_ge(file, 0);
    close(file);
    ck_assert_int_eq(mkfifo(scratch_path(&place, "pipe", path), 0600), 0);
    ck_assert_int_eq(ics_disk_open_regular(path, &why), -1); /* and does not wait for a writer */
    ck_assert_int_eq(errno, EINVAL);
    ck_assert_str_eq(why, "found a pipe, expected a regular file");
    ck_assert_int_eq(ics_disk_open_regular("/", &why), -1);
    ck_assert_str_eq(why, "found a folder, expected a regular file");
    ck_assert_int_eq(ics_disk_open_regular("/dev/null", &why), -1);
    ck_assert_str_eq(why, "found a device, expected a regular file");
    ck_assert_int_eq(ics_disk_open_regular(scratch_path(&place, "none", path), &why), -1);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_str_eq(why, strerror(ENOENT));
    scratch_remove(&place);
}
END_TEST

START_TEST(new_files_have_the_mode_of_the_umask)
{
    const mode_t before = umask(027);
    ck_assert_uint_eq(ics_disk_file_mode(), 0640);
    umask(0);
    ck_assert_uint_eq(ics_disk_file_mode(), 0666);
    umask(before);
}
END_TEST

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

static void expect_content(const char *path, const char *expected)
{
    size_t size = 0;
    unsigned char *bytes = scratch_read(path, &size);
    ck_assert_uint_eq(size, strlen(expected));
    ck_assert_mem_eq(bytes, expected, size);
    free(bytes);
}

static unsigned count_files(const char *folder)
{
    DIR *open_folder = opendir(folder);
    ck_assert_ptr_nonnull(open_folder);
    unsigned count = 0;
    for (const struct dirent *entry; (entry = readdir(open_folder)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(open_folder);
    return count;
}

START_TEST(files_are_written_whole)
{
    const scratch place = scratch_create();
    char path[SCRATCH_PATH], left[SCRATCH_PATH], name[64];
    struct stat about;
    scratch_path(&place, "file", path);
    const ics_disk_part first[] = {{"one ", 4}, {NULL, 0}, {"two", 3}}, second[] = {{"three", 5}};
    const mode_t mask = umask(027);
    ck_assert_int_eq(ics_disk_write_whole(path, first, 3), 0);
    umask(mask);
    expect_content(path, "one two");
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_uint_eq(about.st_mode & 0777, 0640);

    /* A killed process of the same number has left a file. */
    snprintf(name, sizeof name, "file.%ld-0.part", (long)getpid());
    scratch_write(scratch_path(&place, name, left), "left", 4);
    ck_assert_int_eq(ics_disk_write_whole(path, second, 1), 0);
    expect_content(path, "three");
    expect_content(left, "left");
    ck_assert_int_eq(ics_disk_write_whole(path, NULL, 0), 0);
    expect_content(path, "");
    ck_assert_uint_eq(count_files(place.folder), 2);
    scratch_remove(&place);
}
END_TEST

START_TEST(errors_leave_the_older_file)
{
    const scratch place = scratch_create();
    char path[SCRATCH_PATH], folder[SCRATCH_PATH], longest[PATH_MAX];
    const ics_disk_part part = {"new content", 11};
    scratch_write(scratch_path(&place, "file", path), "old", 3);

    struct rlimit before, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 5;
    ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int result = ics_disk_write_whole(path, &part, 1), cause = errno;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_eq(result, -1);
    ck_assert_int_eq(cause, EFBIG);
    expect_content(path, "old");

    ck_assert_int_eq(mkdir(scratch_path(&place, "folder", folder), 0700), 0);
    ck_assert_int_eq(ics_disk_write_whole(folder, &part, 1), -1);
    ck_assert_int_eq(errno, EISDIR);
    ck_assert_uint_eq(count_files(place.folder), 2); /* no .part is left */

    ck_assert_int_eq(ics_disk_write_whole(scratch_path(&place, "a/b", folder), &part, 1), -1);
    ck_assert_int_eq(errno, ENOENT);
    memset(longest, 'x', sizeof longest);
    longest[PATH_MAX - 1] = 0;
    ck_assert_int_eq(ics_disk_write_whole(longest, &part, 1), -1);
    ck_assert_int_eq(errno, ENAMETOOLONG);
    scratch_remove(&place);
}
END_TEST

/* Several processes write the same path, each its own letter, while this process reads. */
START_TEST(readers_find_whole_files)
{
    enum { WRITERS = 3, TIMES = 40, SIZE = 20000 };
    const scratch place = scratch_create();
    char path[SCRATCH_PATH];
    static char content[SIZE];
    scratch_write(scratch_path(&place, "file", path), content, SIZE);
    for (int child = 0; child < WRITERS; ++child) {
        const pid_t process = fork();
        ck_assert_int_ge(process, 0);
        if (process == 0) {
            memset(content, 'a' + child, SIZE);
            const ics_disk_part parts[] = {{content, SIZE / 2}, {content + SIZE / 2, SIZE / 2}};
            int failures = 0;
            for (int i = 0; i < TIMES; ++i) {
                failures += ics_disk_write_whole(path, parts, 2) != 0;
            }
            _exit(failures > 0);
        }
    }
    for (int ended = 0; ended < WRITERS;) {
        size_t size = 0;
        unsigned char *bytes = scratch_read(path, &size);
        ck_assert_uint_eq(size, SIZE);
        for (size_t i = 1; i < size; ++i) {
            ck_assert(bytes[i] == bytes[0]);
        }
        free(bytes);
        int status = 0;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            ck_assert_int_eq(status, 0);
            ++ended;
        }
    }
    ck_assert_uint_eq(count_files(place.folder), 1);
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
    tcase_add_test(tests, locks_are_private);
    tcase_add_test(tests, only_regular_files_are_opened);
    tcase_add_test(tests, new_files_have_the_mode_of_the_umask);
    tcase_add_test(tests, folders_are_made);
    tcase_add_test(tests, files_are_written_whole);
    tcase_add_test(tests, errors_leave_the_older_file);
    tcase_add_test(tests, readers_find_whole_files);
    tcase_add_loop_test(tests, addresses_are_split, 0, sizeof addresses / sizeof *addresses);
    tcase_add_test(tests, long_host);
    tcase_add_test(tests, clocks);
    suite_add_tcase(suite, tests);
}
