/* The command `icestream send`. */
#include "base/error.h"
#include "pipeline/commands/command.h"
#include "pipeline/production/client/send.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

enum { OPTION_TO, OPTION_TOKEN, OPTION_OUTPUT, OPTION_FORCE, OPTION_PATIENCE, OPTIONS };

enum { PATIENCE = 300 /* s */ };

static const ics_option options[OPTIONS] = {
    [OPTION_TO] = {.name = "to",
                   .type = ICS_OPTION_TEXT,
                   .value = "ADDRESS",
                   .help = "source.listen of the run: unix:PATH or HOST:PORT"},
    [OPTION_TOKEN] = {.name = "token",
                      .type = ICS_OPTION_TEXT,
                      .value = "FILE",
                      .help = "file whose first line is the token of the run (source.token)"},
    [OPTION_OUTPUT] = {.name = "output",
                       .letter = 'o',
                       .type = ICS_OPTION_TEXT,
                       .value = "FOLDER",
                       .help = "where the hit files go; - is standard output",
                       .initial = "the run keeps them"},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_PATIENCE] = {.name = "patience",
                         .type = ICS_OPTION_WHOLE,
                         .value = "S",
                         .help =
                             "seconds after which a run is given up that cannot be reached, or, "
                             "above 0, over whose connection neither an answer nor 1024 bytes of "
                             "steps or hits come or go",
                         .initial = "300, and no limit once connected",
                         .low = 0,
                         .high = 1000000},
};

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *values = given->options;
    const ics_option_value *patience = &values[OPTION_PATIENCE];
    ics_send_counts counts;
    if (values[OPTION_TO].text == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream send: expected --to unix:PATH or --to HOST:PORT");
    }
    const ics_send_options send = {.address = values[OPTION_TO].text,
                                   .token = values[OPTION_TOKEN].text,
                                   .output = values[OPTION_OUTPUT].text,
                                   .force = values[OPTION_FORCE].given,
                                   .patience =
                                       patience->given ? (double)patience->whole : (double)PATIENCE,
                                   .silence = patience->given ? (double)patience->whole : 0};
    const int status =
        ics_send(&send, given->operands, (size_t)given->operand_count, &counts, error);
    if (status == ICESTREAM_OK || counts.done + counts.refused > 0) {
        fprintf(stderr,
                "%" PRIu64 " messages done with %" PRIu64 " hits, %" PRIu64 " refused, %" PRIu64
                " sent again\n",
                counts.done, counts.hits, counts.refused, counts.repeated);
    }
    return status;
}

const ics_command ics_command_send = {
    .name = "send",
    .operands = "FILE... --to ADDRESS",
    .summary = "sends step files to a run that listens, and takes the hits",
    .details = "FILE is a step file; - is a stream of step files on standard input. Prints the\n"
               "answers as lines of JSON. If the run is started again, what was not done is sent\n"
               "again.",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
