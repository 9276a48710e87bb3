#include "pipeline/queue/queue_status.h"

#include "base/error.h"
#include "base/json_read.h"
#include "pipeline/queue/queue_scripts.h"

#include <jansson.h>

enum { PATIENCE = 5 }; /* s that a call waits for the broker */

/* cjson writes an empty list as {}. */
static void make_list(json_t *report, const char *name)
{
    if (!json_is_array(json_object_get(report, name))) {
        json_object_set_new(report, name, json_array());
    }
}

int ics_queue_status(const ics_queue_login *login, json_t **out, icestream_error *error)
{
    ics_queue_link *link = NULL;
    ics_queue_command command;
    redisReply *reply = NULL;
    *out = NULL;
    ICS_TRY(ics_queue_link_create(login, PATIENCE, &link, error));
    ics_queue_script_begin(ICS_QUEUE_LOOK, ics_queue_link_address(link), &command);
    int status = ics_queue_link_call(link, &command, &reply, error);
    if (status == ICESTREAM_OK) {
        *out = reply->type == REDIS_REPLY_STRING ? ics_json_read(reply->str, reply->len, 0, NULL)
                                                 : NULL;
        freeReplyObject(reply);
        if (*out == NULL ||
            json_object_set_new(*out, "queue", json_string(ics_queue_link_address(link)->shown)) !=
                0) {
            json_decref(*out);
            *out = NULL;
            status = ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a queue");
        }
    }
    if (*out != NULL) {
        make_list(*out, "workers");
        make_list(*out, "failures");
    }
    ics_queue_link_destroy(link);
    return status;
}
