/* One request to an HTTP server and its answer, by libcurl. Any thread. Connections are kept for
 * the next request. TLS certificates are checked; CURL_CA_BUNDLE or SSL_CERT_FILE in the
 * environment names other authorities than those of the system. */
#ifndef ICS_TRANSFER_HTTP_H
#define ICS_TRANSFER_HTTP_H

#include "pipeline/transfer/target.h"

enum {
    ICS_HTTP_TEXT = 512,      /* bytes of a header that is kept */
    ICS_HTTP_BODY = 16 << 10, /* bytes of a body that is kept, at most */
    ICS_HTTP_HEADERS = 8      /* headers of a request, at most */
};

typedef struct ics_http_answer ics_http_answer;

typedef struct ics_http_request {
    const ics_transfer_target *target;
    const char *method; /* "GET", "HEAD", "PUT", "POST", "DELETE" */
    const char *query;  /* without '?', in the order that SigV4 wants: by name; "": none */
    const char *headers[ICS_HTTP_HEADERS]; /* [header_count], "Name: value" */
    size_t header_count;
    const char *sha256; /* of the body, for S3; NULL: there is no body */
    /* The body: a part of an open file, or a text; neither: there is none. */
    int file; /* used if file_bytes > 0, or if sends_file */
    bool sends_file;
    uint64_t file_from, file_bytes;
    const char *text;
    /* Gets the body of an answer with status 200 or 206, piece by piece. A status other than
     * ICESTREAM_OK ends the request. NULL: the beginning is kept in the answer, as is the body of
     * any other answer. `answer` has the headers already. */
    int (*take)(void *user, const ics_http_answer *answer, const void *bytes, size_t size,
                icestream_error *error);
    void *user;
    const atomic_bool *cancel;
} ics_http_request;

struct ics_http_answer {
    long status; /* 200, 404, ... */
    bool has_length;
    uint64_t length;              /* Content-Length */
    char etag[ICS_HTTP_TEXT];     /* with its quotes; "": none */
    char range[ICS_HTTP_TEXT];    /* Content-Range */
    char sha256[ICS_DIGEST_TEXT]; /* of the whole file, if a header names it; "": none does */
    size_t body_size;
    char body[ICS_HTTP_BODY + 1];
};

/* ICESTREAM_OK: there is an answer, whatever its status is. ICESTREAM_E_OUTPUT: there is none, or
 * it is not whole; the error has a cause. An error of take() is returned as it is. */
int ics_http_exchange(const ics_http_request *request, ics_http_answer *answer,
                      icestream_error *error);

/* Whether this build has libcurl. ICESTREAM_E_CONFIG if not. */
int ics_http_check(const ics_transfer_target *target, icestream_error *error);

/* Closes the connections that are kept. For tests and the end of a program. */
void ics_http_close_idle(void);

/* Turns an answer that is no success into an error. `what` is what was tried: "fetch". */
int ics_http_refused(const ics_http_request *request, const ics_http_answer *answer,
                     const char *what, icestream_error *error);

#endif
