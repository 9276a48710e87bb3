#include "pipeline/production/queue/status.h"

#include "base/error.h"
#include "base/json_read.h"
#include "base/visible_text.h"
#include "pipeline/production/queue/scripts.h"
#include "pipeline/production/spool/process.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 5 }; /* s that a call waits for the broker */

/* cjson writes an empty list as {}. */
static void make_list(json_t *report, const char *name)
{
    if (!json_is_array(json_object_get(report, name))) {
        json_object_set_new(report, name, json_array());
    }
}

/* Replaces %XX of scripts.c in a text by what people can read. */
static void decode(json_t *value)
{
    char text[512], shown[ICS_VISIBLE_MOST * sizeof text];
    size_t used = 0;
    for (const char *at = json_string_value(value); *at != '\0' && used < sizeof text - 1; ++at) {
        const bool coded =
            *at == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]);
        if (coded) {
            const char digits[] = {at[1], at[2], '\0'};
            text[used++] = (char)strtoul(digits, NULL, 16);
            at += 2;
        } else {
            text[used++] = *at;
        }
    }
    text[used] = '\0';
    json_string_set(value, ics_visible_text(text, false, shown, sizeof shown));
}

static void decode_texts(json_t *list)
{
    json_t *member = NULL, *value = NULL;
    const char *key = NULL;
    size_t i = 0;
    json_array_foreach(list, i, member)
    {
        json_object_foreach(member, key, value)
        {
            if (json_is_string(value)) {
                decode(value);
            }
        }
    }
}

/* A worker whose process has certainly ended is lost already while its lease lasts. */
static void look_at_processes(json_t *report)
{
    ics_process self;
    json_t *worker = NULL;
    size_t i = 0;
    ics_process_self(&self);
    json_array_foreach(json_object_get(report, "workers"), i, worker)
    {
        ics_process process = {.pid = json_integer_value(json_object_get(worker, "pid")),
                               .start = json_integer_value(json_object_get(worker, "start"))};
        const char *space = json_string_value(json_object_get(worker, "space"));
        const char *state = json_string_value(json_object_get(worker, "state"));
        snprintf(process.space, sizeof process.space, "%s", space != NULL ? space : "");
        if (state != NULL && strcmp(state, "alive") == 0 && ics_process_is_gone(&process, &self)) {
            json_object_set_new(worker, "state", json_string("lost"));
        }
        json_object_del(worker, "start");
        json_object_del(worker, "space");
    }
}

int ics_queue_status(const ics_queue_login *login, json_t **out, icestream_error *error)
{
    ICS_DESTROYS(ics_queue_link_destroy) ics_queue_link *link = NULL;
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    ics_queue_command command;
    *out = NULL;
    ICS_TRY(ics_queue_link_create(login, PATIENCE, &link, error));
    const char *shown = ics_queue_link_address(link)->shown;
    ics_queue_script_begin(ICS_QUEUE_LOOK, ics_queue_link_address(link), &command);
    ICS_TRY(ics_queue_link_call(link, &command, &reply, error));
    json_t *report =
        reply->type == REDIS_REPLY_STRING ? ics_json_read(reply->str, reply->len, 0, NULL) : NULL;
    if (report == NULL) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "%s: found an answer that is no JSON, expected the state of a queue",
                             shown);
    }
    json_object_set_new(report, "queue", json_string(shown));
    make_list(report, "workers");
    make_list(report, "failures");
    decode_texts(json_object_get(report, "workers"));
    decode_texts(json_object_get(report, "failures"));
    look_at_processes(report);
    *out = report;
    return ICESTREAM_OK;
}
