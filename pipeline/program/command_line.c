/* Reads a command line by what its command allows. */
#include "pipeline/program/command_line.h"

#include <getopt.h>
#include <string.h>

int usage_error(const program_command *command, const char *text, const char *subject,
                const char *suggestion, const char *prefix)
{
    fprintf(stderr, "icestream%s%s: %s%s", command != NULL ? " " : "",
            command != NULL ? command->name : "", text, subject);
    if (suggestion != NULL) {
        fprintf(stderr, "; did you mean %s%s?", prefix, suggestion);
    }
    fprintf(stderr, "\ntry: icestream%s%s --help\n", command != NULL ? " " : "",
            command != NULL ? command->name : "");
    return icestream_status_exit(ICESTREAM_E_USAGE);
}

/* The long and short options that getopt_long is to know for a command. */
typedef struct option_set {
    struct option long_options[OPTION_COUNT + 1];
    char short_options[2 * OPTION_COUNT + 2];
    const char *names[OPTION_COUNT];
    size_t count;
} option_set;

static void collect_options(const program_command *command, option_set *set)
{
    *set = (option_set){.count = 0};
    char *letters = set->short_options;
    *letters++ = ':'; /* a missing value is told from an unknown option */
    for (int i = 0; i < OPTION_COUNT; ++i) {
        if ((command->allowed & UINT64_C(1) << i) == 0 && i != OPTION_HELP) {
            continue;
        }
        bool value = option_table[i].value != NULL;
        set->names[set->count] = option_table[i].text;
        set->long_options[set->count++] = (struct option){
            option_table[i].text, value ? required_argument : no_argument, NULL, 256 + i};
        if (option_table[i].letter != 0) {
            *letters++ = (char)option_table[i].letter;
            if (value) {
                *letters++ = ':';
            }
        }
    }
}

static int option_index(int code)
{
    for (int i = 0; code < 256 && i < OPTION_COUNT; ++i) {
        if (option_table[i].letter == code) {
            return i;
        }
    }
    return code - 256;
}

static int unknown_option(const program_command *command, const option_set *set,
                          const char *argument)
{
    char typed[64] = "";
    if (strncmp(argument, "--", 2) == 0) {
        snprintf(typed, sizeof typed, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    }
    for (int i = 0; i < OPTION_COUNT; ++i) {
        if (strcmp(typed, option_table[i].text) == 0) {
            return usage_error(command, "this command has no option ", argument, NULL, "");
        }
    }
    return usage_error(
        command, "unknown option ", argument,
        typed[0] != '\0' ? icestream_suggestion(typed, set->names, set->count) : NULL, "--");
}

int parse_arguments(const program_command *command, int count, char **texts, arguments *out)
{
    option_set set;
    collect_options(command, &set);
    opterr = 0;
    optind = 1;
    for (;;) {
        int before = optind;
        int code = getopt_long(count, texts, set.short_options, set.long_options, NULL);
        if (code == -1) {
            break;
        }
        const char *argument = texts[optind > before ? optind - 1 : before];
        if (code == '?') {
            return unknown_option(command, &set, argument);
        }
        if (code == ':') {
            return usage_error(command, "expected a value after ", argument, NULL, "");
        }
        int index = option_index(code);
        out->given[index] = true;
        out->values[index] = optarg;
        if (index == OPTION_SET) {
            out->sets[out->set_count++] = optarg;
        }
        if (index == OPTION_PHOTON) {
            out->photons[out->photon_count++] = optarg;
        }
    }
    out->positional = texts + optind;
    out->positional_count = count - optind;
    if (out->given[OPTION_HELP]) {
        return 0;
    }
    if (out->positional_count < command->least) {
        return usage_error(command, "expected ", command->operands, NULL, "");
    }
    if (out->positional_count > command->most) {
        return usage_error(command, "unexpected argument ", out->positional[command->most], NULL,
                           "");
    }
    return 0;
}
