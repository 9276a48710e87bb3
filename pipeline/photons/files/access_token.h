/* A token: the secret that clients of a listener must send. */
#ifndef ICS_PHOTONS_FILES_ACCESS_TOKEN_H
#define ICS_PHOTONS_FILES_ACCESS_TOKEN_H

#include "pipeline/photons/files/format/digest.h"

#include <sys/stat.h>

enum { ICS_ACCESS_TOKEN_MIN = 16, ICS_ACCESS_TOKEN_MAX = 1024 }; /* characters */

/* The digest of a token. The token itself is not kept in memory. */
typedef struct ics_access_token {
    char digest[ICS_DIGEST_TEXT];
} ics_access_token;

/* The permissions that a file with a secret gives to other users and must not give; 0: there are
 * none. The group may read a file of root: Kubernetes (fsGroup) and systemd (LoadCredential=, whose
 * list of users shows as the permissions of the group) hand secrets to a process in this way, and
 * only root decides which users are in that group. A file of an ordinary user often has a group
 * with all users of the machine, so its group may do nothing. */
unsigned ics_access_mode_for_others(const struct stat *about);

/* Reads a token from the first line of a file: printable characters without blanks. `key`: of the
 * configuration, for errors, such as "source.token". ICESTREAM_E_CONFIG: the file cannot be read,
 * is not a regular file, belongs to another user, or gives permissions to other users.
 * ICESTREAM_E_MEMORY. */
int ics_access_token_read(const char *key, const char *path, ics_access_token *out,
                          icestream_error *error);

/* Reads a secret that must be sent to others, such as a password, from the first line of a file:
 * 1 to size - 1 printable characters without blanks. The caller wipes it. Errors as above. */
int ics_access_secret_read(const char *key, const char *path, char *out, size_t size,
                           icestream_error *error);

/* Whether these bytes are the token. The time that this takes does not depend on the bytes. */
bool ics_access_token_matches(const ics_access_token *token, const void *bytes, size_t size);

#endif
