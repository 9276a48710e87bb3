#include "pipeline/commands/program/commands.h"

/* To add a command, add its name here: X(NAME) stands for ics_command_NAME, which
 * pipeline/commands/NAME/command_NAME.c defines. The help lists commands in this order. */
#define COMMANDS(X)                                                                                \
    X(run)                                                                                         \
    X(validate)                                                                                    \
    X(info)                                                                                        \
    X(put)                                                                                         \
    X(send)                                                                                        \
    X(status)                                                                                      \
    X(generate)                                                                                    \
    X(split)                                                                                       \
    X(compare)                                                                                     \
    X(trace)                                                                                       \
    X(reweight)                                                                                    \
    X(gradient)                                                                                    \
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

const size_t ics_commands_count = sizeof ics_commands / sizeof *ics_commands;

const char ics_commands_program[] = "icestream";
const char ics_commands_purpose[] =
    "simulates photons from steps of light to optical modules, in ice or water";
const char ics_commands_note[] =
    "icestream help COMMAND describes a command; icestream help --bash, --zsh or --fish prints a\n"
    "completion for a shell; icestream version [--verbose] prints the version, and what icestream "
    "was\nbuilt with.";
