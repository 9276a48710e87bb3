/* The limits of the cache folder: entries that are used stay, the others are removed first, and
 * files with other names stay, also if other processes use the folder at the same time.
 *
 * How to join: add one test for each new promise of kernels/cache/cache.h. */
#include "kernels/cache/cache.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static scratch place;

static void set_up(void)
{
    place = scratch_create();
}

static void tear_down(void)
{
    scratch_remove(&place);
}

/* Returns the path of entry `number` in the folder. */
static const char *entry(unsigned number, const char *ending, char path[SCRATCH_PATH])
{
    char name[96];
    snprintf(name, sizeof name, "%064x%s", number, ending);
    return scratch_path(&place, name, path);
}

static void set_times(const char *path, int64_t used, int64_t changed)
{
    const struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = changed}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Makes a sparse file of this size, last used and changed at the time `used` (s). */
static void make_file(const char *path, off_t bytes, int64_t used)
{
    scratch_write(path, "", 0);
    ck_assert_int_eq(truncate(path, bytes), 0);
    set_times(path, used, used);
}

static size_t count_files(void)
{
    size_t count = 0;
    DIR *directory = opendir(place.folder);
    ck_assert_ptr_nonnull(directory);
    while (readdir(directory) != NULL) {
        ++count;
    }
    closedir(directory);
    return count - 2; /* . and .. */
}

static bool exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

START_TEST(the_least_recently_used_go_first)
{
    static const char *const endings[] = {".kernels", ".choice", ".so"};
    enum { MORE = 10 };
    char path[SCRATCH_PATH];
    /* The order of use is not that of names: 7 is odd and has no factor with the count. */
    for (unsigned i = 0; i < ICS_CACHE_FILES + MORE; ++i) {
        make_file(entry(i, endings[i % 3], path), 10,
                  1000 + (int64_t)(i * 7 % (ICS_CACHE_FILES + MORE)));
    }
    ics_cache_prune(place.folder);
    ck_assert_uint_eq(count_files(), ICS_CACHE_FILES);
    for (unsigned i = 0; i < ICS_CACHE_FILES + MORE; ++i) {
        ck_assert_msg(exists(entry(i, endings[i % 3], path)) ==
                          (i * 7 % (ICS_CACHE_FILES + MORE) >= MORE),
                      "entry %u", i);
    }
    ics_cache_prune(place.folder);
    ck_assert_uint_eq(count_files(), ICS_CACHE_FILES);
}
END_TEST

START_TEST(bytes_are_bounded)
{
    enum { FILES = 20, EACH = 16 };
    char path[SCRATCH_PATH];
    for (unsigned i = 0; i < FILES; ++i) {
        make_file(entry(i, ".kernels", path), (off_t)EACH << 20, 1000 + (int64_t)i);
    }
    ics_cache_prune(place.folder);
    for (unsigned i = 0; i < FILES; ++i) {
        ck_assert_msg(exists(entry(i, ".kernels", path)) ==
                          (i >= FILES - ICS_CACHE_MEBIBYTES / EACH),
                      "entry %u", i);
    }
    /* The entries fill the cache to the last byte: one byte more removes one entry. */
    make_file(entry(FILES, ".choice", path), 1, 5000);
    ics_cache_prune(place.folder);
    ck_assert_uint_eq(count_files(), ICS_CACHE_MEBIBYTES / EACH);
    ck_assert(exists(path));
}
END_TEST

START_TEST(use_is_noted_without_a_change)
{
    char path[SCRATCH_PATH];
    struct stat status;
    make_file(entry(1, ".kernels", path), 3, 1000);
    ics_cache_used(path);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_mtim.tv_sec, 1000);
    ck_assert_int_ge(status.st_atim.tv_sec, time(NULL) - 60);
    ics_cache_used("/nonexistent/entry"); /* no error */

    for (unsigned i = 2; i < ICS_CACHE_FILES + 2; ++i) {
        make_file(entry(i, ".kernels", path), 3, 2000 + (int64_t)i);
    }
    ics_cache_prune(place.folder);
    ck_assert(exists(entry(1, ".kernels", path)));
    ck_assert(!exists(entry(2, ".kernels", path)));
    ck_assert_uint_eq(count_files(), ICS_CACHE_FILES);
}
END_TEST

/* Other files stay although they are old, and although their names begin or end like those of
 * entries. */
