/* The operands [CONFIG] HITS... of commands that replay hits. */
#ifndef ICS_COMMANDS_HITS_OPERANDS_H
#define ICS_COMMANDS_HITS_OPERANDS_H

#include "pipeline/commands/command.h"

/* Loads the configuration: that of the first operand or, if this is a hit file (.npy), that which
 * the trailer of the hit file lists; options that set a key come after it. *first: the index of the
 * first hit file among the operands. The caller owns *out. ICESTREAM_E_USAGE: there is no hit file;
 * ICESTREAM_E_INPUT: the trailer does not say the configuration; errors as icestream_config_load.
 */
int ics_hits_operands_read(const ics_arguments *given, icestream_config **out, int *first,
                           icestream_error *error);

#endif
