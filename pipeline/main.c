/* icestream, the program: commands and options on top of the public header. */
#include "pipeline/icestream.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- options --------------------------------------------------------------------------------- */

/* Every option of any command: what it is called here and there, its value, what it does. */
#define OPTION_LIST(X)                                                                             \
    X(SET, "set", 's', "KEY=VALUE", "override one key of the configuration; repeatable")           \
    X(PRINT_CONFIG, "print-config", 0, NULL, "write the effective configuration and stop")         \
    X(PRINT_EFFECTIVE, "print-effective", 0, NULL, "also write the effective configuration")       \
    X(FORCE, "force", 'f', NULL, "overwrite existing outputs")                                     \
    X(RESUME, "resume", 0, NULL, "keep outputs that are complete and match, make the others")      \
    X(QUIET, "quiet", 'q', NULL, "no progress on standard error")                                  \
    X(FAIL_FAST, "fail-fast", 0, NULL, "end at a full disk or other trouble that may pass")        \
    X(LOG, "log", 0, "FORMAT", "text (for people) or json: an object per line")                    \
    X(METRICS, "metrics", 0, "FILE", "short for --set metrics.file=FILE")                          \
    X(TIME_LIMIT, "time-limit", 0, "S", "stop after so many seconds; exit 75 if work is left")     \
    X(UNFINISHED_EXIT, "unfinished-exit", 0, "N",                                                  \
      "75 or 85: the exit status where a signal or the time limit left work")                      \
    X(SUMMARY, "summary", 0, "FILE", "where to write the summary of the run")                      \
    X(OUTPUT, "output", 'o', "FILE", "the file to write (generate: - is standard output)")         \
    X(VERIFY, "verify", 0, NULL, "read all rows: check digests, fields and order")                 \
    X(SCHEDULES, "schedules", 0, "A,B", "only these (all of the device)")                          \
    X(AGAINST, "against", 0, "CONFIG", "a second configuration; --set applies to it as well")      \
    X(WORKLOAD, "workload", 0, "KIND", "cascade or uniform: 2^20 steps of 200 photons")            \
    X(COUNTS, "counts", 0, "HOW", "default: all steps alike; shuffled: 20 to 379 photons of 200")  \
    X(OVERSIZE, "oversize", 0, "F", "short for --set detector.oversize=F")                         \
    X(STEPS, "steps", 0, "N", "short for --set workload.steps=N")                                  \
    X(PHOTONS, "photons", 0, "N", "short for --set workload.photons_per_step=N")                   \
    X(REFERENCE, "reference", 0, "DIR", "ice, light and modules from clsim's tables in DIR")       \
    X(REPEATS, "repeats", 0, "N", "runs of which the best counts (3)")                             \
    X(ARCHITECTURE, "architecture", 0, "N",                                                        \
      "plan for this GPU: 90 for sm_90 (the one that is here)")                                    \
    X(HITS, "hits", 0, "FILE", "follow the photons of these hits")                                 \
    X(SELECT, "select", 0, "EXPR", "those hits only: 'module==34 && string==63'")                  \
    X(PHOTON, "photon", 0, "E:S:P",                                                                \
      "follow this photon: event_id, step_id, photon_id; @FILE: a list; repeatable")               \
    X(STEP_FILE, "steps", 0, "FILE", "the step file that they come from (those of the source)")    \
    X(WAVEFORMS, "waveforms", 0, "NS",                                                             \
      "from hits to histograms of time with bins this wide, as .npy or .csv")                      \
    X(RANGE, "range", 0, "LOW:HIGH", "of waveforms, in ns (all hits, bins from time 0 on)")        \
    X(TABLE, "table", 0, "md", "tables as Markdown")                                               \
    X(JSON, "json", 'j', NULL, "JSON instead of text")                                             \
    X(HELP, "help", 'h', NULL, "describe the command and stop")

typedef enum option_name {
#define X(name, text, letter, value, help) OPTION_##name,
    OPTION_LIST(X)
#undef X
        OPTION_COUNT
} option_name;

