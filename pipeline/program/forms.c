/* The other forms of the help of icestream: completions for shells, and manual pages. */
#include "pipeline/program/commands.h"
#include "pipeline/program/completion.h"
#include "pipeline/program/manual.h"

static void print_bash(const ics_command *command)
{
    (void)command;
    ics_completion_print_bash();
}

static void print_zsh(const ics_command *command)
{
    (void)command;
    ics_completion_print_zsh();
}

static void print_fish(const ics_command *command)
{
    (void)command;
    ics_completion_print_fish();
}

static void print_scdoc(const ics_command *command)
{
    if (command != NULL) {
        ics_manual_print_command(command);
    } else {
        ics_manual_print();
    }
}

const ics_commands_form ics_commands_forms[] = {{"--bash", print_bash},
                                                {"--zsh", print_zsh},
                                                {"--fish", print_fish},
                                                {"--scdoc", print_scdoc},
                                                {NULL, NULL}};
