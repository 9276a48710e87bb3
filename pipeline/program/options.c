/* What options are called, and their values as numbers and configurations. */
#include "pipeline/program/options.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const option_description option_table[OPTION_COUNT] = {
#define X(name, text, letter, value, help) {text, letter, value, help},
    OPTION_LIST(X)
#undef X
};

int usage_fault(icestream_error *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(error->text, sizeof error->text, format, values);
    va_end(values);
    return error->status = ICESTREAM_E_USAGE;
}

int take_whole(const arguments *given, option_name option, long low, long high, long *out,
               icestream_error *error)
{
    const char *text = given->values[option];
    if (!given->given[option]) {
        return ICESTREAM_OK;
    }
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < low || value > high) {
        return usage_fault(error, "--%s: found '%.64s', expected a whole number %ld .. %ld",
                           option_table[option].text, text, low, high);
    }
    *out = value;
    return ICESTREAM_OK;
}

int take_real(option_name option, const char *text, char terminator, const char *expected,
              const char **end, double *out, icestream_error *error)
{
    char *after = NULL;
    errno = 0;
    *out = strtod(text, &after);
    *end = after;
    if (after == text || *after != terminator || errno != 0 || !isfinite(*out)) {
        return usage_fault(error, "--%s: found '%.64s', expected %s", option_table[option].text,
                           text, expected);
    }
    return ICESTREAM_OK;
}

int take_table(const arguments *given, bool *markdown, icestream_error *error)
{
    *markdown = given->given[OPTION_TABLE];
    if (*markdown && strcmp(given->values[OPTION_TABLE], "md") != 0) {
        return usage_fault(error, "--table: found '%.64s', expected md",
                           given->values[OPTION_TABLE]);
    }
    return ICESTREAM_OK;
}

int load_config(const arguments *given, const char *path, icestream_config **out,
                icestream_error *error)
{
    return icestream_config_load(path, given->sets, given->set_count, out, error);
}

int load_first_config(const arguments *given, icestream_config **out, icestream_error *error)
{
    return load_config(given, given->positional_count > 0 ? given->positional[0] : NULL, out,
                       error);
}

/* Options that stand for keys of the configuration. */
static const struct {
    option_name option;
    const char *key;
} shorthands[] = {
    {OPTION_WORKLOAD, "workload.kind"},     {OPTION_COUNTS, "workload.counts"},
    {OPTION_STEPS, "workload.steps"},       {OPTION_PHOTONS, "workload.photons_per_step"},
    {OPTION_OVERSIZE, "detector.oversize"}, {OPTION_THREADS, "device.threads"},
};
enum { SHORTHANDS = sizeof shorthands / sizeof *shorthands, SHORTHAND_TEXT = 256 };

int load_short_config(const arguments *given, const char *const *first, size_t first_count,
                      icestream_config **out, icestream_error *error)
{
    const char **sets = calloc(first_count + SHORTHANDS + given->set_count + 1, sizeof *sets);
    char texts[SHORTHANDS][SHORTHAND_TEXT];
    size_t count = 0;
    int status = ICESTREAM_OK;
    if (sets == NULL) {
        return error->status = ICESTREAM_E_MEMORY;
    }
    for (size_t i = 0; i < first_count; ++i) {
        sets[count++] = first[i];
    }
    for (size_t i = 0; i < SHORTHANDS && status == ICESTREAM_OK; ++i) {
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
    if (status == ICESTREAM_OK) {
        status = icestream_config_load(given->positional_count > 0 ? given->positional[0] : NULL,
                                       sets, count, out, error);
    }
    free(sets);
    return status;
}