static const struct {
    const char *text;
    int letter;
    const char *value, *help;
} option_table[OPTION_COUNT] = {
#define X(name, text, letter, value, help) {text, letter, value, help},
    OPTION_LIST(X)
#undef X
};

#define ALLOW(name) (UINT64_C(1) << OPTION_##name)
_Static_assert(OPTION_COUNT <= 64, "a bit for each");

typedef struct arguments {
    bool given[OPTION_COUNT];
    const char *values[OPTION_COUNT]; /* the last one given */
    const char **sets;                /* [set_count] */
    size_t set_count;
    const char **photons; /* [photon_count] */
    size_t photon_count;
    char *const *positional; /* [positional_count] */
    int positional_count;
} arguments;

static int usage_fault(is_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int usage_fault(is_error *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(error->text, sizeof error->text, format, values);
    va_end(values);
    return error->status = IS_E_USAGE;
}

/* A whole number low .. high that an option gives; *out stays where it is not given. */
static int take_whole(const arguments *given, option_name option, long low, long high, long *out,
                      is_error *error)
{
    const char *text = given->values[option];
    if (!given->given[option]) {
        return IS_OK;
    }
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high) {
        return usage_fault(error, "--%s: found '%.64s', expected a whole number %ld .. %ld",
                           option_table[option].text, text, low, high);
    }
    *out = value;
    return IS_OK;
}

/* Whether tables are to be Markdown. */
static int take_table(const arguments *given, bool *markdown, is_error *error)
{
    *markdown = given->given[OPTION_TABLE];
    if (*markdown && strcmp(given->values[OPTION_TABLE], "md") != 0) {
        return usage_fault(error, "--table: found '%.64s', expected md",
                           given->values[OPTION_TABLE]);
    }
    return IS_OK;
}

/* ---- commands -------------------------------------------------------------------------------- */

static int load_config(const arguments *given, const char *path, is_config **out, is_error *error)
{
    return is_config_load(path, given->sets, given->set_count, out, error);
}

/* The configuration of a command: its one positional argument, or all defaults. */
static int load_first_config(const arguments *given, is_config **out, is_error *error)
{
    return load_config(given, given->positional_count > 0 ? given->positional[0] : NULL, out,
                       error);
}

/* Those of `run` that are more than a switch. */
static int take_run_options(const arguments *given, is_run_options *options, is_error *error)
{
    long limit = 0, unfinished = 75;
    const char *log = given->given[OPTION_LOG] ? given->values[OPTION_LOG] : "text";
    options->log_json = strcmp(log, "json") == 0;
    if (!options->log_json && strcmp(log, "text") != 0) {
        return usage_fault(error, "--log: found '%.64s', expected text or json", log);
    }
    int status = take_whole(given, OPTION_TIME_LIMIT, 1, 100000000, &limit, error);
    if (status == IS_OK) {
        status = take_whole(given, OPTION_UNFINISHED_EXIT, 75, 85, &unfinished, error);
    }
    if (status == IS_OK && unfinished != 75 && unfinished != 85) {
        return usage_fault(error, "--unfinished-exit: found '%ld', expected 75 or 85", unfinished);
    }
    options->time_limit = (double)limit;
    return status;
}

static int command_run(const arguments *given, is_error *error)
{
    is_config *config = NULL;
    int status = load_first_config(given, &config, error);
    if (status != IS_OK) {
        return status;
    }
    if (given->given[OPTION_PRINT_CONFIG]) {
        status = is_config_print(config, stdout, error);
    } else {
        is_run_options options = {.force = given->given[OPTION_FORCE],
                                  .resume = given->given[OPTION_RESUME],
                                  .quiet = given->given[OPTION_QUIET],
                                  .fail_fast = given->given[OPTION_FAIL_FAST],
                                  .tell_unfinished = given->given[OPTION_UNFINISHED_EXIT],
                                  .progress = stderr,
                                  .metrics_path = given->values[OPTION_METRICS],
                                  .summary_path = given->values[OPTION_SUMMARY]};
        status = take_run_options(given, &options, error);
        if (status == IS_OK) {
            status = is_run(config, &options, error);
        }
    }
    is_config_destroy(config);
    return status;
}

