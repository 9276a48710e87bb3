/* Promise: what left is an error that says what does the same now, and CHANGELOG.md has the same
 * rows. */
#include "base/replaced.h"
#include "pipeline/icestream.h"
#include "tests/support/test_main.h"

START_TEST(a_row_is_found_by_its_text)
{
    char text[256] = "kept";
    ck_assert(ics_replaced_say(text, sizeof text, "the command %s", "top"));
    ck_assert_str_eq(text,
                     "the command top left in version 0.3.0; use icestream status DIR --watch");
    strcpy(text, "kept");
    ck_assert(!ics_replaced_say(text, sizeof text, "the command %s", "to"));
    ck_assert(!ics_replaced_say(text, sizeof text, "the key '%s'", "top"));
    ck_assert_str_eq(text, "kept");
}
END_TEST

/* Reads CHANGELOG.md without its backquotes, and without the backslashes in front of bars. */
static char *read_changes(void)
{
    static char text[1 << 17];
    size_t size = 0;
    FILE *file = fopen(ICS_SOURCE_DIRECTORY "/CHANGELOG.md", "r");
    ck_assert_ptr_nonnull(file);
    for (int c = getc(file); c != EOF && size < sizeof text - 1; c = getc(file)) {
        text[size] = (char)c;
        size += c != '`' && c != '\\';
    }
    ck_assert_uint_lt(size, sizeof text - 1);
    fclose(file);
    return text;
}

START_TEST(the_changelog_has_the_rows)
{
    const char *changes = read_changes();
    for (const ics_replaced *row = ics_replaced_rows; row->what != NULL; ++row) {
        char head[64], line[512];
        snprintf(head, sizeof head, "\n## %s", row->since);
        snprintf(line, sizeof line, "\n| %s | %s |\n", row->what, row->instead);
        const char *section = strstr(changes, head);
        ck_assert_msg(section != NULL && strstr(section, line) != NULL,
                      "CHANGELOG.md has no row for version %s:%s", row->since, line);
    }
}
END_TEST

ICS_TEST_MAIN("replaced")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, a_row_is_found_by_its_text);
    tcase_add_test(all, the_changelog_has_the_rows);
    suite_add_tcase(suite, all);
}
