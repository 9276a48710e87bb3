/* The commands: what each is called, takes and does. Private to the program. */
#ifndef ICS_PROGRAM_COMMANDS_H
#define ICS_PROGRAM_COMMANDS_H

#include "pipeline/program/options.h"

typedef struct program_command {
    const char *name, *operands;
    const char *summary; /* one line */
    const char *details; /* further lines, or NULL */
    int least, most;     /* operands */
    uint64_t allowed;
    int (*execute)(const arguments *given, icestream_error *error);
} program_command;

extern const program_command commands[]; /* [command_count], in the order of the help */
extern const size_t command_count;

/* NULL: there is none of that name. */
const program_command *find_command(const char *name);

/* The name of the command that may have been meant, or NULL. */
const char *nearest_command(const char *name);

/* What a command does with what it was given. Output goes to standard output; a status and its
 * error, which is not printed. */
int command_run(const arguments *given, icestream_error *error);
int command_validate(const arguments *given, icestream_error *error);
int command_plan(const arguments *given, icestream_error *error);
int command_status(const arguments *given, icestream_error *error);
int command_info(const arguments *given, icestream_error *error);
int command_generate(const arguments *given, icestream_error *error);
int command_convert(const arguments *given, icestream_error *error);
int command_compare(const arguments *given, icestream_error *error);
int command_trace(const arguments *given, icestream_error *error);
int command_stages(const arguments *given, icestream_error *error);
int command_bench(const arguments *given, icestream_error *error);

#endif