static int command_validate(const arguments *given, is_error *error)
{
    bool print = given->given[OPTION_PRINT_EFFECTIVE];
    is_config *config = NULL;
    int status = load_first_config(given, &config, error);
    if (status == IS_OK) {
        /* What is written must be YAML and nothing else. */
        status = is_validate(config, print ? stderr : stdout, error);
    }
    if (status == IS_OK && print) {
        status = is_config_print(config, stdout, error);
    }
    is_config_destroy(config);
    return status;
}

static int command_info(const arguments *given, is_error *error)
{
    return is_info(given->positional[0], given->given[OPTION_VERIFY], given->given[OPTION_JSON],
                   stdout, error);
}

static int command_status(const arguments *given, is_error *error)
{
    return is_folder_status(given->positional[0], given->given[OPTION_JSON], stdout, error);
}

static int command_generate(const arguments *given, is_error *error)
{
    if (!given->given[OPTION_OUTPUT]) {
        return usage_fault(error,
                           "icestream generate: expected --output FILE (- is standard output)");
    }
    is_config *config = NULL;
    int status = load_first_config(given, &config, error);
    if (status == IS_OK) {
        status =
            is_generate(config, given->values[OPTION_OUTPUT], given->given[OPTION_FORCE], error);
    }
    is_config_destroy(config);
    return status;
}

static int command_compare(const arguments *given, is_error *error)
{
    is_config *config = NULL, *against = NULL;
    bool markdown = false;
    int status = take_table(given, &markdown, error);
    if (status == IS_OK) {
        status = load_first_config(given, &config, error);
    }
    if (status == IS_OK && given->given[OPTION_AGAINST]) {
        status = load_config(given, given->values[OPTION_AGAINST], &against, error);
    }
    if (status == IS_OK) {
        const is_compare_options options = {.schedules = given->values[OPTION_SCHEDULES],
                                            .against = against,
                                            .json = given->given[OPTION_JSON],
                                            .markdown = markdown};
        status = is_compare(config, &options, stdout, error);
    }
    is_config_destroy(against);
    is_config_destroy(config);
    return status;
}

static int command_trace(const arguments *given, is_error *error)
{
    if (!given->given[OPTION_OUTPUT]) {
        return usage_fault(error, "icestream trace: expected --output FILE");
    }
    is_config *config = NULL;
    int status = load_first_config(given, &config, error);
    if (status == IS_OK) {
        const is_trace_options options = {.hits = given->values[OPTION_HITS],
                                          .select = given->values[OPTION_SELECT],
                                          .photons = given->photons,
                                          .photon_count = given->photon_count,
                                          .steps = given->values[OPTION_STEP_FILE],
                                          .output = given->values[OPTION_OUTPUT],
                                          .force = given->given[OPTION_FORCE]};
        status = is_trace(config, &options, stdout, error);
    }
    is_config_destroy(config);
    return status;
}

static int command_stages(const arguments *given, is_error *error)
{
    return is_stages(given->given[OPTION_JSON], stdout, error);
}

/* A number that an option gives, or a part of what it gives. *end: what follows it. */
static int take_real(option_name option, const char *text, char terminator, const char *expected,
                     const char **end, double *out, is_error *error)
{
    char *after = NULL;
    errno = 0;
    *out = strtod(text, &after);
    *end = after;
    if (after == text || *after != terminator || errno != 0 || !isfinite(*out)) {
        return usage_fault(error, "--%s: found '%.64s', expected %s", option_table[option].text,
                           text, expected);
    }
    return IS_OK;
}

