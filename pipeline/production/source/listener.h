/* Clients that send step messages through a socket (source.listen). Every message becomes an
 * ordinary step file in a spool folder; answers go back as lines of JSON:
 *
 *     {"message":0,"state":"received","file":"message-....steps.npy"}
 *     {"message":1,"state":"refused","reason":"client 3, message 1: byte 0: found no .npy ..."}
 *
 * One client cannot harm another client or the process: memory, open files, files waiting in the
 * spool, and the time for an incomplete message are limited per client. libuv's worker threads wait
 * for the disk. If clients must know a token, their first line is `TOKEN <token>`. No SIGPIPE is
 * raised. All functions are called, and all events come, on the loop's thread.
 */
#ifndef ICS_PRODUCTION_SOURCE_LISTENER_H
#define ICS_PRODUCTION_SOURCE_LISTENER_H

#include "pipeline/icestream.h"

#include <jansson.h>
#include <uv.h>

typedef struct ics_listener ics_listener;

typedef struct ics_listener_options {
    const char *address;    /* source.listen: "unix:PATH" or "HOST:PORT" */
    const char *token_file; /* source.token; NULL: no token, and only clients of this machine */
    const char *folder; /* where messages are stored; must exist; no other process should use it */
    uint32_t clients;   /* >= 1, at a time */
    uint32_t credits;   /* >= 1, messages of a client that are received and not released */
    uint64_t message_limit; /* bytes of one message */
    uint64_t photon_limit;  /* photons of one message; 0: any number */
    /* A client is dropped after this time (s) without a byte inside a message; 0: 60. */
    uint32_t idle_seconds;
    double next_seconds; /* and after this time (s) without a message, if it waits for no answer; 0:
                            600 */
} ics_listener_options;

/* A message that is complete and on the disk. Its file belongs to the caller from now on. */
typedef struct ics_listener_message {
    const char *path; /* FOLDER/message-....steps.npy; the order of names gives clients
                         fair shares of photons */
    uint64_t client;  /* never used twice in a process */
    uint64_t number;  /* number of the client's message, from 0 */
    uint64_t bytes;
} ics_listener_message;

typedef enum ics_listener_event {
    ICS_LISTENER_JOINED,  /* a client was accepted; text: where it comes from */
    ICS_LISTENER_LEFT,    /* a client has gone; text: why */
    ICS_LISTENER_REFUSED, /* a message, or a client before its first message; text: why */
    ICS_LISTENER_TROUBLE  /* the socket has an error, and listening continues; text: the error */
} ics_listener_event;

/* Called when something happens. Both may call any function below. */
typedef struct ics_listener_events {
    void (*message)(void *user, const ics_listener_message *message);
    /* For journal and log. `client` and `message` are 0 if there is none. */
    void (*report)(void *user, ics_listener_event event, uint64_t client, uint64_t message,
                   const char *text);
    void *user;
} ics_listener_events;

typedef struct ics_listener_counts {
    uint32_t clients;                   /* now */
    uint64_t joined, received, refused; /* clients, messages, messages and clients; since start */
    uint64_t bytes;                     /* bytes of received messages */
} ics_listener_counts;

/* Checks address and token without listening, for `validate`. ICESTREAM_E_CONFIG: the address is
 * malformed, or other machines can reach it and there is no token, or the token file is not safe.
 * ICESTREAM_E_MEMORY. */
int ics_listener_check(const char *address, const char *token_file, icestream_error *error);

/* Removes incomplete messages that killed processes left in the folder, and starts to listen.
 * Clients are served while the loop runs. Texts in `options` are copied. Errors as for
 * ics_listener_check(), and ICESTREAM_E_FAILED: the address is in use; ICESTREAM_E_OUTPUT: the
 * folder cannot be read. */
int ics_listener_create(uv_loop_t *loop, const ics_listener_options *options,
                        const ics_listener_events *events, ics_listener **out,
                        icestream_error *error);

/* The address in the form of source.listen, with the port that was assigned. */
const char *ics_listener_address(const ics_listener *listener);
ics_listener_counts ics_listener_counted(const ics_listener *listener);

/* Sends a line to a client. Returns false if the client has gone, or had to be dropped because it
 * does not read its answers. */
bool ics_listener_answer(ics_listener *listener, uint64_t client, const json_t *answer);
/* The caller has finished with a message, so the client may send another one. Send the answer
 * before: a client that has closed its side is dropped when its last message is released. Does
 * nothing if the client has gone. */
void ics_listener_release(ics_listener *listener, uint64_t client);

/* Answers a message and releases it. If the client asked for hits and `hits` is not NULL, the path
 * of a complete hit file, the file follows the answer, and the message is released when the system
 * has taken its last byte: a client that does not read can have no more than its `credits`
 * messages under way. Does nothing if the client has gone. */
void ics_listener_finish(ics_listener *listener, uint64_t client, json_t *answer, const char *hits);

/* Accepts no more clients and messages. Incomplete messages are refused; complete ones may still be
 * delivered. Clients stay connected for the answers to messages that are not released yet. */
void ics_listener_stop(ics_listener *listener);
/* Stops, and drops all clients without further events. The listener is freed when the loop has
 * closed everything: run the loop until then. Accepts NULL. */
void ics_listener_close(ics_listener *listener);

#endif
