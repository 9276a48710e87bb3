/* Shipping to S3 in parts, as S3 wants it for large files (multipart upload). */
#include "base/error.h"
#include "pipeline/transfer/ship.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PARTS = 10000, /* at most */
    TRIES = 4,     /* of each part */
    CHUNK = 256 << 10,
    UPLOAD = 1024 /* bytes of the name of an upload, encoded */
};

typedef struct upload {
    const ics_shipment *ship;
    uint64_t part;           /* bytes */
    char id[UPLOAD];         /* encoded */
    ics_http_answer *answer; /* of the last request */
    char *list;              /* the XML of all parts */
    FILE *writer;            /* writes the list */
    size_t list_size;
} upload;

/* Copies the text of the first element of that name from an answer; "" if there is none. */
static void read_element(const char *body, const char *begin, const char *end, char *text,
                         size_t size)
{
    const char *from = strstr(body, begin);
    from = from != NULL ? from + strlen(begin) : NULL;
    const char *to = from != NULL ? strstr(from, end) : NULL;
    const size_t length = to != NULL ? (size_t)(to - from) : 0;
    memcpy(text, to != NULL ? from : "", length < size ? length : 0);
    text[length < size ? length : 0] = '\0';
}

static int begin_upload(upload *up, icestream_error *error)
{
    char id[UPLOAD / 3];
    ics_ship_lines lines;
    ics_http_request request = {.target = up->ship->target,
                                .method = "POST",
                                .query = "uploads=",
                                .headers = {"Content-Type: application/octet-stream"},
                                .header_count = 1,
                                .text = "",
                                .cancel = up->ship->request->cancel};
    ics_ship_headers(up->ship, false, true, &lines, &request);
    ICS_TRY(ics_http_exchange(&request, up->answer, error));
    if (up->answer->status != 200) {
        return ics_http_refused(&request, up->answer, "ship", error);
    }
    read_element(up->answer->body, "<UploadId>", "</UploadId>", id, sizeof id);
    char *encoded = ics_transfer_encode(id, "");
    if (encoded == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for parts of a file");
    }
    snprintf(up->id, sizeof up->id, "%s", encoded);
    free(encoded);
    return up->id[0] != '\0'
               ? ICESTREAM_OK
               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EINVAL,
                                     "%.2000s: the server began an upload without an UploadId",
                                     up->ship->target->shown);
}

static int digest_part(const upload *up, uint64_t from, uint64_t bytes, char text[ICS_DIGEST_TEXT],
                       icestream_error *error)
{
    ics_digest *digest = NULL;
    char *chunk = malloc(CHUNK);
    int status = chunk != NULL ? ics_digest_create(&digest, error)
                               : ics_error_set(error, ICESTREAM_E_MEMORY,
                                               "out of memory for parts of a file");
    for (uint64_t at = 0; at < bytes && status == ICESTREAM_OK;) {
        const size_t wanted = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;
        const ssize_t count = pread(up->ship->file, chunk, wanted, (off_t)(from + at));
        if (count > 0) {
            ics_digest_add(digest, chunk, (size_t)count);
            at += (uint64_t)count;
        } else if (count == 0 || errno != EINTR) {
            status = ics_error_set_cause(error, ICESTREAM_E_OUTPUT, count < 0 ? errno : EIO,
                                         "%s: cannot read the file that is shipped",
                                         up->ship->request->path);
        }
    }
    if (status == ICESTREAM_OK) {
        ics_digest_text(digest, text);
    }
    ics_digest_destroy(digest);
    free(chunk);
    return status;
}

/* Sends one part once. */
static int try_part(const upload *up, uint64_t number, const char *sha256, icestream_error *error)
{
    char query[UPLOAD + 64];
    const uint64_t from = (number - 1) * up->part, left = up->ship->result->bytes - from;
    snprintf(query, sizeof query, "partNumber=%" PRIu64 "&uploadId=%s", number, up->id);
    const ics_http_request request = {.target = up->ship->target,
                                      .method = "PUT",
                                      .query = query,
                                      .sha256 = sha256,
                                      .file = up->ship->file,
                                      .sends_file = true,
                                      .file_from = from,
                                      .file_bytes = left < up->part ? left : up->part,
                                      .cancel = up->ship->request->cancel};
    ICS_TRY(ics_http_exchange(&request, up->answer, error));
    if (up->answer->status != 200) {
        return ics_http_refused(&request, up->answer, "ship a part", error);
    }
    return up->answer->etag[0] != '\0'
               ? ICESTREAM_OK
               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EINVAL,
                                     "%.2000s: the server took a part and named no ETag",
                                     up->ship->target->shown);
}

