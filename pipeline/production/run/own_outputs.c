#include "pipeline/production/run/own_outputs.h"

#include "base/error.h"
#include "base/new.h"

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

static void name_records(ics_run_state *run)
{
    const icestream_config *config = run->config;
    const icestream_run_options *options = run->options;
    const bool folder = config->sink.records && strcmp(config->sink.directory, "-") != 0;
    if (folder || config->sink.journal != NULL) {
        run->records[ICS_RECORD_JOURNAL] =
            ics_run_name_in_sink(run, config->sink.journal, "run.journal");
    }
    if (folder || options->summary_path != NULL) {
        run->records[ICS_RECORD_SUMMARY] =
            ics_run_name_in_sink(run, options->summary_path, "summary.json");
    }
    run->records[ICS_RECORD_METRICS] =
        ics_new_copy(options->metrics_path != NULL ? options->metrics_path : config->metrics.file);
}

int ics_run_own_outputs_check(ics_run_state *run, icestream_error *error)
{
    name_records(run);
    const char *journal = run->records[ICS_RECORD_JOURNAL];
    const char *summary = run->records[ICS_RECORD_SUMMARY];
    const char *metrics = run->records[ICS_RECORD_METRICS];
    const char *asked = run->options->metrics_path != NULL ? "--metrics" : NULL;
    if (summary != NULL && strcmp(summary, "-") == 0) {
        summary = NULL; /* standard output, which is no file */
    }
    const char *const paths[ICS_RECORDS] = {[ICS_RECORD_JOURNAL] = journal,
                                            [ICS_RECORD_SUMMARY] = summary,
                                            [ICS_RECORD_METRICS] = metrics};
    ICS_TRY(ics_record_file_check_names(paths, error));
    ICS_TRY(check_record(run, ICS_RECORD_JOURNAL, journal, "sink.journal", NULL, error));
    ICS_TRY(check_record(run, ICS_RECORD_SUMMARY, summary, NULL, "--summary", error));
    return check_record(run, ICS_RECORD_METRICS, metrics, "metrics.file", asked, error);
}

int ics_run_own_outputs_find(ics_run_state *run, icestream_error *error)
{
    for (size_t i = 0; i < ICS_RECORDS; ++i) {
        if (run->records[i] != NULL) {
            ICS_TRY(ics_output_names_add(&run->own_outputs, run->records[i],
                                         run->common.intake_folder, error));
        }
    }
    return ICESTREAM_OK;
}

void ics_run_own_outputs_destroy(ics_run_state *run)
{
    ics_output_names_free(&run->own_outputs);
    for (size_t i = 0; i < ICS_RECORDS; ++i) {
        free(run->records[i]);
    }
}
