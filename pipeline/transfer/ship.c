/* Shipping by HTTP, and to S3 in one request. */
#include "pipeline/transfer/ship.h"

#include "base/error.h"
#include "pipeline/transfer/local.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is at the URL -------------------------------------------------------------------- */

typedef struct read_back {
    ics_digest *digest;
    uint64_t bytes;
} read_back;

static int take(void *user, const ics_http_answer *answer, const void *bytes, size_t size,
                icestream_error *error)
{
    read_back *back = user;
    (void)answer, (void)error;
    ics_digest_add(back->digest, bytes, size);
    back->bytes += size;
    return ICESTREAM_OK;
}

/* Asks for the file, or with "HEAD" only for its size and its digest. A server that names no digest
 * sends the file, which is digested and not kept. */
static int look(const ics_shipment *ship, const char *method, read_back *back,
                ics_http_answer *answer, icestream_error *error)
{
    const ics_http_request request = {
        .target = ship->target,
        .method = method,
        .query = "",
        .headers = {"Want-Repr-Digest: sha-256=10", "Want-Digest: sha-256"},
        .header_count = 2,
        .take = take,
        .user = back,
        .cancel = ship->request->cancel};
    ICS_TRY(ics_http_exchange(&request, answer, error));
    const bool cannot =
        strcmp(method, "HEAD") == 0 && (answer->status == 405 || answer->status == 501);
    return answer->status == 200 || cannot ? ICESTREAM_OK
                                           : ics_http_refused(&request, answer, "verify", error);
}

static int read_whole(const ics_shipment *ship, ics_http_answer *answer, bool *same,
                      icestream_error *error)
{
    char text[ICS_DIGEST_TEXT];
    read_back back = {.digest = NULL};
    ICS_TRY(ics_digest_create(&back.digest, error));
    const int status = look(ship, "GET", &back, answer, error);
    ics_digest_text(back.digest, text);
    ics_digest_destroy(back.digest);
    *same = status == ICESTREAM_OK && back.bytes == ship->result->bytes &&
            strcmp(text, ship->result->sha256) == 0;
    return status;
}

/* Sets *same to whether the server has the bytes of the file. */
static int compare(const ics_shipment *ship, ics_http_answer *answer, bool *same,
                   icestream_error *error)
{
    *same = false;
    ICS_TRY(look(ship, "HEAD", NULL, answer, error));
    if (answer->status == 200 && answer->has_length && answer->length != ship->result->bytes) {
        return ICESTREAM_OK;
    }
    if (answer->status == 200 && answer->has_length && answer->sha256[0] != '\0') {
        *same = strcmp(answer->sha256, ship->result->sha256) == 0;
        return ICESTREAM_OK;
    }
    return read_whole(ship, answer, same, error);
}

/* ---- one request ----------------------------------------------------------------------------- */

static int put_whole(const ics_shipment *ship, ics_http_answer *answer, icestream_error *error)
{
    ics_ship_lines lines;
    ics_http_request request = {.target = ship->target,
                                .method = "PUT",
                                .query = "",
                                .headers = {"Content-Type: application/octet-stream"},
                                .header_count = 1,
                                .sha256 = ship->result->sha256,
                                .file = ship->file,
                                .sends_file = true,
                                .file_bytes = ship->result->bytes,
                                .cancel = ship->request->cancel};
    ics_ship_headers(ship, true, true, &lines, &request);
    ICS_TRY(ics_http_exchange(&request, answer, error));
    const long status = answer->status;
    return status == 200 || status == 201 || status == 204 || status == 412
               ? ICESTREAM_OK
               : ics_http_refused(&request, answer, "ship", error);
}

/* The server has other bytes than this request has just put there, so nobody misses them. */
static int take_away(const ics_shipment *ship, ics_http_answer *answer, icestream_error *error)
{
    const ics_http_request request = {
        .target = ship->target, .method = "DELETE", .query = "", .cancel = ship->request->cancel};
    (void)ics_http_exchange(&request, answer, NULL); /* what stays is found by the next attempt */
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EAGAIN,
                               "%.2000s: found other bytes there than were shipped",
                               ship->target->shown);
}

static int ship_http(const ics_shipment *ship, icestream_error *error)
{
    const uint64_t part = ship->request->part > 0 ? ship->request->part : ICS_SHIP_PART;
    const bool in_parts = ship->target->scheme == ICS_TRANSFER_S3 && ship->result->bytes > part;
    ics_http_answer *answer = malloc(sizeof *answer);
    bool same = false;
    if (answer == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %.2000s",
                             ship->target->shown);
    }
    int status =
        in_parts ? ics_ship_parts(ship, part, answer, error) : put_whole(ship, answer, error);
    const bool was_there = answer->status == 412;
    if (status == ICESTREAM_OK) {
        status = compare(ship, answer, &same, error);
    }
    if (status == ICESTREAM_OK && !same && was_there) {
        status = ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EEXIST, ICS_TRANSFER_OTHER,
                                     ship->target->shown);
    } else if (status == ICESTREAM_OK && !same) {
        status = take_away(ship, answer, error);
    }
    ship->result->was_there = status == ICESTREAM_OK && was_there;
    free(answer);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int open_source(const char *path, int *out, icestream_error *error)
{
    struct stat about;
    *out = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*out >= 0 && (fstat(*out, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(*out);
        *out = -1;
        errno = EINVAL;
    }
    return *out >= 0 ? ICESTREAM_OK
                     : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "%s: %s", path,
                                           strerror(errno));
}

static int digest_file(int file, const char *path, ics_transfer_result *result,
                       icestream_error *error)
{
    ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    const int status = ics_partial_file_digest(file, path, digest, &result->bytes, error);
    ics_digest_text(digest, result->sha256);
    ics_digest_destroy(digest);
    return status;
}

int ics_transfer_ship(const ics_transfer_request *request, ics_transfer_result *result,
                      icestream_error *error)
{
    ics_transfer_target target;
    int file = -1;
    *result = (ics_transfer_result){.bytes = 0};
    int status = ics_transfer_target_open(request->url, &target, error);
    status = status == ICESTREAM_OK ? open_source(request->path, &file, error) : status;
    status = status == ICESTREAM_OK ? digest_file(file, request->path, result, error) : status;
    if (status == ICESTREAM_OK && target.scheme == ICS_TRANSFER_FILE) {
        status = ics_local_ship(&target, request, file, result, error);
    } else if (status == ICESTREAM_OK) {
        const ics_shipment ship = {
            .request = request, .target = &target, .file = file, .result = result};
        status = ship_http(&ship, error);
    }
    if (file >= 0) {
        close(file);
    }
    ics_transfer_target_close(&target);
    return status;
}
