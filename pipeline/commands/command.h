/* What a command of the program is: its name, its help, its options and its function.
 *
 * Every command is one constant `ics_command_NAME` in pipeline/commands/NAME/command_NAME.c.
 * Nothing else of that file has linkage, and pipeline/commands/program/commands.c lists the
 * constant. The program reads the command line by this description, so a command sees only values
 * that fit it.
 */
#ifndef ICS_COMMANDS_COMMAND_H
#define ICS_COMMANDS_COMMAND_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"

ICS_CAN_DESTROY(icestream_config, icestream_config_destroy)

typedef enum ics_option_type {
    ICS_OPTION_SWITCH,   /* has no value */
    ICS_OPTION_TEXT,     /* any text; of several the last one counts */
    ICS_OPTION_OPTIONAL, /* --NAME or --NAME=TEXT; has no letter */
    ICS_OPTION_TEXTS,    /* any text; the option may be repeated, and all texts count */
    ICS_OPTION_LIST,     /* all texts that follow, up to the next option; may be repeated */
    ICS_OPTION_SET,      /* KEY=VALUE of the configuration; may be repeated */
    ICS_OPTION_WHOLE,    /* a whole number from `low` to `high` */
    ICS_OPTION_CHOICE    /* one of the words in `choices` */
} ics_option_type;

enum { ICS_OPTION_CHOICES = 4 };

/* An option of one command. */
typedef struct ics_option {
    const char *name; /* without its dashes */
    char letter;      /* of the short form, or 0 */
    ics_option_type type;
    const char *value; /* name of the value in the help; NULL for a switch */
    const char *help;
    const char *initial; /* what holds without the option, for the help; NULL: nothing */
    const char *key;     /* the key of the configuration that the option sets, or NULL */
    long low, high;      /* of ICS_OPTION_WHOLE */
    const char *choices[ICS_OPTION_CHOICES]; /* of ICS_OPTION_CHOICE; NULL after the last one */
} ics_option;

/* What a command line gives for one option. */
typedef struct ics_option_value {
    bool given;
    const char *text;   /* the last text, or NULL */
    const char **texts; /* [count], in their order; of TEXTS, LIST and SET */
    size_t count;
    long whole; /* of ICS_OPTION_WHOLE; 0 if the option was not given */
} ics_option_value;

typedef struct ics_command ics_command;

enum { ICS_COMMAND_OPTIONS = 24 };

/* A command line that fits its command. The texts are those of main(). */
typedef struct ics_arguments {
    const ics_command *command;
    ics_option_value options[ICS_COMMAND_OPTIONS]; /* in the order of command->options */
    char *const *operands;                         /* [operand_count] */
    int operand_count;
} ics_arguments;

struct ics_command {
    const char *name;
    const char *operands; /* as in the usage line; required options are named there, too */
    const char *summary;  /* one line, without a full stop */
    const char *details;  /* further lines, or NULL */
    int operands_min, operands_max;
    const ics_option *options; /* [option_count], at most ICS_COMMAND_OPTIONS */
    size_t option_count;
    /* Does the work. Writes output to standard output and does not print the error. Returns a
     * status. */
    int (*execute)(const ics_arguments *given, icestream_error *error);
    /* Whether errors go to standard error as JSON, one object per line; NULL: never. */
    bool (*has_json_log)(const ics_arguments *given);
    /* Chooses the exit status for a status; NULL: icestream_status_exit does. */
    int (*exit_status)(const ics_arguments *given, int status);
};

/* Options that mean the same in several commands. A command may replace the help or the default by
 * its own row. */
#define ICS_OPTION_ROW_OUTPUT(VALUE, HELP)                                                         \
    {                                                                                              \
        .name = "output", .letter = 'o', .type = ICS_OPTION_TEXT, .value = (VALUE), .help = (HELP) \
    }
#define ICS_OPTION_ROW_SET                                                                         \
    {                                                                                              \
        .name = "set", .letter = 's', .type = ICS_OPTION_SET, .value = "KEY=VALUE",                \
        .help = "set one key of the configuration; may be repeated",                               \
    }
#define ICS_OPTION_ROW_THREADS                                                                     \
    {                                                                                              \
        .name = "threads", .type = ICS_OPTION_TEXT, .value = "N",                                  \
        .help = "short for --set device.threads=N; auto is one thread per core",                   \
        .initial = "device.threads of CONFIG", .key = "device.threads",                            \
    }
#define ICS_OPTION_ROW_REPLAY_BACKEND                                                              \
    {                                                                                              \
        .name = "backend", .type = ICS_OPTION_TEXT, .value = "NAME",                               \
        .help = "cpu or cuda; auto is a GPU for hits of fast maths, and for 100,000 hits or more " \
                "if there is one",                                                                 \
        .initial = "auto",                                                                         \
    }
#define ICS_OPTION_ROW_PRINT_EFFECTIVE                                                             \
    {                                                                                              \
        .name = "print-effective", .help = "write the configuration with all defaults, and stop",  \
    }
#define ICS_OPTION_ROW_FORCE                                                                       \
    {                                                                                              \
        .name = "force", .letter = 'f', .help = "overwrite existing files",                        \
    }
#define ICS_OPTION_ROW_JSON                                                                        \
    {                                                                                              \
        .name = "json", .letter = 'j', .help = "write JSON instead of text",                       \
    }
#define ICS_OPTION_ROW_TABLE                                                                       \
    {                                                                                              \
        .name = "table", .type = ICS_OPTION_CHOICE, .value = "md",                                 \
        .help = "write tables as Markdown", .initial = "plain text", .choices = {"md"},            \
    }

/* The login of commands that ask the broker of a queue. */
#define ICS_OPTION_ROW_QUEUE_PASSWORD                                                              \
    {                                                                                              \
        .name = "password", .type = ICS_OPTION_TEXT, .value = "FILE",                              \
        .help = "file with the password of the queue",                                             \
        .initial = "the environment variable ICESTREAM_QUEUE_PASSWORD"                             \
    }
#define ICS_OPTION_ROW_QUEUE_CA                                                                    \
    {                                                                                              \
        .name = "ca", .type = ICS_OPTION_TEXT, .value = "FILE",                                    \
        .help = "certificates (PEM) that may sign that of the broker",                             \
        .initial = "those of the system"                                                           \
    }

/* Loads the configuration at `path` (NULL: every key has its default) and applies, in this order,
 * `first`, the options that set a key, and --set. Errors as icestream_config_load. On success the
 * caller owns *out. */
int ics_command_load(const ics_arguments *given, const char *path, const char *const *first,
                     size_t first_count, icestream_config **out, icestream_error *error);

/* The same for the first operand, without `first`. */
int ics_command_config(const ics_arguments *given, icestream_config **out, icestream_error *error);

/* What a command does with its configuration. */
typedef int (*ics_command_work)(const ics_arguments *given, const icestream_config *config,
                                icestream_error *error);
/* Loads the configuration of the first operand as ics_command_load() does, and does the work; with
 * --print-effective, if the command has this option, it prints the configuration instead. The
 * errors of both. */
int ics_command_with_config(const ics_arguments *given, const char *const *first,
                            size_t first_count, ics_command_work work, icestream_error *error);
/* Whether the command line has --print-effective. */
bool ics_command_prints(const ics_arguments *given);

#endif
