/* Where clients may come from: a Unix-domain socket, or TCP. */
#ifndef ICS_SOURCE_LISTEN_ADDRESS_H
#define ICS_SOURCE_LISTEN_ADDRESS_H

#include "pipeline/icestream.h"

#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>

typedef struct ics_listen_address {
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } socket;
    socklen_t size;
    bool loopback; /* only processes of this machine reach it */
} ics_listen_address;

/* A socket that listens. */
typedef struct ics_listen_socket {
    int descriptor;
    char text[sizeof(struct sockaddr_un) + 16]; /* "unix:PATH", "127.0.0.1:4711", "[::1]:4711" */
    char path[sizeof(struct sockaddr_un)];      /* of a Unix-domain socket; empty: TCP */
    dev_t device;                               /* what stands under that path */
    ino_t number;
} ics_listen_socket;

/* Reads "unix:PATH", "ADDRESS:PORT", "[ADDRESS]:PORT", "localhost:PORT" or, if `names` is true,
 * "NAME:PORT", which may wait for a name server. Port 0: any that is free. ICESTREAM_E_CONFIG. */
int ics_listen_address_parse(const char *text, bool names, ics_listen_address *out,
                             icestream_error *error);

/* Binds and listens; the descriptor does not block. The file of a Unix-domain socket has mode 0600
 * from the beginning. One that a dead process left is replaced; one that a process listens on, and
 * anything that is no socket, is an error. ICESTREAM_E_FAILED. */
int ics_listen_socket_open(const ics_listen_address *address, ics_listen_socket *out,
                           icestream_error *error);
/* Closes it and removes its file, unless somebody has put another one there. */
void ics_listen_socket_close(ics_listen_socket *listening);

#endif