static int command_waveforms(const arguments *given, is_error *error)
{
    const char *end = NULL, *range = given->values[OPTION_RANGE];
    is_waveform_options options = {.has_range = range != NULL, .force = given->given[OPTION_FORCE]};
    int status = take_real(OPTION_WAVEFORMS, given->values[OPTION_WAVEFORMS], '\0',
                           "the width of a bin in ns", &end, &options.bin, error);
    if (status == IS_OK && range != NULL) {
        status = take_real(OPTION_RANGE, range, ':', "LOW:HIGH, two times in ns", &end,
                           &options.low, error);
    }
    if (status == IS_OK && range != NULL) {
        status = take_real(OPTION_RANGE, end + 1, '\0', "LOW:HIGH, two times in ns", &end,
                           &options.high, error);
    }
    return status == IS_OK
               ? is_waveforms(given->positional[0], given->positional[1], &options, stdout, error)
               : status;
}

static int command_convert(const arguments *given, is_error *error)
{
    if (given->given[OPTION_WAVEFORMS]) {
        return command_waveforms(given, error);
    }
    if (given->given[OPTION_RANGE]) {
        return usage_fault(error, "--range: expected --waveforms NS with it");
    }
    return is_convert(given->positional[0], given->positional[1], given->given[OPTION_FORCE],
                      error);
}

/* Options that stand for keys of the configuration. */
static const struct {
    option_name option;
    const char *key;
} shorthands[] = {
    {OPTION_WORKLOAD, "workload.kind"},     {OPTION_COUNTS, "workload.counts"},
    {OPTION_STEPS, "workload.steps"},       {OPTION_PHOTONS, "workload.photons_per_step"},
    {OPTION_OVERSIZE, "detector.oversize"},
};
enum { SHORTHANDS = sizeof shorthands / sizeof *shorthands, SHORTHAND_TEXT = 256 };

/* The configuration with what the shorthands say; --set comes after them and wins. */
static int load_bench_config(const arguments *given, is_config **out, is_error *error)
{
    const char **sets = calloc(given->set_count + SHORTHANDS + 2, sizeof *sets);
    char texts[SHORTHANDS][SHORTHAND_TEXT];
    size_t count = 0;
    int status = IS_OK;
    if (sets == NULL) {
        return error->status = IS_E_MEMORY;
    }
    if (given->given[OPTION_WORKLOAD]) {
        sets[count++] = "workload.steps=1048576";
        sets[count++] = "workload.photons_per_step=200";
    }
    for (size_t i = 0; i < SHORTHANDS && status == IS_OK; ++i) {
        option_name option = shorthands[i].option;
        const char *value = given->values[option];
        if (!given->given[option]) {
            continue;
        }
        /* The published name of the plain case is no good one for a key of the configuration. */
        if (option == OPTION_COUNTS && strcmp(value, "default") == 0) {
            value = "balanced";
        }
        if (strlen(shorthands[i].key) + strlen(value) + 2 > SHORTHAND_TEXT) {
            status = usage_fault(error, "--%s: found a text of %zu characters",
                                 option_table[option].text, strlen(value));
        }
        snprintf(texts[i], sizeof texts[i], "%s=%s", shorthands[i].key, value);
        sets[count++] = texts[i];
    }
    for (size_t i = 0; i < given->set_count; ++i) {
        sets[count++] = given->sets[i];
    }
    if (status == IS_OK) {
        status = is_config_load(given->positional_count > 0 ? given->positional[0] : NULL, sets,
                                count, out, error);
    }
    free(sets);
    return status;
}

static int command_bench(const arguments *given, is_error *error)
{
    is_config *config = NULL;
    is_bench_options options = {.schedules = given->values[OPTION_SCHEDULES],
                                .reference = given->values[OPTION_REFERENCE],
                                .json = given->given[OPTION_JSON]};
    long repeats = 0;
    int status = take_whole(given, OPTION_REPEATS, 1, 1000000, &repeats, error);
    if (status == IS_OK) {
        status = take_table(given, &options.markdown, error);
    }
    if (status == IS_OK) {
        status = load_bench_config(given, &config, error);
    }
    if (status == IS_OK) {
        options.repeats = (uint32_t)repeats;
        status = is_bench(config, &options, stdout, error);
    }
    is_config_destroy(config);
    return status;
}

