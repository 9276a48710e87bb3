#include "pipeline/commands/program/command_line.h"

#include "base/new.h"
#include "base/replaced.h"
#include "base/visible_text.h"
#include "pipeline/commands/program/commands.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/production/telemetry/events.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const ics_command *ics_commands_find(const char *name)
{
    for (size_t i = 0; i < ics_commands_count; ++i) {
        if (strcmp(ics_commands[i]->name, name) == 0) {
            return ics_commands[i];
        }
    }
    return NULL;
}

const char *ics_commands_nearest(const char *name)
{
    enum { COMMANDS_MAX = 64 };
    const char *names[COMMANDS_MAX];
    for (size_t i = 0; i < ics_commands_count && i < COMMANDS_MAX; ++i) {
        names[i] = ics_commands[i]->name;
    }
    return icestream_suggestion(name, names, ics_commands_count);
}

/* ---- options --------------------------------------------------------------------------------- */

/* getopt_long returns this number plus the index of a long option; a letter is below it. */
enum { FIRST_LONG = 256 };

/* Whether the command line asks for errors as JSON. Faults of the command line are reported before
 * its options are known. */
static bool errors_are_json;

static bool asks_for_json(int count, char **texts)
{
    bool json = false;
    for (int i = 1; i < count; ++i) {
        json =
            json || strcmp(texts[i], "--log=json") == 0 ||
            (strcmp(texts[i], "--log") == 0 && i + 1 < count && strcmp(texts[i + 1], "json") == 0);
    }
    return json;
}

int ics_command_line_fault(const ics_command *command, const char *suggestion, const char *prefix,
                           const char *format, ...)
{
    const char *blank = command != NULL ? " " : "";
    const char *name = command != NULL ? command->name : "";
    char fault[4096], shown[ICS_VISIBLE_MOST * sizeof fault], text[5 * sizeof fault];
    va_list values;
    va_start(values, format);
    vsnprintf(fault, sizeof fault, format, values);
    va_end(values);
    snprintf(text, sizeof text, "%s%s%s: %s%s%s%s%s\ntry: %s%s%s --help", ics_commands_program,
             blank, name, ics_visible_text(fault, false, shown, sizeof shown),
             suggestion != NULL ? "; did you mean " : "", suggestion != NULL ? prefix : "",
             suggestion != NULL ? suggestion : "", suggestion != NULL ? "?" : "",
             ics_commands_program, blank, name);
    if (errors_are_json) {
        ics_events_put_error(stderr, text);
    } else {
        fprintf(stderr, "%s\n", text);
    }
    return icestream_status_exit(ICESTREAM_E_USAGE);
}

/* The options of a command, and --help as the last one, in the form that getopt_long takes. */
typedef struct option_set {
    struct option long_options[ICS_COMMAND_OPTIONS + 2];
    char short_options[2 * ICS_COMMAND_OPTIONS + 4];
    const char *names[ICS_COMMAND_OPTIONS + 1];
    size_t count;
} option_set;

static void add_option(option_set *set, const char *name, char letter, int argument)
{
    char *letters = set->short_options + strlen(set->short_options);
    set->long_options[set->count] =
        (struct option){name, argument, NULL, FIRST_LONG + (int)set->count};
    set->names[set->count++] = name;
    if (letter != 0) {
        *letters++ = letter;
        *letters = argument == required_argument ? ':' : '\0';
    }
}

static void collect_options(const ics_command *command, option_set *set)
{
    /* The colon lets getopt_long distinguish a missing value from an unknown option. */
    *set = (option_set){.short_options = ":"};
    for (size_t i = 0; i < command->option_count; ++i) {
        const ics_option *option = &command->options[i];
        const int argument = option->type == ICS_OPTION_SWITCH     ? no_argument
                             : option->type == ICS_OPTION_OPTIONAL ? optional_argument
                                                                   : required_argument;
        add_option(set, option->name, option->letter, argument);
    }
    add_option(set, "help", 'h', no_argument);
}

/* `--set KEY VALUE`, with a blank where = belongs. `value`: what follows the key; NULL: nothing. */
static bool lacks_equals(const ics_command *command, size_t index, const char *key,
                         const char *value)
{
    const bool is_set =
        index < command->option_count && command->options[index].type == ICS_OPTION_SET;
    return is_set && strchr(key, '=') == NULL && value != NULL && value[0] != '-' &&
           value[0] != '=' && strstr(value, ".y") == NULL;
}

