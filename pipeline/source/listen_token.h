/* The secret that clients must know before anything is taken from them. */
#ifndef IS_LISTEN_TOKEN_H
#define IS_LISTEN_TOKEN_H

#include "pipeline/files/digest.h"

enum { IS_LISTEN_TOKEN_MIN = 16, IS_LISTEN_TOKEN_MAX = 1024 }; /* characters */

/* What is kept of a token. */
typedef struct is_listen_token {
    char digest[IS_DIGEST_TEXT];
} is_listen_token;

/* Reads the first line of a file: printable characters, no blanks. IS_E_CONFIG: cannot be read, no
 * regular file, belongs to somebody else, or others than its owner may do something with it.
 * IS_E_MEMORY. */
int is_listen_token_read(const char *path, is_listen_token *out, is_error *error);

/* Whether these bytes are the token; takes the same time whatever they are. */
bool is_listen_token_matches(const is_listen_token *token, const void *bytes, size_t size);

#endif
