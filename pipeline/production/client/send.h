/* A client of source.listen: sends step files, waits for the answers, and takes the hits.
 *
 * A message that was not answered `done` is sent again when the connection broke. It may then be
 * computed twice, with the same hits, because hits depend on the steps alone.
 */
#ifndef ICS_PRODUCTION_CLIENT_SEND_H
#define ICS_PRODUCTION_CLIENT_SEND_H

#include "pipeline/icestream.h"

typedef struct ics_send_options {
    const char *address; /* "unix:PATH" or "HOST:PORT" */
    const char *token;   /* a file whose first line is the token; NULL: no token is sent */
    const char *output;  /* a folder for hit files, "-" for standard output; NULL: no hits */
    bool force;          /* existing hit files are replaced */
    double patience;     /* s without any answer `done` after which a lost server is given up */
    double silence;      /* s after which a server is given up that is connected and with which no
                            answer and less than 1024 bytes are exchanged; 0: never */
} ics_send_options;

typedef struct ics_send_counts {
    uint64_t done, refused; /* messages */
    uint64_t repeated;      /* messages that were sent again */
    uint64_t hits;
} ics_send_counts;

/* Sends the files in their order; "-" is a stream of messages on standard input. Writes each answer
 * as a line of JSON, with "input", to standard output, or to standard error if the hits go to
 * standard output. ICESTREAM_E_USAGE; ICESTREAM_E_CONFIG: address or token;
 * ICESTREAM_E_INPUT: some messages were refused, and all others are done; ICESTREAM_E_OUTPUT;
 * ICESTREAM_E_UNFINISHED: the patience ended; ICESTREAM_E_FAILED: the server speaks another
 * protocol. */
int ics_send(const ics_send_options *options, char *const *files, size_t count,
             ics_send_counts *counts, icestream_error *error);

#endif