/* The index of an option in the set, from what getopt_long returned. */
static size_t option_index(const ics_command *command, int code)
{
    for (size_t i = 0; code < FIRST_LONG && i < command->option_count; ++i) {
        if (command->options[i].letter == code) {
            return i;
        }
    }
    return code < FIRST_LONG ? command->option_count : (size_t)(code - FIRST_LONG);
}

static bool is_option_of_any(const char *name)
{
    for (size_t i = 0; i < ics_commands_count; ++i) {
        for (size_t k = 0; k < ics_commands[i]->option_count; ++k) {
            if (strcmp(ics_commands[i]->options[k].name, name) == 0) {
                return true;
            }
        }
    }
    return false;
}

static int unknown_option(const ics_command *command, const option_set *set, const char *argument)
{
    char typed[64] = "";
    if (strncmp(argument, "--", 2) == 0) {
        snprintf(typed, sizeof typed, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    }
    char left[256];
    if (ics_replaced_say(left, sizeof left, "the option --%s of %s", typed, command->name)) {
        return ics_command_line_fault(command, NULL, "", "%s", left);
    }
    char keys[512];
    const bool is_of_other = is_option_of_any(typed);
    if (ics_config_keys_ending(typed, keys, sizeof keys)) {
        return ics_command_line_fault(command, NULL, "",
                                      "%s %s; a key of the configuration is given by --set "
                                      "KEY=VALUE: %s",
                                      is_of_other ? "this command has no option" : "unknown option",
                                      argument, keys);
    }
    if (is_of_other) {
        return ics_command_line_fault(command, NULL, "", "this command has no option %s", argument);
    }
    if (strcmp(typed, "print-config") == 0) { /* its name in earlier versions */
        return ics_command_line_fault(command, "print-effective", "--", "unknown option %s",
                                      argument);
    }
    if (strchr(typed, '.') != NULL) {
        return ics_command_line_fault(command, NULL, "",
                                      "unknown option %s; a key of the configuration is given by "
                                      "--set %s",
                                      argument, argument + 2);
    }
    const char *nearest =
        typed[0] != '\0' ? icestream_suggestion(typed, set->names, set->count) : NULL;
    return ics_command_line_fault(command, nearest, "--", "unknown option %s", argument);
}

static bool keeps_all(ics_option_type type)
{
    return type == ICS_OPTION_TEXTS || type == ICS_OPTION_LIST || type == ICS_OPTION_SET;
}

/* Stores the text of an option. Of an option that may be repeated all texts are kept. */
static void store_text(const ics_command *command, size_t index, const char *text,
                       ics_arguments *out)
{
    ics_option_value *value = &out->options[index];
    value->given = true;
    value->text = text;
    if (keeps_all(command->options[index].type)) {
        value->texts[value->count++] = text;
    }
}

/* Stores what follows the first text of a list. getopt_long reads on at optind, and counts what
 * lies before as arguments of the option. */
static void store_list(const ics_command *command, size_t index, int count, char **texts,
                       ics_arguments *out)
{
    while (command->options[index].type == ICS_OPTION_LIST && optind < count &&
           (texts[optind][0] != '-' || texts[optind][1] == '\0')) {
        store_text(command, index, texts[optind++], out);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static int read_whole(const ics_command *command, const ics_option *option, ics_option_value *value)
{
    char *end = NULL;
    errno = 0;
    value->whole = strtol(value->text, &end, 10);
    if (end == value->text || *end != '\0' || errno != 0 || value->whole < option->low ||
        value->whole > option->high) {
        return ics_command_line_fault(command, NULL, "",
                                      "--%s: found '%.64s', expected a whole number from %ld to "
                                      "%ld",
                                      option->name, value->text, option->low, option->high);
    }
    return 0;
}

static int check_choice(const ics_command *command, const ics_option *option,
                        const ics_option_value *value)
{
    char list[256] = "";
    size_t length = 0;
    for (int i = 0; i < ICS_OPTION_CHOICES && option->choices[i] != NULL; ++i) {
        if (strcmp(option->choices[i], value->text) == 0) {
            return 0;
        }
        const bool last = i + 1 == ICS_OPTION_CHOICES || option->choices[i + 1] == NULL;
        const char *joint = i == 0 ? "" : last ? " or " : ", ";
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", joint,
                                   option->choices[i]);
    }
    return ics_command_line_fault(command, NULL, "", "--%s: found '%.64s', expected %s",
                                  option->name, value->text, list);
}

static int read_values(const ics_command *command, ics_arguments *out)
{
    int exit_status = 0;
    for (size_t i = 0; exit_status == 0 && i < command->option_count; ++i) {
        const ics_option *option = &command->options[i];
        if (!out->options[i].given) {
            continue;
        }
        if (option->type == ICS_OPTION_WHOLE) {
            exit_status = read_whole(command, option, &out->options[i]);
        } else if (option->type == ICS_OPTION_CHOICE) {
            exit_status = check_choice(command, option, &out->options[i]);
        }
    }
    return exit_status;
}

static bool has_settings(const ics_command *command)
{
    for (size_t i = 0; i < command->option_count; ++i) {
        if (command->options[i].type == ICS_OPTION_SET) {
            return true;
        }
    }
    return false;
}

static int check_operands(const ics_command *command, const ics_arguments *given)
{
    if (given->operand_count < command->operands_min) {
        return ics_command_line_fault(command, NULL, "", "expected %s", command->operands);
    }
    for (int i = 0; i < given->operand_count; ++i) {
        const char *text = given->operands[i];
        const size_t name = strcspn(text, "=");
        const bool is_more = i >= command->operands_max || (i > 0 && has_settings(command));
        const bool is_key = strspn(text, "abcdefghijklmnopqrstuvwxyz_.") >= name;
        if (is_more && is_key && text[name] == '=' && access(text, F_OK) != 0 &&
            (name == 0 || memchr(text, '.', name) != NULL)) {
            return ics_command_line_fault(
                command, NULL, "",
                name == 0 ? "unexpected argument %s; --set KEY=VALUE has no blanks around ="
                          : "unexpected argument %s; a key of the configuration is given by --set "
                            "KEY=VALUE",
                text);
        }
    }
    return given->operand_count > command->operands_max
               ? ics_command_line_fault(command, NULL, "", "unexpected argument %s",
                                        given->operands[command->operands_max])
               : 0;
}

/* ---- the whole line -------------------------------------------------------------------------- */

static int read_options(const ics_command *command, int count, char **texts, ics_command_line *out)
{
    option_set set;
    collect_options(command, &set);
    opterr = 0;
    optind = 1;
    for (;;) {
        const int before = optind;
        const int code = getopt_long(count, texts, set.short_options, set.long_options, NULL);
        if (code == -1) {
            break;
        }
        const char *argument = texts[optind > before ? optind - 1 : before];
        if (code == '?') {
            return unknown_option(command, &set, argument);
        }
        if (code == ':') {
            return ics_command_line_fault(command, NULL, "", "expected a value after %s", argument);
        }
        const size_t index = option_index(command, code);
        const char *next = optind < count ? texts[optind] : NULL;
        if (lacks_equals(command, index, optarg, next)) {
            return ics_command_line_fault(command, NULL, "",
                                          "--set %s: expected KEY=VALUE without a blank, as in "
                                          "--set %s=%s",
                                          optarg, optarg, next);
        }
        if (index == command->option_count) {
            out->help = true;
        } else {
            store_text(command, index, optarg, &out->given);
            store_list(command, index, count, texts, &out->given);
        }
    }
    out->given.operands = texts + optind;
    out->given.operand_count = count - optind;
    return 0;
}

/* Makes room for the texts of options that may be repeated: at most one for each argument. */
static void allocate(const ics_command *command, int count, ics_arguments *out)
{
    for (size_t i = 0; i < command->option_count; ++i) {
        if (keeps_all(command->options[i].type)) {
            out->options[i].texts = ICS_NEW_ARRAY(const char *, (size_t)count);
        }
    }
}

int ics_command_line_parse(const ics_command *command, int count, char **texts,
                           ics_command_line *out)
{
    *out = (ics_command_line){.given = {.command = command}};
    errors_are_json = command->has_json_log != NULL && asks_for_json(count, texts);
    allocate(command, count, &out->given);
    int exit_status = read_options(command, count, texts, out);
    if (exit_status == 0 && !out->help) {
        exit_status = check_operands(command, &out->given);
    }
    if (exit_status == 0 && !out->help) {
        exit_status = read_values(command, &out->given);
    }
    return exit_status;
}

void ics_command_line_free(ics_command_line *line)
{
    for (size_t i = 0; i < ICS_COMMAND_OPTIONS; ++i) {
        free(line->given.options[i].texts);
    }
}
