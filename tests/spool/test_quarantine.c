/* Promises of quarantine.h: names of quarantined files, reasons, and what happens if a name exists
 * already. How to join: a test has an empty folder `place`, whose `bad` is the quarantine; call
 * note() or move(), and look at the files with assert_text(). */
#include "pipeline/production/spool/quarantine.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static scratch place;
static char folder[SCRATCH_PATH], near[SCRATCH_PATH];
static ics_quarantine quarantine;
static icestream_error error;

static void set_up(void)
{
    place = scratch_create();
    quarantine = (ics_quarantine){.folder = scratch_path(&place, "bad", folder)};
}

static void tear_down(void)
{
    scratch_remove(&place);
}

static void write_text(const char *name, const char *text)
{
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(&place, name, path), text, strlen(text));
}

static void assert_text(const char *name, const char *text)
{
    char path[SCRATCH_PATH];
    size_t size;
    unsigned char *found = scratch_read(scratch_path(&place, name, path), &size);
    found[size] = 0;
    ck_assert_str_eq((const char *)found, text);
    free(found);
}

/* Notes a reason; its file must get this name. */
static void note(const char *name, const char *reason, const char *expected)
{
    ics_path where;
    ck_assert_msg(ics_quarantine_note(&quarantine, name, reason, &where, &error) == ICESTREAM_OK,
                  "%s", error.text);
    ck_assert_str_eq(strrchr(where.text, '/') + 1, expected);
}

