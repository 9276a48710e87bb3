/* Options of all commands, and what a command line gave. Private to the program. */
#ifndef ICS_PROGRAM_OPTIONS_H
#define ICS_PROGRAM_OPTIONS_H

#include "pipeline/icestream.h"

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
    X(THREADS, "threads", 0, "N", "short for --set device.threads=N; auto: one per core")          \
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

/* [OPTION_COUNT]: the name without its dashes, its letter or 0, the name of its value or NULL. */
typedef struct option_description {
    const char *text;
    int letter;
    const char *value, *help;
} option_description;

extern const option_description option_table[OPTION_COUNT];

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

/* Writes the error and returns its status, ICESTREAM_E_USAGE. */
int usage_fault(icestream_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A whole number low .. high that an option gives; *out stays where it is not given. */
int take_whole(const arguments *given, option_name option, long low, long high, long *out,
               icestream_error *error);

/* A number that an option gives, or a part of what it gives. *end: what follows it. */
int take_real(option_name option, const char *text, char terminator, const char *expected,
              const char **end, double *out, icestream_error *error);

/* Whether tables are to be Markdown. */
int take_table(const arguments *given, bool *markdown, icestream_error *error);

/* A configuration with what --set says. */
int load_config(const arguments *given, const char *path, icestream_config **out,
                icestream_error *error);

/* The configuration of a command: its one positional argument, or all defaults. */
int load_first_config(const arguments *given, icestream_config **out, icestream_error *error);

/* The same where options stand for keys: what `first` sets, then those options, then --set, which
 * wins. */
int load_short_config(const arguments *given, const char *const *first, size_t first_count,
                      icestream_config **out, icestream_error *error);

#endif
