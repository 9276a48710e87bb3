#include "pipeline/units/inputs.h"

#include "base/blocked.h"
#include "base/error.h"
#include "pipeline/generator/light_digest.h"

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

static const char hits_ending[] = ".hits.npy";

/* DIRECTORY/NAME with the ending, with one slash between them also where the directory ends in
 * slashes. */
static char *join_path(const char *directory, const char *name, int name_length, const char *ending)
{
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/') {
        length--;
    }
    bool root = length == 1 && directory[0] == '/';
    char *path = NULL;
    int written = asprintf(&path, "%.*s%s%.*s%s", (int)length, directory, root ? "" : "/",
                           name_length, name, ending);
    return written >= 0 ? path : NULL;
}

char *ics_inputs_message_output(const char *directory, const ics_input *stream, uint64_t number)
{
    const char *slash = stream->path != NULL ? strrchr(stream->path, '/') : NULL;
    const char *base = slash != NULL ? slash + 1 : stream->path != NULL ? stream->path : "stdin";
    char *name = NULL, *path = NULL;
    int length = asprintf(&name, "%s-%06" PRIu64, base, number);
    if (length >= 0) {
        path = join_path(directory, name, length, hits_ending);
        free(name);
    }
    return path;
}

/* Returns the length of a name without the first of the endings that it has. */
static size_t length_without(const char *name, const char *const *endings, size_t count)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < count; ++i) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(name + length - ending, endings[i]) == 0) {
            return length - ending;
        }
    }
    return length;
}

char *ics_inputs_output(const char *directory, const char *path)
{
    static const char *const endings[] = {".steps.npy", ".npy"};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return join_path(directory, name,
                     (int)length_without(name, endings, sizeof endings / sizeof *endings),
                     hits_ending);
}

char *ics_inputs_generated_path(const icestream_config *config, const char *ending)
{
    static const char *const endings[] = {".f2k.txt", ".f2k", ".csv", ".yaml", ".yml"};
    const char *path = ics_config_has_particles(config) && config->particles.file != NULL
                           ? config->particles.file
                           : config->path;
    const char *name = path == NULL                 ? "generated"
                       : strcmp(path, "-") == 0     ? "stdin"
                       : strrchr(path, '/') != NULL ? strrchr(path, '/') + 1
                                                    : path;
    return join_path(config->sink.directory, name,
                     (int)length_without(name, endings, sizeof endings / sizeof *endings), ending);
}

static int append_input(planner *plan, const char *path, bool stream, uint64_t bytes)
{
    ics_inputs *inputs = &plan->inputs;
    const char *directory = plan->config->sink.directory;
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
    *input = (ics_input){.stream = stream, .bytes = bytes};
    inputs->count++;
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    input->path = strdup(path);
    bool to_files = strcmp(directory, "-") != 0 && !stream && plan->config->sink.rotate == 0;
    if (to_files) {
        input->output = ics_inputs_output(directory, path);
    }
    return input->path != NULL && (!to_files || input->output != NULL) ? ICESTREAM_OK
                                                                       : out_of_memory(plan);
}

/* Adds the input that stands for the steps that the run makes. */
static int append_generated(planner *plan)
{
    const icestream_config *config = plan->config;
    const char *file = config->particles.file, *path = file != NULL ? file : config->path;
    const bool is_stdin = path != NULL && strcmp(path, "-") == 0;
    const int status = append_input(plan, is_stdin ? NULL : path, true, 0);
    ics_input *input = plan->inputs.items; /* the only one */
    if (status != ICESTREAM_OK || input == NULL) {
        return status;
    }
    input->stream = false;
    input->generated = true;
    input->late = ics_light_digest_is_late(config);
    if (strcmp(config->sink.directory, "-") == 0 || config->sink.rotate != 0) {
        return ICESTREAM_OK;
    }
    input->output = ics_inputs_generated_path(config, hits_ending);
    return input->output != NULL ? ICESTREAM_OK : out_of_memory(plan);
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Appends the inputs of one entry of source.files. The entry is a pattern only if no file has
 * exactly this name. */
static int expand_pattern(planner *plan, const char *pattern)
{
    struct stat about;
    if (strcmp(pattern, "-") == 0) {
        return append_input(plan, NULL, true, 0);
    }
    if (stat(pattern, &about) == 0) {
        bool pipe = S_ISFIFO(about.st_mode);
        return append_input(plan, pattern, pipe, pipe ? 0 : (uint64_t)about.st_size);
    }
    int cause = errno;
    glob_t found = {0};
    int result = glob(pattern, GLOB_NOSORT, NULL, &found);
    int status = ICESTREAM_OK;
    if (result == 0) {
        qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_texts);
        for (size_t i = 0; i < found.gl_pathc && status == ICESTREAM_OK; ++i) {
            uint64_t bytes = stat(found.gl_pathv[i], &about) == 0 ? (uint64_t)about.st_size : 0;
            status = append_input(plan, found.gl_pathv[i], false, bytes);
        }
    } else if (result == GLOB_NOSPACE) {
        status = out_of_memory(plan);
    } else if (strpbrk(pattern, "*?[") != NULL) {
        char where[512];
        const bool blocked = ics_blocked_pattern(pattern, where, sizeof where, &cause);
        fault(plan, "%s: found no file of that pattern%s%s%s%s%s", pattern, blocked ? ": " : "",
              blocked ? where : "", blocked ? ": " : "", blocked ? strerror(cause) : "",
              ics_config_has_source(plan->config)
                  ? ""
                  : ", and neither a source nor light is given, expected step files in "
                    "source.files, source.directory or source.listen, or particles or a workload, "
                    "of which the run makes its steps");
    } else {
        fault(plan, "%s: %s", pattern, strerror(cause));
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
        if (path != NULL && stat(path, &about) == 0) {
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
        if (strcmp(first->output, second->output) == 0 && strcmp(first->path, second->path) != 0) {
            fault(plan, "%s and %s would both be written to %s", first->path, second->path,
                  first->output);
        }
    }
    free(sorted);
    return ICESTREAM_OK;
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
        check_outputs(&plan); /* also puts its failure into `found` */
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
        free(inputs->items[i].output);
    }
    free(inputs->items);
    *inputs = (ics_inputs){NULL, 0};
}
