/* Promise: a key of a table that would have no effect is an error with its place, unless --set
 * switches off what the key of the run file belongs to. To join: a new key of `table` is a row of
 * `useless`, or of tests/cli/bad_inputs_tables.py, and of `useful` with what it needs. */
#include "pipeline/photons/config/table.h"
#include "tests/support/config_text.h"
#include "tests/support/test_main.h"

static const struct {
    const char *text, *expected;
} useless[] = {
    {"table: {azimuth: full, step: 2, absorption_lengths: 9}",
     "r.yaml:1:18: error: table.azimuth: is for stages.tabulate: spherical or cylindrical, and it "
     "is none\n"
     "r.yaml:1:30: error: table.step: is for stages.tabulate: spherical or cylindrical, and it is "
     "none\n"
     "r.yaml:1:53: error: table.absorption_lengths: is for stages.tabulate: spherical or "
     "cylindrical, and it is none"},
    {"table: {outside: end, squares: true, source: fixed}",
     "r.yaml:1:18: error: table.outside: is for stages.tabulate: spherical or cylindrical, and it "
     "is none\n"
     "r.yaml:1:32: error: table.squares: is for stages.tabulate: spherical or cylindrical, and it "
     "is none\n"
     "r.yaml:1:46: error: table.source: is for stages.tabulate: spherical or cylindrical, and it "
     "is none"},
    {"stages: {tabulate: none}\ntable: {position: [1, 2, 3], time: 5}",
     "r.yaml:2:19: error: table.position: is for stages.tabulate: spherical or cylindrical, and it "
     "is none\n"
     "r.yaml:2:36: error: table.time: is for stages.tabulate: spherical or cylindrical, and it is "
     "none"},
    {"stages: {tabulate: spherical}\ntable: {position: [1, 2, 3], direction: [1, 0, 0], time: 5}",
     "r.yaml:2:19: error: table.position: is for table.source: fixed, and the source is auto\n"
     "r.yaml:2:41: error: table.direction: is for table.source: fixed, and the source is auto\n"
     "r.yaml:2:58: error: table.time: is for table.source: fixed, and the source is auto"},
    {"stages: {tabulate: cylindrical}\ntable: {source: step, direction: [0, 0, 0]}",
     "r.yaml:2:34: error: table.direction: is for table.source: fixed, and the source is step"},
    {"table: {checkpoint: off}",
     "r.yaml:1:21: error: table.checkpoint: is for stages.tabulate: spherical or cylindrical, and "
     "it is none"},
    {"table: {acceptance: detector}",
     "r.yaml:1:21: error: table.acceptance: is for stages.tabulate: spherical or cylindrical, and "
     "it is none"},
    /* A refused value causes no further error. */
    {"stages: {tabulate: sphere}\ntable: {step: 2}",
     "r.yaml:1:20: error: stages.tabulate: found 'sphere', expected one of none, spherical, "
     "cylindrical, or {source: path}"},
    {"stages: {tabulate: spherical}\ntable: {source: fix, time: 5}",
     "r.yaml:2:17: error: table.source: found 'fix', expected one of auto, step, fixed; did you "
     "mean "
     "'fixed'?"},
    {"stages: {tabulate: spherical}\n"
     "table: {azimuth: full, axes: [{name: x, from: 0, to: 9, bins: 9}]}",
     "r.yaml:2:18: error: table.azimuth: found full, and table.axes has no azimuth\n"
     "r.yaml:2:30: error: table.axes: found axis x as number 1, expected axes from r, azimuth, "
     "cosine, delay, impact, each at most once and in this order"},
    /* The axes of a header. */
    {"stages: {tabulate: {source: my.h}}",
     "default: error: table.axes: found no axes, expected those of the coordinates of the header "
     "of stages.tabulate, in their order"},
    {"stages: {tabulate: {source: my.h}}\n"
     "table: {outside: end, axes: [{name: far, from: 0, to: 9, bins: 9}]}",
     "r.yaml:2:18: error: table.outside: found end, and with a header photons end only where it "
     "says so; expected no such key"},
    {"stages: {tabulate: {source: my.h}}\n"
     "table: {axes: [{name: Far, from: 0, to: 9, bins: 9}]}",
     "r.yaml:2:15: error: table.axes: found axis 'Far' as number 1, expected a name of a letter "
     "a-z, then at most 29 letters a-z, digits or _"},
    {"stages: {tabulate: {source: my.h}}\n"
     "table: {axes: [{name: far, unit: light years, from: 0, to: 9, bins: 9}]}",
     "r.yaml:2:15: error: table.axes: found the unit 'light years' of axis far, expected at most 7 "
     "letters, digits or / ^ * . % -"},
    {"stages: {tabulate: {source: my.h}}\n"
     "table: {axes: [{name: a, from: 0, to: 9, bins: 9}, {name: a, from: 0, to: 9, bins: 9}]}",
     "r.yaml:2:15: error: table.axes: found axis a twice, expected another name"},
    {"stages: {tabulate: spherical}\n"
     "table: {axes: [{name: r, unit: m, from: 0, to: 9, bins: 9}]}",
     "r.yaml:2:15: error: table.axes: found the unit m of axis r, expected none, because units are "
     "for the axes of a header (stages.tabulate: {source: path})"},
    {"stages: {tabulate: spherical}\n"
     "table: {axes: [{name: r, from: -5, to: 9, bins: 9}]}",
     "r.yaml:2:15: error: table.axes: axis r: found from -5 and to 9, expected a range within 0 to "
     "1e+09"},
};

