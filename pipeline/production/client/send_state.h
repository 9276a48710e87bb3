/* The state of `icestream send`; private to pipeline/production/client. One thread. The files use
 * each other in this order, from the lowest: send_queue.c, send_hits.c, send_answers.c,
 * send_link.c, send.c.
 */
#ifndef ICS_PRODUCTION_CLIENT_SEND_STATE_H
#define ICS_PRODUCTION_CLIENT_SEND_STATE_H

#include "pipeline/photons/files/access_token.h"
#include "pipeline/photons/files/format/digest.h"
#include "pipeline/production/client/send.h"
#include "pipeline/production/source/listen_address.h"
#include "pipeline/production/source/message_frame.h"

#include <jansson.h>
#include <stdio.h>

enum {
    ICS_SEND_WINDOW = 4,       /* messages under way; a listener reads no more of a client */
    ICS_SEND_BLOCK = 64 << 10, /* bytes at a time */
    ICS_SEND_LEAST = 1024,     /* bytes that show that a connection is of use */
    ICS_SEND_DAMAGED = 5       /* hit files that may come damaged before we give up */
};

/* A message that is under way. */
typedef struct ics_send_message {
    bool used;
    char *input;         /* the name of its file, for people */
    char *stem;          /* of its hit file */
    int descriptor;      /* of the step file, or of a temporary copy of a message of stdin */
    uint64_t size, sent; /* bytes */
    int64_t number;      /* on this connection; -1: it was not begun on this connection */
    bool was_sent;       /* on an earlier connection */
    bool is_received;    /* this was answered on this connection */
} ics_send_message;

/* The hit file that is being received. */
typedef struct ics_send_body {
    ics_send_message *message; /* NULL: a line is expected */
    FILE *file;
    char *part, *path; /* NULL with standard output */
    uint64_t rest;
    ics_digest *digest;
    json_t *answer;
} ics_send_body;

typedef struct ics_send_state {
    const ics_send_options *options;
    ics_send_counts *counts;
    char token[ICS_ACCESS_TOKEN_MAX + 1];

    char *const *files;
    size_t file_count, next_file;
    ics_send_message messages[ICS_SEND_WINDOW];

    ics_message_frame *stream; /* of standard input; NULL: it was not begun or has ended */
    FILE *copy;                /* of the message of standard input that is being read */
    uint64_t copy_size, streamed;
    unsigned char block[ICS_SEND_BLOCK]; /* of standard input */
    size_t block_at, block_size;

    int descriptor; /* of the connection; -1: there is none */
    int64_t next_number;
    char greeting[ICS_ACCESS_TOKEN_MAX + 32];
    size_t greeting_size, greeting_sent;
    char line[ICS_SEND_BLOCK];
    size_t line_size;
    ics_send_body body;
    unsigned damaged;
    bool lost;                /* the connection is to be made again */
    double last;              /* time of the last answer about a message, or of a new message */
    double exchanged;         /* time of the last answer or ICS_SEND_LEAST bytes, or later */
    uint64_t moved;           /* bytes of messages and hits since then */
    char cause[256];          /* why the connection was lost */
    icestream_error refusals; /* of messages */
    size_t refusal_count;
} ics_send_state;

/* ---- send_queue.c: what is to be sent */

/* Fills unused messages of the window from files. ICESTREAM_E_OUTPUT: a hit file exists. */
int ics_send_queue_fill(ics_send_state *state, icestream_error *error);
/* Whether standard input should be read now. */
bool ics_send_queue_reads(const ics_send_state *state);
/* Reads once from standard input. ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT. */
int ics_send_queue_read(ics_send_state *state, icestream_error *error);
/* Whether a message is under way. */
bool ics_send_queue_has_messages(const ics_send_state *state);
/* Whether nothing is left to send and no answer is missing. */
bool ics_send_queue_is_empty(const ics_send_state *state);
/* The message of this number on this connection, or NULL. */
ics_send_message *ics_send_queue_find(ics_send_state *state, int64_t number);
/* The message whose bytes come next, or NULL. */
ics_send_message *ics_send_queue_next(ics_send_state *state);
void ics_send_queue_remove(ics_send_message *message);
/* Notes that a message was refused. */
void ics_send_queue_refuse(ics_send_state *state, const char *input, const char *reason);
/* Allocates the name of a hit file without its ending. */
char *ics_send_queue_stem(const char *path);
/* Notes that bytes of messages or hits were sent or received; ICS_SEND_LEAST: an answer. */
void ics_send_queue_move(ics_send_state *state, uint64_t bytes);
/* Notes why the connection is lost. */
void ics_send_queue_lost(ics_send_state *state, const char *cause);

/* ---- send_hits.c: hit files that come */

/* Begins to receive the hits of a message. ICESTREAM_E_OUTPUT. */
int ics_send_hits_begin(ics_send_state *state, ics_send_message *message, json_t *answer,
                        icestream_error *error);
/* Takes bytes; *taken: how many. Errors as above. *whole: the file is complete, was verified
 * and has its name. */
int ics_send_hits_add(ics_send_state *state, const void *bytes, size_t size, size_t *taken,
                      bool *whole, icestream_error *error);
/* Forgets an incomplete file. */
void ics_send_hits_abandon(ics_send_state *state);

/* ---- send_answers.c */

/* Receives once and follows the answers. ICESTREAM_E_... as ics_send(). */
int ics_send_answers_receive(ics_send_state *state, icestream_error *error);

/* ---- send_link.c: the connection */

/* Connects. Returns 0 if it is connected, 1 if the server cannot be reached now, or an error:
 * ICESTREAM_E_CONFIG. */
int ics_send_link_open(ics_send_state *state, icestream_error *error);
/* Closes the connection; messages without an answer `done` will be sent again. */
void ics_send_link_close(ics_send_state *state);
/* Sends what the system takes. */
void ics_send_link_send(ics_send_state *state);
#endif
