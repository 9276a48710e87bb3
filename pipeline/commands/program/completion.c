#include "pipeline/commands/program/completion.h"

#include "pipeline/commands/program/commands.h"
#include "pipeline/photons/config/keys.h"

#include <string.h>

/* Prints all names of keys, each with =. The first line of `icestream keys` is a title. */
#define PRINT_KEYS "icestream keys 2>/dev/null | sed -n '2,$s/ .*/=/p'"

static void print_command_names(void)
{
    for (size_t i = 0; i < ics_commands_count; ++i) {
        printf("%s ", ics_commands[i]->name);
    }
}

static void print_choices(const ics_option *option)
{
    for (int i = 0; i < ICS_OPTION_CHOICES && option->choices[i] != NULL; ++i) {
        printf("%s%s", i > 0 ? " " : "", option->choices[i]);
    }
}

/* The length of the words that the first operand of a command is one of, as in "info|merge FILE";
 * 0: it is any text. */
static int action_length(const ics_command *command)
{
    const char *operands = command->operands != NULL ? command->operands : "";
    const size_t length = strspn(operands, "abcdefghijklmnopqrstuvwxyz|");
    return operands[length] == ' ' && memchr(operands, '|', length) != NULL ? (int)length : 0;
}

/* Prints these words with blanks between them. */
static void print_actions(const ics_command *command)
{
    for (int i = 0; i < action_length(command); ++i) {
        putchar(command->operands[i] == '|' ? ' ' : command->operands[i]);
    }
}

