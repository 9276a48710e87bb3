/* Promise: lists of modules of the formats of the field have the modules of their lines, whatever
 * separates their columns. What is wrong with lists is in tests/cli/bad_inputs_detector.py.
 *
 * How to join: a new property of lists is a test with a small text. */
#include "pipeline/photons/models/detector/module_list.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <string.h>

/* The first line decides what separates the columns. The last line has no end. */
START_TEST(lines_and_separators)
{
    static const char *const lists[] = {
        "# modules\nx,y,z,string,module\n\n1.125,-2,-3e1,1,2\n# 1,2,3\n  \n4,5,6,7,8",
        "x;y;z;string;module\r\n1.125;-2;-3e1;1;2\r\n4;5;6;7;8",
        "x\ty\tz\tstring\tmodule\n1.125\t-2\t-3e1\t1\t2\n4\t5\t6\t7\t8\n",
    };
    static const size_t lines[][2] = {{4, 7}, {2, 3}, {2, 3}};
    icestream_error error = {0};
    ics_module_list list;
    const ics_text text = ics_text_borrow("a.csv", lists[_i], strlen(lists[_i]));
    ck_assert_msg(ics_module_list_csv(&text, NULL, &list, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(list.count, 2);
    const ice_module *first = &list.items[0].module, *second = &list.items[1].module;
    ck_assert(first->x == 1.125 && first->y == -2 && first->z == -30 && first->string == 1 &&
              first->module == 2 && first->efficiency == 1 && !list.items[0].has_type);
    ck_assert(second->x == 4 && second->string == 7 && second->module == 8);
    ck_assert_uint_eq(list.items[0].line, lines[_i][0]);
    ck_assert_uint_eq(list.items[1].line, lines[_i][1]);
    ics_module_list_free(&list);
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

/* A row for each PMT: PMTs of one module around its middle, a module without an efficiency, and one
 * whose pair of numbers comes again elsewhere. */
START_TEST(rows_of_pmts)
{
#define NAMES "dom_x,dom_y,dom_z,rde,string,pmt_number,dom_number\n"
    static const char rows[] = NAMES "-1.4,2,-90.1,1.3,0,0,0\n-1.6,2,-89.9,1.3,0,1,0\n"
                                     "-1.5,2,-60,,0,0,1\n";
    static const char twice[] = NAMES "0,0,-90,1,4,0,7\n50,0,-90,1,4,0,7\n";
    ics_module_list list;
    icestream_error error = {0};
    ics_text text = ics_text_borrow("a.csv", rows, sizeof rows - 1);
    ck_assert_msg(ics_module_list_csv(&text, NULL, &list, &error) == ICESTREAM_OK, "%s",
                  error.text);
    expect_two(&list, -90);
    ck_assert_double_eq(list.items[0].module.efficiency, 1.3);
    ck_assert_double_eq(list.items[1].module.efficiency, 1);
    ck_assert(list.parts.count == 1 && list.parts.line == 2);
    ck_assert(list.plain.count == 1 && list.plain.line == 4);
    ics_module_list_free(&list);
    static const char keys[] = "string,om,pmt,x,y,z\n0,0,0,-1.4,2,-90\n0,0,1,-1.6,2,-90\n"
                               "0,1,0,-1.5,2,-60\n"; /* IceCube's OMKey */
    text = ics_text_borrow("a.csv", keys, sizeof keys - 1);
    ck_assert_int_eq(ics_module_list_csv(&text, NULL, &list, &error), ICESTREAM_OK);
    expect_two(&list, -90);
    ck_assert_uint_eq(list.parts.count, 1);
    ics_module_list_free(&list);
    /* Both enter the list, which the detector refuses. */
    text = ics_text_borrow("a.csv", twice, sizeof twice - 1);
    ck_assert_int_eq(ics_module_list_csv(&text, NULL, &list, &error), ICESTREAM_OK);
    ck_assert_uint_eq(list.count, 2);
    ics_module_list_free(&list);
}
END_TEST

/* GraphNeT's tables, as pandas writes them with their index or without it. */
static const char *const graphnet[] = {
    "x,y,z,sensor_pos_x,sensor_pos_y,sensor_pos_z,sensor_string_id,sensor_id,t\n"
    "-1.5,2,-90,-1.5,2,-90,0,0,0.0\n-1.5,2,-60,-1.5,2,-60,0,1,0.0\n",
    "sensor_pos_x,sensor_pos_y,sensor_pos_z,sensor_string_id,sensor_id\n-1.5,2,-90,0,0\n-1.5,2,-60,"
    "0,1.0\n",
    "string,om,pmt,x,y,z\n0,0,0,-1.5,2,-90\n0,1,0,-1.5,2,-60\n", /* IceCube's OMKey */
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

START_TEST(radius_of_prometheus_has_a_unit)
{
    static const struct {
        const char *line;
        double radius; /* m; 0: refused */
    } cases[] = {{"DOM Radius [cm]: 21.59", 0.2159}, {"DOM Radius [m]:\t0.2159", 0.2159},
                 {"DOM Radius [mm]: 215.9", 0.2159}, {"DOM Radius: 21.59", 0},
                 {"DOM Radius [in]: 8.5", 0},        {"DOM Radius [cm]: wide", 0}};
    for (size_t i = 0; i < COUNT(cases); ++i) {
        ics_module_list list;
        icestream_error error = {0};
        char file[256];
        snprintf(file, sizeof file, "Medium: ice\n%s\n### Modules ###\n0 0 -2000 0 0\n",
                 cases[i].line);
        const ics_text text = ics_text_borrow("a.geo", file, strlen(file));
        const int status = ics_module_list_prometheus(&text, &list, &error);
        ck_assert_int_eq(status, cases[i].radius > 0 ? ICESTREAM_OK : ICESTREAM_E_CONFIG);
        if (status == ICESTREAM_OK) {
            ck_assert_double_eq_tol(list.radius, cases[i].radius, 1e-12);
            ics_module_list_free(&list);
        } else {
            ck_assert_ptr_nonnull(strstr(error.text, "a.geo:2"));
        }
    }
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

ICS_TEST_MAIN("module_list")
{
    TCase *lists = tcase_create("all");
    tcase_add_test(lists, rows_of_pmts);
    tcase_add_loop_test(lists, lines_and_separators, 0, 3);
    tcase_add_test(lists, columns_without_a_name_are_passed_over);
    tcase_add_loop_test(lists, tables_of_graphnet, 0, sizeof graphnet / sizeof *graphnet);
    tcase_add_test(lists, radius_of_prometheus_has_a_unit);
    tcase_add_loop_test(lists, lists_of_prometheus, 0, sizeof prometheus / sizeof *prometheus);
    suite_add_tcase(suite, lists);
}
