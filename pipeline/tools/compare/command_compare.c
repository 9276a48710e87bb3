/* The command `icestream compare`. */
#include "base/error.h"
#include "pipeline/config/table.h"
#include "pipeline/tools/command.h"

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

/* Says that --against compares a configuration with itself. ICESTREAM_E_MEMORY. */
static int note_equal(const icestream_config *config, const icestream_config *against,
                      icestream_error *error)
{
    const icestream_config *const both[] = {config, against};
    char *texts[2] = {NULL, NULL};
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < 2; ++i) {
        size_t size = 0;
        FILE *out = open_memstream(&texts[i], &size);
        status = out != NULL ? icestream_config_print(both[i], out, error)
                             : ics_error_set(error, ICESTREAM_E_MEMORY, "compare: out of memory");
        if (out != NULL) {
            (void)fclose(out); /* icestream_config_print() has checked that all is written */
        }
    }
    if (status == ICESTREAM_OK && strcmp(texts[0], texts[1]) == 0) {
        fputs("warning: --against: found the same configuration twice, so that no difference can "
              "be seen (--set applies to both); usual: two run files that differ\n",
              stderr);
    }
    free(texts[0]);
    free(texts[1]);
    return status;
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *values = given->options;
    icestream_config *config = NULL, *against = NULL;
    int status = ics_command_config(given, &config, error);
    if (status == ICESTREAM_OK && values[OPTION_AGAINST].given) {
        status = ics_command_load(given, values[OPTION_AGAINST].text, NULL, 0, &against, error);
    }
    if (status == ICESTREAM_OK && against != NULL && !values[OPTION_SCHEDULES].given) {
        status = note_equal(config, against, error);
    }
    if (status == ICESTREAM_OK && values[OPTION_PRINT_EFFECTIVE].given) {
        status = icestream_config_print(config, stdout, error);
    } else if (status == ICESTREAM_OK) {
        const icestream_compare_options compare = {.schedules = values[OPTION_SCHEDULES].text,
                                                   .against = against,
                                                   .json = values[OPTION_JSON].given,
                                                   .markdown = values[OPTION_TABLE].given,
                                                   .progress = stderr};
        status = icestream_compare(config, &compare, stdout, error);
    }
    icestream_config_destroy(against);
    icestream_config_destroy(config);
    return status;
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
