/* The command `icestream put`. */
#include "base/error.h"
#include "base/plural.h"
#include "base/visible_text.h"
#include "pipeline/commands/command.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/photons/session/world.h"
#include "pipeline/production/queue/put.h"
#include "pipeline/production/queue/remove.h"

#include <inttypes.h>
#include <limits.h>

enum {
    OPTION_QUEUE,
    OPTION_URL,
    OPTION_CONFIG,
    OPTION_LIMIT,
    OPTION_PASSWORD,
    OPTION_CA,
    OPTION_REMOVE,
    OPTIONS
};

static const ics_option options[OPTIONS] = {
    [OPTION_QUEUE] = {.name = "queue",
                      .type = ICS_OPTION_TEXT,
                      .value = "ADDRESS",
                      .help = "redis://[USER@]HOST[:PORT]/STREAM; rediss:// with TLS"},
    [OPTION_URL] = {.name = "url",
                    .type = ICS_OPTION_TEXT,
                    .value = "PATTERN",
                    .help = "where workers fetch the files: a URL with {name}",
                    .initial = "small files are in their tickets, larger ones are file://PATH"},
    [OPTION_CONFIG] = {.name = "config",
                       .type = ICS_OPTION_TEXT,
                       .value = "CONFIG",
                       .help =
                           "only runs with the physics of this configuration may take the files"},
    [OPTION_LIMIT] = {.name = "embed",
                      .type = ICS_OPTION_WHOLE,
                      .value = "BYTES",
                      .help = "size of a step file up to which it is in its ticket",
                      .initial = "1000000",
                      .low = 0,
                      .high = 64000000},
    [OPTION_PASSWORD] = ICS_OPTION_ROW_QUEUE_PASSWORD,
    [OPTION_CA] = ICS_OPTION_ROW_QUEUE_CA,
    [OPTION_REMOVE] = {.name = "remove",
                       .type = ICS_OPTION_SWITCH,
                       .help = "moves the tickets with the names FILE to the dead letters"},
};

/* Digests what the hits of a configuration depend on. */
static int digest_config(const char *path, ics_origin *out, icestream_error *error)
{
    ICS_DESTROYS(icestream_config_destroy) icestream_config *config = NULL;
    ICS_DESTROYS(ics_models_destroy) ics_models *models = NULL;
    ICS_TRY(icestream_config_load(path, NULL, 0, &config, error));
    ICS_TRY(ics_world_load_models(config, &models, error));
    return ics_origin_create(config, models, out, error);
}

static void refuse(const char *why)
{
    fputs("error: ", stderr);
    ics_visible_print(stderr, why);
    fputc('\n', stderr);
}

static int remove_tickets(const ics_arguments *given, const ics_queue_login *login,
                          icestream_error *error)
{
    uint64_t removed = 0;
    const int status =
        ics_queue_remove(login, given->operands, (size_t)given->operand_count, &removed, error);
    if (status == ICESTREAM_OK || removed > 0) {
        fprintf(stderr, "%" PRIu64 " ticket%s removed\n", removed, ics_plural_s(removed));
    }
    return status;
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *values = given->options;
    ics_origin origin;
    ics_queue_put_counts counts;
    if (values[OPTION_QUEUE].text == NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream put: expected --queue redis://HOST/STREAM");
    }
    const ics_queue_login login = {.url = values[OPTION_QUEUE].text,
                                   .password = values[OPTION_PASSWORD].text,
                                   .ca = values[OPTION_CA].text,
                                   .key = "--queue",
                                   .password_key = "--password"};
    if (values[OPTION_REMOVE].given &&
        (values[OPTION_CONFIG].given || values[OPTION_URL].given || values[OPTION_LIMIT].given)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream put: found --remove with --config, --url or --embed, which "
                             "are for new tickets; expected --remove alone");
    }
    if (values[OPTION_REMOVE].given) {
        return remove_tickets(given, &login, error);
    }
    if (values[OPTION_CONFIG].text != NULL) {
        ICS_TRY(digest_config(values[OPTION_CONFIG].text, &origin, error));
    }
    const ics_queue_put_options put = {
        .login = login,
        .refuse = refuse,
        .configuration = values[OPTION_CONFIG].text != NULL ? origin.configuration : NULL,
        .url = values[OPTION_URL].text,
        .embed_limit = values[OPTION_LIMIT].given ? (uint64_t)values[OPTION_LIMIT].whole : 1000000};
    const int status =
        ics_queue_put(&put, given->operands, (size_t)given->operand_count, &counts, error);
    if (status != ICESTREAM_OK && counts.added + counts.there == 0) {
        return status;
    }
    fprintf(stderr, "%" PRIu64 " ticket%s put, %" PRIu64 " %s there already; %" PRIu64 " bytes\n",
            counts.added, ics_plural_s(counts.added), counts.there,
            counts.there == 1 ? "was" : "were", counts.bytes);
    return status;
}

const ics_command ics_command_put = {
    .name = "put",
    .operands = "FILE... --queue ADDRESS",
    .summary = "puts step files into a queue, from which runs take them",
    .details =
        "FILE is a step file, or the URL of one. Runs with source.queue take them. The same\n"
        "command may be repeated: files that are in the queue are not put again. With --remove,\n"
        "FILE is the name of a step file, or the number of a ticket.",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