static int command_plan(const arguments *given, is_error *error)
{
    is_config *config = NULL;
    long architecture = 0;
    int status = take_whole(given, OPTION_ARCHITECTURE, 50, 999, &architecture, error);
    if (status == IS_OK) {
        status = load_first_config(given, &config, error);
    }
    if (status == IS_OK) {
        const is_plan_options options = {.architecture = (int)architecture,
                                         .json = given->given[OPTION_JSON]};
        status = is_plan(config, &options, stdout, error);
    }
    is_config_destroy(config);
    return status;
}

typedef struct program_command {
    const char *name, *operands;
    const char *summary; /* one line */
    const char *details; /* further lines, or NULL */
    int least, most;     /* operands */
    uint64_t allowed;
    int (*execute)(const arguments *given, is_error *error);
} program_command;

static const program_command commands[] = {
    {"run", "[CONFIG]", "carries the photons of step files to hit files",
     "The files are those of source.files, or are claimed in source.directory; a.steps.npy "
     "becomes\n"
     "a.hits.npy in sink.directory.\n"
     "Without CONFIG every setting has its default.",
     0, 1,
     ALLOW(SET) | ALLOW(PRINT_CONFIG) | ALLOW(FORCE) | ALLOW(RESUME) | ALLOW(QUIET) |
         ALLOW(SUMMARY) | ALLOW(FAIL_FAST) | ALLOW(LOG) | ALLOW(METRICS) | ALLOW(TIME_LIMIT) |
         ALLOW(UNFINISHED_EXIT),
     command_run},
    {"validate", "[CONFIG]", "checks configuration, ice, detector, light and device", NULL, 0, 1,
     ALLOW(SET) | ALLOW(PRINT_EFFECTIVE), command_validate},
    {"info", "FILE", "describes a file of steps, hits, paths or waveforms", NULL, 1, 1,
     ALLOW(VERIFY) | ALLOW(JSON), command_info},
    {"status", "DIR", "says how the runs that write into a folder are doing",
     "What run.journal in DIR (a sink.directory) tells, and what is really there; also while runs\n"
     "go on.",
     1, 1, ALLOW(JSON), command_status},
    {"generate", "[CONFIG] -o FILE", "makes a step file of particles or of the configured workload",
     NULL, 0, 1, ALLOW(SET) | ALLOW(OUTPUT) | ALLOW(FORCE), command_generate},
    {"compare", "[CONFIG]", "holds schedules or configurations against each other",
     "Runs the same steps through each. Exit status 1: the hits are not as identical, or as\n"
     "compatible, as they have to be.",
     0, 1, ALLOW(SET) | ALLOW(SCHEDULES) | ALLOW(AGAINST) | ALLOW(JSON) | ALLOW(TABLE),
     command_compare},
    {"trace", "[CONFIG] -o FILE", "follows single photons and writes every point of their paths",
     "On the CPU, with the photons' own random numbers: the path that they had in the run. Says\n"
     "whether the hits come about again, and how much those differ that a GPU's maths made.",
     0, 1,
     ALLOW(SET) | ALLOW(HITS) | ALLOW(SELECT) | ALLOW(PHOTON) | ALLOW(STEP_FILE) | ALLOW(OUTPUT) |
         ALLOW(FORCE),
     command_trace},
    {"stages", "", "lists stages and their variants", NULL, 0, 0, ALLOW(JSON), command_stages},
    {"convert", "FROM TO", "converts files between .npy and .h5, and hits to text and waveforms",
     "The endings of the names say which is which; .txt: HIT lines like ppc's, of a hit file.", 2,
     2, ALLOW(FORCE) | ALLOW(WAVEFORMS) | ALLOW(RANGE), command_convert},
    {"plan", "[CONFIG]", "says what a run would take, without running photons",
     "On a GPU: registers, memory and occupancy of every kernel of the configured schedule, with\n"
     "auto of all. Works without a GPU; then it plans for sm_90, or what --architecture says.",
     0, 1, ALLOW(SET) | ALLOW(ARCHITECTURE) | ALLOW(JSON), command_plan},
    {"bench", "[CONFIG]", "measures the configured workload",
     "--reference, --workload and --counts make the settings of clsim's published benchmark.", 0, 1,
     ALLOW(SET) | ALLOW(SCHEDULES) | ALLOW(WORKLOAD) | ALLOW(COUNTS) | ALLOW(STEPS) |
         ALLOW(PHOTONS) | ALLOW(OVERSIZE) | ALLOW(REFERENCE) | ALLOW(REPEATS) | ALLOW(TABLE) |
         ALLOW(JSON),
     command_bench},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* ---- help ------------------------------------------------------------------------------------ */

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

static void print_help(void)
{
    puts("icestream " IS_VERSION
         ": carries photons through ice or water to optical modules, as a stream\n\n"
         "usage: icestream COMMAND [OPTIONS] ...\n\ncommands:");
    for (size_t i = 0; i < COMMAND_COUNT; ++i) {
        printf("  %-9s %-17s %s\n", commands[i].name, commands[i].operands, commands[i].summary);
    }
    puts("\nicestream COMMAND --help describes a command; icestream --version says which this is.");
    print_exit_statuses();
}

static void print_command_help(const program_command *command)
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

/* ---- the command line ------------------------------------------------------------------------ */

static int usage_error(const program_command *command, const char *text, const char *subject,
                       const char *suggestion, const char *prefix)
{
    fprintf(stderr, "icestream%s%s: %s%s", command != NULL ? " " : "",
            command != NULL ? command->name : "", text, subject);
    if (suggestion != NULL) {
        fprintf(stderr, "; did you mean %s%s?", prefix, suggestion);
    }
    fprintf(stderr, "\ntry: icestream%s%s --help\n", command != NULL ? " " : "",
            command != NULL ? command->name : "");
    return is_status_exit(IS_E_USAGE);
}

/* The long and short options that getopt_long is to know for a command. */
typedef struct option_set {
    struct option long_options[OPTION_COUNT + 1];
    char short_options[2 * OPTION_COUNT + 2];
    const char *names[OPTION_COUNT];
    size_t count;
} option_set;

static void collect_options(const program_command *command, option_set *set)
{
    *set = (option_set){.count = 0};
    char *letters = set->short_options;
    *letters++ = ':'; /* a missing value is told from an unknown option */
    for (int i = 0; i < OPTION_COUNT; ++i) {
        if ((command->allowed & UINT64_C(1) << i) == 0 && i != OPTION_HELP) {
            continue;
        }
        bool value = option_table[i].value != NULL;
        set->names[set->count] = option_table[i].text;
        set->long_options[set->count++] = (struct option){
            option_table[i].text, value ? required_argument : no_argument, NULL, 256 + i};
        if (option_table[i].letter != 0) {
            *letters++ = (char)option_table[i].letter;
            if (value) {
                *letters++ = ':';
            }
        }
    }
}

static int option_index(int code)
{
    for (int i = 0; code < 256 && i < OPTION_COUNT; ++i) {
        if (option_table[i].letter == code) {
            return i;
        }
    }
    return code - 256;
}

static int unknown_option(const program_command *command, const option_set *set,
                          const char *argument)
{
    char typed[64] = "";
    if (strncmp(argument, "--", 2) == 0) {
        snprintf(typed, sizeof typed, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    }
    for (int i = 0; i < OPTION_COUNT; ++i) {
        if (strcmp(typed, option_table[i].text) == 0) {
            return usage_error(command, "this command has no option ", argument, NULL, "");
        }
    }
    return usage_error(command, "unknown option ", argument,
                       typed[0] != '\0' ? is_suggestion(typed, set->names, set->count) : NULL,
                       "--");
}

/* Parses everything after the command's name. 0, or an exit status. */
static int parse_arguments(const program_command *command, int count, char **texts, arguments *out)
{
    option_set set;
    collect_options(command, &set);
    opterr = 0;
    optind = 1;
    for (;;) {
        int before = optind;
        int code = getopt_long(count, texts, set.short_options, set.long_options, NULL);
        if (code == -1) {
            break;
        }
        const char *argument = texts[optind > before ? optind - 1 : before];
        if (code == '?') {
            return unknown_option(command, &set, argument);
        }
        if (code == ':') {
            return usage_error(command, "expected a value after ", argument, NULL, "");
        }
        int index = option_index(code);
        out->given[index] = true;
        out->values[index] = optarg;
        if (index == OPTION_SET) {
            out->sets[out->set_count++] = optarg;
        }
        if (index == OPTION_PHOTON) {
            out->photons[out->photon_count++] = optarg;
        }
    }
    out->positional = texts + optind;
    out->positional_count = count - optind;
    if (out->given[OPTION_HELP]) {
        return 0;
    }
    if (out->positional_count < command->least) {
        return usage_error(command, "expected ", command->operands, NULL, "");
    }
    if (out->positional_count > command->most) {
        return usage_error(command, "unexpected argument ", out->positional[command->most], NULL,
                           "");
    }
    return 0;
}

/* The exit status; errors go to stderr as they are, and what was printed has to arrive. */
static int end(int status, is_error *error)
{
    if (status == IS_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        status = IS_E_OUTPUT;
        snprintf(error->text, sizeof error->text, "standard output: %s", strerror(errno));
    }
    if (status != IS_OK) {
        fprintf(stderr, "%s\n", error->text[0] != '\0' ? error->text : is_status_text(status));
    }
    return is_status_exit(status);
}

static int end_help(void)
{
    is_error error = {.status = IS_OK};
    return end(IS_OK, &error);
}

static int execute(const program_command *command, const arguments *given)
{
    is_error error = {.status = IS_OK};
    int status = command->execute(given, &error);
    int code = end(status, &error);
    /* A batch system's own number for "run it again". It was checked when the command began. */
    bool chosen = status == IS_E_UNFINISHED && given->given[OPTION_UNFINISHED_EXIT];
    return chosen ? (int)strtol(given->values[OPTION_UNFINISHED_EXIT], NULL, 10) : code;
}

static int run_command(const program_command *command, int count, char **texts)
{
    arguments given = {.set_count = 0};
    given.sets = calloc((size_t)count + 1, sizeof *given.sets);
    given.photons = calloc((size_t)count + 1, sizeof *given.photons);
    int exit_status = is_status_exit(IS_E_MEMORY);
    if (given.sets == NULL || given.photons == NULL) {
        fprintf(stderr, "%s\n", is_status_text(IS_E_MEMORY));
    } else {
        exit_status = parse_arguments(command, count, texts, &given);
    }
    if (exit_status == 0) {
        if (given.given[OPTION_HELP]) {
            print_command_help(command);
            exit_status = end_help();
        } else {
            exit_status = execute(command, &given);
        }
    }
    free(given.photons);
    free(given.sets);
    return exit_status;
}

static const program_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; ++i) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

/* Where a standard stream is closed, the next file to be opened would take its place, and hits or
 * messages would be written into it. What stands there instead can be neither read nor written, so
 * that using it fails as if it were closed. Returns false if even that cannot be had. */
static bool occupy_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
        if (fcntl(stream, F_GETFD) < 0 && open("/", O_PATH | O_DIRECTORY) != stream) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    if (!occupy_standard_streams()) {
        return is_status_exit(IS_E_FAILED);
    }
    /* A reader that went away and a file that may not grow are output errors like any other. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* Who started this may ignore the ends of its children; this program waits for its own. */
    signal(SIGCHLD, SIG_DFL);
    if (argc < 2) {
        return usage_error(NULL, "expected a command", "", NULL, "");
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("icestream " IS_VERSION);
        return end_help();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help();
        return end_help();
    }
    const program_command *command = find_command(name);
    if (command == NULL) {
        const char *names[COMMAND_COUNT];
        for (size_t i = 0; i < COMMAND_COUNT; ++i) {
            names[i] = commands[i].name;
        }
        return usage_error(NULL, name[0] == '-' ? "unknown option " : "unknown command ", name,
                           is_suggestion(name, names, COMMAND_COUNT), "");
    }
    return run_command(command, argc - 1, argv + 1);
}
