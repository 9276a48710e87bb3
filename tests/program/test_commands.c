/* The commands and the reading of command lines.
 *
 * Promises: every command of pipeline/commands/program/commands.c describes itself completely,
 * README.md names it, and a command line is read as the description says. To join: a new command is
 * checked by the tests of the list without any change here; a new type of option needs a test of
 * how it is read. What commands do is tested in tests/commands, and the program from outside in
 * tests/cli.
 */
#include "pipeline/commands/program/command_line.h"
#include "pipeline/commands/program/commands.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list -------------------------------------------------------------------------------- */

static void check_option(const ics_command *command, size_t index)
{
    const ics_option *option = &command->options[index];
    const bool has_value = option->type != ICS_OPTION_SWITCH;
    ck_assert_msg(option->name != NULL && option->help != NULL, "%s: option %zu", command->name,
                  index);
    ck_assert_msg(has_value == (option->value != NULL), "%s --%s: value", command->name,
                  option->name);
    ck_assert_msg(option->type != ICS_OPTION_WHOLE || option->low < option->high, "%s --%s: range",
                  command->name, option->name);
    ck_assert_msg((option->type == ICS_OPTION_CHOICE) == (option->choices[0] != NULL),
                  "%s --%s: choices", command->name, option->name);
    ck_assert_msg(option->key == NULL || option->type == ICS_OPTION_TEXT, "%s --%s: key",
                  command->name, option->name);
    ck_assert_msg(strcmp(option->name, "help") != 0 && option->letter != 'h', "%s --%s: is taken",
                  command->name, option->name);
    for (size_t i = 0; i < index; ++i) {
        const ics_option *other = &command->options[i];
        ck_assert_msg(strcmp(other->name, option->name) != 0, "%s --%s: twice", command->name,
                      option->name);
        ck_assert_msg(option->letter == 0 || other->letter != option->letter, "%s -%c: twice",
                      command->name, option->letter);
    }
}

START_TEST(commands_are_described)
{
    for (size_t i = 0; i < ics_commands_count; ++i) {
        const ics_command *command = ics_commands[i];
        const size_t length = strlen(command->summary);
        ck_assert_msg(length > 0 && command->summary[length - 1] != '.', "%s", command->name);
        ck_assert_msg(command->operands != NULL && command->execute != NULL, "%s", command->name);
        ck_assert_int_le(command->operands_min, command->operands_max);
        ck_assert_uint_le(command->option_count, ICS_COMMAND_OPTIONS);
        for (size_t k = 0; k < command->option_count; ++k) {
            check_option(command, k);
        }
    }
}
END_TEST

START_TEST(commands_are_found)
{
    for (size_t i = 0; i < ics_commands_count; ++i) {
        ck_assert_ptr_eq(ics_commands_find(ics_commands[i]->name), ics_commands[i]);
    }
    ck_assert_ptr_null(ics_commands_find("rum"));
    ck_assert_str_eq(ics_commands_nearest("rum"), "run");
    ck_assert_ptr_null(ics_commands_nearest("xyzzy"));
}
END_TEST

START_TEST(readme_names_all_commands)
{
    static char text[1 << 17];
    FILE *file = fopen(ICS_SOURCE_DIRECTORY "/README.md", "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    for (size_t i = 0; i < ics_commands_count; ++i) {
        char row[64];
        snprintf(row, sizeof row, "| `icestream %s", ics_commands[i]->name);
        ck_assert_msg(strstr(text, row) != NULL, "README.md has no row of %s",
                      ics_commands[i]->name);
    }
}
END_TEST

/* ---- command lines --------------------------------------------------------------------------- */

enum { SWITCH, TEXT, TEXTS, LIST, SET, WHOLE, CHOICE, KEY, OPTIONS };

static const ics_option options[OPTIONS] = {
    [SWITCH] = {.name = "switch", .letter = 'w', .help = "-"},
    [TEXT] = {.name = "text", .letter = 't', .type = ICS_OPTION_TEXT, .value = "T", .help = "-"},
    [TEXTS] = {.name = "texts", .type = ICS_OPTION_TEXTS, .value = "T", .help = "-"},
    [LIST] = {.name = "list", .type = ICS_OPTION_LIST, .value = "L...", .help = "-"},
    [SET] = ICS_OPTION_ROW_SET,
    [WHOLE] = {.name = "whole",
               .type = ICS_OPTION_WHOLE,
               .value = "N",
               .help = "-",
               .low = -3,
               .high = 12},
    [CHOICE] = {.name = "choice",
                .type = ICS_OPTION_CHOICE,
                .value = "C",
                .help = "-",
                .choices = {"one", "two", "three"}},
    [KEY] = {.name = "seed", .type = ICS_OPTION_TEXT, .value = "N", .help = "-", .key = "run.seed"},
};

static const ics_command command = {.name = "try",
                                    .operands = "A [B]",
                                    .operands_min = 1,
                                    .operands_max = 2,
                                    .options = options,
                                    .option_count = OPTIONS};

enum { WORDS = 12 };

/* Reads "try" and the given words, up to the first NULL. */
static int parse(const char *const words[WORDS], ics_command_line *out)
{
    static char *texts[WORDS + 1] = {(char *)"try"};
    int count = 1;
    for (; count <= WORDS && words[count - 1] != NULL; ++count) {
        texts[count] = (char *)words[count - 1];
    }
    return ics_command_line_parse(&command, count, texts, out);
}

