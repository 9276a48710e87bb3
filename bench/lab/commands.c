/* The commands of icestream-lab. To add one, add its name here: X(NAME) stands for
 * ics_command_NAME, which a file bench/lab/FOLDER/command_NAME.c defines. */
#include "pipeline/program/commands.h"

#define COMMANDS(X)                                                                                \
    X(speed)                                                                                       \
    X(stages)                                                                                      \
    X(impact)                                                                                      \
    X(shapes)                                                                                      \
    X(sweep)                                                                                       \
    X(roofline)

#define X(name) extern const ics_command ics_command_##name;
COMMANDS(X)
#undef X

const char ics_commands_program[] = "icestream-lab";
const char ics_commands_purpose[] = "measures what icestream does, for its developers";
const char ics_commands_note[] = "icestream-lab help COMMAND describes a command; "
                                 "docs/performance.md explains what they measure.";

const ics_command *const ics_commands[] = {
#define X(name) &ics_command_##name,
    COMMANDS(X)
#undef X
};
const size_t ics_commands_count = sizeof ics_commands / sizeof *ics_commands;

const ics_commands_form ics_commands_forms[] = {{NULL, NULL}};
