/* The listener and its clients; private to listener*.c.
 *
 * Everything belongs to the loop's thread, except that a spool job and client->incoming belong to a
 * worker thread while client->busy is true. The files use each other in this order, from the
 * lowest:
 *   listener_shares  whose message is computed next
 *   listener_hits    hit files that are sent to clients
 *   listener_spool   messages that are written to the disk
 *   listener_end     reports, and the end of a client
 *   listener_answer  lines that are sent to clients
 *   listener_client  one client and its input
 *   listener_offer   hit files that are read before they are sent
 *   listener         the listening socket
 */
#ifndef ICS_PRODUCTION_SOURCE_LISTENER_STATE_H
#define ICS_PRODUCTION_SOURCE_LISTENER_STATE_H

#include "pipeline/photons/files/access_token.h"
#include "pipeline/production/source/incoming_file.h"
#include "pipeline/production/source/listen_address.h"
#include "pipeline/production/source/listener.h"
#include "pipeline/production/source/message_frame.h"

enum {
    ICS_CLIENT_CHUNK = 128 << 10,                /* bytes received at a time */
    ICS_CLIENT_ANSWERS = 64 << 10,               /* bytes that may wait for a client to read them */
    ICS_CLIENT_LINE = ICS_ACCESS_TOKEN_MAX + 16, /* bytes of the longest first line */
    ICS_CLIENT_STRANGERS = 64, /* connections at a time beyond source.clients: clients that have not
                                  sent the token yet, or that are leaving */
    ICS_CLIENT_TOKEN_TIME = 10000, /* ms in which the first line must come */
    ICS_CLIENT_LINGER = 2000,      /* ms in which a leaving client may still read its answers */
    ICS_CLIENT_TURN =
        1 << 20, /* bytes of hits that one client gets before others have their turn */
    ICS_CLIENT_PROGRESS = 1024 /* bytes of a message after which a client has its full time
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
    uint64_t tag;      /* its virtual start */
    uint64_t cost;     /* cost of the message */
    icestream_error error;
} ics_listener_job;

/* What the timer of a client waits for. */
typedef enum ics_client_wait {
    ICS_CLIENT_WAIT_NONE,
    ICS_CLIENT_WAIT_REST, /* the rest of a message */
    ICS_CLIENT_WAIT_NEXT  /* the next message, from a client that has no open answers */
} ics_client_wait;

typedef struct ics_client ics_client;

/* A hit file on its way to a client that asked for hits. A worker thread opens it and computes its
 * digest; then it belongs to the loop's thread. */
typedef struct ics_client_hits ics_client_hits;
struct ics_client_hits {
    ics_client_hits *next;
    ics_client *client;
    uv_work_t request;
    char *path;
    json_t *answer; /* the answer `done` */
    char *line;     /* the same with size and digest, as text */
    size_t line_size, line_sent;
    int descriptor;
    uint64_t size, sent;
    char digest[ICS_DIGEST_TEXT];
    icestream_error error;
};

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
    uint64_t message;    /* number of the message that is being received */
    bool greeted;        /* the line that asks for hits has come, or a message instead of it */
    bool hits;           /* the client wants the hit files of its messages */
    bool passes;         /* the next refusal is for a reason that passes */
    bool discarding;     /* the rest of the message is ignored: it was refused */
    uint32_t unreleased; /* messages that the caller has not released */
    uint64_t *tags;      /* [credits], [0, unreleased) is used: their virtual starts */
    uint64_t next_tag;   /* virtual start of the next message, if the client hurries */
    ics_incoming_file *incoming; /* the file of the message */
    bool busy;                   /* a job runs on a worker thread */
    ics_listener_job job;
    void (*stored)(ics_client *client); /* called on the loop's thread when a job has run */

    ics_client_hits *hits_first;          /* files that are ready to be sent, in this order */
    uint32_t hits_working;                /* files that worker threads are reading */
    uv_timer_t patience;                  /* a client that reads nothing of its hits is dropped */
    void (*impatient)(uv_timer_t *timer); /* called then */

    char *answers; /* what could not be sent yet */
    size_t answers_size;
    char *left; /* why the client was sent away; NULL: no reason is known */
};

