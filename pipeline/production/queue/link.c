#include "pipeline/production/queue/link.h"

#include "base/error.h"
#include "base/new.h"
#include "base/visible_text.h"
#include "pipeline/production/queue/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ics_queue_link {
    ics_queue_address address;
    char *ca, *key, *password_key;
    char secret[ICS_QUEUE_SECRET_MAX + 1];
    ics_queue_patience patience;
    bool silent;          /* the last call got no answer */
    ics_queue_wire *wire; /* NULL: there is no connection */
};

void ics_queue_command_add_bytes(ics_queue_command *command, const void *bytes, size_t size)
{
    if (command->count < ICS_QUEUE_WORDS) {
        command->words[command->count] = bytes;
        command->sizes[command->count++] = size;
    }
}

void ics_queue_command_add(ics_queue_command *command, const char *word)
{
    ics_queue_command_add_bytes(command, word, strlen(word));
}

int ics_queue_link_create(const ics_queue_login *login, double patience, ics_queue_link **out,
                          icestream_error *error)
{
    ics_queue_address address;
    *out = NULL;
    ICS_TRY(ics_queue_address_parse(login, &address, error));
    ICS_DESTROYS(ics_queue_link_destroy) ics_queue_link *link = ICS_NEW(ics_queue_link);
    link->address = address;
    link->patience.seconds = patience;
    link->ca = ics_new_copy(login->ca);
    link->key = ics_new_copy(login->key);
    link->password_key = ics_new_copy(login->password_key);
    ICS_TRY(ics_queue_secret_read(login, &address, link->secret, error));
    *out = ICS_HAND_OVER(link);
    return ICESTREAM_OK;
}

void ics_queue_link_hurry(ics_queue_link *link, const atomic_bool *stop, const atomic_bool *cancel)
{
    link->patience.stop = stop;
    link->patience.cancel = cancel;
}

void ics_queue_link_destroy(ics_queue_link *link)
{
    if (link != NULL) {
        ics_queue_wire_close(link->wire);
        ics_queue_secret_wipe(link->secret);
        free(link->ca);
        free(link->key);
        free(link->password_key);
        free(link);
    }
}

const ics_queue_address *ics_queue_link_address(const ics_queue_link *link)
{
    return &link->address;
}

static int report_away(const ics_queue_link *link, const char *why, icestream_error *error)
{
    char shown[512];
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, ENOTCONN, "%s: %s: %s", link->key,
                               link->address.shown,
                               ics_visible_text(why, false, shown, sizeof shown));
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* What an error of the broker means. Its text has no secret. */
static int judge(const ics_queue_link *link, const redisReply *reply, icestream_error *error)
{
    static const char *const passing[] = {"LOADING",  "BUSY ",      "MISCONF",     "OOM",
                                          "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"};
    static const char *const refusing[] = {"WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH",
                                           "ERR invalid password"};
    char text[384];
    ics_visible_text(reply->str, false, text, sizeof text);
    for (size_t i = 0; i < sizeof passing / sizeof *passing; ++i) {
        if (begins(text, passing[i])) {
            return report_away(link, text, error);
        }
    }
    for (size_t i = 0; i < sizeof refusing / sizeof *refusing; ++i) {
        if (begins(text, refusing[i]) || strstr(text, "user executing the script can't") != NULL) {
            return ics_error_set(error, ICESTREAM_E_CONFIG,
                                 "%s: %s refuses %s%s: %.300s; expected a user that may use the "
                                 "stream (docs/queue.md), and its password in the file of %s or "
                                 "in ICESTREAM_QUEUE_PASSWORD",
                                 link->key, link->address.shown,
                                 link->address.user[0] != '\0' ? "the user " : "this client",
                                 link->address.user, text, link->password_key);
        }
    }
    return ics_error_set_cause(error, ICESTREAM_E_FAILED, begins(text, "NOGROUP") ? ENOENT : 0,
                               "%s: %s: the broker says: %.300s", link->key, link->address.shown,
                               text);
}

/* Sends a command over the connection that is there. ENOTCONN: it is broken, and closed now. */
static int exchange(ics_queue_link *link, const ics_queue_command *command, redisReply **out,
                    icestream_error *error)
{
    char *bytes = NULL, why[256] = "";
    const long long size = redisFormatCommandArgv(
        &bytes, command->count, (const char **)(void *)command->words, command->sizes);
    ics_new_made(bytes); /* a command may have the steps of a file, which the queue limits */
    ICS_DESTROYS(freeReplyObject)
    redisReply *reply = ics_queue_wire_call(link->wire, bytes, (size_t)size, why);
    redisFreeCommand(bytes);
    if (reply == NULL) {
        ics_queue_wire_close(link->wire);
        link->wire = NULL;
        return report_away(link, why, error);
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        return judge(link, reply, error);
    }
    *out = ICS_HAND_OVER(reply);
    return ICESTREAM_OK;
}

static int log_in(ics_queue_link *link, icestream_error *error)
{
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    ics_queue_command command = {.count = 0};
    if (link->secret[0] == '\0') {
        return ICESTREAM_OK;
    }
    ics_queue_command_add(&command, "AUTH");
    if (link->address.user[0] != '\0') {
        ics_queue_command_add(&command, link->address.user);
    }
    ics_queue_command_add(&command, link->secret);
    return exchange(link, &command, &reply, error);
}

static int connect_wire(ics_queue_link *link, icestream_error *error)
{
    char why[256] = "";
    bool refused = false;
    link->wire = ics_queue_wire_open(&link->address, link->ca, &link->patience, &refused, why);
    if (link->wire == NULL) {
        return refused ? ics_error_set(error, ICESTREAM_E_CONFIG, "%s: %s: %s", link->key,
                                       link->address.shown, why)
                       : report_away(link, why, error);
    }
    const int status = log_in(link, error);
    if (status != ICESTREAM_OK) {
        ics_queue_wire_close(link->wire);
        link->wire = NULL;
    }
    return status;
}

static int call(ics_queue_link *link, const ics_queue_command *command, redisReply **out,
                icestream_error *error)
{
    icestream_error broken = {.status = ICESTREAM_OK};
    if (link->wire != NULL) {
        const int status = exchange(link, command, out, &broken);
        if (status == ICESTREAM_OK || link->wire != NULL) {
            return status == ICESTREAM_OK ? status : ics_error_copy(error, &broken);
        }
    }
    ICS_TRY(connect_wire(link, error));
    return exchange(link, command, out, error);
}

int ics_queue_link_call(ics_queue_link *link, const ics_queue_command *command, redisReply **out,
                        icestream_error *error)
{
    *out = NULL;
    if (link->silent && ics_queue_patience_is_short(&link->patience)) {
        return report_away(link, "the broker did not answer, and the run is ending", error);
    }
    const int status = call(link, command, out, error);
    link->silent = status != ICESTREAM_OK && link->wire == NULL;
    return status;
}
