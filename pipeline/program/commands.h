/* The commands of the program. */
#ifndef ICS_PROGRAM_COMMANDS_H
#define ICS_PROGRAM_COMMANDS_H

#include "pipeline/tools/command.h"

extern const ics_command *const ics_commands[]; /* [ics_commands_count], in the order of the help */
extern const size_t ics_commands_count;

/* Finds a command by its name. Returns NULL if there is none of that name. */
const ics_command *ics_commands_find(const char *name);

/* Returns the name of the command that is closest to a mistyped one, or NULL. */
const char *ics_commands_nearest(const char *name);

#endif