static void check_fault(const char *const words[WORDS])
{
    ics_command_line line;
    ck_assert_msg(parse(words, &line) == 2, "%s", words[0]);
    ics_command_line_free(&line);
}

START_TEST(values_are_read)
{
    ics_command_line line;
    static const char *const words[WORDS] = {"-w",      "--text=a", "-tb",     "--texts", "c", "x",
                                             "--texts", "d",        "--whole", "-3",      "y"};
    ck_assert_int_eq(parse(words, &line), 0);
    const ics_option_value *values = line.given.options;
    ck_assert(values[SWITCH].given && !line.help);
    ck_assert_str_eq(values[TEXT].text, "b");
    ck_assert_uint_eq(values[TEXTS].count, 2);
    ck_assert_str_eq(values[TEXTS].texts[0], "c");
    ck_assert_str_eq(values[TEXTS].texts[1], "d");
    ck_assert_int_eq(values[WHOLE].whole, -3);
    ck_assert(!values[CHOICE].given && values[CHOICE].text == NULL);
    ck_assert_int_eq(line.given.operand_count, 2);
    ck_assert_str_eq(line.given.operands[1], "y");
    ics_command_line_free(&line);
}
END_TEST

/* A list holds what follows up to the next option, "-" too, and the other operands keep their
 * order. */
START_TEST(lists_hold_what_follows)
{
    static const struct {
        const char *words[WORDS];
        const char *list, *operands;
    } lines[] = {
        {{"x", "y", "--list", "a", "b", "c"}, "a b c ", "x y "},
        {{"--list", "a", "-", "-w", "x", "y"}, "a - ", "x y "},
        {{"x", "--list=a", "b", "-tq", "y", "--list", "c"}, "a b c ", "x y "},
        {{"x", "-w", "--list", "a", "b", "--", "y"}, "a b ", "x y "},
        {{"-w", "x", "--list", "a", "--text", "b", "y"}, "a ", "x y "},
    };
    for (size_t i = 0; i < COUNT(lines); ++i) {
        ics_command_line line;
        char list[64] = "", operands[64] = "";
        ck_assert_int_eq(parse(lines[i].words, &line), 0);
        for (size_t k = 0; k < line.given.options[LIST].count; ++k) {
            strcat(strcat(list, line.given.options[LIST].texts[k]), " ");
        }
        for (int k = 0; k < line.given.operand_count; ++k) {
            strcat(strcat(operands, line.given.operands[k]), " ");
        }
        ck_assert_str_eq(list, lines[i].list);
        ck_assert_str_eq(operands, lines[i].operands);
        ics_command_line_free(&line);
    }
    static const char *const words[WORDS] = {"x", "--list"};
    check_fault(words);
}
END_TEST

START_TEST(help_needs_nothing_else)
{
    ics_command_line line;
    static const char *const words[WORDS] = {"--whole", "bad", "-h"};
    ck_assert_int_eq(parse(words, &line), 0);
    ck_assert(line.help);
    ics_command_line_free(&line);
}
END_TEST

START_TEST(faults_are_found)
{
    static const char *const lines[][WORDS] = {
        {"--whole", "-4", "x"},
        {"--whole", "13", "x"},
        {"--whole", "3x", "x"},
        {"--whole", "", "x"},
        {"--choice", "four", "x"},
        {"--choice", "", "x"},
        {"--unknown", "x"},
        {"-x", "x"},
        {"--switch=1", "x"},
        {"x", "--text"},
        {"x", "y", "z"},
        {"-w"},
        {"x", "--print-effective"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
        check_fault(lines[i]);
    }
}
END_TEST

/* Later settings win: `first`, then options that set a key, then --set. */
START_TEST(settings_come_in_order)
{
    static const char *const first[] = {"run.seed=1", "run.bounce_limit=5"};
    static const char *const lines[][WORDS] = {
        {"x"}, {"x", "--seed", "2"}, {"x", "--set", "run.seed=3", "--seed", "2"}};
    static const char *const expected[] = {"  seed: 1\n", "  seed: 2\n", "  seed: 3\n"};
    for (size_t i = 0; i < 3; ++i) {
        ics_command_line line;
        icestream_config *config = NULL;
        icestream_error error = {0};
        char *text = NULL;
        size_t size = 0;
        ck_assert_int_eq(parse(lines[i], &line), 0);
        ck_assert_msg(ics_command_load(&line.given, NULL, first, 2, &config, &error) ==
                          ICESTREAM_OK,
                      "%s", error.text);
        FILE *out = open_memstream(&text, &size);
        ck_assert_int_eq(icestream_config_print(config, out, &error), ICESTREAM_OK);
        fclose(out);
        ck_assert_msg(strstr(text, expected[i]) != NULL, "%s", text);
        ck_assert_ptr_nonnull(strstr(text, "  bounce_limit: 5\n"));
        free(text);
        icestream_config_destroy(config);
        ics_command_line_free(&line);
    }
}
END_TEST

ICS_TEST_MAIN("commands")
{
    TCase *list = tcase_create("list");
    tcase_add_test(list, commands_are_described);
    tcase_add_test(list, commands_are_found);
    tcase_add_test(list, readme_names_all_commands);
    suite_add_tcase(suite, list);
    TCase *lines = tcase_create("command lines");
    tcase_add_test(lines, values_are_read);
    tcase_add_test(lines, lists_hold_what_follows);
    tcase_add_test(lines, help_needs_nothing_else);
    tcase_add_test(lines, faults_are_found);
    tcase_add_test(lines, settings_come_in_order);
    suite_add_tcase(suite, lines);
}
