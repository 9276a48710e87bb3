/* The connection of one worker to its broker (Redis or Valkey), by hiredis.
 *
 * Calls wait for the answer, with time limits, and come from one thread at a time: the claims call
 * them on the I/O thread of a run. The connection is made by the first call. A call that finds the
 * connection broken makes a new one and repeats its command once, so every command of the queue
 * must bear to be sent twice. After an error the next call tries again; how long it waits before
 * that is for the caller (pipeline/production/run/retry.c, queue/put.c). */
#ifndef ICS_PRODUCTION_QUEUE_LINK_H
#define ICS_PRODUCTION_QUEUE_LINK_H

#include "base/cleanup.h"
#include "pipeline/production/queue/address.h"

#include <hiredis/hiredis.h>
#include <stdatomic.h>

/* ICS_DESTROYS(freeReplyObject) */
ICS_CAN_DESTROY(redisReply, freeReplyObject)

typedef struct ics_queue_link ics_queue_link;

enum { ICS_QUEUE_WORDS = 24 }; /* of a command, at most */

/* A command, word by word. Words may have any bytes. They are not copied. */
typedef struct ics_queue_command {
    const char *words[ICS_QUEUE_WORDS]; /* [count] */
    size_t sizes[ICS_QUEUE_WORDS];
    int count;
} ics_queue_command;

void ics_queue_command_add(ics_queue_command *command, const char *word);
void ics_queue_command_add_bytes(ics_queue_command *command, const void *bytes, size_t size);

/* `patience`: s that a call waits for the broker, at most four times. ICESTREAM_E_CONFIG as
 * ics_queue_address_parse and ics_queue_secret_read. */
int ics_queue_link_create(const ics_queue_login *login, double patience, ics_queue_link **out,
                          icestream_error *error);
/* Once one of these is true, also while a call waits: a call waits for the broker two seconds, or
 * half a second after `cancel`, and after one call in vain further calls fail at once. NULL: never.
 */
void ics_queue_link_hurry(ics_queue_link *link, const atomic_bool *stop, const atomic_bool *cancel);
/* Accepts NULL. */
void ics_queue_link_destroy(ics_queue_link *link);
ICS_CAN_DESTROY(ics_queue_link, ics_queue_link_destroy)

const ics_queue_address *ics_queue_link_address(const ics_queue_link *link);

/* Sends a command and waits for its answer, which is no error of the broker. The caller frees it.
 * Errors:
 * ICESTREAM_E_OUTPUT with the cause ENOTCONN: the broker is away, or cannot work at the moment
 * (it loads its data, has no memory, or its disk is full);
 * ICESTREAM_E_CONFIG: the broker refuses the user, the password or the certificate;
 * ICESTREAM_E_FAILED with the broker's words: it refuses the command. Cause ENOENT: the consumer
 * group does not exist. */
int ics_queue_link_call(ics_queue_link *link, const ics_queue_command *command, redisReply **out,
                        icestream_error *error);

#endif
