/* The listener and its clients; private to listener*.c. Everything belongs to the loop's thread,
 * but for what a spool job is about while it is out. */
#ifndef IS_LISTENER_STATE_H
#define IS_LISTENER_STATE_H

#include "pipeline/source/incoming_file.h"
#include "pipeline/source/listen_address.h"
#include "pipeline/source/listen_token.h"
#include "pipeline/source/listener.h"
#include "pipeline/source/message_frame.h"

enum {
    IS_CLIENT_CHUNK = 128 << 10,               /* bytes received at a time */
    IS_CLIENT_ANSWERS = 64 << 10,              /* bytes that may wait for a client to read them */
    IS_CLIENT_LINE = IS_LISTEN_TOKEN_MAX + 16, /* longest first line */
    IS_CLIENT_STRANGERS = 64,     /* clients beside those that were let in, at a time */
    IS_CLIENT_TOKEN_TIME = 10000, /* ms for the first line */
    IS_CLIENT_LINGER = 2000 /* ms for which one that is sent away may go on reading its answer */
};

typedef enum is_client_phase {
    IS_CLIENT_TOKEN,    /* its first line is to come */
    IS_CLIENT_MESSAGES, /* it sends messages */
    IS_CLIENT_LEAVING   /* nothing is taken any more, it may read its answers */
} is_client_phase;

/* What a worker does for a client: part of a message to the disk. */
typedef struct is_spool_job {
    uv_work_t request;
    const unsigned char *header, *rows; /* in the frame, in the chunk */
    size_t header_size, rows_size;
    bool begins, ends; /* the message */
    bool abandons;     /* the part is to be removed, nothing else */
    char *path;        /* if it ends: the message's name from then on */
    is_error error;
} is_spool_job;

typedef struct is_client is_client;
struct is_client {
    is_client *next;
    is_listener *listener;
    uint64_t number;
    is_client_phase phase;
    bool joined; /* it was let in */

    int descriptor;
    uv_poll_t poll;
    uv_timer_t timer; /* idle, or time to leave */
    int polled;       /* for these events */
    int open_handles;
    bool ended;   /* its input */
    bool mute;    /* it hears nothing any more */
    bool shut;    /* nothing more will be sent */
    bool closing; /* only to be freed */

    char line[IS_CLIENT_LINE];
    size_t line_size;
    unsigned char *chunk; /* [IS_CLIENT_CHUNK] */
    size_t chunk_size, chunk_at;

    is_message_frame *frame;
    uint64_t message;           /* that comes in */
    bool discarding;            /* its rest: it was refused */
    uint32_t unreleased;        /* messages with the caller */
    is_incoming_file *incoming; /* with the job while that is out */
    bool busy;                  /* the job is out */
    is_spool_job job;

    char *answers; /* that could not be sent yet */
    size_t answers_size;
    char *left; /* why it has to leave; NULL: not known */
};

struct is_listener {
    uv_loop_t *loop;
    is_listener_events events;
    bool has_token;
    is_listen_token token;
    char *folder;
    char prefix[64]; /* of the names of its files */
    uint32_t clients_limit, credits;
    uint64_t message_limit;
    uint64_t idle; /* ms */

    is_listen_socket listening;
    uv_poll_t poll;
    uv_timer_t retry; /* of accepting, when there were no descriptors left */
    bool in_trouble;
    int open_handles;
    bool stopping, closing;

    is_client *first;
    uint32_t clients_open; /* in the list, those that leave included */
    uint64_t last_client;
    uint64_t sequence; /* of files */
    is_listener_counts counts;
    uint64_t strangers_reported; /* when one that was not let in was last reported, ms */
    uint64_t strangers;          /* not reported since */
};

/* Takes over a connection. IS_E_MEMORY, IS_E_FAILED: it is closed. */
int is_client_create(is_listener *listener, int descriptor, is_error *error);
/* Goes on as far as possible, after anything that has changed. The client is freed later, by the
 * loop, so that it may be looked at after any of these functions. */
void is_client_advance(is_client *client);
/* Closes the connection, at once. */
void is_client_drop(is_client *client, const char *reason);

/* Queues a line and sends what can be sent. False: the client is not there any more. */
bool is_client_tell(is_client *client, const json_t *answer);
/* Sends what waits. */
void is_client_flush(is_client *client);
/* Tells the client that a message was refused (`numbered`), or it itself, and reports it. */
void is_client_refuse(is_client *client, bool numbered, const char *reason);

/* Sends a part of the message that comes in to the disk; c->job says what. */
void is_client_spool(is_client *client);
/* Has the part removed. */
void is_client_abandon(is_client *client);
/* A job has come back. */
void is_client_spooled(is_client *client);

void is_listener_report(is_listener *listener, is_listener_event event, uint64_t client,
                        uint64_t message, const char *text);
/* A client is freed: so is the listener if it was the last thing to wait for. */
void is_listener_forget(is_client *client);

#endif
