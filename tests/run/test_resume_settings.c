/* --resume never mixes hits of two physics: a hit file is kept only if its digests are those of
 * this run's settings. A file with other digests is made again, also one with digests of an earlier
 * version of icestream. Which key changes which digest is tested in tests/units/test_origin_keys.c.
 * How to join: add a row to the runs of settings_decide. */
#include "pipeline/files/format/crc32c.h"
#include "tests/run/run_place.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL = 32 };

static void expect_files(json_int_t done, json_int_t skipped)
{
    ck_assert_int_eq(run_folder_files(&place, "done"), done);
    ck_assert_int_eq(run_folder_files(&place, "skipped"), skipped);
}

START_TEST(settings_decide)
{
    static const struct {
        const char *set;
        bool is_same;
    } runs[] = {{"graph.batch=77", true},        {"device.threads=1", true},
                {"detector.radius=0.17", false}, {"detector.radius=0.1700", true},
                {"stages.scatter=hg", false},    {"light.spectra=[{line: 400}]", false},
                {"run.bounce_limit=9", false},   {"ice.absorb_above=1000", false}};
    run_folder_bright_steps(&place, "a.npy", 0, 3, 500);
    run_well("graph.batch=78", NULL);
    place.options.resume = true;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        run_well(runs[i].set, NULL);
        expect_files(runs[i].is_same ? 0 : 1, runs[i].is_same ? 1 : 0);
    }
}
END_TEST

/* Changes the digest of that name in the trailer of a hit file, as if another version of icestream
 * had written the file. */
static void make_old(const char *path, const char *name)
{
    char mark[64];
    size_t size = 0;
    uint64_t offset = 0, length = 0;
    unsigned char *bytes = scratch_read(path, &size);
    memcpy(&offset, bytes + size - TAIL, sizeof offset);
    memcpy(&length, bytes + size - TAIL + 8, sizeof length);
    snprintf(mark, sizeof mark, "\"%s\":", name);
    char *found = memmem(bytes + offset, length, mark, strlen(mark));
    ck_assert_ptr_nonnull(found);
    char *digest = strchr(found + strlen(mark), '"') + 1;
    memset(digest, digest[0] == '1' ? '2' : '1', 64);
    ck_assert_int_eq(digest[64], '"');
    const uint32_t sum = ics_crc32c(0, bytes + offset, length);
    memcpy(bytes + size - TAIL + 16, &sum, sizeof sum);
    scratch_write(path, bytes, size);
    free(bytes);
}

START_TEST(old_digests)
{
    static const char *const names[] = {"configuration", "ice", "detector"};
    char path[2 * SCRATCH_PATH];
    size_t size = 0, again_size = 0;
    run_folder_bright_steps(&place, "a.npy", 0, 3, 500);
    run_well(NULL, NULL);
    unsigned char *bytes = scratch_read(run_folder_path(place.hits, "a.hits.npy", path), &size);
    make_old(path, names[_i]);
    place.options.resume = true;
    run_well(NULL, NULL);
    expect_files(1, 0);
    unsigned char *again = scratch_read(path, &again_size);
    ck_assert_uint_eq(size, again_size);
    ck_assert_mem_eq(bytes, again, size);
    run_well(NULL, NULL);
    expect_files(0, 1);
    free(bytes);
    free(again);
}
END_TEST

/* The path of the volume with the highest number; returns how many volumes there are. */
static size_t last_volume(char path[2 * SCRATCH_PATH])
{
    char last[256] = "";
    size_t count = 0;
    DIR *folder = opendir(place.hits);
    ck_assert_ptr_nonnull(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strstr(entry->d_name, ".hits.npy") != NULL) {
            snprintf(last, sizeof last, "%s", entry->d_name);
            ++count;
        }
    }
    closedir(folder);
    run_folder_path(place.hits, last, path);
    return count;
}

START_TEST(old_volume)
{
    char path[2 * SCRATCH_PATH];
    run_folder_bright_steps(&place, "a.npy", 0, 3, 500);
    run_well("sink.rotate=1000000", NULL);
    ck_assert_uint_eq(last_volume(path), 1);
    place.options.resume = true;
    run_well("sink.rotate=1000000", NULL);
    expect_files(0, 1);
    make_old(path, "configuration");
    run_well("sink.rotate=1000000", NULL);
    expect_files(1, 0);
    ck_assert_uint_eq(last_volume(path), 2);
}
END_TEST

ICS_TEST_MAIN("resume settings")
{
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, open_place, close_place);
    tcase_add_test(all, settings_decide);
    tcase_add_loop_test(all, old_digests, 0, 3);
    tcase_add_test(all, old_volume);
    suite_add_tcase(suite, all);
}
