#include "pipeline/tools/command.h"

#include "base/error.h"

#include <stdlib.h>

typedef struct settings {
    const char **texts; /* [count]: what icestream_config_load is given */
    size_t count;
    char **made; /* [made_count]: the texts that this file composes */
    size_t made_count;
} settings;

/* Appends KEY=VALUE for an option that sets a key. */
static int add_key(settings *all, const ics_option *option, const char *value,
                   icestream_error *error)
{
    char *text = NULL;
    if (asprintf(&text, "%s=%s", option->key, value) < 0) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for options");
    }
    all->made[all->made_count++] = text;
    all->texts[all->count++] = text;
    return ICESTREAM_OK;
}

/* Appends what the options say. --set comes last, because it wins over all other options. */
static int add_options(settings *all, const ics_arguments *given, icestream_error *error)
{
    const ics_command *command = given->command;
    for (size_t i = 0; i < command->option_count; ++i) {
        if (command->options[i].key != NULL && given->options[i].given) {
            ICS_TRY(add_key(all, &command->options[i], given->options[i].text, error));
        }
    }
    for (size_t i = 0; i < command->option_count; ++i) {
        const ics_option_value *value = &given->options[i];
        for (size_t k = 0; command->options[i].type == ICS_OPTION_SET && k < value->count; ++k) {
            all->texts[all->count++] = value->texts[k];
        }
    }
    return ICESTREAM_OK;
}

static size_t count_settings(const ics_arguments *given, size_t first_count)
{
    size_t count = first_count;
    for (size_t i = 0; i < given->command->option_count; ++i) {
        count += 1 + given->options[i].count;
    }
    return count;
}

int ics_command_load(const ics_arguments *given, const char *path, const char *const *first,
                     size_t first_count, icestream_config **out, icestream_error *error)
{
    settings all = {.texts = calloc(count_settings(given, first_count) + 1, sizeof *all.texts),
                    .made = calloc(given->command->option_count + 1, sizeof *all.made)};
    int status = ICESTREAM_OK;
    if (all.texts == NULL || all.made == NULL) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for options");
    } else {
        for (size_t i = 0; i < first_count; ++i) {
            all.texts[all.count++] = first[i];
        }
        status = add_options(&all, given, error);
    }
    if (status == ICESTREAM_OK) {
        status = icestream_config_load(path, all.texts, all.count, out, error);
    }
    for (size_t i = 0; i < all.made_count; ++i) {
        free(all.made[i]);
    }
    free(all.made);
    free(all.texts);
    return status;
}

int ics_command_config(const ics_arguments *given, icestream_config **out, icestream_error *error)
{
    const char *path = given->operand_count > 0 ? given->operands[0] : NULL;
    return ics_command_load(given, path, NULL, 0, out, error);
}
