#include "pipeline/run/own_outputs.h"

#include "base/error.h"
#include "pipeline/config/pattern_outputs.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* Adds the name of an output if its folder is that of the step files. `path` NULL: FOLDER/NAME with
 * `name`; both NULL: there is no such output. */
static bool add(ics_run_state *run, const char *path, const char *name)
{
    ics_run_own_outputs *own = &run->own_outputs;
    const char *sink = run->config->sink.directory;
    char *whole = NULL;
    if (path == NULL && (name == NULL || run->common.to_stdout)) {
        return true;
    }
    if ((path != NULL ? asprintf(&whole, "%s", path) : asprintf(&whole, "%s/%s", sink, name)) < 0) {
        return false;
    }
    char *slash = strrchr(whole, '/');
    const char *base = slash != NULL ? slash + 1 : whole;
    char *copy = strdup(base);
    if (slash != NULL) {
        slash[slash == whole] = '\0';
    }
    if (copy != NULL &&
        ics_pattern_same_folder(slash != NULL ? whole : ".", run->common.intake_folder)) {
        own->names[own->count++] = copy;
        copy = NULL;
    } else if (copy == NULL) {
        free(whole);
        return false;
    }
    free(copy);
    free(whole);
    return true;
}

int ics_run_own_outputs_find(ics_run_state *run, icestream_error *error)
{
    const icestream_config *config = run->config;
    const icestream_run_options *options = run->options;
    const char *metrics =
        options->metrics_path != NULL ? options->metrics_path : config->metrics.file;
    return add(run, config->sink.journal, "run.journal") &&
                   add(run, options->summary_path, "summary.json") && add(run, metrics, NULL)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a run");
}

/* A rotated journal has a dot or a minus behind the name. */
bool ics_run_own_outputs_have(const ics_run_state *run, const char *name)
{
    bool own = ends_with(name, ".hits.npy") || ends_with(name, ".hits.npy.command") ||
               ends_with(name, ".checkpoint");
    for (size_t i = 0; i < run->own_outputs.count && !own; ++i) {
        const char *output = run->own_outputs.names[i];
        const size_t length = strlen(output);
        own = strncmp(name, output, length) == 0 &&
              (name[length] == '\0' || name[length] == '.' || name[length] == '-');
        own = own || ics_report_file_is_name(output, name); /* that of another worker */
    }
    return own;
}

void ics_run_own_outputs_free(ics_run_state *run)
{
    for (size_t i = 0; i < run->own_outputs.count; ++i) {
        free(run->own_outputs.names[i]);
    }
    run->own_outputs.count = 0;
}
