/* Promise: a long list of modules, which threads read in parts, has the modules of all its lines in
 * order, and its faults are reported with their lines and columns, as those of a short list.
 *
 * How to join: a new property of lists is a test with a text from make_list(). */
#include "pipeline/models/detector/module_list.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Some parts of 2^18 bytes. */
enum { ROWS = 100000, LINE = 40, LINES_BETWEEN = 7 };

static char *memory;

/* Writes a list of ROWS modules: a comment and an empty line follow every LINES_BETWEEN rows, and
 * the last line has no end. */
static ics_text make_list(const char *line_end)
{
    size_t size = 0;
    memory = malloc((size_t)ROWS * 3 * LINE);
    ck_assert_ptr_nonnull(memory);
    size += (size_t)sprintf(memory, "# modules%s\nx,y,z,string,module", line_end);
    for (int i = 0; i < ROWS; ++i) {
        size += (size_t)sprintf(memory + size, "%s\n%d.125,%d,-3e1,%d,%d", line_end, i % 1000,
                                -i % 2000, i / 60 + 1, i % 60 + 1);
        if (i % LINES_BETWEEN == 0) {
            size += (size_t)sprintf(memory + size, "%s\n# %d,1,2%s\n  ", line_end, i, line_end);
        }
    }
    return ics_text_borrow("long.csv", memory, size);
}

/* The line of row i, counted from 1. */
static size_t line_of(int i)
{
    return 3 + (size_t)i + 2 * (((size_t)i + LINES_BETWEEN - 1) / LINES_BETWEEN);
}

static void expect_all_modules(const ics_module_list *list)
{
    ck_assert_uint_eq(list->count, ROWS);
    for (int i = 0; i < ROWS; ++i) {
        const ics_listed_module *item = &list->items[i];
        ck_assert(item->line == line_of(i) && item->module.x == i % 1000 + 0.125 &&
                  item->module.y == -i % 2000 && item->module.z == -30 &&
                  item->module.string == i / 60 + 1 && item->module.module == i % 60 + 1 &&
                  item->module.efficiency == 1 && !item->has_type);
    }
}

START_TEST(long_list_has_all_modules)
{
    const char *const ends[] = {"", "\r"};
    for (size_t i = 0; i < COUNT(ends); ++i) {
        icestream_error error = {0};
        ics_module_list list;
        const ics_text text = make_list(ends[i]);
        ck_assert_int_eq(ics_module_list_csv(&text, NULL, &list, &error), ICESTREAM_OK);
        expect_all_modules(&list);
        ics_module_list_free(&list);
        free(memory);
    }
}
END_TEST

/* Replaces the first character of the line of row i. */
static void damage(int i, char character)
{
    char *line = memory;
    for (size_t k = 1; k < line_of(i); ++k) {
        line = strchr(line, '\n') + 1;
    }
    *line = character;
}

START_TEST(faults_of_all_parts_are_reported)
{
    icestream_error error = {0};
    ics_module_list list;
    char first[80], second[80];
    const ics_text text = make_list("");
    damage(10, '?');
    damage(ROWS - 2, '?');
    ck_assert_int_eq(ics_module_list_csv(&text, NULL, &list, &error), ICESTREAM_E_CONFIG);
    ck_assert_uint_eq(list.count, 0);
    snprintf(first, sizeof first, "long.csv:%zu:1: error: x: found '?0.125', expected",
             line_of(10));
    snprintf(second, sizeof second, "long.csv:%zu:1: error: x: found '?98.125', expected",
             line_of(ROWS - 2));
    const char *at = strstr(error.text, first);
    ck_assert_msg(at != NULL && strstr(at, second) != NULL, "%s", error.text);
    free(memory);
}
END_TEST

START_TEST(fault_of_a_value_has_its_line)
{
    icestream_error error = {0};
    ics_module_list list;
    char expected[120];
    const ics_text text = make_list("");
    char *number = strstr(memory, ",-3e1,1667,40"); /* the last module */
    ck_assert_ptr_nonnull(number);
    number[3] = '9';
    number[4] = '9';
    ck_assert_int_eq(ics_module_list_csv(&text, NULL, &list, &error), ICESTREAM_OK);
    ics_module_list_free(&list);
    number[3] = 'e';
    number[4] = '4';
    ck_assert_int_eq(ics_module_list_csv(&text, NULL, &list, &error), ICESTREAM_E_CONFIG);
    snprintf(expected, sizeof expected,
             "long.csv:%zu: error: z: found -30000 m, expected -10000 .. 10000 m",
             line_of(ROWS - 1));
    ck_assert_msg(strstr(error.text, expected) != NULL, "%s", error.text);
    free(memory);
}
END_TEST

START_TEST(list_without_modules_is_refused)
{
    icestream_error error = {0};
    ics_module_list list;
    const char lines[] = "string,module,x,y,z\n# nothing\n";
    const ics_text text = ics_text_borrow("empty.csv", lines, sizeof lines - 1);
    ck_assert_int_eq(ics_module_list_csv(&text, NULL, &list, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "empty.csv: error: found no rows of numbers") != NULL, "%s",
                  error.text);
}
END_TEST

ICS_TEST_MAIN("module_list")
{
    TCase *lists = tcase_create("long lists");
    tcase_set_timeout(lists, 60);
    tcase_add_test(lists, long_list_has_all_modules);
    tcase_add_test(lists, faults_of_all_parts_are_reported);
    tcase_add_test(lists, fault_of_a_value_has_its_line);
    tcase_add_test(lists, list_without_modules_is_refused);
    suite_add_tcase(suite, lists);
}
