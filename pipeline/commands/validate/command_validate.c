/* The command `icestream validate`. */
#include "base/error.h"
#include "base/json_dump.h"
#include "pipeline/commands/command.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_SET, OPTION_PRINT_EFFECTIVE, OPTION_FOR, OPTION_JSON, OPTION_THREADS, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_PRINT_EFFECTIVE] = {.name = "print-effective",
                                .help = "also write the configuration with all defaults"},
    [OPTION_FOR] = {.name = "for",
                    .type = ICS_OPTION_CHOICE,
                    .value = "MACHINE",
                    .help = "check for a machine with a GPU (cuda) or without one (cpu)",
                    .initial = "this machine",
                    .choices = {"cuda", "cpu"}},
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
};

/* Writes an error as JSON, one line of it per item. The program prints it as text, too. */
static void print_errors(const icestream_error *error)
{
    json_t *lines = json_array();
    for (const char *line = error->text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        json_array_append_new(lines, json_stringn_nocheck(line, length));
        line += length + (line[length] == '\n');
    }
    json_t *all = json_pack("{s:b, s:o}", "valid", 0, "errors", lines);
    char *text = ics_json_dump(all, JSON_INDENT(2));
    puts(text != NULL ? text : "{\"valid\": false}");
    free(text);
    json_decref(all);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const bool print = given->options[OPTION_PRINT_EFFECTIVE].given;
    const icestream_validate_options how = {.json = given->options[OPTION_JSON].given,
                                            .machine = given->options[OPTION_FOR].text};
    icestream_config *config = NULL;
    if (how.json && print) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream validate: --json and --print-effective both write to "
                             "standard output; expected one of them");
    }
    int status = ics_command_config(given, &config, error);
    if (status == ICESTREAM_OK) {
        /* With --print-effective standard output carries YAML and nothing else. */
        status = icestream_validate_with(config, &how, print ? stderr : stdout, error);
    }
    if (status == ICESTREAM_OK && print) {
        status = icestream_config_print(config, stdout, error);
    }
    if (status != ICESTREAM_OK && how.json) {
        print_errors(error);
    }
    icestream_config_destroy(config);
    return status;
}

const ics_command ics_command_validate = {
    .name = "validate",
    .operands = "[CONFIG]",
    .summary = "checks a configuration, its step files, ice, detector, light and device",
    .details = "Describes what it finds. Step files are found as `icestream run` finds them, and "
               "their headers\n"
               "are read. Without CONFIG every key has its default.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
