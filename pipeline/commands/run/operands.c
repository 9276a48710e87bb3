#include "pipeline/commands/run/operands.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/new.h"
#include "base/url.h"
#include "pipeline/photons/config/hit_name.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *text, const char *ending)
{
    const size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Adds KEY=VALUE. JSON is YAML, and protects every character of a name. Takes the value. */
static void add(ics_run_operands *out, const char *key, json_t *value)
{
    ICS_FREES char *text =
        ics_new_made(json_dumps(ics_new_made(value), JSON_ENCODE_ANY | JSON_COMPACT));
    out->sets[out->count++] = ics_new_text("%s=%s", key, text);
    json_decref(value);
}

static int check_text(const char *what, const char *text, icestream_error *error)
{
    json_t *value = json_string(text); /* NULL: no UTF-8, or no memory */
    json_decref(value);
    if (value == NULL || text[0] == '\0') {
        return ics_error_set(error, ICESTREAM_E_USAGE, "%s: found %s, expected the name of a file",
                             what, text[0] == '\0' ? "an empty text" : "text that is not UTF-8");
    }
    return ICESTREAM_OK;
}

/* Refuses --set of a key that operands give, because one of the two would have no effect. */
static int check_sets(const ics_option_value *sets, const char *const *keys, size_t count,
                      const char *what, icestream_error *error)
{
    for (size_t i = 0; i < sets->count; ++i) {
        for (size_t k = 0; k < count; ++k) {
            const size_t length = strlen(keys[k]);
            if (strncmp(sets->texts[i], keys[k], length) == 0 && sets->texts[i][length] == '=') {
                return ics_error_set(error, ICESTREAM_E_USAGE,
                                     "%s and --set %s are both given, expected one of them", what,
                                     keys[k]);
            }
        }
    }
    return ICESTREAM_OK;
}

static int check_input(const char *text, icestream_error *error)
{
    ICS_TRY(check_text("IN", text, error));
    if (ends_with(text, ".yaml") || ends_with(text, ".yml")) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "unexpected argument %s, expected one run file and then step files",
                             text);
    }
    struct stat about;
    const bool is_name =
        strcmp(text, "-") != 0 && !ics_url_is(text) && strpbrk(text, "*?[") == NULL;
    if (is_name && stat(text, &about) != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "IN: %s: %s; expected a step file", text,
                             strerror(errno));
    }
    if (is_folder(text)) {
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "IN: found %s, which is a folder, expected a step file, a pattern such "
            "as '*.steps.npy', or -",
            text);
    }
    return ICESTREAM_OK;
}

static int read_inputs(const ics_arguments *given, const ics_option_value *sets,
                       ics_run_operands *out, icestream_error *error)
{
    static const char *const keys[] = {"source.files", "source.directory", "source.listen",
                                       "source.queue"};
    ICS_TRY(check_sets(sets, keys, sizeof keys / sizeof *keys, "step files after CONFIG", error));
    json_auto_t *files = json_array();
    for (int i = 1; i < given->operand_count; ++i) {
        ICS_TRY(check_input(given->operands[i], error));
        json_array_append_new(files, ics_new_made(json_string(given->operands[i])));
    }
    add(out, "source.files", json_incref(files));
    return ICESTREAM_OK;
}

/* OUT is where the hit file is shipped to; it stays in sink.directory, too. */
static int add_url(const char *output, ics_run_operands *out, icestream_error *error)
{
    char name[NAME_MAX + 1];
    const char *fault = ics_url_fault(output);
    fault = fault != NULL ? fault : ics_url_name(output, name);
    fault = fault != NULL ? fault : ics_hit_name_fault(name);
    if (fault == NULL && strchr(name, '%') != NULL) {
        fault =
            "expected the name of the file without %XX, which the run writes where a URL needs it";
    }
    if (fault != NULL) {
        char shown[ICS_URL_MOST + 1];
        return ics_error_set(error, ICESTREAM_E_USAGE, "--output: found %.2000s, %s",
                             ics_url_shown(output, shown), fault);
    }
    const char *at = strstr(output, name), *last = at; /* the name is the end of the path */
    while ((at = strstr(last + 1, name)) != NULL && at < output + strcspn(output, "?#")) {
        last = at;
    }
    add(out, "sink.url",
        json_sprintf("%.*s{name}%s", (int)(last - output), output, last + strlen(name)));
    add(out, "sink.name", json_string(name));
    add(out, "sink.records", json_false());
    return ICESTREAM_OK;
}

/* Splits OUT at its last slash. */
static int add_output(const char *output, ics_run_operands *out, icestream_error *error)
{
    const char *slash = strrchr(output, '/'), *name = slash != NULL ? slash + 1 : output;
    const size_t length = slash == output ? 1 : (size_t)(name - output) - (slash != NULL);
    const char *fault = ics_hit_name_fault(name);
    if (name[0] == '\0' || is_folder(output)) {
        fault = "which is a folder, expected a file, such as 'FOLDER/{stem}.hits.npy'";
    } else if (slash != NULL && memchr(output, '{', length) != NULL) {
        fault = "expected {stem} in the name of the file only, not in that of its folder";
    }
    if (fault != NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "--output: found %s, %s", output, fault);
    }
    add(out, "sink.directory", slash != NULL ? json_stringn(output, length) : json_string("."));
    add(out, "sink.name", json_string(name));
    add(out, "sink.records", json_false());
    return ICESTREAM_OK;
}

static int read_output(const ics_arguments *given, const ics_option_value *sets, const char *output,
                       ics_run_operands *out, icestream_error *error)
{
    static const char *const file_keys[] = {"sink.name", "sink.directory"};
    static const char *const url_keys[] = {"sink.name", "sink.url"};
    const bool is_url = ics_url_is(output);
    char shown[ICS_URL_MOST + 1];
    ICS_TRY(check_sets(sets, is_url ? url_keys : file_keys, 2, "--output", error));
    ICS_TRY(check_text("--output", output, error));
    if (strcmp(output, "-") == 0) {
        add(out, "sink.directory", json_string("-"));
        return ICESTREAM_OK;
    }
    if (given->operand_count > 2 && !ics_hit_name_has_stem(output)) {
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "--output: found %.2000s for %d inputs, expected a name with {stem}, such "
            "as '{stem}.hits.npy'; {stem} stands for the name of the step file "
            "without .steps.npy or .npy",
            is_url ? ics_url_shown(output, shown) : output, given->operand_count - 1);
    }
    return is_url ? add_url(output, out, error) : add_output(output, out, error);
}

int ics_run_operands_read(const ics_arguments *given, const ics_option_value *sets,
                          const char *output, ics_run_operands *out, icestream_error *error)
{
    const int count = given->operand_count;
    char shown[ICS_URL_MOST + 1];
    *out = (ics_run_operands){.count = 0};
    if ((count > 1 || output != NULL) && count > 0 &&
        (ends_with(given->operands[0], ".npy") || strcmp(given->operands[0], "-") == 0)) {
        const char *first = given->operands[0];
        first = ics_url_is(first) ? ics_url_shown(first, shown) : first;
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "CONFIG: found %.2000s, expected a run file first, as in icestream run "
            "run.yaml %.2000s",
            first, first);
    }
    if (count > 1) {
        ICS_TRY(read_inputs(given, sets, out, error));
    }
    return output != NULL ? read_output(given, sets, output, out, error) : ICESTREAM_OK;
}

void ics_run_operands_free(ics_run_operands *operands)
{
    for (size_t i = 0; i < operands->count; ++i) {
        free(operands->sets[i]);
    }
    *operands = (ics_run_operands){.count = 0};
}
