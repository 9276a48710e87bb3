/* The command `icestream report`. */
#include "base/error.h"
#include "pipeline/files/output.h"
#include "pipeline/tools/command.h"
#include "pipeline/tools/report/page.h"

#include <stdlib.h>

enum { OPTION_OUTPUT, OPTION_FORCE, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_OUTPUT] = {.name = "output",
                       .letter = 'o',
                       .type = ICS_OPTION_TEXT,
                       .value = "FILE",
                       .help = "the HTML file to write; - is standard output",
                       .initial = "report.html"},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
};

/* Makes the whole page in memory: it is small, and without it no file is begun. */
static int make_page(ics_facts *facts, char **text, size_t *size, icestream_error *error)
{
    FILE *out = open_memstream(text, size);
    if (out == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the report");
    }
    const int status = ics_page_write(facts, out, error);
    return fclose(out) == 0 || status != ICESTREAM_OK
               ? status
               : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the report");
}

/* The report is written also if hit files are damaged; then the command fails and names them. */
static int judge(const ics_facts *facts, const char *path, icestream_error *error)
{
    size_t i, count = 0;
    json_t *file;
    if (json_array_size(facts->damaged) == 0) {
        return ICESTREAM_OK;
    }
    if (error != NULL) {
        *error = (icestream_error){.text = ""};
    }
    json_array_foreach(facts->damaged, i, file)
    {
        ics_error_add_counted(error, &count, ICESTREAM_E_INPUT, "report", "%s",
                              json_string_value(json_object_get(file, "reason")));
    }
    return ics_error_add(error, ICESTREAM_E_INPUT,
                         "%s: the report is complete but for the hits of these files", path);
}

static int report(const char *folder, ics_output *output, const char *path, icestream_error *error)
{
    ics_facts facts;
    char *text = NULL;
    size_t size = 0;
    int status = ics_facts_gather(folder, &facts, error);
    if (status == ICESTREAM_OK) {
        status = make_page(&facts, &text, &size, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_output_write(output, text, size, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_output_commit(output, error);
    }
    if (status == ICESTREAM_OK) {
        status = judge(&facts, path, error);
    }
    free(text);
    ics_facts_free(&facts);
    return status;
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *value = &given->options[OPTION_OUTPUT];
    const char *path = value->text != NULL ? value->text : "report.html";
    ics_output *output = NULL;
    ICS_TRY(ics_output_check_ending("--output", path, ".html", error));
    int status = ics_output_create(path, given->options[OPTION_FORCE].given, &output, error);
    if (status == ICESTREAM_OK) {
        status = report(given->operands[0], output, path, error);
    }
    ics_output_destroy(output);
    return status;
}

const ics_command ics_command_report = {
    .name = "report",
    .operands = "DIR",
    .summary = "writes a page about the runs that wrote into a folder",
    .details = "DIR is a sink.directory. The page is one HTML file with pictures and tables that "
               "needs\nnothing else. gnuplot draws the pictures; without gnuplot the page has only "
               "tables.",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