START_TEST(keys_without_effect_are_errors)
{
    icestream_config *config = NULL;
    icestream_error error = {.text = ""};
    const char *text = useless[_i].text;
    ck_assert_int_eq(ics_config_load_text("r.yaml", text, strlen(text), NULL, 0, &config, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(config);
    ck_assert_str_eq(error.text, useless[_i].expected);
}
END_TEST

#define FIXED "stages: {tabulate: spherical}\ntable: {source: fixed, position: [1, 2, 3], time: 5}"
#define FULL                                                                                       \
    "stages: {tabulate: spherical}\n"                                                              \
    "table: {azimuth: full, outside: end, axes: [{name: r, from: 0, to: 9, bins: 9}, "             \
    "{name: azimuth, from: 0, to: 360, bins: 9}]}"

static const struct {
    const char *text, *set;
} useful[] = {
    {FIXED, NULL},
    {"stages: {tabulate: spherical}\ntable: {acceptance: detector}", NULL},
    {"stages: {tabulate: spherical}\ntable: {checkpoint: off}", NULL},
    {FULL, NULL},
    /* Defaults that are written out are no request. */
    {"table: {source: auto, position: [0, 0, 0], direction: [0, 0, 1], time: 0, axes: [], "
     "outside: count}",
     NULL},
    {"stages: {tabulate: spherical}\ntable: {azimuth: full, outside: end}", NULL},
    {"stages: {tabulate: cylindrical}\n"
     "table: {outside: end, axes: [{name: z, from: 0, to: 9, bins: 9}]}",
     NULL},
    {"stages: {tabulate: spherical}\n"
     "table: {outside: end, axes: [{name: delay, from: 0, to: 9, bins: 9}]}",
     NULL},
    {"stages: {tabulate: {source: my.h}}\n"
     "table: {azimuth: full, axes: [{name: far_2, unit: m/ns, from: 0, to: 9, bins: 9}, "
     "{name: azimuth, from: 0, to: 360, bins: 9}]}",
     NULL},
    {"stages: {tabulate: {source: my.h}}\ntable: {axes: [{name: r, from: 0, to: 9, bins: 9}]}",
     "stages.tabulate=spherical"},
    /* --set switches off what the keys of the file belong to. */
    {FIXED, "stages.tabulate=none"},
    {FULL, "stages.tabulate=none"},
    {FIXED, "table.source=step"},
    {FULL, "table.axes=[{name: cosine, from: 0, to: 1, bins: 9}]"},
};

START_TEST(keys_with_an_effect_are_accepted)
{
    icestream_config_destroy(
        load_with(useful[_i].text, &useful[_i].set, useful[_i].set != NULL ? 1 : 0));
}
END_TEST

/* A key that --set gives has no file that had a use for it. */
START_TEST(overrides_without_effect_are_errors)
{
    static const char *const sets[] = {"table.time=5", "table.source=step"};
    icestream_config *config = NULL;
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_config_load_text("r.yaml", FIXED, strlen(FIXED), sets, 2, &config, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_str_eq(error.text, "--set table.time=5: error: table.time: is for table.source: "
                                 "fixed, and the source is step");
    ck_assert_int_eq(ics_config_load_text("r.yaml", "{}", 2, sets, 1, &config, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_str_eq(error.text, "--set table.time=5: error: table.time: is for stages.tabulate: "
                                 "spherical or cylindrical, and it is none");
}
END_TEST

START_TEST(keys_of_a_table_are_listed)
{
    const char *key;
    size_t count = 0;
    bool has_first = false, has_last = false;
    for (; (key = ics_config_table_key(count)) != NULL; ++count) {
        ck_assert_ptr_eq(strstr(key, "table."), key);
        ck_assert_str_ne(key, "table.checkpoint");
        has_first |= strcmp(key, "table.axes") == 0;
        has_last |= strcmp(key, "table.time") == 0;
    }
    ck_assert_uint_ge(count, 11);
    ck_assert(has_first && has_last);
}
END_TEST

ICS_TEST_MAIN("config_table")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, keys_of_a_table_are_listed);
    tcase_add_loop_test(all, keys_without_effect_are_errors, 0, COUNT(useless));
    tcase_add_loop_test(all, keys_with_an_effect_are_accepted, 0, COUNT(useful));
    tcase_add_test(all, overrides_without_effect_are_errors);
    suite_add_tcase(suite, all);
}
