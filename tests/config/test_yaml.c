/* Promise: the YAML tree keeps structure, texts and places, of files and of values from the command
 * line; tests/cli/bad_inputs_configuration.py has the paths that cannot be read. To join: a new
 * kind of value is a row of values_outside_files_are_literal_unless_they_look_like_yaml. */
#include "tests/config/yaml_text.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(tree_keeps_structure_and_places)
{
    ics_yaml *document = read_good("run:\n  seed: 7   # a comment\nfiles: [a, \"b c\", 'd']\n"
                                   "block: |\n  two\n  lines\nempty:\n");
    const ics_yaml_node *root = ics_yaml_root(document);
    ck_assert_int_eq(root->kind, ICS_YAML_MAPPING);
    ck_assert_uint_eq(root->count, 4);
    ck_assert_str_eq(root->source->name, "folder/a.yaml");
    ck_assert_str_eq(root->source->folder, "folder");

    const ics_yaml_node *run = ics_yaml_find(root, "run");
    ck_assert_ptr_nonnull(run);
    const ics_yaml_node *seed = ics_yaml_find(run, "seed");
    ck_assert_ptr_nonnull(seed);
    ck_assert_str_eq(seed->text, "7");
    ck_assert(!seed->quoted);
    ck_assert_uint_eq(seed->line, 2);
    ck_assert_uint_eq(seed->column, 9);
    ck_assert_uint_eq(run->entries[0].key->column, 3);

    const ics_yaml_node *files = ics_yaml_find(root, "files");
    ck_assert_ptr_nonnull(files);
    ck_assert_int_eq(files->kind, ICS_YAML_LIST);
    ck_assert_uint_eq(files->count, 3);
    ck_assert_str_eq(files->items[1]->text, "b c");
    ck_assert(files->items[1]->quoted && files->items[2]->quoted && !files->items[0]->quoted);
    ck_assert_uint_eq(files->items[1]->line, 3);
    ck_assert_uint_eq(files->items[1]->column, 12);

    const ics_yaml_node *block = ics_yaml_find(root, "block");
    ck_assert_ptr_nonnull(block);
    ck_assert_str_eq(block->text, "two\nlines\n");
    ck_assert(block->quoted);
    ck_assert(ics_yaml_is_null(ics_yaml_find(root, "empty")));
    ck_assert_ptr_null(ics_yaml_find(root, "Run"));
    ck_assert_ptr_null(ics_yaml_find(seed, "run"));
    ics_yaml_destroy(document);
}
END_TEST

START_TEST(empty_inputs_are_empty_mappings_or_nothing)
{
    static const char *const texts[] = {"", "\n\n", "# only a comment\n", "\xef\xbb\xbf"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        ics_yaml *document = read_good(texts[i]);
        ck_assert_int_eq(ics_yaml_root(document)->kind, ICS_YAML_MAPPING);
        ck_assert_uint_eq(ics_yaml_root(document)->count, 0);
        ics_yaml_destroy(document);
    }
    ics_yaml *document = read_good("---\n");
    ck_assert(ics_yaml_is_null(ics_yaml_root(document)));
    ics_yaml_destroy(document);
}
END_TEST

START_TEST(byte_order_mark_is_skipped)
{
    ics_yaml *document = read_good("\xef\xbb\xbf"
                                   "a: \xc3\xa4\xe2\x82\xac\n");
    const ics_yaml_node *value = ics_yaml_find(ics_yaml_root(document), "a");
    ck_assert_ptr_nonnull(value);
    ck_assert_str_eq(value->text, "\xc3\xa4\xe2\x82\xac");
    ics_yaml_destroy(document);
}
END_TEST

START_TEST(null_has_four_spellings_and_quotes_make_it_text)
{
    ics_yaml *document = read_good("[~, null, Null, NULL, \"\", \"~\", 'null', nul, 0]");
    const ics_yaml_node *root = ics_yaml_root(document);
    ck_assert_uint_eq(root->count, 9);
    for (size_t i = 0; i < root->count; ++i) {
        ck_assert_msg(ics_yaml_is_null(root->items[i]) == (i < 4), "item %zu", i);
    }
    ics_yaml_destroy(document);
}
END_TEST

