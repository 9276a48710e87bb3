/* What `icestream run CONFIG IN... -o OUT` says, as values of keys: the inputs are source.files,
 * and OUT is sink.directory and sink.name. */
#ifndef ICS_COMMANDS_RUN_OPERANDS_H
#define ICS_COMMANDS_RUN_OPERANDS_H

#include "pipeline/commands/command.h"

enum { ICS_RUN_OPERAND_KEYS = 4 };

typedef struct ics_run_operands {
    char *sets[ICS_RUN_OPERAND_KEYS]; /* [count] texts KEY=VALUE, as of --set */
    size_t count;
} ics_run_operands;

/* Reads the operands after CONFIG and OUT, the value of --output (NULL: not given). `sets` has the
 * texts of --set, which may not give the same keys. ICESTREAM_E_USAGE: they are no inputs, OUT is
 * no name for the hits of these inputs, or a key is given twice. ICESTREAM_E_MEMORY. The caller
 * frees *out in any case. */
int ics_run_operands_read(const ics_arguments *given, const ics_option_value *sets,
                          const char *output, ics_run_operands *out, icestream_error *error);
void ics_run_operands_free(ics_run_operands *operands);

#endif
