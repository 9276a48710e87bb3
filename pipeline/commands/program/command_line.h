/* Reads a command line by the description of its command, and reports what is wrong with it. */
#ifndef ICS_COMMANDS_PROGRAM_COMMAND_LINE_H
#define ICS_COMMANDS_PROGRAM_COMMAND_LINE_H

#include "pipeline/commands/command.h"

/* What was read from a command line. */
typedef struct ics_command_line {
    ics_arguments given;
    bool help; /* --help was given; then operands and values were not checked */
} ics_command_line;

/* Reads texts[1] to texts[count - 1]; texts[0] is the name of the command. `out` borrows the texts.
 * Returns 0, or the exit status for an error, which has been printed to standard error then. The
 * caller frees `out` in both cases. */
int ics_command_line_parse(const ics_command *command, int count, char **texts,
                           ics_command_line *out);

/* Frees what ics_command_line_parse allocated. */
void ics_command_line_free(ics_command_line *line);

/* Prints the error of a command line to standard error, and how to get help. `command` is NULL if
 * no command is known yet. If `suggestion` is not NULL, asks whether `prefix` followed by it was
 * meant. Returns the exit status for wrong usage. */
int ics_command_line_fault(const ics_command *command, const char *suggestion, const char *prefix,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