static int send_part(upload *up, uint64_t number, icestream_error *error)
{
    char sha256[ICS_DIGEST_TEXT];
    const uint64_t from = (number - 1) * up->part, left = up->ship->result->bytes - from;
    icestream_error why = {.status = ICESTREAM_OK};
    ICS_TRY(digest_part(up, from, left < up->part ? left : up->part, sha256, error));
    int status = try_part(up, number, sha256, &why);
    for (int tries = 1; status != ICESTREAM_OK && tries < TRIES && ics_error_may_pass(&why);
         ++tries) {
        usleep(100000U << tries);
        status = try_part(up, number, sha256, &why);
    }
    if (status == ICESTREAM_OK) {
        fprintf(up->writer, "<Part><PartNumber>%" PRIu64 "</PartNumber><ETag>%s</ETag></Part>",
                number, up->answer->etag);
    }
    return status == ICESTREAM_OK ? status : ics_error_copy(error, &why);
}

/* Sends the list of parts, of which the server makes the object. A server of S3 may find an error
 * after it has sent the status 200. */
static int end_upload(upload *up, icestream_error *error)
{
    char query[UPLOAD + 16], sha256[ICS_DIGEST_TEXT];
    ics_ship_lines lines;
    fprintf(up->writer, "</CompleteMultipartUpload>");
    if (fflush(up->writer) != 0) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for parts of a file");
    }
    snprintf(query, sizeof query, "uploadId=%s", up->id);
    ICS_TRY(ics_digest_of(up->list, up->list_size, sha256, error));
    ics_http_request request = {.target = up->ship->target,
                                .method = "POST",
                                .query = query,
                                .headers = {"Content-Type: application/xml"},
                                .header_count = 1,
                                .sha256 = sha256,
                                .text = up->list,
                                .cancel = up->ship->request->cancel};
    ics_ship_headers(up->ship, true, false, &lines, &request);
    ICS_TRY(ics_http_exchange(&request, up->answer, error));
    if (up->answer->status == 200 && strstr(up->answer->body, "<Error>") != NULL) {
        up->answer->status = 500;
    }
    return up->answer->status == 200 || up->answer->status == 412
               ? ICESTREAM_OK
               : ics_http_refused(&request, up->answer, "ship", error);
}

/* Asks the server to forget the parts. If that fails, too, they stay until the server's rules for
 * uploads that never ended remove them. */
static void abandon(const upload *up)
{
    char query[UPLOAD + 16];
    ics_http_answer *answer = malloc(sizeof *answer);
    snprintf(query, sizeof query, "uploadId=%s", up->id);
    const ics_http_request request = {
        .target = up->ship->target, .method = "DELETE", .query = query};
    if (answer != NULL) {
        (void)ics_http_exchange(&request, answer, NULL);
    }
    free(answer);
}

int ics_ship_parts(const ics_shipment *ship, uint64_t part, ics_http_answer *answer,
                   icestream_error *error)
{
    const uint64_t bytes = ship->result->bytes, least = (bytes + PARTS - 1) / PARTS;
    upload up = {.ship = ship, .part = part > least ? part : least, .answer = answer};
    const uint64_t count = (bytes + up.part - 1) / up.part;
    up.writer = open_memstream(&up.list, &up.list_size);
    if (up.writer == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for parts of a file");
    }
    fprintf(up.writer, "<CompleteMultipartUpload>");
    int status = begin_upload(&up, error);
    for (uint64_t number = 1; number <= count && status == ICESTREAM_OK; ++number) {
        status = send_part(&up, number, error);
    }
    status = status == ICESTREAM_OK ? end_upload(&up, error) : status;
    if (up.id[0] != '\0' && (status != ICESTREAM_OK || answer->status != 200)) {
        abandon(&up);
    }
    fclose(up.writer);
    free(up.list);
    return status;
}
