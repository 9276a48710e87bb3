/* The functions of the room in a program without hiredis: each says so. */
#include "base/error.h"
#include "pipeline/production/queue/claims.h"
#include "pipeline/production/queue/put.h"
#include "pipeline/production/queue/remove.h"
#include "pipeline/production/queue/status.h"

static int missing(const ics_queue_login *login, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: this icestream was built without hiredis, expected one that was "
                         "built with libhiredis-dev (docs/building.md)",
                         login->key);
}

ics_queue_claims_options ics_queue_claims_options_of(const icestream_config *config,
                                                     void (*note)(void *user, const char *line),
                                                     void *user)
{
    return (ics_queue_claims_options){
        .login = {.url = config->source.queue, .key = "source.queue"}, .note = note, .user = user};
}

int ics_queue_check(const ics_queue_login *login, icestream_error *error)
{
    return missing(login, error);
}

int ics_queue_claims_create(const ics_queue_claims_options *options, ics_claims *out,
                            icestream_error *error)
{
    *out = (ics_claims){.self = NULL};
    return missing(&options->login, error);
}

int ics_queue_put(const ics_queue_put_options *options, char *const *files, size_t count,
                  ics_queue_put_counts *counts, icestream_error *error)
{
    (void)files;
    (void)count;
    *counts = (ics_queue_put_counts){.added = 0};
    return missing(&options->login, error);
}

int ics_queue_remove(const ics_queue_login *login, char *const *names, size_t count,
                     uint64_t *removed, icestream_error *error)
{
    (void)names;
    (void)count;
    *removed = 0;
    return missing(login, error);
}

int ics_queue_status(const ics_queue_login *login, struct json_t **out, icestream_error *error)
{
    *out = NULL;
    return missing(login, error);
}
