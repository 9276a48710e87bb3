#include "pipeline/program/commands.h"

#include <string.h>

/* To add a command, add its name here: X(NAME) stands for ics_command_NAME, which
 * pipeline/tools/NAME/command_NAME.c defines. The help lists commands in this order. */
#define COMMANDS(X)                                                                                \
    X(run)                                                                                         \
    X(validate)                                                                                    \
    X(info)                                                                                        \
    X(put)                                                                                         \
    X(send)                                                                                        \
    X(status)                                                                                      \
    X(import)                                                                                      \
    X(generate)                                                                                    \
    X(split)                                                                                       \
    X(compare)                                                                                     \
    X(trace)                                                                                       \
    X(stages)                                                                                      \
    X(keys)                                                                                        \
    X(tabulate)                                                                                    \
    X(geometry)                                                                                    \
    X(convert)                                                                                     \
    X(merge)                                                                                       \
    X(table)                                                                                       \
    X(plan)                                                                                        \
    X(bench)

#define X(name) extern const ics_command ics_command_##name;
COMMANDS(X)
#undef X

const ics_command *const ics_commands[] = {
#define X(name) &ics_command_##name,
    COMMANDS(X)
#undef X
};

enum { COMMAND_COUNT = sizeof ics_commands / sizeof *ics_commands };
const size_t ics_commands_count = COMMAND_COUNT;

const ics_command *ics_commands_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; ++i) {
        if (strcmp(ics_commands[i]->name, name) == 0) {
            return ics_commands[i];
        }
    }
    return NULL;
}

const char *ics_commands_nearest(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; ++i) {
        names[i] = ics_commands[i]->name;
    }
    return icestream_suggestion(name, names, COMMAND_COUNT);
}
