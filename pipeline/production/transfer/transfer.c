#include "pipeline/production/transfer/transfer.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"
#include "base/url.h"
#include "pipeline/photons/files/format/digest.h"
#include "pipeline/photons/files/output.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

/* ---- the file of a URL ----------------------------------------------------------------------- */

static int digit_of(char letter)
{
    return isdigit((unsigned char)letter)    ? letter - '0'
           : isxdigit((unsigned char)letter) ? tolower((unsigned char)letter) - 'a' + 10
                                             : -1;
}

/* Replaces %XX by its byte. Returns NULL, or what was expected; a zero is no byte of a name. */
static const char *decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; ++from) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        const int high = digit_of(from[1]), low = high >= 0 ? digit_of(from[2]) : -1;
        if (low < 0 || high * 16 + low == 0) {
            return "two hexadecimal digits behind every %, and not %00";
        }
        *to++ = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return NULL;
}

/* Writes the path of the file. Errors as of ics_transfer_check(). */
static int find_path(const char *url, char out[ICS_URL_MOST + 1], icestream_error *error)
{
    char shown[ICS_URL_MOST + 1];
    const char *fault = ics_url_fault(url), *path = url + strlen("file://");
    if (fault != NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "found a URL that is none, %s", fault);
    }
    if (!ics_url_is_moved(url)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "found %.2000s, expected " ICS_URL_MOVED,
                             ics_url_shown(url, shown));
    }
    path += strncmp(path, "localhost/", 10) == 0 ? 9 : 0;
    snprintf(out, ICS_URL_MOST + 1, "%s", path);
    fault = *path != '/' || strpbrk(path, "?#") != NULL
                ? "file:///FOLDER/NAME, with three slashes and without a query"
                : decode(out);
    return fault == NULL ? ICESTREAM_OK
                         : ics_error_set(error, ICESTREAM_E_CONFIG, "found %.2000s, expected %s",
                                         ics_url_shown(url, shown), fault);
}

int ics_transfer_check(const char *url, icestream_error *error)
{
    char path[ICS_URL_MOST + 1];
    return find_path(url, path, error);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static int fault(const char *name, int cause, const char *why, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%.2000s: %s", name, why);
}

/* Adds all bytes of an open file to the digest, and, unless `output` is NULL, to the output. */
static int read_all(const ics_transfer_request *request, int from, ics_digest *digest,
                    ics_output *output, icestream_error *error)
{
    ICS_FREES char *chunk = ics_new_zeros(CHUNK, 1);
    off_t at = 0;
    for (ssize_t count = 1; count != 0; at += count) {
        count = TEMP_FAILURE_RETRY(pread(from, chunk, CHUNK, at));
        if (request->cancel != NULL && atomic_load(request->cancel)) {
            return fault(request->url, ECANCELED, strerror(ECANCELED), error);
        }
        if (count < 0) {
            return fault(request->url, errno, strerror(errno), error);
        }
        ics_digest_add(digest, chunk, (size_t)count);
        if (output != NULL) {
            ICS_TRY(ics_output_write(output, chunk, (size_t)count, error));
        }
    }
    return ICESTREAM_OK;
}

/* Copies an open file; its name appears when it is whole. `text` gets the SHA-256. */
static int copy(const ics_transfer_request *request, int from, const char *to, bool replaces,
                char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    ICS_DESTROYS(ics_output_destroy) ics_output *output = NULL;
    ICS_DESTROYS(ics_digest_destroy) ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    ICS_TRY(ics_output_create(to, replaces, &output, error));
    ICS_TRY(read_all(request, from, digest, output, error));
    ICS_TRY(ics_output_commit(output, error));
    ics_digest_text(digest, text);
    return ICESTREAM_OK;
}

/* Sets `text` to the SHA-256 of a file; "": there is no file. */
static int digest_file(const ics_transfer_request *request, const char *path,
                       char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    ICS_DESTROYS(ics_digest_destroy) ics_digest *digest = NULL;
    const char *why;
    ICS_CLOSES_DESCRIPTOR int file = ics_disk_open_regular(path, &why);
    text[0] = '\0';
    if (file < 0) {
        return errno == ENOENT ? ICESTREAM_OK : fault(path, errno, why, error);
    }
    ICS_TRY(ics_digest_create(&digest, error));
    ICS_TRY(read_all(request, file, digest, NULL, error));
    ics_digest_text(digest, text);
    return ICESTREAM_OK;
}

/* ---- both ways ------------------------------------------------------------------------------- */

int ics_transfer_fetch(const ics_transfer_request *request, icestream_error *error)
{
    char path[ICS_URL_MOST + 1], text[ICS_DIGEST_TEXT];
    const char *why;
    ICS_TRY(find_path(request->url, path, error));
    ICS_CLOSES_DESCRIPTOR int file = ics_disk_open_regular(path, &why);
    return file >= 0 ? copy(request, file, request->path, true, text, error)
                     : fault(request->url, errno, why, error);
}

int ics_transfer_ship(const ics_transfer_request *request, icestream_error *error)
{
    char to[ICS_URL_MOST + 1], sent[ICS_DIGEST_TEXT], found[ICS_DIGEST_TEXT];
    const char *why;
    ICS_TRY(find_path(request->url, to, error));
    ICS_CLOSES_DESCRIPTOR int file = ics_disk_open_regular(request->path, &why);
    if (file < 0) {
        return fault(request->path, errno, why, error);
    }
    ICS_TRY(digest_file(request, request->path, sent, error));
    ICS_TRY(digest_file(request, to, found, error));
    if (strcmp(sent, found) == 0) {
        return ICESTREAM_OK;
    }
    if (found[0] != '\0' && !request->replaces) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EEXIST,
                                   "%.2000s: found a file with other bytes there, expected none or "
                                   "the same; --force replaces it",
                                   request->url);
    }
    ICS_TRY(copy(request, file, to, request->replaces, sent, error));
    ICS_TRY(digest_file(request, to, found, error));
    return strcmp(sent, found) == 0
               ? ICESTREAM_OK
               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EAGAIN,
                                     "%.2000s: found other bytes than were written there",
                                     request->url);
}
