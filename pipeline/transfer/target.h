/* Where a URL leads: the URL for HTTP, and the credentials for its requests. Secrets stay in this
 * structure. */
#ifndef ICS_TRANSFER_TARGET_H
#define ICS_TRANSFER_TARGET_H

#include "base/url.h"
#include "pipeline/transfer/transfer.h"

typedef enum ics_transfer_scheme {
    ICS_TRANSFER_FILE,
    ICS_TRANSFER_HTTP,
    ICS_TRANSFER_S3
} ics_transfer_scheme;

typedef struct ics_transfer_target {
    ics_transfer_scheme scheme;
    char shown[ICS_URL_MOST + 1]; /* the URL as given, without its secrets, for people */
    char *url;                    /* HTTP and S3: the URL of requests. FILE: the path */
    char *bearer;                 /* HTTP: a token; NULL: none */
    char *user;                   /* S3: "KEY:SECRET" */
    char *session;                /* S3: "x-amz-security-token: ..."; NULL: none */
    char *signing;                /* S3: "aws:amz:REGION:s3" */
    char *authorities;            /* a file of TLS authorities; NULL: those of the system */
} ics_transfer_target;

/* ICESTREAM_E_CONFIG: as ics_transfer_check(). ICESTREAM_E_MEMORY. The caller closes *out, also
 * after an error. */
int ics_transfer_target_open(const char *url, ics_transfer_target *out, icestream_error *error);
void ics_transfer_target_close(ics_transfer_target *target);

/* Writes all bytes but those of `kept` and the unreserved ones of URLs as %XX. NULL: out of memory.
 * The caller frees it. */
char *ics_transfer_encode(const char *text, const char *kept);

#endif
