#include "pipeline/commands/command.h"

#include "base/error.h"
#include "base/new.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    const char **texts; /* [count]: what icestream_config_load is given */
    size_t count;
    char **made; /* [made_count]: the texts that this file composes */
    size_t made_count;
} settings;

/* Appends what the options say. --set comes last, because it wins over all other options. */
static void add_options(settings *all, const ics_arguments *given)
{
    const ics_command *command = given->command;
    for (size_t i = 0; i < command->option_count; ++i) {
        if (command->options[i].key != NULL && given->options[i].given) {
            char *text = ics_new_text("%s=%s", command->options[i].key, given->options[i].text);
            all->made[all->made_count++] = text;
            all->texts[all->count++] = text;
        }
    }
    for (size_t i = 0; i < command->option_count; ++i) {
        const ics_option_value *value = &given->options[i];
        for (size_t k = 0; command->options[i].type == ICS_OPTION_SET && k < value->count; ++k) {
            all->texts[all->count++] = value->texts[k];
        }
    }
}

static size_t count_settings(const ics_arguments *given, size_t first_count)
{
    size_t count = first_count;
    for (size_t i = 0; i < given->command->option_count; ++i) {
        count += 1 + given->options[i].count;
    }
    return count;
}

static void free_settings(settings *all)
{
    for (size_t i = 0; i < all->made_count; ++i) {
        free(all->made[i]);
    }
    free(all->made);
    free(all->texts);
}

int ics_command_load(const ics_arguments *given, const char *path, const char *const *first,
                     size_t first_count, icestream_config **out, icestream_error *error)
{
    settings all = {
        .texts = ICS_NEW_ARRAY(const char *, count_settings(given, first_count)),
        .made = ICS_NEW_ARRAY(char *, given->command->option_count),
    };
    for (size_t i = 0; i < first_count; ++i) {
        all.texts[all.count++] = first[i];
    }
    add_options(&all, given);
    const int status = icestream_config_load(path, all.texts, all.count, out, error);
    free_settings(&all);
    return status;
}

int ics_command_config(const ics_arguments *given, icestream_config **out, icestream_error *error)
{
    const char *path = given->operand_count > 0 ? given->operands[0] : NULL;
    return ics_command_load(given, path, NULL, 0, out, error);
}

bool ics_command_prints(const ics_arguments *given)
{
    for (size_t i = 0; i < given->command->option_count; ++i) {
        if (strcmp(given->command->options[i].name, "print-effective") == 0) {
            return given->options[i].given;
        }
    }
    return false;
}

int ics_command_with_config(const ics_arguments *given, const char *const *first,
                            size_t first_count, ics_command_work work, icestream_error *error)
{
    ICS_DESTROYS(icestream_config_destroy) icestream_config *config = NULL;
    const char *path = given->operand_count > 0 ? given->operands[0] : NULL;
    ICS_TRY(ics_command_load(given, path, first, first_count, &config, error));
    return ics_command_prints(given) ? icestream_config_print(config, stdout, error)
                                     : work(given, config, error);
}