START_TEST(aliases_share_values_and_have_their_own_place)
{
    ics_yaml *document = read_good("a: &one [1, {k: v}]\nb: *one\n&key c: 1\nd: *key\n*key : 2\n");
    const ics_yaml_node *root = ics_yaml_root(document);
    const ics_yaml_node *b = ics_yaml_find(root, "b");
    ck_assert_ptr_nonnull(b);
    ck_assert_int_eq(b->kind, ICS_YAML_LIST);
    ck_assert_uint_eq(b->line, 2);
    ck_assert_uint_eq(b->column, 4);
    ck_assert_ptr_eq(b->items, ics_yaml_find(root, "a")->items);
    ck_assert_str_eq(ics_yaml_find(b->items[1], "k")->text, "v");
    ck_assert_uint_eq(b->nodes, 5);
    ck_assert_uint_eq(b->height, 2);
    ck_assert_str_eq(ics_yaml_find(root, "d")->text, "c");
    /* The alias in place of a key repeats the key "c" and is marked as a duplicate. */
    ck_assert_uint_eq(root->count, 5);
    ck_assert_ptr_eq(root->entries[4].duplicate_of, root->entries[2].key);
    ics_yaml_destroy(document);
}
END_TEST

START_TEST(keys_given_twice_are_marked)
{
    ics_yaml *document = read_good("b: 1\na: 2\nb: 3\nc: {a: 1}\n'b': 4\n");
    const ics_yaml_node *root = ics_yaml_root(document);
    ck_assert_uint_eq(root->count, 5);
    ck_assert_ptr_null(root->entries[0].duplicate_of);
    ck_assert_ptr_null(root->entries[1].duplicate_of);
    ck_assert_ptr_eq(root->entries[2].duplicate_of, root->entries[0].key);
    ck_assert_ptr_null(root->entries[3].duplicate_of);
    ck_assert_ptr_eq(root->entries[4].duplicate_of, root->entries[0].key);
    ck_assert_str_eq(ics_yaml_find(root, "b")->text, "1");
    ics_yaml_destroy(document);
}
END_TEST

