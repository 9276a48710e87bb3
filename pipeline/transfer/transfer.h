/* Moves whole files between this machine and a URL, without a program of the user:
 *
 *     file:///FOLDER/NAME            a file of this machine
 *     http://HOST/... https://...    GET, and PUT with `If-None-Match: *`
 *     s3://BUCKET/KEY                an object store that speaks S3; requests are signed (SigV4)
 *
 * All functions wait for the network and may be called on any thread, also on several at a time.
 * errand.h runs them next to a loop. docs/transfers.md says where credentials come from: from the
 * environment and from files, and never from an argument. No error text has a secret.
 *
 * An error whose cause may pass (ics_error_may_pass) is worth another try: a connection that broke,
 * HTTP 5xx, 408, 409 and 429, a checksum that differs. After any other error (HTTP 403 or 404, a
 * file of another content at the URL) another try would end in the same way.
 */
#ifndef ICS_TRANSFER_TRANSFER_H
#define ICS_TRANSFER_TRANSFER_H

#include "pipeline/files/format/digest.h"

#include <errno.h>
#include <stdatomic.h>

/* The cause of an error: the server says that there is no such file (HTTP 404 and 410). No other
 * error has it. */
#define ICS_TRANSFER_MISSING ENODATA
#define ICS_TRANSFER_ANY     UINT64_MAX
/* The text of an error, with the URL. */
#define ICS_TRANSFER_OTHER                                                                         \
    "%.2000s: found a file with other bytes there, expected none or the same; --force replaces it"

typedef struct ics_transfer_request {
    const char *url;    /* ics_url_fault() finds nothing in it */
    const char *path;   /* the file of this machine */
    const char *sha256; /* of a fetched file, 64 lower-case hexadecimal digits; NULL: not known */
    uint64_t bytes;     /* of a fetched file; ICS_TRANSFER_ANY: not known */
    bool replaces;      /* shipping replaces what is at the URL; false: this is an error */
    uint64_t part;      /* files above this size are shipped to S3 in parts of it; 0: 16 MiB.
                           Servers of S3 want 5 MiB or more */
    const atomic_bool *cancel; /* true ends the transfer soon; NULL: nothing does */
} ics_transfer_request;

typedef struct ics_transfer_result {
    uint64_t bytes;   /* of the file */
    uint64_t resumed; /* of these, bytes that an earlier attempt had fetched */
    char sha256[ICS_DIGEST_TEXT];
    bool was_there; /* shipping found the same bytes at the URL */
} ics_transfer_result;

/* Whether these functions can move files from and to the URL, and have what they need: a build with
 * libcurl, and credentials for S3. ICESTREAM_E_CONFIG; the text says "found ..., expected ...". */
int ics_transfer_check(const char *url, icestream_error *error);

/* Fetches the file. It appears under `path` when it is whole and its checksums are right, and never
 * before; a file that has this name is replaced, and a link is not followed. What an interrupted
 * attempt has fetched stays in PATH.part, with the server's mark of the version (ETag) in
 * PATH.part.etag; the next call with the same arguments asks for the rest of this version only. A
 * checksum or a size that the server names is compared as well. ICESTREAM_E_OUTPUT with the cause;
 * ICESTREAM_E_CONFIG as ics_transfer_check(); ICESTREAM_E_MEMORY. */
int ics_transfer_fetch(const ics_transfer_request *request, ics_transfer_result *result,
                       icestream_error *error);

/* Ships the file, and returns ICESTREAM_OK only when the server has been asked and has the same
 * bytes: by a SHA-256 that the server names, or else by reading the file back. If the same bytes
 * were there before, for example because a run was killed after it shipped them, this is a success.
 * Other bytes there are an error (cause EEXIST) unless the request replaces them. Errors as of
 * ics_transfer_fetch(). */
int ics_transfer_ship(const ics_transfer_request *request, ics_transfer_result *result,
                      icestream_error *error);

#endif
