#include "pipeline/commands/program/manual.h"

#include "pipeline/commands/program/commands.h"
#include "pipeline/commands/program/help.h"

#include <ctype.h>
#include <string.h>

/* Prints a text with a backslash before the characters that mean something to scdoc. A line break
 * becomes a blank: scdoc fills lines itself, and the beginning of a line may mean something. */
static void print_plain(const char *text)
{
    if (text[0] == '-') { /* would begin a list */
        putchar('\\');
    }
    for (; *text != '\0'; ++text) {
        if (*text == '\n') {
            putchar(' ');
        } else {
            printf("%s%c", strchr("\\*_#`<>[]|", *text) != NULL ? "\\" : "", *text);
        }
    }
}

/* The same as a sentence, with a capital and a full stop. */
static void print_sentence(const char *text)
{
    putchar(toupper((unsigned char)text[0]));
    print_plain(text + 1);
    putchar('.');
}

static void print_marked(char mark, const char *text)
{
    putchar(mark);
    print_plain(text);
    putchar(mark);
}

static void print_title(const char *name, const char *summary)
{
    printf("%s(1) \"icestream " ICESTREAM_VERSION "\" \"icestream\"\n\n# NAME\n\n%s - ", name,
           name);
    print_plain(summary);
    puts("\n");
}

static void print_exit_status(int exit_status, const char *text)
{
    printf("*%d*\n\t", exit_status);
    print_plain(text);
    puts("\n");
}

static void print_ending(const char *others)
{
    puts("# EXIT STATUS\n");
    ics_help_visit_exit_statuses(print_exit_status);
    printf("# SEE ALSO\n\n%s\n\nThe documents of icestream describe keys, files and physics.\n",
           others);
}

static void print_option(const ics_option *option)
{
    if (option->letter != 0) {
        printf("*-%c*, ", option->letter);
    }
    fputs("*--", stdout);
    print_plain(option->name);
    putchar('*');
    if (option->value != NULL) {
        const bool may_lack = option->type == ICS_OPTION_OPTIONAL;
        fputs(may_lack ? "\\[=" : " ", stdout);
        print_marked('_', option->value);
        fputs(may_lack ? "\\]" : "", stdout);
    }
    fputs("\n\t", stdout);
    print_sentence(option->help);
    if (option->type == ICS_OPTION_WHOLE) {
        printf(" A whole number from %ld to %ld.", option->low, option->high);
    }
    if (option->initial != NULL) {
        fputs(" Default: ", stdout);
        print_plain(option->initial);
        fputs(".", stdout);
    }
    puts("\n");
}

static void print_command(const ics_command *command)
{
    char name[64];
    snprintf(name, sizeof name, "icestream-%s", command->name);
    print_title(name, command->summary);
    printf("# SYNOPSIS\n\n*icestream %s* \\[_OPTIONS_\\] ", command->name);
    print_plain(command->operands);
    puts("\n\n# DESCRIPTION\n");
    print_sentence(command->summary);
    puts("\n");
    if (command->details != NULL) {
        print_plain(command->details);
        puts("\n");
    }
    puts("# OPTIONS\n");
    for (size_t i = 0; i < command->option_count; ++i) {
        print_option(&command->options[i]);
    }
    print_option(&ics_commands_help);
    print_ending("*icestream*(1)");
}

static void print_program(void)
{
    print_title("icestream",
                "simulates photons from steps of light to optical modules, in ice or water");
    puts("# SYNOPSIS\n\n*icestream* _COMMAND_ \\[_OPTIONS_\\] ...\n\n"
         "*icestream help* \\[_COMMAND_ | *--bash* | *--zsh* | *--fish*\\]\n\n"
         "*icestream version* \\[*--verbose*\\]\n\n# COMMANDS\n");
    for (size_t i = 0; i < ics_commands_count; ++i) {
        const ics_command *command = ics_commands[i];
        printf("*icestream-%s*(1)\n\t", command->name);
        print_sentence(command->summary);
        puts("\n");
    }
    puts("*icestream help* prints the commands, or describes one of them. With *--bash*, *--zsh* "
         "or *--fish* it prints a completion for the shell.\n\n"
         "*icestream version --verbose* prints commit, compiler, CUDA, GPUs, instruction sets and "
         "libraries.\n");
    fputs("# FILES\n\nA run is described by a file in YAML. *icestream keys* lists its keys.\n\n",
          stdout);
    print_ending("*icestream-run*(1), *icestream-keys*(1)");
}

void ics_manual_print(const ics_command *command)
{
    if (command != NULL) {
        print_command(command);
    } else {
        print_program();
    }
}
