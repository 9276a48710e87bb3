/* Scripts that let a shell complete commands, their options, the words that an option takes, keys
 * after --set, and file names. They are made of the tables of commands and options. All print to
 * standard output. */
#ifndef ICS_COMMANDS_PROGRAM_COMPLETION_H
#define ICS_COMMANDS_PROGRAM_COMPLETION_H

#include "pipeline/commands/command.h"

void ics_completion_print_bash(const ics_command *unused);
void ics_completion_print_zsh(const ics_command *unused);
void ics_completion_print_fish(const ics_command *unused);

#endif
