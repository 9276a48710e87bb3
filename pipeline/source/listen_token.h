/* The token: the secret that clients must send before their messages are accepted. */
#ifndef ICS_SOURCE_LISTEN_TOKEN_H
#define ICS_SOURCE_LISTEN_TOKEN_H

#include "pipeline/files/digest.h"

enum { ICS_LISTEN_TOKEN_MIN = 16, ICS_LISTEN_TOKEN_MAX = 1024 }; /* characters */

/* The digest of a token. The token itself is not kept in memory. */
typedef struct ics_listen_token {
    char digest[ICS_DIGEST_TEXT];
} ics_listen_token;

/* Reads a token from the first line of a file: printable characters without blanks.
 * ICESTREAM_E_CONFIG: the file cannot be read, is not a regular file, belongs to another user, or
 * gives permissions to other users. ICESTREAM_E_MEMORY. */
int ics_listen_token_read(const char *path, ics_listen_token *out, icestream_error *error);

/* Whether these bytes are the token. The time that this takes does not depend on the bytes. */
bool ics_listen_token_matches(const ics_listen_token *token, const void *bytes, size_t size);

#endif
