/* Promise: docs/unit-life.md is the table of the rules. tests/run/test_run_model.c drives the rules
 * with random jobs of a run, and shows that no unit is lost or finished twice. With ICS_REWRITE=1
 * the test writes docs/unit-life.md. */
#include "pipeline/production/units/rules.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(document_is_the_table)
{
    static const char path[] = ICS_SOURCE_DIRECTORY "/docs/unit-life.md";
    char *expected = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&expected, &size);
    ics_unit_rules_print(memory);
    fclose(memory);
    if (getenv("ICS_REWRITE") != NULL) {
        FILE *out = fopen(path, "w");
        ck_assert_ptr_nonnull(out);
        ck_assert_int_eq(fputs(expected, out) >= 0 && fclose(out) == 0, 1);
    }
    char *found = calloc(1, size + 2);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s is missing: run this test with ICS_REWRITE=1", path);
    ck_assert_uint_eq(fread(found, 1, size + 1, file), size);
    fclose(file);
    ck_assert_msg(memcmp(found, expected, size) == 0,
                  "%s is not the table: run this test with ICS_REWRITE=1", path);
    free(found);
    free(expected);
}
END_TEST

ICS_TEST_MAIN("unit rules")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, document_is_the_table);
    suite_add_tcase(suite, all);
}
