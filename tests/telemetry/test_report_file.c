/* Promises of report_file.h: two runs never write the same file at the same time. */
#include "pipeline/production/telemetry/report_file.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

START_TEST(names)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], second[SCRATCH_PATH], lock[SCRATCH_PATH];
    icestream_error error = {0};
    ics_report_file one, two, three;
    scratch_path(&place, "a.b.json", path);
    scratch_path(&place, "a.b-farm_7.json", second);
    scratch_path(&place, ".a.b.json.lock", lock);

    ck_assert_int_eq(ics_report_file_open(path, "first", &one, &error), ICESTREAM_OK);
    ck_assert_str_eq(one.path, path);
    ck_assert(!one.is_other && one.lock_fault == 0);
    /* Locks of flock(2) belong to open files, so this process is a stranger to itself. */
    ck_assert_int_eq(ics_report_file_open(path, "farm/7", &two, &error), ICESTREAM_OK);
    ck_assert_str_eq(two.path, second);
    ck_assert(two.is_other);
    ck_assert_int_eq(ics_report_file_open(path, "farm/7", &three, &error), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found other runs that write this file"));
    ics_report_file_close(&three, NULL);

    ics_report_file_close(&one, NULL);
    ck_assert_int_ne(access(lock, F_OK), 0);
    ck_assert_int_eq(ics_report_file_open(path, "first", &one, &error), ICESTREAM_OK);
    ck_assert_str_eq(one.path, path);
    ics_report_file_close(&one, NULL);
    ics_report_file_close(&two, NULL);
    ics_report_file_close(&two, NULL);
    scratch_remove(&place);
}
END_TEST

/* Names without a lock: a device, a stream, and a folder that does not exist. */
START_TEST(without_locks)
{
    icestream_error error = {0};
    ics_report_file one, two;
    static const char *const paths[] = {"/dev/null", "/proc/none/summary.json"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
        ck_assert_int_eq(ics_report_file_open(paths[i], "w", &one, &error), ICESTREAM_OK);
        ck_assert_int_eq(ics_report_file_open(paths[i], "w", &two, &error), ICESTREAM_OK);
        ck_assert_str_eq(two.path, paths[i]);
        ics_report_file_close(&one, NULL);
        ics_report_file_close(&two, NULL);
    }
}
END_TEST

START_TEST(names_of_other_workers)
{
    ck_assert(ics_report_file_is_name("x/summary.json", "summary.json"));
    ck_assert(ics_report_file_is_name("x/summary.json", "summary-w.json"));
    ck_assert(!ics_report_file_is_name("x/summary.json", "summary-.json"));
    ck_assert(!ics_report_file_is_name("x/summary.json", "summary-w.jso"));
    ck_assert(!ics_report_file_is_name("x/summary.json", "summaryw.json"));
    ck_assert(ics_report_file_is_name("numbers", "numbers-w"));
    ck_assert(!ics_report_file_is_name("numbers", "numbersw"));
}
END_TEST

ICS_TEST_MAIN("report_file")
{
    TCase *all = tcase_create("names");
    tcase_add_test(all, names);
    tcase_add_test(all, without_locks);
    tcase_add_test(all, names_of_other_workers);
    suite_add_tcase(suite, all);
}