/* Whether the value of an option is a file or a folder. */
static bool takes_file(const ics_option *option)
{
    static const char *const files[] = {"FILE", "FILE...", "DIR", "CONFIG"};
    for (size_t i = 0; option->value != NULL && i < sizeof files / sizeof *files; ++i) {
        if (strcmp(option->value, files[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Prints a text in which a backslash stands before each of the `special` characters. `quote` is the
 * text that stands for an apostrophe in a quoted word of the shell. */
static void print_escaped(const char *text, const char *special, const char *quote)
{
    for (; *text != '\0'; ++text) {
        if (*text == '\'') {
            fputs(quote, stdout);
        } else {
            printf("%s%c", strchr(special, *text) != NULL ? "\\" : "", *text);
        }
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void print_bash_command(const ics_command *command)
{
    for (size_t k = 0; k < command->option_count; ++k) {
        const ics_option *option = &command->options[k];
        if (option->type == ICS_OPTION_CHOICE) {
            printf("        %s--%s) words='", command->name, option->name);
            print_choices(option);
            puts("' ;;");
        }
    }
    printf("        %s-*) ", command->name);
    if (action_length(command) > 0) {
        fputs("((COMP_CWORD == 2)) && words='", stdout);
        print_actions(command);
        fputs("'; ", stdout);
    }
    fputs("[[ $word == -* ]] && words='", stdout);
    for (size_t k = 0; k < command->option_count; ++k) {
        printf("--%s ", command->options[k].name);
    }
    puts("--help' ;;");
}

/* Prints the words that a key can have as its value, for all keys that have such words. */
static void print_bash_values(void)
{
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        const ics_schema_field *field = &ics_config_keys[i];
        const char *word = ics_schema_choice(field, 0);
        if (word != NULL) {
            printf("        %s) words='", field->path);
            for (size_t k = 0; word != NULL; word = ics_schema_choice(field, ++k)) {
                printf("%s%s", k > 0 ? " " : "", word);
            }
            puts("' ;;");
        }
    }
}

void ics_completion_print_bash(const ics_command *unused)
{
    (void)unused;
    fputs("# Completion for bash: source <(icestream help --bash)\n_icestream()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
          "    # bash makes three words of KEY=VALUE.\n"
          "    local key=\n"
          "    [[ $before == = ]] && key=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    [[ $word == = ]] && key=$before word=\n"
          "    if [[ $key == *.* ]]; then\n        case $key in\n",
          stdout);
    print_bash_values();
    fputs("        esac\n    elif ((COMP_CWORD == 1)); then\n        words='", stdout);
    print_command_names();
    fputs("help version'\n    elif [[ $before == -s || $before == --set ]]; then\n"
          "        words=$(" PRINT_KEYS ")\n        compopt -o nospace 2>/dev/null\n"
          "    elif [[ ${COMP_WORDS[1]} == help ]]; then\n        words='",
          stdout);
    print_command_names();
    puts("'\n    else\n        [[ $before == -* ]] || before=-\n"
         "        case ${COMP_WORDS[1]}$before in");
    for (size_t i = 0; i < ics_commands_count; ++i) {
        print_bash_command(ics_commands[i]);
    }
    puts("        esac\n    fi\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "}\ncomplete -o default -F _icestream icestream");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Ends the quoted word, adds an apostrophe, and begins it again. */
#define SHELL_APOSTROPHE "'\\''"

/* The words that may follow an option: ":VALUE:ACTION". */
static void print_zsh_value(const ics_option *option)
{
    if (option->value == NULL) {
        return;
    }
    printf("%s", option->type == ICS_OPTION_OPTIONAL ? "::" : ":");
    print_escaped(option->value, ":\\", SHELL_APOSTROPHE);
    putchar(':');
    if (option->type == ICS_OPTION_SET) {
        fputs("_icestream_keys", stdout);
    } else if (option->type == ICS_OPTION_CHOICE) {
        putchar('(');
        print_choices(option);
        putchar(')');
    } else if (takes_file(option)) {
        fputs("_files", stdout);
    }
}

static void print_zsh_option(const ics_option *option)
{
    const bool repeats = option->type == ICS_OPTION_SET || option->type == ICS_OPTION_TEXTS ||
                         option->type == ICS_OPTION_LIST;
    const char *joint = option->value == NULL                 ? ""
                        : option->type == ICS_OPTION_OPTIONAL ? "=-"
                                                              : "=";
    if (option->letter != 0 && !repeats) {
        printf("            '(-%c --%s)'", option->letter, option->name);
    } else {
        printf("            %s", repeats ? "'*'" : "");
    }
    if (option->letter != 0) {
        printf("{-%c%s,--%s%s}", option->letter, option->value != NULL ? "+" : "", option->name,
               joint);
    } else {
        printf("--%s%s", option->name, joint);
    }
    fputs("'[", stdout);
    print_escaped(option->help, "[]\\", SHELL_APOSTROPHE);
    putchar(']');
    print_zsh_value(option);
    puts("' \\");
}

void ics_completion_print_zsh(const ics_command *unused)
{
    (void)unused;
    fputs("#compdef icestream\n# Completion for zsh: icestream help --zsh > _icestream, in a "
          "folder of $fpath\n"
          "_icestream_keys()\n{\n    local -a keys\n    keys=(${(f)\"$(" PRINT_KEYS ")\"})\n"
          "    compadd -S '' -- $keys\n}\n_icestream()\n{\n    local -a commands\n"
          "    commands=(\n",
          stdout);
    for (size_t i = 0; i < ics_commands_count; ++i) {
        printf("        '%s:", ics_commands[i]->name);
        print_escaped(ics_commands[i]->summary, ":\\", SHELL_APOSTROPHE);
        puts("'");
    }
    puts("        'help:describes a command'\n        'version:prints the version'\n    )\n"
         "    if ((CURRENT == 2)) || [[ $words[2] == help ]]; then\n"
         "        _describe -t commands command commands\n        return\n    fi\n"
         "    local name=$words[2]\n    shift words\n    ((CURRENT--))\n    case $name in");
    for (size_t i = 0; i < ics_commands_count; ++i) {
        const ics_command *command = ics_commands[i];
        printf("    %s)\n        _arguments -s \\\n", command->name);
        for (size_t k = 0; k < command->option_count; ++k) {
            print_zsh_option(&command->options[k]);
        }
        print_zsh_option(&ics_commands_help);
        if (action_length(command) > 0) {
            fputs("            '1:action:(", stdout);
            print_actions(command);
            puts(")' \\");
        }
        printf("            '%s'\n        ;;\n",
               command->operands_max > 0 ? "*:file:_files" : "*: :");
    }
    puts("    esac\n}\nif [[ $funcstack[1] == _icestream ]]; then\n    _icestream \"$@\"\nelse\n"
         "    compdef _icestream icestream\nfi");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void print_fish_text(const char *text)
{
    print_escaped(text, "\\", "\\'");
}

static void print_fish_option(const ics_command *command, const ics_option *option)
{
    printf("complete -c icestream -n '__fish_seen_subcommand_from %s' -l %s", command->name,
           option->name);
    if (option->letter != 0) {
        printf(" -s %c", option->letter);
    }
    if (option->type == ICS_OPTION_SET) {
        fputs(" -x -a '(__icestream_keys)'", stdout);
    } else if (option->type == ICS_OPTION_CHOICE) {
        fputs(" -x -a '", stdout);
        print_choices(option);
        putchar('\'');
    } else if (option->value != NULL && option->type != ICS_OPTION_OPTIONAL) {
        fputs(takes_file(option) ? " -r -F" : " -x", stdout);
    }
    fputs(" -d '", stdout);
    print_fish_text(option->help);
    puts("'");
}

void ics_completion_print_fish(const ics_command *unused)
{
    (void)unused;
    puts("# Completion for fish: icestream help --fish | source\n"
         "function __icestream_keys\n    " PRINT_KEYS "\nend\n"
         "complete -c icestream -n __fish_use_subcommand -f");
    for (size_t i = 0; i < ics_commands_count; ++i) {
        const ics_command *command = ics_commands[i];
        printf("complete -c icestream -n __fish_use_subcommand -a %s -d '", command->name);
        print_fish_text(command->summary);
        puts("'");
        for (size_t k = 0; k < command->option_count; ++k) {
            print_fish_option(command, &command->options[k]);
        }
        print_fish_option(command, &ics_commands_help);
        if (action_length(command) > 0) {
            printf("complete -c icestream -n '__fish_seen_subcommand_from %s' -a '", command->name);
            print_actions(command);
            puts("'");
        }
    }
    puts("complete -c icestream -n __fish_use_subcommand -a help -d 'describes a command'\n"
         "complete -c icestream -n __fish_use_subcommand -a version -d 'prints the version'");
    fputs("complete -c icestream -n '__fish_seen_subcommand_from help' -f -a '", stdout);
    print_command_names();
    puts("'");
}
