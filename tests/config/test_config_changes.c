/* Promise: a run file that leaves out a key whose default changed gets one line with both values,
 * and only where the key matters; CHANGELOG.md, keys.def and the rows say the same; a row
 * is gone two minor versions after its change. To join: changes.c says how to add a row. */
#include "pipeline/photons/config/changes.h"
#include "pipeline/photons/config/keys.h"
#include "tests/support/config_text.h"
#include "tests/support/test_main.h"

static bool is_for_seed_7(const icestream_config *config)
{
    return config->run.seed == 7;
}

static const ics_config_change made[] = {
    {"detector.oversize", "4", "3", "9.1.0", "9.3.0", "Nobody wanted 4.",
     ICS_USE_RUN | ICS_USE_GENERATE, NULL},
    {"table.step", "7", "1", "9.1.0", "9.3.0", "Steps were long.", ICS_USE_TABULATE, NULL},
    {"run.bounce_limit", "1", "10000", "9.1.0", "9.3.0", "One is few.", ICS_USE_RUN, is_for_seed_7},
    {.key = NULL}};

static const char of_oversize[] = "detector.oversize is not given: it is 3 since version 9.1.0, "
                                  "and was 4 before. Nobody wanted 4. This line is gone when the "
                                  "run file gives the key.";

/* Expects that exactly the rows of `expected` show, one bit for each. */
static void expect_rows(const icestream_config *config, ics_config_use use, unsigned expected)
{
    unsigned found = 0;
    for (size_t i = 0; made[i].key != NULL; ++i) {
        found |= ics_config_change_shows(&made[i], config, use) ? 1U << i : 0;
    }
    ck_assert_uint_eq(found, expected);
}

START_TEST(a_row_shows_where_it_matters)
{
    const char *const set[] = {"detector.oversize=5"};
    icestream_config *plain = load(""), *seed = load("run: {seed: 7}");
    icestream_config *given = load("detector: {oversize: 5}"), *by_set = load_with("", set, 1);
    icestream_config *table = load("stages: {tabulate: spherical}"), *none = NULL;
    icestream_error error = {0};
    expect_rows(plain, ICS_USE_RUN, 1);
    expect_rows(plain, ICS_USE_GENERATE, 1);
    expect_rows(plain, ICS_USE_TABULATE, 2);
    expect_rows(seed, ICS_USE_RUN, 5);
    expect_rows(given, ICS_USE_RUN, 0);
    expect_rows(by_set, ICS_USE_RUN, 0);
    ck_assert_int_eq(icestream_config_load(NULL, NULL, 0, &none, &error), ICESTREAM_OK);
    expect_rows(none, ICS_USE_RUN, 0); /* there is no run file that could be old */
    ck_assert_int_eq(ics_config_use_of(plain), ICS_USE_RUN);
    ck_assert_int_eq(ics_config_use_of(table), ICS_USE_TABULATE);
    icestream_config *const all[] = {plain, seed, given, by_set, table, none};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        icestream_config_destroy(all[i]);
    }
}
END_TEST

START_TEST(each_row_is_one_line)
{
    icestream_config *config = load("run: {seed: 7}");
    const ics_config_change *rows = made;
    char text[1024];
    ck_assert_str_eq(ics_config_next_change(&rows, config, ICS_USE_RUN, text, sizeof text),
                     of_oversize);
    ck_assert_ptr_nonnull(ics_config_next_change(&rows, config, ICS_USE_RUN, text, sizeof text));
    ck_assert_ptr_nonnull(strstr(text, "run.bounce_limit is not given: it is 10000"));
    ck_assert_ptr_null(ics_config_next_change(&rows, config, ICS_USE_RUN, text, sizeof text));
    icestream_config_destroy(config);
}
END_TEST

START_TEST(a_change_is_found_by_both_values)
{
    ck_assert_ptr_eq(ics_config_find_change(made, "table.step", "7", "1"), &made[1]);
    ck_assert_ptr_null(ics_config_find_change(made, "table.step", "7", "2"));
    ck_assert_ptr_null(ics_config_find_change(made, "table.step", "6", "1"));
    ck_assert_ptr_null(ics_config_find_change(made, "table.time", "7", "1"));
}
END_TEST

/* A version as a number that grows with it. */
static unsigned order_of(const char *version)
{
    unsigned major = 0, minor = 0, patch = 0;
    ck_assert_msg(sscanf(version, "%u.%u.%u", &major, &minor, &patch) == 3, "%s", version);
    return (major * 1000 + minor) * 1000 + patch;
}

START_TEST(rows_are_true)
{
    for (const ics_config_change *row = ics_config_changes; row->key != NULL; ++row) {
        const size_t index = ics_schema_find(row->key, ics_config_keys, ICS_CONFIG_KEYS);
        ck_assert_msg(index < ICS_CONFIG_KEYS, "%s is no key", row->key);
        const char *now = ics_config_keys[index].fallback;
        ck_assert_msg(now != NULL && strcmp(now, row->new_value) == 0,
                      "%s: the default is %s, and the row says %s", row->key, now, row->new_value);
        ck_assert_str_ne(row->old_value, row->new_value);
        ck_assert_uint_ne(row->uses, 0);
        ck_assert_uint_le(order_of(row->since), order_of(ICESTREAM_VERSION));
        ck_assert_uint_eq(order_of(row->until), order_of(row->since) + 2000);
        ck_assert_msg(order_of(ICESTREAM_VERSION) < order_of(row->until),
                      "%s: its row is to be removed in version %s, which this is", row->key,
                      row->until);
    }
}
END_TEST

/* Returns whether the row of a table of CHANGELOG.md is a row of the program that changed in
 * `since`. */
static bool is_row(const char *line, const char *since)
{
    char expected[2048];
    for (const ics_config_change *row = ics_config_changes; row->key != NULL; ++row) {
        snprintf(expected, sizeof expected, "| `%s` | `%s` | `%s` | %s |\n", row->key,
                 row->old_value, row->new_value, row->why);
        if (strcmp(line, expected) == 0 && strcmp(row->since, since) == 0) {
            return true;
        }
    }
    return false;
}

START_TEST(the_changelog_has_the_rows)
{
    FILE *file = fopen(ICS_SOURCE_DIRECTORY "/CHANGELOG.md", "r");
    ck_assert_ptr_nonnull(file);
    char line[2048], since[32] = "";
    size_t found = 0, expected = 0;
    bool has_table = false, in_table = false;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "## %31s", since) == 1) {
            continue;
        }
        in_table =
            strcmp(line, "| key | before | now | why |\n") == 0 || (in_table && line[0] == '|');
        has_table |= in_table;
        if (in_table && strncmp(line, "| `", 3) == 0 &&
            order_of(since) + 2000 > order_of(ICESTREAM_VERSION)) {
            ck_assert_msg(is_row(line, since), "changes.c has no such row: %s", line);
            found++;
        }
    }
    fclose(file);
    while (ics_config_changes[expected].key != NULL) {
        expected++;
    }
    ck_assert(has_table);
    ck_assert_msg(found == expected, "CHANGELOG.md has %zu of %zu rows", found, expected);
}
END_TEST

ICS_TEST_MAIN("config_changes")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_row_shows_where_it_matters);
    tcase_add_test(all, each_row_is_one_line);
    tcase_add_test(all, a_change_is_found_by_both_values);
    tcase_add_test(all, rows_are_true);
    tcase_add_test(all, the_changelog_has_the_rows);
    suite_add_tcase(suite, all);
}
