/* Promise: a file gets its name when it is complete, and has one writer; what a killed writer left
 * does no harm; a message to a pipe arrives whole. Kills and full disks are tested in tests/faults,
 * existing files and wrong places in tests/cli/bad_inputs/bad_inputs_commands.py. To join: a new
 * state that a killed writer can leave gets a test like
 * second_name_of_a_finished_file_is_not_written_to. */
#include "pipeline/photons/files/output.h"
#include "tests/files/hit_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- commit --------------------------------------------------------------------------------- */

START_TEST(name_appears_with_the_commit)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_table_writer *writer = NULL;
    icestream_error error;
    const icestream_hit hit = good_hit(0);
    scratch_path(&place, "a.hits.npy", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), false, &writer, &error), 0);
    ck_assert_int_eq(ics_table_writer_append(writer, &hit, 1, &error), 0);
    ck_assert(scratch_exists(&place, "a.hits.npy.part"));
    ck_assert(!scratch_exists(&place, "a.hits.npy"));
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), 0);
    ck_assert(!scratch_exists(&place, "a.hits.npy.part"));
    ck_assert(scratch_exists(&place, "a.hits.npy"));
    ics_table_writer_destroy(writer);
    ck_assert(scratch_exists(&place, "a.hits.npy"));
    /* A file that is not committed leaves nothing. */
    scratch_path(&place, "b.hits.npy", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), false, &writer, &error), 0);
    ics_table_writer_destroy(writer);
    ck_assert(!scratch_exists(&place, "b.hits.npy.part"));
    ck_assert(!scratch_exists(&place, "b.hits.npy"));
    scratch_remove(&place);
}
END_TEST

/* While a .part is written, no other user can open and lock it, also if a killed writer left it. */
START_TEST(part_is_private)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], part[SCRATCH_PATH];
    struct stat about;
    icestream_error error;
    const mode_t before = umask(022);
    scratch_path(&place, "a", path);
    for (int left = 0; left < 2; ++left) {
        ics_output *output = NULL;
        scratch_path(&place, "a.part", part);
        if (left) {
            scratch_write(part, "left", 4);
            ck_assert_int_eq(chmod(part, 0600), 0);
        }
        ck_assert_int_eq(ics_output_create(path, true, &output, &error), 0);
        ck_assert_int_eq(stat(part, &about), 0);
        ck_assert_uint_eq(about.st_mode & 0777, 0600);
        ck_assert_int_eq(ics_output_commit(output, &error), 0);
        ck_assert_int_eq(stat(path, &about), 0);
        ck_assert_uint_eq(about.st_mode & 0777, 0644);
        ics_output_destroy(output);
    }
    umask(before);
    scratch_remove(&place);
}
END_TEST

/* Opens a writer that replaces the file with this name, and no other one. */
static ics_table_writer *replace_only(const char *path, const ics_output_mark *mark)
{
    ics_table_writer *writer = NULL;
    icestream_error error;
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error), 0);
    ics_table_writer_expect(writer, mark);
    return writer;
}

START_TEST(force_replaces_only_what_was_there)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_error error;
    scratch_path(&place, "a.hits.npy", path);
    const ics_output_mark none = ics_output_mark_of(path);
    ck_assert(!none.there);
    write_three(path);
    const ics_output_mark first = ics_output_mark_of(path);
    ics_table_writer *writer = replace_only(path, &none); /* it was made in the meantime */
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(error.cause, EEXIST);
    ck_assert_ptr_nonnull(strstr(error.text, "a.hits.npy: found a file that another process has "
                                             "made since this one began"));
    ics_table_writer_destroy(writer);
    ck_assert(!scratch_exists(&place, "a.hits.npy.part"));
    ck_assert_int_eq(read_checked(path, &error), 0);
    writer = replace_only(path, &first);
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), 0);
    ics_table_writer_destroy(writer);
    writer = replace_only(path, &first); /* it was replaced in the meantime */
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), ICESTREAM_E_OUTPUT);
    ics_table_writer_destroy(writer);
    writer = replace_only(path, &first);
    ck_assert_int_eq(remove(path), 0); /* nothing can be lost */
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), 0);
    ics_table_writer_destroy(writer);
    scratch_remove(&place);
}
END_TEST

/* A process that was killed may hold its lock for a moment, above all if it used a GPU. */
START_TEST(a_killed_writer_is_waited_for)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], part[SCRATCH_PATH];
    int ready[2];
    ics_table_writer *writer = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    scratch_path(&place, "a.hits.npy", path);
    scratch_path(&place, "a.hits.npy.part", part);
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t other = fork();
    if (other == 0) {
        const int file = open(part, O_RDWR | O_CREAT, 0600);
        const char locked = flock(file, LOCK_EX) == 0 ? 'y' : 'n';
        const bool sent = write(ready[1], &locked, 1) == 1;
        usleep(400000);
        _exit(sent ? 0 : 1);
    }
    char locked = 'n';
    ck_assert_int_eq(read(ready[0], &locked, 1), 1);
    ck_assert_int_eq(locked, 'y');
    ck_assert_msg(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error) == 0,
                  "%s", error.text);
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), 0);
    ics_table_writer_destroy(writer);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
    close(ready[0]);
    close(ready[1]);
    scratch_remove(&place);
}
END_TEST

