/* The command `icestream compare`. */
#include "base/error.h"
#include "base/new.h"
#include "pipeline/commands/command.h"
#include "pipeline/photons/config/table.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPTION_SET,
    OPTION_SCHEDULES,
    OPTION_AGAINST,
    OPTION_TABLE,
    OPTION_JSON,
    OPTION_THREADS,
    OPTION_PRINT_EFFECTIVE,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_SET] = ICS_OPTION_ROW_SET,
    [OPTION_SCHEDULES] = {.name = "schedules",
                          .type = ICS_OPTION_TEXT,
                          .value = "A,B",
                          .help = "compare these schedules",
                          .initial = "all of the device; with --against, graph.schedule of each "
                                     "configuration"},
    [OPTION_AGAINST] = {.name = "against",
                        .type = ICS_OPTION_TEXT,
                        .value = "CONFIG",
                        .help = "compare with this second configuration; --set applies to it, too"},
    [OPTION_TABLE] = ICS_OPTION_ROW_TABLE,
    [OPTION_JSON] = ICS_OPTION_ROW_JSON,
    [OPTION_THREADS] = ICS_OPTION_ROW_THREADS,
    [OPTION_PRINT_EFFECTIVE] = ICS_OPTION_ROW_PRINT_EFFECTIVE,
};

static int effective_text(const icestream_config *config, char **text, icestream_error *error)
{
    size_t size = 0;
    FILE *out = ics_new_made(open_memstream(text, &size));
    const int status = icestream_config_print(config, out, error);
    return fclose(out) == 0 || status != ICESTREAM_OK
               ? status
               : ics_error_set(error, ICESTREAM_E_MEMORY, "compare: out of memory");
}

/* Says that --against compares a configuration with itself. */
static int note_equal(const icestream_config *config, const icestream_config *against,
                      icestream_error *error)
{
    ICS_FREES char *one = NULL, *other = NULL;
    ICS_TRY(effective_text(config, &one, error));
    ICS_TRY(effective_text(against, &other, error));
    if (strcmp(one, other) == 0) {
        fputs("warning: --against: found the same configuration twice, so that no difference can "
              "be seen (--set applies to both); usual: two run files that differ\n",
              stderr);
    }
    return ICESTREAM_OK;
}

static int compare(const ics_arguments *given, const icestream_config *config,
                   icestream_error *error)
{
    const ics_option_value *values = given->options;
    ICS_DESTROYS(icestream_config_destroy) icestream_config *against = NULL;
    if (values[OPTION_AGAINST].given) {
        ICS_TRY(ics_command_load(given, values[OPTION_AGAINST].text, NULL, 0, &against, error));
    }
    if (against != NULL && !values[OPTION_SCHEDULES].given) {
        ICS_TRY(note_equal(config, against, error));
    }
    const icestream_compare_options how = {.schedules = values[OPTION_SCHEDULES].text,
                                           .against = against,
                                           .json = values[OPTION_JSON].given,
                                           .markdown = values[OPTION_TABLE].given,
                                           .progress = stderr};
    return icestream_compare(config, &how, stdout, error);
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    return ics_command_with_config(given, NULL, 0, compare, error);
}

const ics_command ics_command_compare = {
    .name = "compare",
    .operands = "[CONFIG]",
    .summary = "compares the hits of several schedules or of two configurations",
    .details =
        "Runs the same steps through each of them. The steps are those of `icestream run`: made\n"
        "of the particles or the workload if no source is given, otherwise those of source.files;\n"
        "if no such file exists, they are made, too. With --against both configurations need the\n"
        "same particles, workload or step files. If they make other light of the same particles,\n"
        "for example for another oversize, each gets its own, and sums of weights are compared;\n"
        "source.light_mismatch: accept gives both the same steps. The exit status is 1 if hits "
        "differ that\n"
        "should be identical, or if they are not compatible. Headers of one's own are checked "
        "first,\n"
        "as by run --verify.",
    .operands_max = 1,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
