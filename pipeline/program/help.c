/* What --help prints, made of the lists of commands and options. */
#include "pipeline/program/help.h"

static void print_exit_statuses(void)
{
    puts("\nexit statuses:");
    static const struct {
        int exit_status;
        const char *text;
    } table[] = {
        {0, "done"},
        {1, "the run failed, or compare or trace found a difference"},
        {2, "wrong usage or configuration"},
        {3, "finished, but some input files were set aside"},
        {74, "cannot write output"},
        {75, "stopped with work left"},
        {130, "interrupted (SIGINT)"},
        {143, "terminated (SIGTERM)"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
        printf("  %3d  %s\n", table[i].exit_status, table[i].text);
    }
}

void print_help(void)
{
    puts("icestream " ICESTREAM_VERSION
         ": carries photons through ice or water to optical modules, as a stream\n\n"
         "usage: icestream COMMAND [OPTIONS] ...\n\ncommands:");
    for (size_t i = 0; i < command_count; ++i) {
        printf("  %-9s %-17s %s\n", commands[i].name, commands[i].operands, commands[i].summary);
    }
    puts("\nicestream COMMAND --help describes a command; icestream --version says which this is.");
    print_exit_statuses();
}

void print_command_help(const program_command *command)
{
    printf("usage: icestream %s [OPTIONS]%s%s\n\n%s\n%s%s\noptions:\n", command->name,
           command->operands[0] != '\0' ? " " : "", command->operands, command->summary,
           command->details != NULL ? command->details : "", command->details != NULL ? "\n" : "");
    for (int i = 0; i < OPTION_COUNT; ++i) {
        if ((command->allowed & UINT64_C(1) << i) == 0 && i != OPTION_HELP) {
            continue;
        }
        char letter[8] = "    ", name[40];
        if (option_table[i].letter != 0) {
            snprintf(letter, sizeof letter, "-%c, ", option_table[i].letter);
        }
        snprintf(name, sizeof name, "--%s%s%s", option_table[i].text,
                 option_table[i].value != NULL ? " " : "",
                 option_table[i].value != NULL ? option_table[i].value : "");
        printf("  %s%-22s %s\n", letter, name, option_table[i].help);
    }
}
