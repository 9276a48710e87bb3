#include "pipeline/transfer/http.h"

#include "base/error.h"
#include "pipeline/transfer/http_digest.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CONNECT_TIME = 20, /* s */
    STALL_TIME = 60,   /* s without a byte, after which a request ends */
    REDIRECTS = 5,
    IDLE_HANDLES = 16 /* kept for their connections */
};

/* ---- handles --------------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static CURL *idle[IDLE_HANDLES];
static size_t idle_count;

/* A failure shows when a handle is made. */
static void begin(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

static CURL *take_handle(void)
{
    CURL *handle = NULL;
    pthread_once(&once, begin);
    pthread_mutex_lock(&idle_lock);
    if (idle_count > 0) {
        handle = idle[--idle_count];
    }
    pthread_mutex_unlock(&idle_lock);
    return handle != NULL ? handle : curl_easy_init();
}

/* Forgets all that was set, secrets too; the connection stays open. */
static void give_handle(CURL *handle)
{
    curl_easy_reset(handle);
    pthread_mutex_lock(&idle_lock);
    if (idle_count < IDLE_HANDLES) {
        idle[idle_count++] = handle;
        handle = NULL;
    }
    pthread_mutex_unlock(&idle_lock);
    curl_easy_cleanup(handle);
}

int ics_http_check(const ics_transfer_target *target, icestream_error *error)
{
    (void)target, (void)error;
    return ICESTREAM_OK;
}

void ics_http_close_idle(void)
{
    pthread_mutex_lock(&idle_lock);
    while (idle_count > 0) {
        curl_easy_cleanup(idle[--idle_count]);
    }
    pthread_mutex_unlock(&idle_lock);
}

/* ---- one exchange ---------------------------------------------------------------------------- */

typedef struct exchange {
    const ics_http_request *request;
    ics_http_answer *answer;
    CURL *handle;
    struct curl_slist *headers;
    uint64_t sent;         /* bytes of the file */
    bool has_headers;      /* those of the answer are read */
    icestream_error taken; /* why take() wanted no more */
    int read_failure;      /* errno of reading the file */
    char text[CURL_ERROR_SIZE];
    bool whole_headers; /* of the last answer */
} exchange;

static const char *header_of(const exchange *call, const char *name)
{
    struct curl_header *found = NULL;
    return curl_easy_header(call->handle, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK
               ? found->value
               : NULL;
}

static void copy_header(const exchange *call, const char *name, char text[ICS_HTTP_TEXT])
{
    const char *value = header_of(call, name);
    if (value != NULL && strlen(value) < ICS_HTTP_TEXT) {
        memcpy(text, value, strlen(value) + 1);
    }
}

static void read_headers(exchange *call)
{
    static const char *const digests[] = {"Repr-Digest", "Digest", "x-amz-meta-sha256"};
    ics_http_answer *answer = call->answer;
    if (call->has_headers) {
        return;
    }
    call->has_headers = true;
    curl_easy_getinfo(call->handle, CURLINFO_RESPONSE_CODE, &answer->status);
    const char *length = header_of(call, "Content-Length");
    answer->has_length = length != NULL;
    answer->length = length != NULL ? strtoull(length, NULL, 10) : 0;
    copy_header(call, "ETag", answer->etag);
    copy_header(call, "Content-Range", answer->range);
    for (size_t i = 0; i < sizeof digests / sizeof *digests && answer->sha256[0] == '\0'; ++i) {
        const char *value = header_of(call, digests[i]);
        if (value != NULL) {
            ics_http_digest_read(value, answer->sha256);
        }
    }
}

static size_t on_body(char *bytes, size_t one, size_t size, void *user)
{
    exchange *call = user;
    ics_http_answer *answer = call->answer;
    const ics_http_request *request = call->request;
    (void)one; /* always 1 */
    read_headers(call);
    if (request->take != NULL && (answer->status == 200 || answer->status == 206)) {
        return request->take(request->user, answer, bytes, size, &call->taken) == ICESTREAM_OK
                   ? size
                   : CURL_WRITEFUNC_ERROR;
    }
    const size_t room = ICS_HTTP_BODY - answer->body_size, kept = size < room ? size : room;
    memcpy(answer->body + answer->body_size, bytes, kept);
    answer->body_size += kept;
    answer->body[answer->body_size] = '\0';
    return size;
}

/* libcurl takes an answer that ends in its headers for a whole one without a body. An empty line
 * ends the headers. */
static size_t on_header(char *line, size_t one, size_t size, void *user)
{
    exchange *call = user;
    if (size >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        call->whole_headers = false;
    } else if (size <= 2 && (line[0] == '\r' || line[0] == '\n')) {
        call->whole_headers = true;
    }
    return one * size;
}

static size_t on_send(char *to, size_t one, size_t room, void *user)
{
    exchange *call = user;
    const ics_http_request *request = call->request;
    const uint64_t left = request->file_bytes - call->sent;
    const size_t wanted = left < room * one ? (size_t)left : room * one;
    const ssize_t count =
        pread(request->file, to, wanted, (off_t)(request->file_from + call->sent));
    if (count < 0 || (count == 0 && wanted > 0)) { /* the file became shorter */
        call->read_failure = count < 0 ? errno : EIO;
        return CURL_READFUNC_ABORT;
    }
    call->sent += (uint64_t)count;
    return (size_t)count;
}

/* libcurl begins the body again, for example behind a redirection. */
static int on_rewind(void *user, curl_off_t offset, int origin)
{
    exchange *call = user;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > call->request->file_bytes) {
        return CURL_SEEKFUNC_FAIL;
    }
    call->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static int on_progress(void *user, curl_off_t all_in, curl_off_t in, curl_off_t all_out,
                       curl_off_t out)
{
    const exchange *call = user;
    (void)all_in, (void)in, (void)all_out, (void)out;
    return call->request->cancel != NULL && atomic_load(call->request->cancel);
}

/* ---- setting it up --------------------------------------------------------------------------- */

static bool add_header(exchange *call, const char *line)
{
    struct curl_slist *longer = curl_slist_append(call->headers, line);
    call->headers = longer != NULL ? longer : call->headers;
    return longer != NULL;
}

/* The digest of the body is signed, so the server notices a change on the way. */
static bool set_headers(exchange *call)
{
    /* The SHA-256 of no bytes. */
    static const char nothing[] =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const ics_http_request *request = call->request;
    const ics_transfer_target *target = request->target;
    char line[128];
    bool good = true;
    for (size_t i = 0; i < request->header_count && good; ++i) {
        good = add_header(call, request->headers[i]);
    }
    if (good && target->scheme == ICS_TRANSFER_S3) {
        snprintf(line, sizeof line, "x-amz-content-sha256: %s",
                 request->sha256 != NULL ? request->sha256 : nothing);
        good = add_header(call, line);
    }
    if (good && target->session != NULL) {
        good = add_header(call, target->session);
    }
    return good;
}

static CURLcode set_access(CURL *handle, const ics_transfer_target *target)
{
    const bool is_s3 = target->scheme == ICS_TRANSFER_S3;
    const bool has_tls = strncmp(target->url, "https://", 8) == 0;
    CURLcode code = curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    code = code ? code
                : curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR,
                                   has_tls ? "https" : "http,https");
    /* A signature holds for one URL only. */
    code = code ? code : curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, is_s3 ? 0L : 1L);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_MAXREDIRS, (long)REDIRECTS);
    if (!code && target->authorities != NULL) {
        code = curl_easy_setopt(handle, CURLOPT_CAINFO, target->authorities);
    }
    if (!code && is_s3) {
        code = curl_easy_setopt(handle, CURLOPT_AWS_SIGV4, target->signing);
        code = code ? code : curl_easy_setopt(handle, CURLOPT_USERPWD, target->user);
    } else if (!code && target->bearer != NULL) {
        code = curl_easy_setopt(handle, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
        code = code ? code : curl_easy_setopt(handle, CURLOPT_XOAUTH2_BEARER, target->bearer);
    }
    return code;
}

