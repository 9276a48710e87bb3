/* Clients that send step messages through a socket (source.listen). Every message becomes an
 * ordinary step file in a spool folder; answers go back as lines of JSON:
 *
 *     {"message":0,"state":"received","file":"message-....steps.npy"}
 *     {"message":1,"state":"refused","reason":"client 3, message 1: byte 0: found no .npy ..."}
 *
 * One client cannot harm another, or the process: memory, open files, files waiting in the spool,
 * and the time that a half message may take are bounded per client. Waiting for the disk is left to
 * libuv's worker threads. Where clients must know a token, their first line is `TOKEN <token>`.
 * No SIGPIPE is raised. All functions and events: on the loop's thread.
 */
#ifndef ICS_SOURCE_LISTENER_H
#define ICS_SOURCE_LISTENER_H

#include "pipeline/icestream.h"

#include <jansson.h>
#include <uv.h>

typedef struct ics_listener ics_listener;

typedef struct ics_listener_options {
    const char *address;    /* source.listen: "unix:PATH" or "HOST:PORT" */
    const char *token_file; /* source.token; NULL: none, and only this machine is listened to */
    const char *folder;     /* where messages go; exists; best one of this process alone */
    uint32_t clients;       /* at a time, >= 1 */
    uint32_t credits;       /* messages of a client that are received and not released, >= 1 */
    uint64_t message_limit; /* bytes of one message */
    uint32_t idle_seconds;  /* a message may stand still so long while it comes in; 0: 60 */
} ics_listener_options;

/* A message that is whole, on the disk, and now belongs to whoever hears of it. */
typedef struct ics_listener_message {
    const char *path; /* FOLDER/message-....steps.npy; in the order of names they came in */
    uint64_t client;  /* never used twice in a process */
    uint64_t number;  /* of the client's messages, from 0 */
    uint64_t bytes;
} ics_listener_message;

typedef enum ics_listener_event {
    ICS_LISTENER_JOINED,  /* a client; text: where it comes from */
    ICS_LISTENER_LEFT,    /* a client; text: why */
    ICS_LISTENER_REFUSED, /* a message, or a client before its first; text: why */
    ICS_LISTENER_TROUBLE  /* with the socket itself; goes on; text: what */
} ics_listener_event;

/* What is called as it happens; they may call any function below. */
typedef struct ics_listener_events {
    void (*message)(void *user, const ics_listener_message *message);
    /* For journal and log. `client`, `message`: 0 where there is none. */
    void (*report)(void *user, ics_listener_event event, uint64_t client, uint64_t message,
                   const char *text);
    void *user;
} ics_listener_events;

typedef struct ics_listener_counts {
    uint32_t clients;                   /* now */
    uint64_t joined, received, refused; /* clients, messages, messages and clients; since start */
    uint64_t bytes;                     /* of received messages */
} ics_listener_counts;

/* Checks address and token without listening: for `validate`. ICESTREAM_E_CONFIG: malformed, beyond
 * loopback without a token, a token file that is not safe. ICESTREAM_E_MEMORY. */
int ics_listener_check(const char *address, const char *token_file, icestream_error *error);

/* Removes parts of messages that killed processes left in the folder, and starts to listen; clients
 * are served while the loop runs. Texts in `options` are copied. As ics_listener_check, and
 * ICESTREAM_E_FAILED: the address is in use; ICESTREAM_E_OUTPUT: the folder cannot be read. */
int ics_listener_create(uv_loop_t *loop, const ics_listener_options *options,
                        const ics_listener_events *events, ics_listener **out,
                        icestream_error *error);

/* Where it listens, as in source.listen, with the port that it got. */
const char *ics_listener_address(const ics_listener *listener);
ics_listener_counts ics_listener_counted(const ics_listener *listener);

/* Sends a line to a client. False: it is not there any more, or had to be dropped because it does
 * not read its answers. */
bool ics_listener_answer(ics_listener *listener, uint64_t client, const json_t *answer);
/* A message is done with, whatever came of it: the client may send another one. Tell first: a
 * client that has closed its side goes with its last message. Nothing happens if it has gone. */
void ics_listener_release(ics_listener *listener, uint64_t client);

/* No more clients or messages: halves are refused, and what is complete may still be delivered.
 * Clients stay for answers to messages that are not released yet. */
void ics_listener_stop(ics_listener *listener);
/* Stops, drops all clients, without events from now on, and frees the listener once the loop has
 * closed everything: run it until then. Accepts NULL. */
void ics_listener_close(ics_listener *listener);

#endif
