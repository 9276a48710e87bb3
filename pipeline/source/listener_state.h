/* The listener and its clients; private to listener*.c.
 *
 * Everything belongs to the loop's thread, except that a spool job and client->incoming belong to a
 * worker thread while client->busy is true. The files use each other in this order, from the
 * lowest: listener_state.c, listener_spool.c, listener_end.c, listener_answer.c, listener_client.c,
 * listener.c.
 */
#ifndef ICS_SOURCE_LISTENER_STATE_H
#define ICS_SOURCE_LISTENER_STATE_H

#include "pipeline/source/incoming_file.h"
#include "pipeline/source/listen_address.h"
#include "pipeline/source/listen_token.h"
#include "pipeline/source/listener.h"
#include "pipeline/source/message_frame.h"

enum {
    ICS_CLIENT_CHUNK = 128 << 10,                /* bytes received at a time */
    ICS_CLIENT_ANSWERS = 64 << 10,               /* bytes that may wait for a client to read them */
    ICS_CLIENT_LINE = ICS_LISTEN_TOKEN_MAX + 16, /* bytes of the longest first line */
    ICS_CLIENT_STRANGERS = 64, /* connections at a time beyond source.clients: clients that have not
                                  sent the token yet, or that are leaving */
    ICS_CLIENT_TOKEN_TIME = 10000, /* ms in which the first line must come */
    ICS_CLIENT_LINGER = 2000,      /* ms in which a leaving client may still read its answers */
    ICS_CLIENT_PROGRESS = 1024     /* bytes of a message after which a client has its full time
                                      again; a byte now and then does not keep half a message alive */
};

typedef enum ics_client_phase {
    ICS_CLIENT_TOKEN,    /* the first line is expected */
    ICS_CLIENT_MESSAGES, /* the client sends messages */
    ICS_CLIENT_LEAVING   /* input is ignored; the client may still read its answers */
} ics_client_phase;

/* What a worker thread does for a client: it writes a part of a message to the disk. */
typedef struct ics_listener_job {
    uv_work_t request;
    const unsigned char *header, *rows; /* in the frame; in the chunk */
    size_t header_size, rows_size;
    bool begins, ends; /* this part begins the message; ends it */
    bool abandons;     /* instead, the file of the message is removed */
    char *path;        /* if `ends`: the final name of the message's file */
    icestream_error error;
} ics_listener_job;

/* What the timer of a client waits for. */
typedef enum ics_client_wait {
    ICS_CLIENT_WAIT_NONE,
    ICS_CLIENT_WAIT_REST, /* the rest of a message */
    ICS_CLIENT_WAIT_NEXT  /* the next message, from a client that has no open answers */
} ics_client_wait;

typedef struct ics_client ics_client;
struct ics_client {
    ics_client *next;
    ics_listener *listener;
    uint64_t number;
    ics_client_phase phase;
    bool joined;  /* it has reached ICS_CLIENT_MESSAGES */
    bool counted; /* it counts for source.clients: it may send more messages */

    int descriptor;
    uv_poll_t poll;
    uv_timer_t timer; /* for the first line, for the rest of a message, for leaving */
    int polled;       /* the events that `poll` waits for */
    ics_client_wait waits;
    uint64_t rest_time; /* ms that are left for the rest of the message; 0: the full time */
    uint64_t progress;  /* bytes received since the full time began */
    int open_handles;
    bool ended;   /* the client has closed its side: no more input */
    bool reset;   /* the connection broke: what came may end in the middle of a message */
    bool mute;    /* nothing can be sent to the client any more */
    bool shut;    /* our side is closed: nothing more will be sent */
    bool closing; /* the connection is closed; the client is freed soon */

    char line[ICS_CLIENT_LINE]; /* the first line, as far as received */
    size_t line_size;
    unsigned char *chunk; /* [ICS_CLIENT_CHUNK], the last bytes received */
    size_t chunk_size, chunk_at;

    ics_message_frame *frame;
    uint64_t message;            /* number of the message that is being received */
    bool discarding;             /* the rest of the message is ignored: it was refused */
    uint32_t unreleased;         /* messages that the caller has not released */
    ics_incoming_file *incoming; /* the file of the message */
    bool busy;                   /* a job runs on a worker thread */
    ics_listener_job job;
    void (*stored)(ics_client *client); /* called on the loop's thread when a job has run */

    char *answers; /* what could not be sent yet */
    size_t answers_size;
    char *left; /* why the client was sent away; NULL: no reason is known */
};

struct ics_listener {
    uv_loop_t *loop;
    ics_listener_events events;
    bool has_token;
    ics_listen_token token;
    char *folder;
    char prefix[64]; /* of the names of this listener's files */
    uint32_t clients_limit, credits;
    uint64_t message_limit;
    uint64_t idle;      /* ms without progress inside a message */
    uint64_t next_time; /* ms without a message */

    ics_listen_socket listening;
    uv_poll_t poll;
    uv_timer_t retry; /* after descriptors or memory had run out for a new connection */
    bool in_trouble;  /* this was reported */
    int open_handles;
    bool stopping, closing;

    ics_client *first;
    uint32_t clients_open; /* in the list, including leaving clients */
    uint64_t last_client;
    uint64_t sequence; /* number of the next file */
    ics_listener_counts counts;
    uint64_t strangers_reported; /* ms, when a client without the token was last reported */
    uint64_t strangers;          /* such clients that were not reported since */
};

/* ---- listener_state.c */

/* Calls the caller's `report`, unless the listener is being closed. */
void ics_listener_report(ics_listener *listener, ics_listener_event event, uint64_t client,
                         uint64_t message, const char *text);
/* Frees a listener that is being closed as soon as it has no open handles and no clients. */
void ics_listener_free_if_unused(ics_listener *listener);
/* Removes a client from the list. May free the listener. */
void ics_listener_forget(ics_client *client);

/* Describes where the client comes from, as far as the system knows. */
void ics_listener_client_describe(const ics_client *client, char *text, size_t size);
/* Whether the client has closed its connection, and not only its side. */
bool ics_listener_client_has_gone(const ics_client *client);

/* ---- listener_spool.c */

/* Starts client->job on a worker thread. */
void ics_listener_client_spool(ics_client *client);
/* Starts a job that removes the file of an incomplete message, if there is one and no job runs. */
void ics_listener_client_abandon(ics_client *client);

/* ---- listener_end.c */

/* Closes the connection at once. The client is freed later. */
void ics_listener_client_drop(ics_client *client, const char *reason);
/* The client no longer counts for source.clients: it will send no more messages. */
void ics_listener_client_count_out(ics_client *client);
/* Moves the client to ICS_CLIENT_LEAVING, and counts it out. */
void ics_listener_client_begin_leaving(ics_client *client);
/* Frees a dropped client when no handle is open and no job runs. */
void ics_listener_client_release(ics_client *client);

/* ---- listener_answer.c */

/* Queues a line and sends as much as possible. Returns false if the client cannot be reached. */
bool ics_listener_client_report(ics_client *client, const json_t *answer);
/* Sends as much as possible of what is queued. */
void ics_listener_client_flush(ics_client *client);
/* Answers and reports that the current message (`numbered`) or the client itself was refused. */
void ics_listener_client_refuse(ics_client *client, bool numbered, const char *reason);

/* ---- listener_client.c */

/* Takes over a connection; closes it on errors. ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED. */
int ics_listener_client_create(ics_listener *listener, int descriptor, icestream_error *error);
/* Does everything that can be done now. Call it after any change. It may drop the client, but the
 * client is freed only by the loop, after the caller has returned. */
void ics_listener_client_advance(ics_client *client);

#endif