static CURLcode set_body(exchange *call)
{
    const ics_http_request *request = call->request;
    CURL *handle = call->handle;
    CURLcode code = CURLE_OK;
    if (request->sends_file) {
        code = curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
        code = code ? code
                    : curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE,
                                       (curl_off_t)request->file_bytes);
        code = code ? code : curl_easy_setopt(handle, CURLOPT_READFUNCTION, on_send);
        code = code ? code : curl_easy_setopt(handle, CURLOPT_READDATA, call);
        code = code ? code : curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, on_rewind);
        code = code ? code : curl_easy_setopt(handle, CURLOPT_SEEKDATA, call);
    } else if (request->text != NULL) {
        code = curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request->text);
        code = code ? code
                    : curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, (long)strlen(request->text));
    } else if (strcmp(request->method, "HEAD") == 0) {
        return curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
    }
    return code ? code : curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request->method);
}

static CURLcode set_calls(exchange *call)
{
    CURL *handle = call->handle;
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HTTPHEADER, call->headers);
    code =
        code ? code : curl_easy_setopt(handle, CURLOPT_USERAGENT, "icestream/" ICESTREAM_VERSION);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, call->text);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIME);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, (long)STALL_TIME);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_WRITEDATA, call);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_HEADERDATA, call);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    code = code ? code : curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
    return code ? code : curl_easy_setopt(handle, CURLOPT_XFERINFODATA, call);
}