struct ics_listener {
    uv_loop_t *loop;
    ics_listener_events events;
    bool has_token;
    ics_access_token token;
    char *folder;
    char prefix[64]; /* prefix of the names of this listener's files */
    uint32_t clients_limit, credits;
    uint64_t message_limit, photon_limit;
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
    uint64_t served;   /* the largest virtual start of a message that was released */
    ics_listener_counts counts;
    uint64_t strangers_reported; /* ms, when a client without the token was last reported */
    uint64_t strangers;          /* such clients that were not reported since */
};

/* ---- listener_spool.c */

/* Starts client->job on a worker thread. */
void ics_listener_client_spool(ics_client *client);
/* Starts a job that removes the file of an incomplete message, if there is one and no job runs. */
void ics_listener_client_abandon(ics_client *client);

/* ---- listener_shares.c: whose message is computed next */

/* The virtual start of the message that the client has just completed. */
uint64_t ics_listener_shares_tag(const ics_client *client);
/* Notes a message that is stored, and one that is released (the oldest one of the client). */
void ics_listener_shares_add(ics_client *client, uint64_t tag, uint64_t cost);
void ics_listener_shares_release(ics_client *client);
/* What a message costs: its photons and its steps, and 1. Reads the file; a file that is no step
 * file costs its size, because nobody computes it, and has no photons. Any thread. */
uint64_t ics_listener_shares_cost(const char *path, uint64_t *photons);

/* ---- listener_end.c */

/* Calls the caller's `report`, unless the listener is being closed. */
void ics_listener_report(ics_listener *listener, ics_listener_event event, uint64_t client,
                         uint64_t message, const char *text);
/* Frees a listener that is being closed as soon as it has no open handles and no clients. */
void ics_listener_free_if_unused(ics_listener *listener);

/* Closes the connection at once. The client is freed later. */
void ics_listener_client_drop(ics_client *client, const char *reason);
/* The client no longer counts for source.clients: it will send no more messages. */
void ics_listener_client_count_out(ics_client *client);
/* Moves the client to ICS_CLIENT_LEAVING, and counts it out. */
void ics_listener_client_begin_leaving(ics_client *client);
/* Frees a dropped client when no handle is open and no job runs. */
void ics_listener_client_release(ics_client *client);

/* Drops a client that reads nothing of its hits. */
void ics_listener_client_on_patience(uv_timer_t *timer);

/* ---- listener_answer.c */

/* Queues a line and sends as much as possible. Returns false if the client cannot be reached. */
bool ics_listener_client_report(ics_client *client, const json_t *answer);
/* Sends as much as possible of what is queued. */
void ics_listener_client_flush(ics_client *client);
/* Answers and reports that the current message (`numbered`) or the client itself was refused. */
void ics_listener_client_refuse(ics_client *client, bool numbered, const char *reason);

/* Hands a stored message to the caller, after the answer `received`. */
void ics_listener_client_deliver(ics_client *client, const char *path);
/* Whether answers or hits wait to be sent. */
bool ics_listener_client_owes(const ics_client *client);

/* ---- listener_hits.c */

/* Takes the line HITS from the chunk, if the client begins with it. Returns why it is refused, or
 * NULL. client->greeted: messages may follow. */
const char *ics_listener_client_greet(ics_client *client);
/* Closes the file and frees everything. */
void ics_listener_hits_destroy(ics_client_hits *hits);
/* Sends the rest of a hit file that was begun. Returns whether lines may be sent now. */
bool ics_listener_client_send_begun(ics_client *client);
/* Begins and sends hit files if no line waits. */
void ics_listener_client_send_hits(ics_client *client);
/* Frees what waits. */
void ics_listener_client_forget_hits(ics_client *client);

/* ---- listener_client.c */

/* Takes over a connection; closes it on errors. ICESTREAM_E_FAILED. */
int ics_listener_client_create(ics_listener *listener, int descriptor, icestream_error *error);
/* Does everything that can be done now. Call it after any change. It may drop the client, but the
 * client is freed only by the loop, after the caller has returned. */
void ics_listener_client_advance(ics_client *client);

/* ---- listener_offer.c */

/* Starts to read a hit file on a worker thread; it is sent later, and then the message is released.
 * Takes a reference of `answer`. */
void ics_listener_client_offer_hits(ics_client *client, json_t *answer, const char *path);

#endif
