/* The secret that clients must know before anything is taken from them. */
#ifndef ICS_SOURCE_LISTEN_TOKEN_H
#define ICS_SOURCE_LISTEN_TOKEN_H

#include "pipeline/files/digest.h"

enum { ICS_LISTEN_TOKEN_MIN = 16, ICS_LISTEN_TOKEN_MAX = 1024 }; /* characters */

/* What is kept of a token. */
typedef struct ics_listen_token {
    char digest[ICS_DIGEST_TEXT];
} ics_listen_token;

/* Reads the first line of a file: printable characters, no blanks. ICESTREAM_E_CONFIG: cannot be
 * read, no regular file, belongs to somebody else, or others than its owner may do something with
 * it. ICESTREAM_E_MEMORY. */
int ics_listen_token_read(const char *path, ics_listen_token *out, icestream_error *error);

/* Whether these bytes are the token; takes the same time whatever they are. */
bool ics_listen_token_matches(const ics_listen_token *token, const void *bytes, size_t size);

#endif
