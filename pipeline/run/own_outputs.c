#include "pipeline/run/own_outputs.h"

#include "base/error.h"
#include "base/new.h"
#include "pipeline/telemetry/record_file.h"

#include <stdlib.h>
#include <string.h>

char *ics_run_name_in_sink(const ics_run_state *run, const char *configured, const char *name)
{
    const char *folder = run->config->sink.directory;
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') {
        --length;
    }
    return configured != NULL ? ics_new_copy(configured)
                              : ics_new_text("%.*s/%s", (int)length, folder, name);
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
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    int status = ics_record_file_check(record, what, path, error);
    if (record == ICS_RECORD_METRICS && strcmp(path, "-") == 0) {
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

/* The paths of what a run writes about itself, for the caller to free. NULL: it does not write
 * this. */
static void name_records(const ics_run_state *run, char *paths[ICS_RECORDS])
{
    const icestream_config *config = run->config;
    const icestream_run_options *options = run->options;
    const bool folder = ics_run_has_records(config);
    const char *metrics =
        options->metrics_path != NULL ? options->metrics_path : config->metrics.file;
    paths[ICS_RECORD_JOURNAL] = folder || config->sink.journal != NULL
                                    ? ics_run_name_in_sink(run, config->sink.journal, "run.journal")
                                    : NULL;
    paths[ICS_RECORD_SUMMARY] =
        folder || options->summary_path != NULL
            ? ics_run_name_in_sink(run, options->summary_path, "summary.json")
            : NULL;
    paths[ICS_RECORD_METRICS] = ics_new_copy(metrics);
}

static void free_records(char *paths[ICS_RECORDS])
{
    for (size_t i = 0; i < ICS_RECORDS; ++i) {
        free(paths[i]);
    }
}

static int check_records(const ics_run_state *run, char *paths[ICS_RECORDS], icestream_error *error)
{
    const char *asked = run->options->metrics_path != NULL ? "--metrics" : NULL;
    ICS_TRY(ics_record_file_check_names((const char *const *)paths, error));
    ICS_TRY(check_record(run, ICS_RECORD_JOURNAL, paths[ICS_RECORD_JOURNAL], "sink.journal", NULL,
                         error));
    ICS_TRY(
        check_record(run, ICS_RECORD_SUMMARY, paths[ICS_RECORD_SUMMARY], NULL, "--summary", error));
    return check_record(run, ICS_RECORD_METRICS, paths[ICS_RECORD_METRICS], "metrics.file", asked,
                        error);
}

int ics_run_own_outputs_check(const ics_run_state *run, icestream_error *error)
{
    char *paths[ICS_RECORDS];
    name_records(run, paths);
    if (paths[ICS_RECORD_SUMMARY] != NULL && strcmp(paths[ICS_RECORD_SUMMARY], "-") == 0) {
        free(paths[ICS_RECORD_SUMMARY]); /* standard output, which is no file */
        paths[ICS_RECORD_SUMMARY] = NULL;
    }
    const int status = check_records(run, paths, error);
    free_records(paths);
    return status;
}

int ics_run_own_outputs_find(ics_run_state *run, icestream_error *error)
{
    char *paths[ICS_RECORDS];
    int status = ICESTREAM_OK;
    name_records(run, paths);
    for (size_t i = 0; i < ICS_RECORDS && status == ICESTREAM_OK; ++i) {
        if (paths[i] != NULL) {
            status =
                ics_output_names_add(&run->own_outputs, paths[i], run->common.intake_folder, error);
        }
    }
    free_records(paths);
    return status;
}
