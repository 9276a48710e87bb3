/* The sockets that clients connect to: a Unix-domain socket, or TCP. */
#ifndef ICS_PRODUCTION_SOURCE_LISTEN_ADDRESS_H
#define ICS_PRODUCTION_SOURCE_LISTEN_ADDRESS_H

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
    bool loopback; /* only processes of this machine can connect */
} ics_listen_address;

/* A socket that listens. */
typedef struct ics_listen_socket {
    int descriptor;
    char text[sizeof(struct sockaddr_un) + 16]; /* "unix:PATH", "127.0.0.1:4711", "[::1]:4711" */
    char path[sizeof(struct sockaddr_un)];      /* of a Unix-domain socket; empty: TCP */
    dev_t device;                               /* device and inode of the file of the socket */
    ino_t number;
} ics_listen_socket;

/* Reads "unix:PATH", "ADDRESS:PORT", "[ADDRESS]:PORT", "localhost:PORT" or, if `names` is true,
 * "NAME:PORT", which may wait for a name server. Port 0: any free port. ICESTREAM_E_CONFIG. */
int ics_listen_address_parse(const char *text, bool names, ics_listen_address *out,
                             icestream_error *error);

/* Writes a TCP address as "127.0.0.1:4711" or "[::1]:4711". */
void ics_listen_address_text(const ics_listen_address *address, char *text, size_t size);

/* Binds and listens; the descriptor does not block. The file of a Unix-domain socket has mode 0600
 * from the beginning. The socket of a dead process is replaced. It is an error if a process listens
 * on the socket, or if something else has the name. ICESTREAM_E_FAILED. */
int ics_listen_socket_open(const ics_listen_address *address, ics_listen_socket *out,
                           icestream_error *error);
/* Closes the socket and removes its file, unless another file has its name now. */
void ics_listen_socket_close(ics_listen_socket *listening);

#endif
