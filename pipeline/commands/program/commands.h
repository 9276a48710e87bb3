/* The commands of a program. The two programs share everything that reads a command line and prints
 * help; each has its own table: icestream in commands.c and forms.c, icestream-lab in
 * bench/lab/commands.c. */
#ifndef ICS_COMMANDS_PROGRAM_COMMANDS_H
#define ICS_COMMANDS_PROGRAM_COMMANDS_H

#include "pipeline/commands/command.h"

extern const char ics_commands_program[]; /* the name of the program */
extern const char ics_commands_purpose[]; /* what it does, for the first line of its help */
extern const char ics_commands_note[];    /* lines of the help behind the list of commands */

extern const ics_command *const ics_commands[]; /* [ics_commands_count], in the order of the help */
extern const size_t ics_commands_count;

extern const ics_option ics_commands_help; /* the option --help of every command */

/* Another form of the help: `PROGRAM help OPTION [COMMAND]`. `command` is NULL if none is named.
 * The last row has no option. */
typedef struct ics_commands_form {
    const char *option;
    void (*print)(const ics_command *command);
} ics_commands_form;
extern const ics_commands_form ics_commands_forms[];

/* Finds a command by its name. Returns NULL if there is none of that name. */
const ics_command *ics_commands_find(const char *name);

/* Returns the name of the command that is closest to a mistyped one, or NULL. */
const char *ics_commands_nearest(const char *name);

#endif
