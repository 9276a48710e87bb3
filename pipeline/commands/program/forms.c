/* The other forms of the help of icestream: completions for shells, and manual pages. */
#include "pipeline/commands/program/commands.h"
#include "pipeline/commands/program/completion.h"
#include "pipeline/commands/program/manual.h"

const ics_commands_form ics_commands_forms[] = {{"--bash", ics_completion_print_bash},
                                                {"--zsh", ics_completion_print_zsh},
                                                {"--fish", ics_completion_print_fish},
                                                {"--scdoc", ics_manual_print},
                                                {NULL, NULL}};
