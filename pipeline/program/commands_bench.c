/* The command that measures, with its short forms of keys of the configuration. */
#include <stdlib.h>
#include <string.h>

#include "pipeline/program/commands.h"

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

int command_bench(const arguments *given, is_error *error)
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
