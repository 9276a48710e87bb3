#include "pipeline/commands/program/help.h"

#include "pipeline/commands/program/commands.h"

#include <string.h>

enum { HELP_COLUMN = 29, HELP_WIDTH = 100 }; /* characters */

const ics_option ics_commands_help = {
    .name = "help", .letter = 'h', .help = "describe the command and stop"};

/* ---- exit statuses --------------------------------------------------------------------------- */

typedef struct status_row {
    int exit_status;
    const char *text;
} status_row;

static const status_row statuses[] = {
#define X(name, value, exit_status, text) {exit_status, text},
    ICESTREAM_STATUS_LIST(X)
#undef X
};

enum { STATUS_COUNT = sizeof statuses / sizeof *statuses };

void ics_help_visit_exit_statuses(void (*visit)(int exit_status, const char *text))
{
    for (size_t i = 0; i < STATUS_COUNT; ++i) {
        size_t first = 0;
        while (statuses[first].exit_status != statuses[i].exit_status) {
            ++first;
        }
        if (first < i) {
            continue; /* was visited with the first one */
        }
        char text[512];
        size_t length = (size_t)snprintf(text, sizeof text, "%s", statuses[i].text);
        for (size_t k = i + 1; k < STATUS_COUNT && length < sizeof text; ++k) {
            if (statuses[k].exit_status == statuses[i].exit_status) {
                length +=
                    (size_t)snprintf(text + length, sizeof text - length, "; %s", statuses[k].text);
            }
        }
        visit(statuses[i].exit_status, text);
    }
}

/* ---- commands -------------------------------------------------------------------------------- */

static void print_exit_status(int exit_status, const char *text)
{
    printf("  %3d  %s\n", exit_status, text);
}

void ics_help_print(void)
{
    printf("%s " ICESTREAM_VERSION ": %s\n\nusage: %s COMMAND [OPTIONS] ...\n\ncommands:\n",
           ics_commands_program, ics_commands_purpose, ics_commands_program);
    for (size_t i = 0; i < ics_commands_count; ++i) {
        printf("  %-9s %-17s %s\n", ics_commands[i]->name, ics_commands[i]->operands,
               ics_commands[i]->summary);
    }
    printf("\n%s\n\nexit statuses:\n", ics_commands_note);
    ics_help_visit_exit_statuses(print_exit_status);
}

/* Prints words from `column` on, and breaks lines between words. Returns the column after them. */
static int print_words(const char *text, int column)
{
    while (*text != '\0') {
        const int length = (int)strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
            printf("\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            putchar(' ');
            ++column;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    return column;
}

static void print_option(const ics_option *option)
{
    char letter[8] = "    ", name[64], initial[256] = "";
    if (option->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    const bool may_lack = option->type == ICS_OPTION_OPTIONAL;
    snprintf(name, sizeof name, "--%s%s%s%s", option->name,
             may_lack                ? "[="
             : option->value != NULL ? " "
                                     : "",
             option->value != NULL ? option->value : "", may_lack ? "]" : "");
    if (option->initial != NULL) {
        snprintf(initial, sizeof initial, "[default: %s]", option->initial);
    }
    printf("  %s%-22s ", letter, name);
    int column = print_words(option->help, HELP_COLUMN);
    if (initial[0] != '\0' && column + 1 + (int)strlen(initial) > HELP_WIDTH) {
        printf("\n%*s", HELP_COLUMN, "");
        column = HELP_COLUMN;
    }
    print_words(initial, column);
    putchar('\n');
}

void ics_help_print_command(const ics_command *command)
{
    printf("usage: %s %s [OPTIONS]%s%s\n\n%s\n%s%s\noptions:\n", ics_commands_program,
           command->name, command->operands[0] != '\0' ? " " : "", command->operands,
           command->summary, command->details != NULL ? command->details : "",
           command->details != NULL ? "\n" : "");
    for (size_t i = 0; i < command->option_count; ++i) {
        print_option(&command->options[i]);
    }
    print_option(&ics_commands_help);
}
