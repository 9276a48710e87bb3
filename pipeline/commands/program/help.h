/* What --help prints to standard output. */
#ifndef ICS_COMMANDS_PROGRAM_HELP_H
#define ICS_COMMANDS_PROGRAM_HELP_H

#include "pipeline/commands/command.h"

/* Calls `visit` once for each exit status, with the texts of all results that end with it. */
void ics_help_visit_exit_statuses(void (*visit)(int exit_status, const char *text));

/* Prints the list of commands and the exit statuses. */
void ics_help_print(void);

/* Prints the usage of a command and its options with their defaults. */
void ics_help_print_command(const ics_command *command);

#endif