static CURLcode set_all(exchange *call)
{
    const ics_http_request *request = call->request;
    char *url = NULL;
    const bool asks = request->query[0] != '\0';
    if (!set_headers(call) ||
        asprintf(&url, "%s%s%s", request->target->url, asks ? "?" : "", request->query) < 0) {
        return CURLE_OUT_OF_MEMORY;
    }
    CURLcode code = curl_easy_setopt(call->handle, CURLOPT_URL, url);
    explicit_bzero(url, strlen(url));
    free(url);
    code = code ? code : set_access(call->handle, request->target);
    code = code ? code : set_body(call);
    return code ? code : set_calls(call);
}

/* ---- its end --------------------------------------------------------------------------------- */

/* The errno that says whether another try may succeed. */
static int cause_of(const exchange *call, CURLcode code)
{
    switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
        return EACCES;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_FUNCTION_ARGUMENT:
    case CURLE_NOT_BUILT_IN:
    case CURLE_UNKNOWN_OPTION:
        return EINVAL;
    case CURLE_TOO_MANY_REDIRECTS:
        return ELOOP;
    case CURLE_ABORTED_BY_CALLBACK:
        return call->read_failure != 0 ? call->read_failure : ECANCELED;
    default:
        return EAGAIN;
    }
}

static int judge(const exchange *call, CURLcode code, icestream_error *error)
{
    const ics_transfer_target *target = call->request->target;
    if (code == CURLE_OK) {
        return call->whole_headers
                   ? ICESTREAM_OK
                   : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EAGAIN,
                                         "%.2000s: the answer of the server ends in its headers, "
                                         "expected a whole one",
                                         target->shown);
    }
    if (call->taken.status != ICESTREAM_OK) {
        return ics_error_copy(error, &call->taken);
    }
    if (code == CURLE_OUT_OF_MEMORY) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %.2000s", target->shown);
    }
    const int cause = cause_of(call, code);
    if (call->read_failure != 0) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause,
                                   "%.2000s: cannot read the file that is shipped: %s",
                                   target->shown, strerror(cause));
    }
    if (cause == ECANCELED) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%.2000s: was stopped",
                                   target->shown);
    }
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%.2000s: %s", target->shown,
                               call->text[0] != '\0' ? call->text : curl_easy_strerror(code));
}

int ics_http_exchange(const ics_http_request *request, ics_http_answer *answer,
                      icestream_error *error)
{
    exchange call = {.request = request, .answer = answer, .handle = take_handle()};
    *answer = (ics_http_answer){.status = 0};
    if (call.handle == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %.2000s",
                             request->target->shown);
    }
    CURLcode code = set_all(&call);
    if (code == CURLE_OK) {
        code = curl_easy_perform(call.handle);
    }
    if (code == CURLE_OK) {
        read_headers(&call);
    }
    const int status = judge(&call, code, error);
    give_handle(call.handle);
    curl_slist_free_all(call.headers);
    return status;
}
