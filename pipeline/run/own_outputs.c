#include "pipeline/run/own_outputs.h"

#include "base/error.h"
#include "pipeline/config/pattern_outputs.h"
#include "pipeline/telemetry/record_file.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

char *ics_run_name_in_sink(const ics_run_state *run, const char *configured, const char *name)
{
    const char *folder = run->config->sink.directory;
    size_t length = strlen(folder);
    char *path = NULL;
    if (configured != NULL) {
        return strdup(configured);
    }
    while (length > 1 && folder[length - 1] == '/') {
        --length;
    }
    return asprintf(&path, "%.*s/%s", (int)length, folder, name) >= 0 ? path : NULL;
}

/* Checks one name. `option` gave it; NULL: the key did. */
static int check_record(const ics_run_state *run, ics_record record, const char *path,
                        const char *key, const char *option, icestream_error *error)
{
    const char *what = option != NULL ? option : key;
    int status = path == NULL ? ICESTREAM_OK : ics_record_file_check(record, what, path, error);
    if (record == ICS_RECORD_METRICS && path != NULL && strcmp(path, "-") == 0) {
        status = ics_error_set(error, ICESTREAM_E_CONFIG,
                               "%s: found -, which is standard output, expected the name of a file",
                               what); /* metrics replace a file every few seconds */
    }
    if (status == ICESTREAM_OK || option == NULL) {
        return status == ICESTREAM_OK ? status : ics_config_blame(run->config, key, error);
    }
    if (error != NULL) {
        error->status = ICESTREAM_E_USAGE;
    }
    return ICESTREAM_E_USAGE;
}

int ics_run_own_outputs_check(const ics_run_state *run, icestream_error *error)
{
    const icestream_config *config = run->config;
    const icestream_run_options *options = run->options;
    const bool folder = strcmp(config->sink.directory, "-") != 0;
    const bool has_journal = folder || config->sink.journal != NULL;
    const bool has_summary =
        options->summary_path != NULL ? strcmp(options->summary_path, "-") != 0 : folder;
    char *journal =
        has_journal ? ics_run_name_in_sink(run, config->sink.journal, "run.journal") : NULL;
    char *summary =
        has_summary ? ics_run_name_in_sink(run, options->summary_path, "summary.json") : NULL;
    const bool asked = options->metrics_path != NULL;
    const char *metrics = asked ? options->metrics_path : config->metrics.file;
    const char *const paths[ICS_RECORDS] = {[ICS_RECORD_JOURNAL] = journal,
                                            [ICS_RECORD_SUMMARY] = summary,
                                            [ICS_RECORD_METRICS] = metrics};
    int status = has_journal == (journal != NULL) && has_summary == (summary != NULL)
                     ? ics_record_file_check_names(paths, error)
                     : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a run");
    if (status == ICESTREAM_OK) {
        status = check_record(run, ICS_RECORD_JOURNAL, journal, "sink.journal", NULL, error);
    }
    if (status == ICESTREAM_OK) {
        status = check_record(run, ICS_RECORD_SUMMARY, summary, NULL, "--summary", error);
    }
    if (status == ICESTREAM_OK) {
        status = check_record(run, ICS_RECORD_METRICS, metrics, "metrics.file",
                              asked ? "--metrics" : NULL, error);
    }
    free(journal);
    free(summary);
    return status;
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
