#include "pipeline/program/help.h"

#include "pipeline/program/commands.h"

#include <string.h>

enum { HELP_COLUMN = 29, HELP_WIDTH = 100 }; /* characters */

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

/* One line per exit status, with the texts of all results that end with it. */
static void print_exit_statuses(void)
{
    puts("\nexit statuses:");
    for (size_t i = 0; i < STATUS_COUNT; ++i) {
        size_t first = 0;
        while (statuses[first].exit_status != statuses[i].exit_status) {
            ++first;
        }
        if (first < i) {
            continue; /* printed with the first one */
        }
        printf("  %3d  %s", statuses[i].exit_status, statuses[i].text);
        for (size_t k = i + 1; k < STATUS_COUNT; ++k) {
            if (statuses[k].exit_status == statuses[i].exit_status) {
                printf("; %s", statuses[k].text);
            }
        }
        putchar('\n');
    }
}

void ics_help_print(void)
{
    puts("icestream " ICESTREAM_VERSION
         ": simulates photons from steps of light to optical modules, in ice or water\n\n"
         "usage: icestream COMMAND [OPTIONS] ...\n\ncommands:");
    for (size_t i = 0; i < ics_commands_count; ++i) {
        printf("  %-9s %-17s %s\n", ics_commands[i]->name, ics_commands[i]->operands,
               ics_commands[i]->summary);
    }
    puts("\nicestream help COMMAND describes a command; icestream help --bash prints a completion "
         "for "
         "bash;\nicestream version prints the version.");
    print_exit_statuses();
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
    static const ics_option help = {
        .name = "help", .letter = 'h', .help = "describe the command and stop"};
    printf("usage: icestream %s [OPTIONS]%s%s\n\n%s\n%s%s\noptions:\n", command->name,
           command->operands[0] != '\0' ? " " : "", command->operands, command->summary,
           command->details != NULL ? command->details : "", command->details != NULL ? "\n" : "");
    for (size_t i = 0; i < command->option_count; ++i) {
        print_option(&command->options[i]);
    }
    print_option(&help);
}

/* ---- completion -------------------------------------------------------------------------------
 */

static void print_command_names(void)
{
    for (size_t i = 0; i < ics_commands_count; ++i) {
        printf("%s ", ics_commands[i]->name);
    }
}

void ics_help_print_completion(void)
{
    fputs("# Completion for bash: source <(icestream help --bash)\n_icestream()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
          "    if ((COMP_CWORD == 1)); then\n        words='",
          stdout);
    print_command_names();
    fputs("help version'\n    elif [[ $before == -s || $before == --set ]]; then\n"
          "        words=$(icestream keys | sed -n '2,$s/ .*/=/p')\n        compopt -o nospace "
          "2>/dev/null\n    elif [[ ${COMP_WORDS[1]} == help ]]; then\n        words='",
          stdout);
    print_command_names();
    puts("'\n    elif [[ $word == -* ]]; then\n        case ${COMP_WORDS[1]} in");
    for (size_t i = 0; i < ics_commands_count; ++i) {
        printf("        %s) words='", ics_commands[i]->name);
        for (size_t k = 0; k < ics_commands[i]->option_count; ++k) {
            printf("--%s ", ics_commands[i]->options[k].name);
        }
        puts("--help' ;;");
    }
    puts("        esac\n    fi\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "}\ncomplete -o default -F _icestream icestream");
}
