/* The command `icestream geometry`: the modules of a run as a table, for plots and other programs.
 * The positions in hit files are relative to the modules, so a plot needs this table. */
#include "base/error.h"
#include "pipeline/files/output.h"
#include "pipeline/files/text_output.h"
#include "pipeline/models/detector/detector.h"
#include "pipeline/tools/command.h"

enum { OPTION_SET, OPTION_OUTPUT, OPTION_FORCE, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_OUTPUT] = {.name = "output",
                       .letter = 'o',
                       .type = ICS_OPTION_TEXT,
                       .value = "FILE",
                       .help = "the table to write; - is standard output",
                       .initial = "standard output"},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
};

/* The table is a file that detector.file reads. */
static int put_modules(const ice_detector *detector, ics_text_output *file, icestream_error *error)
{
    ICS_TRY(ics_text_output_put(file, error, "string,module,x,y,z,efficiency\n"));
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        ICS_TRY(ics_text_output_put(file, error, "%u,%u,%.15g,%.15g,%.15g,%.15g\n", module->string,
                                    module->module, module->x, module->y, module->z,
                                    module->efficiency));
    }
    return ics_text_output_commit(file, error);
}

static int write_modules(const ice_detector *detector, const char *path, bool force,
                         icestream_error *error)
{
    ics_text_output *file = NULL;
    ICS_TRY(ics_text_output_create(path, force, &file, error));
    int status = put_modules(detector, file, error);
    ics_text_output_destroy(file);
    return status;
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const char *path = given->options[OPTION_OUTPUT].text;
    icestream_config *config = NULL;
    ice_detector *detector = NULL;
    ics_warnings warnings = {0};
    int status = ics_command_config(given, &config, error);
    if (status == ICESTREAM_OK && path != NULL) {
        status = ics_config_check_output(config, "--output", path, error);
    }
    if (status == ICESTREAM_OK && path != NULL) {
        status = ics_output_check_ending("--output", path, ".csv", error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_detector_create(config, &detector, &warnings, error);
    }
    if (status == ICESTREAM_OK) {
        status = write_modules(detector, path != NULL ? path : "-",
                               given->options[OPTION_FORCE].given, error);
    }
    for (size_t i = 0; i < warnings.count; ++i) {
        fprintf(stderr, "warning: %s\n", warnings.items[i]);
    }
    ics_warnings_free(&warnings);
    ics_detector_destroy(detector);
    icestream_config_destroy(config);
    return status;
}

const ics_command ics_command_geometry = {
    .name = "geometry",
    .operands = "[CONFIG]",
    .summary = "writes the positions of the modules as a table",
    .details = "The table is CSV: string, module, x, y, z (m) and efficiency. detector.file reads "
               "it.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
