#include "pipeline/run/own_outputs.h"

#include "base/error.h"
#include "pipeline/telemetry/record_file.h"

#include <stdlib.h>
#include <string.h>

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

bool ics_run_has_records(const icestream_config *config)
{
    return config->sink.records && strcmp(config->sink.directory, "-") != 0;
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
    const bool folder = ics_run_has_records(config);
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

int ics_run_own_outputs_find(ics_run_state *run, icestream_error *error)
{
    const icestream_config *config = run->config;
    const icestream_run_options *options = run->options;
    const char *metrics =
        options->metrics_path != NULL ? options->metrics_path : config->metrics.file;
    const char *const named[] = {config->sink.journal, options->summary_path, metrics};
    const char *const usual[] = {"run.journal", "summary.json", NULL};
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < ICS_RECORDS && status == ICESTREAM_OK; ++i) {
        if (named[i] == NULL && (usual[i] == NULL || !ics_run_has_records(config))) {
            continue;
        }
        char *path = ics_run_name_in_sink(run, named[i], usual[i]);
        status = path != NULL ? ics_output_names_add(&run->own_outputs, path,
                                                     run->common.intake_folder, error)
                              : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a run");
        free(path);
    }
    return status;
}