START_TEST(one_output_has_one_writer)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_table_writer *first = NULL, *second = NULL;
    icestream_error error;
    scratch_path(&place, "a.hits.npy", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &first, &error), 0);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &second, &error),
                     ICESTREAM_E_OUTPUT);
    char expected[128]; /* this process is the other one here */
    snprintf(expected, sizeof expected,
             "found another process writing it (process %ld) after a wait of 2 s", (long)getpid());
    ck_assert_msg(strstr(error.text, expected) != NULL, "%s", error.text);
    ck_assert_ptr_null(second);
    ck_assert(scratch_exists(&place, "a.hits.npy.part")); /* of the first writer */
    ck_assert_int_eq(ics_table_writer_commit(first, NULL, &error), 0);
    ics_table_writer_destroy(first);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &second, &error), 0);
    ics_table_writer_destroy(second);
    scratch_remove(&place);
}
END_TEST

START_TEST(part_of_a_killed_writer_is_overwritten)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], part[SCRATCH_PATH];
    char *junk = calloc(1, 100000);
    icestream_error error;
    ck_assert_ptr_nonnull(junk);
    scratch_write(scratch_path(&place, "a.hits.npy.part", part), junk, 100000);
    write_three(scratch_path(&place, "a.hits.npy", path));
    ck_assert_int_eq(read_checked(path, &error), 0);
    ck_assert(!scratch_exists(&place, "a.hits.npy.part"));
    free(junk);
    scratch_remove(&place);
}
END_TEST

/* On file systems without RENAME_NOREPLACE, a writer that is killed between link() and unlink()
 * leaves a finished file with a second name, the .part. */
START_TEST(second_name_of_a_finished_file_is_not_written_to)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], part[SCRATCH_PATH];
    ics_table_writer *writer = NULL;
    icestream_error error;
    write_three(scratch_path(&place, "a.hits.npy", path));
    ck_assert_int_eq(link(path, scratch_path(&place, "a.hits.npy.part", part)), 0);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error), 0);
    ck_assert(scratch_exists(&place, "a.hits.npy.part"));
    ck_assert_int_eq(read_checked(path, &error), 0);
    ics_table_writer_destroy(writer);
    ck_assert_int_eq(read_checked(path, &error), 0);
    scratch_remove(&place);
}
END_TEST

START_TEST(part_of_a_killed_writer_is_removed)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], part[SCRATCH_PATH];
    ics_table_writer *writer = NULL;
    icestream_error error;
    write_three(scratch_path(&place, "a.hits.npy", path));
    ck_assert_int_eq(ics_output_clean(path, &error), 0);
    ck_assert_int_eq(link(path, scratch_path(&place, "a.hits.npy.part", part)), 0);
    ck_assert_int_eq(ics_output_clean(path, &error), 0);
    ck_assert(!scratch_exists(&place, "a.hits.npy.part"));
    ck_assert_int_eq(read_checked(path, &error), 0);
    /* The .part of a living writer stays. */
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error), 0);
    ck_assert_int_eq(ics_output_clean(path, &error), 0);
    ck_assert(scratch_exists(&place, "a.hits.npy.part"));
    ics_table_writer_destroy(writer);
    scratch_remove(&place);
}
END_TEST

START_TEST(strange_parts_stay)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_table_writer *writer = NULL;
    icestream_error error;
    ck_assert_int_eq(mkfifo(scratch_path(&place, "pipe.part", path), 0666), 0);
    ck_assert_int_eq(ics_table_writer_create(scratch_path(&place, "pipe", path), ics_layout_hits(),
                                             true, &writer, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found something that is not a file"));
    ck_assert(scratch_exists(&place, "pipe.part")); /* not a file of ours, so it stays */
    ck_assert_int_eq(symlink("elsewhere", scratch_path(&place, "link.part", path)), 0);
    ck_assert_int_eq(ics_table_writer_create(scratch_path(&place, "link", path), ics_layout_hits(),
                                             true, &writer, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert(!scratch_exists(&place, "elsewhere"));
    scratch_remove(&place);
}
END_TEST

/* ---- messages ------------------------------------------------------------------------------- */

/* A slow reader at a non-blocking descriptor gets every byte. */
START_TEST(message_waits_for_a_slow_reader)
{
    enum { COUNT = 20000 };
    icestream_hit *hits = calloc(COUNT, sizeof *hits);
    icestream_error error;
    int ends[2];
    ck_assert_ptr_nonnull(hits);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        static unsigned char bytes[65536];
        size_t total = 0;
        ssize_t count;
        close(ends[1]);
        while ((count = read(ends[0], bytes, sizeof bytes)) > 0) {
            total += (size_t)count;
        }
        _exit(total == HEADER + 64 * COUNT ? 0 : 1);
    }
    close(ends[0]);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    ck_assert_int_eq(
        ics_table_message_write(ends[1], "pipe", ics_layout_hits(), NULL, hits, COUNT, &error), 0);
    close(ends[1]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    free(hits);
}
END_TEST

ICS_TEST_MAIN("output")
{
    TCase *commit = tcase_create("commit");
    tcase_add_test(commit, name_appears_with_the_commit);
    tcase_add_test(commit, part_is_private);
    tcase_add_test(commit, force_replaces_only_what_was_there);
    tcase_add_test(commit, one_output_has_one_writer);
    tcase_add_test(commit, a_killed_writer_is_waited_for);
    tcase_add_test(commit, second_name_of_a_finished_file_is_not_written_to);
    tcase_add_test(commit, part_of_a_killed_writer_is_removed);
    tcase_add_test(commit, part_of_a_killed_writer_is_overwritten);
    tcase_add_test(commit, strange_parts_stay);
    suite_add_tcase(suite, commit);
    TCase *messages = tcase_create("messages");
    tcase_add_test(messages, message_waits_for_a_slow_reader);
    suite_add_tcase(suite, messages);
}
