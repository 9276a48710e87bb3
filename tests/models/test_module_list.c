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

/* The first line decides what separates the columns of all parts. */
START_TEST(other_separators_are_read)
{
    static const char separators[] = {';', '\t'};
    for (size_t i = 0; i < sizeof separators; ++i) {
        icestream_error error = {0};
        ics_module_list list;
        const ics_text text = make_list("");
        for (char *at = memory; (at = strchr(at, ',')) != NULL;) {
            *at = separators[i];
        }
        ck_assert_msg(ics_module_list_csv(&text, NULL, &list, &error) == ICESTREAM_OK, "%s",
                      error.text);
        expect_all_modules(&list);
        ics_module_list_free(&list);
        free(memory);
    }
}
END_TEST

START_TEST(columns_without_a_name_are_passed_over)
{
    icestream_error error = {0};
    ics_module_list list;
    const char lines[] =
        "sep=,\n\"\",\"string\",\"module\",\"x\",\"y\",\"z\",Unnamed: 6\n\"a,b\",7,9,1.5,-2,3e1,\n";
    const ics_text text = ics_text_borrow("index.csv", lines, sizeof lines - 1);
    ck_assert_msg(ics_module_list_csv(&text, NULL, &list, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert(list.count == 1 && list.items[0].module.string == 7 && list.items[0].module.z == 30);
    ics_module_list_free(&list);
}
END_TEST

/* The two modules of a list: string 0, module 0 at (-1.5, 2, z) and string 0, module 1 at z + 30.
 */
static void expect_two(const ics_module_list *list, double z)
{
    ck_assert_uint_eq(list->count, 2);
    for (size_t i = 0; i < 2; ++i) {
        const ice_module *module = &list->items[i].module;
        ck_assert_uint_eq(module->string, 0);
        ck_assert_uint_eq(module->module, i);
        ck_assert_double_eq(module->x, -1.5);
        ck_assert_double_eq(module->y, 2);
        ck_assert_double_eq_tol(module->z, z + 30 * (double)i, 1e-9);
    }
}

/* GraphNeT's tables, as pandas writes them with their index or without it. */
static const char *const graphnet[] = {
    "x,y,z,sensor_pos_x,sensor_pos_y,sensor_pos_z,sensor_string_id,sensor_id,t\n"
    "-1.5,2,-90,-1.5,2,-90,0,0,0.0\n-1.5,2,-60,-1.5,2,-60,0,1,0.0\n",
    "sensor_pos_x,sensor_pos_y,sensor_pos_z,sensor_string_id,sensor_id\n-1.5,2,-90,0,0\n-1.5,2,-60,"
    "0,1.0\n",
    "x,y,z,dom_x,dom_y,dom_z,pmt_area,rde,string,dom_number,dom_type\n"
    "-1.5,2,-90,-1.5,2,-90,0.044,1,0,0,20\n-1.5,2,-60,-1.5,2,-60,0.044,1,0,1,20\n",
    "x,y,z,dom_x,dom_y,dom_z,pmt_area,rde,string,pmt_number,dom_number,dom_type,pmt_dir_x,"
    "pmt_dir_y,pmt_dir_z,sensor_id,dom_time,charge,hlc\n"
    "-1.5,2,-90,-1.5,2,-90,0.0444,1.0,0,0,0,20,0.0,0.0,-1.0,7,0,0,-1\n"
    "-1.5,2,-60,-1.5,2,-60,0.0444,1.0,0,0,1,20,0.0,0.0,-1.0,8,0,0,-1\n",
};

START_TEST(tables_of_graphnet)
{
    ics_module_list list;
    icestream_error error = {0};
    const ics_text text = ics_text_borrow("a.csv", graphnet[_i], strlen(graphnet[_i]));
    ck_assert_msg(ics_module_list_csv(&text, NULL, &list, &error) == ICESTREAM_OK, "%s",
                  error.text);
    expect_two(&list, -90);
    ck_assert_double_eq(list.items[0].module.efficiency, 1);
    ics_module_list_free(&list);
}
END_TEST

/* Prometheus' lists: tabs or blanks, CR LF or LF; in ice z counts from the surface. */
static const struct {
    const char *text;
    double z;
} prometheus[] = {
    {"### Metadata ###\r\nMedium:\tice\r\nDOM Radius [cm]:\t30\r\n### Modules ###\r\n"
     "-1.5\t2\t-2000\t0\t0\r\n-1.5\t2\t-1970\t0\t1\r\n",
     1948.07 - 2000},
    {"### Metadata ###\nMedium: water\n### Modules ###\n-1.5 2 -2000 0 0 77\n-1.5 2 -1970 0 1 78\n",
     -2000},
};

START_TEST(lists_of_prometheus)
{
    ics_module_list list;
    icestream_error error = {0};
    const ics_text text =
        ics_text_borrow("a.geo", prometheus[_i].text, strlen(prometheus[_i].text));
    ck_assert(ics_module_list_is_prometheus(&text));
    ck_assert_msg(ics_module_list_prometheus(&text, &list, &error) == ICESTREAM_OK, "%s",
                  error.text);
    expect_two(&list, prometheus[_i].z);
    ics_module_list_free(&list);
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
    tcase_add_test(lists, long_list_has_all_modules);
    tcase_add_test(lists, faults_of_all_parts_are_reported);
    tcase_add_test(lists, fault_of_a_value_has_its_line);
    tcase_add_test(lists, other_separators_are_read);
    tcase_add_test(lists, columns_without_a_name_are_passed_over);
    tcase_add_loop_test(lists, tables_of_graphnet, 0, sizeof graphnet / sizeof *graphnet);
    tcase_add_loop_test(lists, lists_of_prometheus, 0, sizeof prometheus / sizeof *prometheus);
    tcase_add_test(lists, list_without_modules_is_refused);
    suite_add_tcase(suite, lists);
}
