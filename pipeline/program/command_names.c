#include "pipeline/program/commands.h"

#include <string.h>

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
