#include "pipeline/production/units/inputs.h"

#include "base/blocked.h"
#include "base/error.h"
#include "base/url.h"
#include "pipeline/photons/config/hit_name.h"
#include "pipeline/photons/particles/list_warnings.h"
#include "pipeline/production/transfer/transfer.h"
#include "pipeline/production/units/sources.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The list while it is made, and all faults that were found. */
typedef struct planner {
    const icestream_config *config;
    ics_inputs inputs;
    icestream_error *error;
} planner;

static int out_of_memory(planner *plan)
{
    return ics_error_set(plan->error, ICESTREAM_E_MEMORY,
                         "out of memory for the list of step files");
}

__attribute__((format(printf, 2, 3))) static void fault(planner *plan, const char *format, ...)
{
    char place[1024], text[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ics_error_add(plan->error, ICESTREAM_E_CONFIG, "%s: error: source.files: %s",
                  ics_config_place(plan->config, "source.files", place, sizeof place), text);
}

static int append_input(planner *plan, const ics_source *source, const char *path, uint64_t bytes)
{
    ics_inputs *inputs = &plan->inputs;
    const icestream_config *config = plan->config;
    /* The capacity doubles when the count is a power of two. */
    if ((inputs->count & (inputs->count - 1)) == 0) {
        size_t capacity = inputs->count == 0 ? 1 : inputs->count * 2;
        ics_input *items = realloc(inputs->items, capacity * sizeof *items);
        if (items == NULL) {
            return out_of_memory(plan);
        }
        inputs->items = items;
    }
    ics_input *input = &inputs->items[inputs->count];
    *input = (ics_input){.source = source, .bytes = bytes};
    inputs->count++;
    /* The messages of a stream have different outputs, unless sink.name is the same for all. */
    const bool is_single = !source->continues || !ics_hit_name_has_stem(config->sink.name);
    const bool has_output = strcmp(config->sink.directory, "-") != 0 && is_single;
    input->path = path != NULL ? strdup(path) : NULL;
    input->output = has_output ? source->output(config, input, 0) : NULL;
    return (path == NULL || input->path != NULL) && (!has_output || input->output != NULL)
               ? ICESTREAM_OK
               : out_of_memory(plan);
}

/* Adds the input that stands for the steps that the run makes. */
static int append_generated(planner *plan)
{
    const icestream_config *config = plan->config;
    const char *file = config->particles.file, *path = file != NULL ? file : config->path;
    const bool is_stdin = path != NULL && strcmp(path, "-") == 0;
    const ics_source *source = ics_particle_list_is_stream(config->particles.file)
                                   ? &ics_source_piped_light
                                   : &ics_source_light;
    return append_input(plan, source, is_stdin ? NULL : path, 0);
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Appends a file that the run fetches. */
static int append_url(planner *plan, const char *url)
{
    const icestream_config *config = plan->config;
    char name[NAME_MAX + 1], shown[ICS_URL_MOST + 1];
    const char *why = ics_url_fault(url);
    if (why != NULL) { /* the text of a URL that is none may have any character */
        fault(plan, "found a URL that is none, %s", why);
        return ICESTREAM_OK;
    }
    why = ics_url_name(url, name);
    if (why == NULL && config->source.fetch_count == 0 && !ics_url_is_moved(url)) {
        why = "expected source.fetch, a program that fetches it, " ICS_URL_RECIPE
              ", or " ICS_URL_MOVED;
    }
    for (size_t i = 0; why == NULL && i < config->source.fetch_count; ++i) {
        if (ics_url_may_be_secret(url) && strstr(config->source.fetch[i], "{url}") != NULL) {
            why = "which has a user or a query that may be a secret, and everybody can read the "
                  "command line that source.fetch makes with {url}; expected a program that reads "
                  "the URL from the variable ICESTREAM_URL";
        }
    }
    if (why != NULL) {
        fault(plan, "found %.2000s, %s", ics_url_shown(url, shown), why);
        return ICESTREAM_OK;
    }
    icestream_error error = {.status = ICESTREAM_OK};
    if (config->source.fetch_count == 0 && ics_transfer_check(url, &error) != ICESTREAM_OK) {
        fault(plan, "%s", error.text);
        return ICESTREAM_OK;
    }
    const int status = append_input(plan, &ics_source_file, name, 0);
    if (status != ICESTREAM_OK || plan->inputs.items == NULL) {
        return status;
    }
    ics_input *input = &plan->inputs.items[plan->inputs.count - 1];
    input->url = strdup(url);
    return input->url != NULL ? ICESTREAM_OK : out_of_memory(plan);
}

/* No file has this name, and none matches it as a pattern. */
static void report_nothing(planner *plan, const char *pattern, int cause)
{
    char where[512];
    if (strpbrk(pattern, "*?[") == NULL) {
        fault(plan, "%s: %s", pattern, strerror(cause));
        return;
    }
    const bool blocked = ics_blocked_pattern(pattern, where, sizeof where, &cause);
    fault(plan, "%s: found no file of that pattern%s%s%s%s%s", pattern, blocked ? ": " : "",
          blocked ? where : "", blocked ? ": " : "", blocked ? strerror(cause) : "",
          ics_config_has_source(plan->config)
              ? ""
              : ", and neither a source nor light is given, expected step files in "
                "source.files, source.directory or source.listen, or particles or a workload, "
                "of which the run makes its steps");
}

/* Appends the inputs of one entry of source.files. The entry is a pattern only if no file has
 * exactly this name. */
static int expand_pattern(planner *plan, const char *pattern)
{
    struct stat about;
    if (strcmp(pattern, "-") == 0) {
        return append_input(plan, &ics_source_messages, NULL, 0);
    }
    if (ics_url_is(pattern)) {
        return append_url(plan, pattern);
    }
    if (stat(pattern, &about) == 0) {
        return S_ISFIFO(about.st_mode)
                   ? append_input(plan, &ics_source_messages, pattern, 0)
                   : append_input(plan, &ics_source_file, pattern, (uint64_t)about.st_size);
    }
    const int cause = errno;
    glob_t found = {0};
    const int result = glob(pattern, GLOB_NOSORT, NULL, &found);
    int status = result == GLOB_NOSPACE ? out_of_memory(plan) : ICESTREAM_OK;
    if (result == 0) {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_texts);
        for (size_t i = 0; i < found.gl_pathc && status == ICESTREAM_OK; ++i) {
            uint64_t bytes = stat(found.gl_pathv[i], &about) == 0 ? (uint64_t)about.st_size : 0;
            status = append_input(plan, &ics_source_file, found.gl_pathv[i], bytes);
        }
    } else if (result != GLOB_NOSPACE) {
        report_nothing(plan, pattern, cause);
    }
    globfree(&found);
    return status;
}

/* The identity of a file in the file system. */
typedef struct known_file {
    dev_t device;
    ino_t number;
    const char *path;
    bool output;
} known_file;

static int compare_files(const void *left_file, const void *right_file)
{
    const known_file *left = left_file, *right = right_file;
    if (left->device != right->device) {
        return left->device < right->device ? -1 : 1;
    }
    if (left->number != right->number) {
        return left->number < right->number ? -1 : 1;
    }
    return left->output - right->output;
}

static int check_files(planner *plan)
{
    const ics_inputs *inputs = &plan->inputs;
    known_file *known = calloc(2 * inputs->count + 1, sizeof *known);
    if (known == NULL) {
        return out_of_memory(plan);
    }
    size_t count = 0;
    for (size_t i = 0; i < 2 * inputs->count; ++i) {
        const ics_input *input = &inputs->items[i / 2];
        const char *path = i % 2 == 0 ? input->path : input->output;
        struct stat about;
        const bool is_here = path != NULL && (i % 2 == 1 || input->url == NULL);
        if (is_here && stat(path, &about) == 0) {
            known[count++] = (known_file){
                .device = about.st_dev, .number = about.st_ino, .path = path, .output = i % 2 == 1};
        }
    }
    qsort(known, count, sizeof *known, compare_files);
    for (size_t i = 1; i < count; ++i) {
        const known_file *first = &known[i - 1], *second = &known[i];
        if (first->device != second->device || first->number != second->number || first->output) {
            continue;
        }
        if (second->output) {
            fault(plan, "%s would be overwritten by the output %s", first->path, second->path);
        } else {
            fault(plan, "the same file is named twice: %s and %s", first->path, second->path);
        }
    }
    free(known);
    return ICESTREAM_OK;
}

static int compare_outputs(const void *left, const void *right)
{
    return strcmp(((const ics_input *)left)->output, ((const ics_input *)right)->output);
}

static int check_outputs(planner *plan)
{
    const ics_inputs *inputs = &plan->inputs;
    /* The texts still belong to `inputs`. */
    ics_input *sorted = calloc(inputs->count + 1, sizeof *sorted);
    if (sorted == NULL) {
        return out_of_memory(plan);
    }
    size_t count = 0;
    for (size_t i = 0; i < inputs->count; ++i) {
        if (inputs->items[i].output != NULL) {
            sorted[count++] = inputs->items[i];
        }
    }
    qsort(sorted, count, sizeof *sorted, compare_outputs);
    for (size_t i = 1; i < count; ++i) {
        const ics_input *first = &sorted[i - 1], *second = &sorted[i];
        const char *one = first->path != NULL ? first->path : "-";
        const char *other = second->path != NULL ? second->path : "-";
        const bool fetched = first->url != NULL || second->url != NULL;
        if (strcmp(first->output, second->output) == 0 && (fetched || strcmp(one, other) != 0)) {
            fault(plan, "%s and %s would both be written to %s%s", one, other, first->output,
                  ics_hit_name_has_stem(plan->config->sink.name)
                      ? ""
                      : ", expected one step file, or {stem} in the name of the hit files "
                        "(sink.name), which stands for the name of the step file");
        }
    }
    free(sorted);
    return ICESTREAM_OK;
}

/* Whether this machine can ship to sink.url. */
static int check_target(planner *plan)
{
    const icestream_config *config = plan->config;
    icestream_error why = {.status = ICESTREAM_OK};
    char place[1024];
    if (config->sink.url == NULL || config->sink.ship_count > 0) {
        return ICESTREAM_OK;
    }
    char *url = ics_url_fill(config->sink.url, "name");
    if (url == NULL) {
        return out_of_memory(plan);
    }
    const int status = ics_transfer_check(url, &why);
    free(url);
    return status == ICESTREAM_OK
               ? ICESTREAM_OK
               : ics_error_add(plan->error, status, "%s: error: sink.url: %s",
                               ics_config_place(config, "sink.url", place, sizeof place), why.text);
}

int ics_inputs_plan(const icestream_config *config, ics_inputs *out, icestream_error *error)
{
    icestream_error found = {.status = ICESTREAM_OK};
    planner plan = {.config = config, .error = &found};
    int status = ICESTREAM_OK;
    if (ics_config_generates(config)) {
        ICS_TRY(ics_config_check_light(config, "run", error));
        status = append_generated(&plan);
    }
    for (size_t i = 0; i < config->source.count && status == ICESTREAM_OK; ++i) {
        status = expand_pattern(&plan, config->source.files[i]);
    }
    if (status == ICESTREAM_OK) {
        status = check_files(&plan);
    }
    if (status == ICESTREAM_OK) {
        check_outputs(&plan); /* both put their failures into `found`, too */
        check_target(&plan);
    }
    if (found.status != ICESTREAM_OK) {
        ics_inputs_free(&plan.inputs);
        return ics_error_copy(error, &found);
    }
    *out = plan.inputs;
    return ICESTREAM_OK;
}

void ics_inputs_free(ics_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; ++i) {
        free(inputs->items[i].path);
        free(inputs->items[i].url);
        free(inputs->items[i].output);
    }
    free(inputs->items);
    *inputs = (ics_inputs){NULL, 0};
}
