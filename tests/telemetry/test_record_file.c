/* Promises of record_file.h: a journal is known by its beginning, also if its first line is torn.
 * To join: add a beginning of a file. */
#include "pipeline/production/telemetry/record_file.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>

static int check_journal(const void *bytes, size_t size)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_error error = {.status = ICESTREAM_OK};
    FILE *file = fopen(scratch_path(&place, "run.journal", path), "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    const int status = ics_record_file_check(ICS_RECORD_JOURNAL, "sink.journal", path, &error);
    scratch_remove(&place);
    return status;
}

#define JOURNAL(bytes) ck_assert_int_eq(check_journal(bytes, sizeof(bytes) - 1), ICESTREAM_OK)
#define OTHER(bytes)   ck_assert_int_eq(check_journal(bytes, sizeof(bytes) - 1), ICESTREAM_E_CONFIG)

START_TEST(test_torn_journals)
{
    JOURNAL("");
    JOURNAL("{\"time\":\"2026");
    JOURNAL("{\"ti");
    JOURNAL("{\"ti\n{\"time\":\"2026");
    JOURNAL("\0\0\0\0\0\0\0\0\0\0\0\0");
    JOURNAL("\0\0\0\n{\"time\":\"2026");
    JOURNAL("{\"ti\0\0\0\0\0\0\0\0\n{\"time\":\"2026");
    OTHER("\n{\"time\":\"2026");
    OTHER("{\"timer\": 1}\n");
    OTHER("{\"title\": 1}\n");
    OTHER("\0\0\0\1");
    OTHER("notes\n");
    static const char zeros[100000];
    ck_assert_int_eq(check_journal(zeros, sizeof zeros), ICESTREAM_E_CONFIG);
}
END_TEST

ICS_TEST_MAIN("record_file")
{
    TCase *tests = tcase_create("record_file");
    tcase_add_test(tests, test_torn_journals);
    suite_add_tcase(suite, tests);
}
