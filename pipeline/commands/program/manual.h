/* The manual pages, made of the tables of commands and options, as scdoc(5) reads them. */
#ifndef ICS_COMMANDS_PROGRAM_MANUAL_H
#define ICS_COMMANDS_PROGRAM_MANUAL_H

#include "pipeline/commands/command.h"

/* Prints the page icestream-COMMAND(1) to standard output, and without a command icestream(1). */
void ics_manual_print(const ics_command *command);

#endif