START_TEST(other_files_stay)
{
    static const char *const names[] = {"compiler", "notes.txt", "0123.kernels", "build-tools"};
    char path[SCRATCH_PATH], target[SCRATCH_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        make_file(scratch_path(&place, names[i], path), 1 << 30, 1);
    }
    /* A link or a folder is no entry, even if it has the name of one. */
    ck_assert_int_eq(symlink(scratch_path(&place, "compiler", target), entry(1, ".so", path)), 0);
    ck_assert_int_eq(mkdir(entry(2, ".kernels", path), 0700), 0);
    for (unsigned i = 10; i < ICS_CACHE_FILES + 15; ++i) {
        make_file(entry(i, ".choice", path), 1, 1000 + (int64_t)i);
    }
    ics_cache_prune(place.folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        ck_assert_msg(exists(scratch_path(&place, names[i], path)), "%s", names[i]);
    }
    ck_assert(exists(entry(1, ".so", path)));
    ck_assert(exists(entry(2, ".kernels", path)));
    ck_assert(!exists(entry(14, ".choice", path)));
    ck_assert(exists(entry(15, ".choice", path)));
}
END_TEST

START_TEST(leftovers_go_after_a_day)
{
    const int64_t day = 24 * 60 * 60, now = time(NULL);
    const char *const endings[] = {".kernels.17-0.part", ".choice.17"};
    char path[SCRATCH_PATH], inside[2 * SCRATCH_PATH];
    for (int old = 0; old < 2; ++old) {
        const int64_t when = now - day + (old ? -60 : 600);
        for (unsigned i = 0; i < 2; ++i) {
            make_file(entry((unsigned)old, endings[i], path), 10, when);
        }
        make_file(scratch_path(&place, old ? "compiler.1-0.part" : "compiler.2-0.part", path), 10,
                  when);
        scratch_path(&place, old ? "build-abcdef" : "build-ABCDEF", path);
        snprintf(inside, sizeof inside, "%s/kernels", path);
        ck_assert_int_eq(mkdir(path, 0700) + mkdir(inside, 0700), 0);
        snprintf(inside, sizeof inside, "%s/kernels/kernels.so", path);
        scratch_write(inside, "x", 1);
        set_times(path, when, when);
    }
    ics_cache_prune(place.folder);
    for (unsigned i = 0; i < 2; ++i) {
        ck_assert(exists(entry(0, endings[i], path)));
        ck_assert(!exists(entry(1, endings[i], path)));
    }
    ck_assert(scratch_exists(&place, "compiler.2-0.part"));
    ck_assert(!scratch_exists(&place, "compiler.1-0.part"));
    ck_assert(scratch_exists(&place, "build-ABCDEF/kernels/kernels.so"));
    ck_assert(!scratch_exists(&place, "build-abcdef"));
}
END_TEST

START_TEST(a_folder_that_is_none_is_no_error)
{
    char path[SCRATCH_PATH];
    ics_cache_prune(place.folder); /* empty */
    ck_assert_uint_eq(count_files(), 0);
    ics_cache_prune("/nonexistent/icestream");
    scratch_write(scratch_path(&place, "file", path), "x", 1);
    ics_cache_prune(path);
    ck_assert(exists(path));
}
END_TEST

/* All processes write, use and prune at the same time. The entry that each process used last is
 * there at the end. */
START_TEST(processes_prune_together)
{
    enum { PROCESSES = 6, EACH = 300, LAST = 100 };
    char path[SCRATCH_PATH];
    pid_t children[PROCESSES];
    for (unsigned child = 0; child < PROCESSES; ++child) {
        children[child] = fork();
        ck_assert_int_ge(children[child], 0);
        if (children[child] != 0) {
            continue;
        }
        int failures = 0;
        for (unsigned i = 0; i < EACH; ++i) {
            char part[SCRATCH_PATH];
            entry(child * EACH + i, ".kernels", path);
            FILE *file = fopen(entry(child * EACH + i, ".kernels.part", part), "w");
            if (file == NULL || fputs("program", file) < 0 || fclose(file) != 0 ||
                rename(part, path) != 0) {
                ++failures;
            }
            ics_cache_prune(place.folder);
            ics_cache_used(
                entry(child * EACH, ".kernels", path)); /* the first entry of this process */
        }
        _exit(failures > 0);
    }
    for (unsigned child = 0; child < PROCESSES; ++child) {
        int status = -1;
        ck_assert_int_eq(waitpid(children[child], &status, 0), children[child]);
        ck_assert_int_eq(status, 0);
    }
    ics_cache_prune(place.folder);
    ck_assert_uint_eq(count_files(), ICS_CACHE_FILES);
    for (unsigned child = 0; child < PROCESSES; ++child) {
        ck_assert(exists(entry(child * EACH, ".kernels", path)));
    }
}
END_TEST

ICS_TEST_MAIN("cache")
{
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, the_least_recently_used_go_first);
    tcase_add_test(all, bytes_are_bounded);
    tcase_add_test(all, use_is_noted_without_a_change);
    tcase_add_test(all, other_files_stay);
    tcase_add_test(all, leftovers_go_after_a_day);
    tcase_add_test(all, a_folder_that_is_none_is_no_error);
    tcase_add_test(all, processes_prune_together);
    suite_add_tcase(suite, all);
}
