/* What a queue does at the broker. Each change is one Lua script, so that it happens whole or not
 * at all, also if the worker or the broker is killed, and each script may be sent twice. Redis does
 * not take back what a script has done before an error, for example because the user may not use a
 * command. So a script removes a ticket last, and JOIN tries all commands.
 * docs/queue.md lists what is stored under which key. */
#ifndef ICS_PRODUCTION_QUEUE_SCRIPTS_H
#define ICS_PRODUCTION_QUEUE_SCRIPTS_H

#include "pipeline/production/queue/link.h"

/* Behind each script: its arguments, and what it returns. */
typedef enum ics_queue_script {
    ICS_QUEUE_PUT,    /* name identity pair...: "new", "same", or the identity that is there */
    ICS_QUEUE_JOIN,   /* worker nonce lease about: 1, or 0: another process has this name. An error:
                         the user may not use a command, or a key has another type */
    ICS_QUEUE_TAKE,   /* worker count lease look: a list of {id, attempt, pairs}; a number: no
                         ticket, but expired claims that still count for this time (ms) */
    ICS_QUEUE_EXTEND, /* worker nonce lease about id...: a list of the ids that are lost */
    ICS_QUEUE_DONE,   /* worker id digest pair...: "done"; "dead"; or the digest and the worker of
                         the result that is there */
    ICS_QUEUE_DEAD,   /* worker id attempt reason: 1, or 0: it is done */
    ICS_QUEUE_GIVE_BACK, /* worker id attempts idle (ms): 1, or 0: it is lost */
    ICS_QUEUE_DECLINE,   /* worker id attempts most: how many workers have declined it. Below `most`
                            a worker can claim it after a lease, and its attempts are this number */
    ICS_QUEUE_LIST,      /* from: {id, name} of the next 100 tickets */
    ICS_QUEUE_WAITING,   /* worker: how many tickets can be claimed */
    ICS_QUEUE_LEAVE,     /* worker nonce: 1 */
    ICS_QUEUE_LOOK,      /* the report of ics_queue_status() as JSON */
    ICS_QUEUE_SCRIPTS
} ics_queue_script;

/* Begins the call of a script for the stream of the address, which must live until the call. The
 * caller adds the arguments. Leases are whole numbers (ms). */
void ics_queue_script_begin(ics_queue_script script, const ics_queue_address *address,
                            ics_queue_command *out);

/* Makes the stream and its consumer group unless they are there. As ics_queue_link_call. */
int ics_queue_make_group(ics_queue_link *link, icestream_error *error);

#endif
