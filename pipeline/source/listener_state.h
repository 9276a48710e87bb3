/* The listener and its clients; private to listener*.c. Everything belongs to the loop's thread,
 * but for what a spool job is about while it is out. */
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
    ICS_CLIENT_LINE = ICS_LISTEN_TOKEN_MAX + 16, /* longest first line */
    ICS_CLIENT_STRANGERS = 64,     /* clients beside those that were let in, at a time */
    ICS_CLIENT_TOKEN_TIME = 10000, /* ms for the first line */
    ICS_CLIENT_LINGER = 2000 /* ms for which one that is sent away may go on reading its answer */
};

typedef enum ics_client_phase {
    ICS_CLIENT_TOKEN,    /* its first line is to come */
    ICS_CLIENT_MESSAGES, /* it sends messages */
    ICS_CLIENT_LEAVING   /* nothing is taken any more, it may read its answers */
} ics_client_phase;

/* What a worker does for a client: part of a message to the disk. */
typedef struct ics_spool_job {
    uv_work_t request;
    const unsigned char *header, *rows; /* in the frame, in the chunk */
    size_t header_size, rows_size;
    bool begins, ends; /* the message */
    bool abandons;     /* the part is to be removed, nothing else */
    char *path;        /* if it ends: the message's name from then on */
    icestream_error error;
} ics_spool_job;

typedef struct ics_client ics_client;
struct ics_client {
    ics_client *next;
    ics_listener *listener;
    uint64_t number;
    ics_client_phase phase;
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

    char line[ICS_CLIENT_LINE];
    size_t line_size;
    unsigned char *chunk; /* [ICS_CLIENT_CHUNK] */
    size_t chunk_size, chunk_at;

    ics_message_frame *frame;
    uint64_t message;            /* that comes in */
    bool discarding;             /* its rest: it was refused */
    uint32_t unreleased;         /* messages with the caller */
    ics_incoming_file *incoming; /* with the job while that is out */
    bool busy;                   /* the job is out */
    ics_spool_job job;

    char *answers; /* that could not be sent yet */
    size_t answers_size;
    char *left; /* why it has to leave; NULL: not known */
};

struct ics_listener {
    uv_loop_t *loop;
    ics_listener_events events;
    bool has_token;
    ics_listen_token token;
    char *folder;
    char prefix[64]; /* of the names of its files */
    uint32_t clients_limit, credits;
    uint64_t message_limit;
    uint64_t idle; /* ms */

    ics_listen_socket listening;
    uv_poll_t poll;
    uv_timer_t retry; /* of accepting, when there were no descriptors left */
    bool in_trouble;
    int open_handles;
    bool stopping, closing;

    ics_client *first;
    uint32_t clients_open; /* in the list, those that leave included */
    uint64_t last_client;
    uint64_t sequence; /* of files */
    ics_listener_counts counts;
    uint64_t strangers_reported; /* when one that was not let in was last reported, ms */
    uint64_t strangers;          /* not reported since */
};

/* Takes over a connection. ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED: it is closed. */
int ics_listener_client_create(ics_listener *listener, int descriptor, icestream_error *error);
/* Goes on as far as possible, after anything that has changed. The client is freed later, by the
 * loop, so that it may be looked at after any of these functions. */
void ics_listener_client_advance(ics_client *client);
/* Closes the connection, at once. */
void ics_listener_client_drop(ics_client *client, const char *reason);

/* Queues a line and sends what can be sent. False: the client is not there any more. */
bool ics_listener_client_report(ics_client *client, const json_t *answer);
/* Sends what waits. */
void ics_listener_client_flush(ics_client *client);
/* Tells the client that a message was refused (`numbered`), or it itself, and reports it. */
void ics_listener_client_refuse(ics_client *client, bool numbered, const char *reason);

/* Sends a part of the message that comes in to the disk; c->job says what. */
void ics_listener_client_spool(ics_client *client);
/* Has the part removed. */
void ics_listener_client_abandon(ics_client *client);
/* A job has come back. */
void ics_listener_client_spooled(ics_client *client);

void ics_listener_report(ics_listener *listener, ics_listener_event event, uint64_t client,
                         uint64_t message, const char *text);
/* A client is freed: so is the listener if it was the last thing to wait for. */
void ics_listener_forget(ics_client *client);

#endif
