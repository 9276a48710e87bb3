/* Fetching by HTTP, and S3. */
#include "base/error.h"
#include "pipeline/transfer/local.h"
#include "pipeline/transfer/partial_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct fetching {
    const ics_transfer_request *request;
    const ics_transfer_target *target;
    ics_partial_file file;
    bool begun; /* the answer of this attempt has begun */
} fetching;

static int differs(const fetching *fetch, int cause, const char *what, const char *found,
                   const char *expected, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause,
                               "%.2000s: fetched a file with %s %s, expected %s",
                               fetch->target->shown, what, found, expected);
}

static int check_size(const fetching *fetch, uint64_t bytes, icestream_error *error)
{
    char found[32], expected[32];
    if (fetch->request->bytes == ICS_TRANSFER_ANY || fetch->request->bytes == bytes) {
        return ICESTREAM_OK;
    }
    snprintf(found, sizeof found, "%" PRIu64 " bytes", bytes);
    snprintf(expected, sizeof expected, "%" PRIu64 " bytes", fetch->request->bytes);
    return differs(fetch, EINVAL, "a size of", found, expected, error);
}

/* Looks at the headers of an answer with status 200 (all bytes) or 206 (the rest). */
static int begin_body(fetching *fetch, const ics_http_answer *answer, icestream_error *error)
{
    char expected[64];
    fetch->begun = true;
    if (answer->status == 200) {
        ICS_TRY(ics_partial_file_restart(&fetch->file, answer->etag, error));
        return answer->has_length ? check_size(fetch, answer->length, error) : ICESTREAM_OK;
    }
    snprintf(expected, sizeof expected, "bytes %" PRIu64 "-", fetch->file.bytes);
    if (strncmp(answer->range, expected, strlen(expected)) != 0) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EINVAL,
                                   "%.2000s: the server answered with the range '%.100s', expected "
                                   "'%s...'",
                                   fetch->target->shown, answer->range, expected);
    }
    return ICESTREAM_OK;
}

static int take(void *user, const ics_http_answer *answer, const void *bytes, size_t size,
                icestream_error *error)
{
    fetching *fetch = user;
    const uint64_t most = fetch->request->bytes;
    if (!fetch->begun) {
        ICS_TRY(begin_body(fetch, answer, error));
    }
    if (most != ICS_TRANSFER_ANY && fetch->file.bytes + size > most) {
        return check_size(fetch, fetch->file.bytes + size, error);
    }
    return ics_partial_file_append(&fetch->file, bytes, size, error);
}

/* One request: for all bytes, or for those that are missing. */
static int ask(fetching *fetch, ics_http_answer *answer, icestream_error *error)
{
    char range[64], condition[ICS_HTTP_TEXT + 16];
    ics_http_request request = {.target = fetch->target,
                                .method = "GET",
                                .query = "",
                                .headers = {"Want-Repr-Digest: sha-256=10", "Want-Digest: sha-256"},
                                .header_count = 2,
                                .take = take,
                                .user = fetch,
                                .cancel = fetch->request->cancel};
    if (fetch->file.bytes > 0) {
        snprintf(range, sizeof range, "Range: bytes=%" PRIu64 "-", fetch->file.bytes);
        snprintf(condition, sizeof condition, "If-Range: %s", fetch->file.etag);
        request.headers[request.header_count++] = range;
        request.headers[request.header_count++] = condition;
    }
    fetch->begun = false;
    ICS_TRY(ics_http_exchange(&request, answer, error));
    if (answer->status == 200 || answer->status == 206) {
        return fetch->begun ? ICESTREAM_OK : begin_body(fetch, answer, error);
    }
    return answer->status == 416 && fetch->file.bytes > 0
               ? ICESTREAM_OK
               : ics_http_refused(&request, answer, "fetch", error);
}

/* Compares what came with what the ticket and the server say. */
static int check(fetching *fetch, const ics_http_answer *answer, ics_transfer_result *result,
                 icestream_error *error)
{
    const char *known[] = {fetch->request->sha256,
                           answer->sha256[0] != '\0' ? answer->sha256 : NULL};
    ics_digest_text(fetch->file.digest, result->sha256);
    result->bytes = fetch->file.bytes;
    result->resumed = fetch->file.resumed;
    int status = check_size(fetch, fetch->file.bytes, error);
    for (size_t i = 0; i < sizeof known / sizeof *known && status == ICESTREAM_OK; ++i) {
        if (known[i] != NULL && strcmp(known[i], result->sha256) != 0) {
            status = differs(fetch, EAGAIN, "the SHA-256", result->sha256, known[i], error);
        }
    }
    if (status != ICESTREAM_OK) { /* nothing of it is used again */
        (void)ics_partial_file_restart(&fetch->file, "", NULL);
    }
    return status;
}

static int fetch_http(fetching *fetch, ics_transfer_result *result, icestream_error *error)
{
    ics_http_answer *answer = malloc(sizeof *answer);
    if (answer == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %.2000s",
                             fetch->target->shown);
    }
    int status = ask(fetch, answer, error);
    if (status == ICESTREAM_OK && answer->status == 416) { /* another version is shorter */
        status = ics_partial_file_restart(&fetch->file, "", error);
        status = status == ICESTREAM_OK ? ask(fetch, answer, error) : status;
    }
    status = status == ICESTREAM_OK ? check(fetch, answer, result, error) : status;
    free(answer);
    return status;
}

int ics_transfer_fetch(const ics_transfer_request *request, ics_transfer_result *result,
                       icestream_error *error)
{
    ics_transfer_target target;
    *result = (ics_transfer_result){.bytes = 0};
    int status = ics_transfer_target_open(request->url, &target, error);
    fetching fetch = {.request = request, .target = &target, .file = {.file = -1}};
    if (status == ICESTREAM_OK) {
        status = ics_partial_file_open(request->path, &fetch.file, error);
    }
    if (status == ICESTREAM_OK && target.scheme == ICS_TRANSFER_FILE) {
        const ics_http_answer nothing = {.status = 200};
        status = ics_local_fetch(&target, request, &fetch.file, error);
        status = status == ICESTREAM_OK ? check(&fetch, &nothing, result, error) : status;
    } else if (status == ICESTREAM_OK) {
        status = fetch_http(&fetch, result, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_partial_file_commit(&fetch.file, error);
    }
    ics_partial_file_close(&fetch.file);
    ics_transfer_target_close(&target);
    return status;
}

int ics_transfer_check(const char *url, icestream_error *error)
{
    ics_transfer_target target;
    int status = ics_transfer_target_open(url, &target, error);
    if (status == ICESTREAM_OK && target.scheme != ICS_TRANSFER_FILE) {
        status = ics_http_check(&target, error);
    }
    ics_transfer_target_close(&target);
    return status;
}
