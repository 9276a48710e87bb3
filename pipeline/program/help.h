/* What --help prints. Private to the program. */
#ifndef ICS_PROGRAM_HELP_H
#define ICS_PROGRAM_HELP_H

#include "pipeline/program/commands.h"

/* Both write to standard output. */
void print_help(void);
void print_command_help(const program_command *command);

#endif