/* Makes a file with this name and quarantines it; it must get the expected name. */
static void move(const char *name, const char *reason, const char *expected)
{
    char path[SCRATCH_PATH];
    ics_path where;
    bool moved;
    write_text(name, reason);
    scratch_path(&place, name, path);
    ck_assert_msg(ics_quarantine_move(&quarantine, path, name, reason, &moved, &where, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    ck_assert(moved);
    ck_assert(!scratch_exists(&place, name));
    ck_assert_str_eq(strrchr(where.text, '/') + 1, expected);
}

START_TEST(test_notes)
{
    note("a.npy", "row 1: bad", "a.npy.reason");
    note("a.npy", "row 2: bad\n", "a.npy.2.reason");
    note("a.npy", "row 1: bad\n", "a.npy.reason"); /* this reason exists already */
    /* The beginning of another reason is a different reason. */
    note("a.npy", "row 1", "a.npy.3.reason");
    note("a.npy", "", "a.npy.4.reason");
    assert_text("bad/a.npy.reason", "row 1: bad\n");
    assert_text("bad/a.npy.2.reason", "row 2: bad\n");
    assert_text("bad/a.npy.3.reason", "row 1\n");
    assert_text("bad/a.npy.4.reason", "\n");
}
END_TEST

START_TEST(test_moves)
{
    move("a.npy", "bad", "a.npy");
    move("a.npy", "bad", "a.npy.2"); /* a second file with the same reason */
    note("a.npy", "listed", "a.npy.3.reason");
    move("a.npy", "worse", "a.npy.4");
    assert_text("bad/a.npy", "bad");
    assert_text("bad/a.npy.reason", "bad\n");
    assert_text("bad/a.npy.2.reason", "bad\n");
    assert_text("bad/a.npy.4", "worse");
    assert_text("bad/a.npy.4.reason", "worse\n");
}
END_TEST

START_TEST(test_names_that_exist)
{
    char path[SCRATCH_PATH];
    ck_assert_int_eq(mkdir(folder, 0777), 0);
    ck_assert_int_eq(mkdir(scratch_path(&place, "bad/a.npy.reason", path), 0777), 0);
    write_text("bad/a.npy.2", "another file");
    ck_assert_int_eq(symlink("nowhere", scratch_path(&place, "bad/a.npy.3.reason", path)), 0);
    move("a.npy", "bad", "a.npy.4");
    assert_text("bad/a.npy.2", "another file");
    ck_assert(!scratch_exists(&place, "bad/nowhere"));
}
END_TEST

START_TEST(test_killed_between_reason_and_file)
{
    note("a.npy", "bad", "a.npy.reason");
    move("a.npy", "bad", "a.npy");
    ck_assert(!scratch_exists(&place, "bad/a.npy.2.reason"));
    /* The process was killed before the reason had its name. */
    write_text("bad/b.npy.reason.part", "ba");
    move("b.npy", "bad", "b.npy");
    ck_assert(!scratch_exists(&place, "bad/b.npy.reason.part"));
}
END_TEST

START_TEST(test_reason_that_another_writes)
{
    /* A worker that is stopped while it writes a reason must not block other workers. */
    char path[SCRATCH_PATH];
    ck_assert_int_eq(mkdir(folder, 0777), 0);
    int other = open(scratch_path(&place, "bad/a.npy.reason.part", path), O_WRONLY | O_CREAT, 0666);
    ck_assert_int_eq(flock(other, LOCK_EX), 0);
    move("a.npy", "bad", "a.npy.2");
    assert_text("bad/a.npy.2.reason", "bad\n");
    ck_assert_int_eq(close(other), 0);
}
END_TEST

START_TEST(test_file_that_is_gone)
{
    char path[SCRATCH_PATH];
    bool moved = true;
    ck_assert_int_eq(ics_quarantine_move(&quarantine, scratch_path(&place, "none.npy", path),
                                         "none.npy", "bad", &moved, NULL, &error),
                     ICESTREAM_OK);
    ck_assert(!moved);
    ck_assert(!scratch_exists(&place, "bad/none.npy.reason"));
}
END_TEST

START_TEST(test_other_file_system)
{
    char path[SCRATCH_PATH], text[2 * SCRATCH_PATH];
    scratch far;
    if (!scratch_create_elsewhere(&place, &far)) {
        return;
    }
    quarantine.folder = far.folder;
    bool moved;
    write_text("a.npy", "a");
    scratch_path(&place, "a.npy", path);
    ck_assert_int_eq(ics_quarantine_move(&quarantine, path, "a.npy", "bad", &moved, NULL, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(error.cause, EXDEV);
    ck_assert_ptr_nonnull(strstr(error.text, "choose a folder on the same file system"));
    ck_assert(scratch_exists(&place, "a.npy") && !scratch_exists(&far, "a.npy.reason"));
    quarantine.near = scratch_path(&place, "near", near);
    move("a.npy", "bad", "a.npy");
    assert_text("near/a.npy", "bad");
    size_t size;
    unsigned char *reason = scratch_read(scratch_path(&far, "a.npy.reason", path), &size);
    reason[size] = 0;
    snprintf(text, sizeof text, "bad\nThe file is now %s/a.npy\n", near);
    ck_assert_str_eq((const char *)reason, text);
    free(reason);
    scratch_remove(&far);
}
END_TEST

START_TEST(test_no_folder)
{
    char path[SCRATCH_PATH];
    bool moved;
    write_text("a.npy", "a");
    write_text("bad", "a file");
    scratch_path(&place, "a.npy", path);
    ck_assert_int_eq(ics_quarantine_move(&quarantine, path, "a.npy", "bad", &moved, NULL, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot create this folder"));
    ck_assert_int_eq(ics_quarantine_note(&quarantine, "a.npy", "bad", NULL, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert(scratch_exists(&place, "a.npy"));
}
END_TEST

ICS_TEST_MAIN("quarantine")
{
    TCase *tests = tcase_create("quarantine");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_notes);
    tcase_add_test(tests, test_moves);
    tcase_add_test(tests, test_names_that_exist);
    tcase_add_test(tests, test_killed_between_reason_and_file);
    tcase_add_test(tests, test_reason_that_another_writes);
    tcase_add_test(tests, test_file_that_is_gone);
    tcase_add_test(tests, test_other_file_system);
    tcase_add_test(tests, test_no_folder);
    suite_add_tcase(suite, tests);
}
