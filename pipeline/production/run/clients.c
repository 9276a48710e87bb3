#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/own_outputs.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/stop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages of one client that may wait or be processed at the same time. */
enum { CREDITS = 4 };

/* A message whose client waits for an answer. */
struct ics_run_message {
    ics_run_message *next;
    uint64_t client, number;
    char name[]; /* of its file, without folders */
};

/* ---- events ---------------------------------------------------------------------------------- */

static void on_message(void *user, const ics_listener_message *message)
{
    ics_run_state *run = user;
    const char *slash = strrchr(message->path, '/');
    const char *name = slash != NULL ? slash + 1 : message->path;
    ics_run_message *sent = ics_new_zeros(1, sizeof *sent + strlen(name) + 1);
    sent->client = message->client;
    sent->number = message->number;
    memcpy(sent->name, name, strlen(name));
    sent->next = run->clients.messages;
    run->clients.messages = sent;
    run->intake.look = true;
}

static void on_report(void *user, ics_listener_event event, uint64_t client, uint64_t message,
                      const char *text)
{
    (void)message;
    ics_run_state *run = user;
    const ics_event_kind kind = event == ICS_LISTENER_REFUSED || event == ICS_LISTENER_TROUBLE
                                    ? ICS_EVENT_WARNING
                                    : ICS_EVENT_MESSAGE;
    if (client > 0) {
        ics_run_log_text(run, kind, "client %llu: %s", (unsigned long long)client, text);
    } else {
        ics_run_log_text(run, kind, "clients: %s", text);
    }
}

static json_t *answer(const ics_run_message *message, const ics_unit *unit)
{
    if (unit->result == ICS_RESULT_QUARANTINED) {
        return json_pack("{s:I, s:s, s:s?}", "message", (json_int_t)message->number, "state",
                         "refused", "reason", unit->refusal);
    }
    return json_pack("{s:I, s:s, s:s?, s:I}", "message", (json_int_t)message->number, "state",
                     "done", "output", unit->output, "hits", (json_int_t)unit->account.hits);
}

void ics_run_clients_answer(ics_run_state *run, const ics_unit *unit)
{
    ics_run_message **at = &run->clients.messages;
    while (*at != NULL && unit->claim.name != NULL && strcmp((*at)->name, unit->claim.name) != 0) {
        at = &(*at)->next;
    }
    ics_run_message *message = unit->claim.name != NULL ? *at : NULL;
    if (message == NULL) {
        return; /* not a message, or a message that an earlier process received */
    }
    *at = message->next;
    json_auto_t *line = answer(message, unit);
    if (run->clients.listener != NULL) {
        const bool has_hits = unit->result != ICS_RESULT_QUARANTINED;
        ics_listener_finish(run->clients.listener, message->client, line,
                            has_hits ? unit->output : NULL);
    }
    free(message);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Makes and locks the folder: two runs with the same folder would answer each other's clients. A
 * file system without locks is a warning, because all else works there. */
static int own_folder(ics_run_state *run, const char *folder, icestream_error *error)
{
    /* If something else has this name (ENOTDIR), open() reports it. */
    if (ics_disk_make_folder(folder, 0777) != 0 && errno != ENOTDIR) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "%s: cannot make the folder: %s", folder, strerror(errno));
    }
    run->clients.lock_path = ics_new_text("%s/.lock", folder);
    run->clients.lock = ics_disk_lock(run->clients.lock_path);
    if (run->clients.lock >= 0) {
        return ICESTREAM_OK;
    }
    if (errno == EWOULDBLOCK) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "%s: found another icestream that receives messages into it, expected "
                             "to be the only one; give one of them another sink.directory",
                             folder);
    }
    if (errno != ENOLCK && errno != EOPNOTSUPP && errno != ENOSYS) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "%s: cannot lock the folder: %s", run->clients.lock_path,
                                   strerror(errno));
    }
    ics_run_log_text(run, ICS_EVENT_WARNING,
                     "%s: cannot lock the folder: %s; a second icestream that receives "
                     "messages into it would not be noticed",
                     folder, strerror(errno));
    return ICESTREAM_OK;
}

int ics_run_clients_open(ics_run_state *run, icestream_error *error)
{
    if (run->config->source.listen == NULL) {
        return ICESTREAM_OK;
    }
    if (!run->common.sink->files) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "source.listen: needs a folder in sink.directory, for messages that "
                             "wait; found \"-\"");
    }
    run->clients.folder = ics_run_name_in_sink(run, NULL, "received");
    ICS_TRY(own_folder(run, run->clients.folder, error));
    const icestream_config *config = run->config;
    const ics_listener_options options = {.address = config->source.listen,
                                          .token_file = config->source.token,
                                          .folder = run->clients.folder,
                                          .clients = config->source.clients,
                                          .credits = CREDITS,
                                          .message_limit = config->source.message_limit,
                                          .photon_limit = config->source.photon_limit,
                                          .next_seconds = config->source.client_idle};
    const ics_listener_events events = {.message = on_message, .report = on_report, .user = run};
    const int status =
        ics_listener_create(&run->loop.uv, &options, &events, &run->clients.listener, error);
    return status == ICESTREAM_OK ? status : ics_config_blame(config, "source.listen", error);
}

/* Accepts nothing more from clients once the run stops. */
static void offer(ics_run_state *run)
{
    if (run->clients.listener != NULL && !run->clients.stopped && ics_run_is_stopping(run)) {
        run->clients.stopped = true;
        ics_listener_stop(run->clients.listener);
    }
}

static void close_listener(ics_run_state *run)
{
    ics_listener_close(run->clients.listener);
    run->clients.listener = NULL;
}

const ics_run_part ics_run_clients_part = {.offer = offer, .close = close_listener};

void ics_run_clients_destroy(ics_run_state *run)
{
    while (run->clients.messages != NULL) {
        ics_run_message *next = run->clients.messages->next;
        free(run->clients.messages);
        run->clients.messages = next;
    }
    /* A file that stays hinders nobody. */
    (void)ics_disk_unlock(run->clients.lock_path, run->clients.lock);
    free(run->clients.lock_path);
    free(run->clients.folder);
}
