/* Reads a command line, and says what is wrong with it. Private to the program. */
#ifndef ICS_PROGRAM_COMMAND_LINE_H
#define ICS_PROGRAM_COMMAND_LINE_H

#include "pipeline/program/commands.h"

/* Tells people what is wrong with `subject`, and where help is; `suggestion` may be NULL, `prefix`
 * stands in front of it, `command` is NULL where there is none yet. The exit status. */
int usage_error(const program_command *command, const char *text, const char *subject,
                const char *suggestion, const char *prefix);

/* Parses everything after the command's name, texts[0]. `out` is empty, with room for `count` texts
 * in sets and photons. 0, or an exit status; then the error has been printed. */
int parse_arguments(const program_command *command, int count, char **texts, arguments *out);

#endif