START_TEST(values_outside_files_are_literal_unless_they_look_like_yaml)
{
    static const struct {
        const char *text;
        ics_yaml_kind kind;
        bool quoted;
        const char *value;
    } rows[] = {
        {"-", ICS_YAML_SCALAR, false, "-"},
        {"*.npy", ICS_YAML_SCALAR, false, "*.npy"},
        {"a: b # c", ICS_YAML_SCALAR, false, "a: b # c"},
        {"", ICS_YAML_SCALAR, false, ""},
        {"\"x\\ty\"", ICS_YAML_SCALAR, true, "x\ty"},
        {"'5'", ICS_YAML_SCALAR, true, "5"},
        {"[1, 2]", ICS_YAML_LIST, false, NULL},
        {"{a: 1}", ICS_YAML_MAPPING, false, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ics_yaml *document = NULL;
        icestream_error error = {0};
        int status = ics_yaml_read_value("--set x=1/2", "", rows[i].text, &document, &error);
        ck_assert_msg(status == ICESTREAM_OK, "%s: %s", rows[i].text, error.text);
        const ics_yaml_node *root = ics_yaml_root(document);
        char place[64];
        ck_assert_int_eq(root->kind, rows[i].kind);
        ck_assert_int_eq(root->quoted, rows[i].quoted);
        if (rows[i].value != NULL) {
            ck_assert_str_eq(root->text, rows[i].value);
        }
        ck_assert_str_eq(ics_yaml_place(root, place, sizeof place), "--set x=1/2");
        ck_assert_str_eq(root->source->folder, "");
        ics_yaml_destroy(document);
    }
}
END_TEST

START_TEST(values_outside_files_must_be_utf8)
{
    static const char *const bad[] = {"\xff",         "a\x80",           "\xc0\x80",
                                      "\xe0\x80\x80", "\xed\xa0\x80",    "\xf4\x90\x80\x80",
                                      "\xe2\x82",     "\xf0\x8f\x80\x80"};
    static const char *const good[] = {"\xc2\x80", "\xe0\xa0\x80", "\xed\x9f\xbf",
                                       "\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        ics_yaml *document = NULL;
        icestream_error error = {0};
        ck_assert_int_eq(ics_yaml_read_value("--set a=b", "", bad[i], &document, &error),
                         ICESTREAM_E_CONFIG);
        ck_assert_ptr_null(document);
        ck_assert_str_eq(error.text, "--set a=b: error: not valid UTF-8 text");
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        ics_yaml *document = NULL;
        ck_assert_int_eq(ics_yaml_read_value("--set a=b", "", good[i], &document, NULL),
                         ICESTREAM_OK);
        ics_yaml_destroy(document);
    }
}
END_TEST

START_TEST(descriptions_are_short_and_printable)
{
    ics_yaml *document = read_good("- word\n- \"1\"\n- ~\n- [a, b]\n- []\n- {a: b}\n- \"a\\nb\"\n"
                                   "- 0123456789012345678901234567890123456789012345678901234567890"
                                   "\n");
    static const char *const expected[] = {
        "'word'",
        "the quoted text \"1\"",
        "nothing",
        "a list of 2",
        "an empty list",
        "a mapping",
        "the quoted text \"a?b\"",
        "'012345678901234567890123456789012345678901234567890123456789...'"};
    const ics_yaml_node *root = ics_yaml_root(document);
    ck_assert_uint_eq(root->count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < root->count; ++i) {
        char found[128];
        ck_assert_str_eq(ics_yaml_describe(root->items[i], found, sizeof found), expected[i]);
    }
    ics_yaml_destroy(document);
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------- */

START_TEST(files_are_read)
{
    char folder[] = "/tmp/icestream-yaml-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    char path[128];
    snprintf(path, sizeof path, "%s/run.yaml", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("run: {seed: 3}\n", file);
    fclose(file);
    ics_yaml *document = NULL;
    ck_assert_int_eq(ics_yaml_read_file(path, &document, NULL), ICESTREAM_OK);
    ck_assert_str_eq(ics_yaml_root(document)->source->folder, folder);
    ck_assert_str_eq(ics_yaml_root(document)->source->name, path);
    ics_yaml_destroy(document);

    ck_assert_int_eq(truncate(path, 0), 0);
    ck_assert_int_eq(ics_yaml_read_file(path, &document, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(ics_yaml_root(document)->count, 0);
    ics_yaml_destroy(document);

    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(folder_of_a_file)
{
    static const char *const rows[][2] = {
        {"run.yaml", ""}, {"a/run.yaml", "a"}, {"/run.yaml", "/"}, {"/a/b/run.yaml", "/a/b"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ics_yaml *document = NULL;
        ck_assert_int_eq(ics_yaml_read_text(rows[i][0], "", 0, &document, NULL), ICESTREAM_OK);
        ck_assert_str_eq(ics_yaml_root(document)->source->folder, rows[i][1]);
        ics_yaml_destroy(document);
    }
}
END_TEST

ICS_TEST_MAIN("yaml")
{
    TCase *tree = tcase_create("tree");
    tcase_add_test(tree, tree_keeps_structure_and_places);
    tcase_add_test(tree, empty_inputs_are_empty_mappings_or_nothing);
    tcase_add_test(tree, byte_order_mark_is_skipped);
    tcase_add_test(tree, null_has_four_spellings_and_quotes_make_it_text);
    tcase_add_test(tree, aliases_share_values_and_have_their_own_place);
    tcase_add_test(tree, keys_given_twice_are_marked);
    tcase_add_test(tree, values_outside_files_are_literal_unless_they_look_like_yaml);
    tcase_add_test(tree, values_outside_files_must_be_utf8);
    tcase_add_test(tree, descriptions_are_short_and_printable);
    suite_add_tcase(suite, tree);
    TCase *files = tcase_create("files");
    tcase_add_test(files, files_are_read);
    tcase_add_test(files, folder_of_a_file);
    suite_add_tcase(suite, files);
}
