/* The address of a queue, redis://[USER@]HOST[:PORT]/STREAM, and the password that belongs to it.
 * rediss:// is the same through TLS. */
#ifndef ICS_PRODUCTION_QUEUE_ADDRESS_H
#define ICS_PRODUCTION_QUEUE_ADDRESS_H

#include "pipeline/icestream.h"

enum {
    ICS_QUEUE_STREAM_MAX = 200, /* bytes of the name of a stream */
    ICS_QUEUE_USER_MAX = 200,
    ICS_QUEUE_SECRET_MAX = 1024 /* characters of a password */
};

/* Where a queue is, and how to get in. The texts are not owned. */
typedef struct ics_queue_login {
    const char *url;
    const char *password; /* a file with the password in its first line; NULL: the environment
                             variable ICESTREAM_QUEUE_PASSWORD, or no password */
    const char *ca;       /* a file with the certificates that may sign that of the broker (PEM);
                             NULL: those of the system */
    const char *key, *password_key; /* how messages name the first two: keys or options */
} ics_queue_login;

typedef struct ics_queue_address {
    char host[256];
    uint16_t port;
    bool tls;
    char user[ICS_QUEUE_USER_MAX + 1]; /* "": the default user of the broker */
    char stream[ICS_QUEUE_STREAM_MAX + 1];
    char shown[ICS_QUEUE_STREAM_MAX + 300]; /* the address for people, without the user */
} ics_queue_address;

/* Whether the text begins like the address of a queue: redis:// or rediss://. */
bool ics_queue_is_address(const char *text);

/* Splits login->url. ICESTREAM_E_CONFIG: it is no address of a queue; or it has a password, which
 * everybody could read in the list of processes. The message does not show the password. */
int ics_queue_address_parse(const ics_queue_login *login, ics_queue_address *out,
                            icestream_error *error);

/* Looks at the file of certificates, and reads the password. "": there is none. The caller wipes it
 * with ics_queue_secret_wipe(). Newlines at the end of the environment variable are no part of the
 * password. ICESTREAM_E_CONFIG: one of the files is not readable, or others may read the password;
 * the variable has a control character; the broker can be reached by other machines, and there is
 * neither a password nor TLS. */
int ics_queue_secret_read(const ics_queue_login *login, const ics_queue_address *address,
                          char secret[ICS_QUEUE_SECRET_MAX + 1], icestream_error *error);
void ics_queue_secret_wipe(char secret[ICS_QUEUE_SECRET_MAX + 1]);

#endif
