#include "pipeline/transfer/transfer.h"

#include "base/error.h"
#include "base/url.h"
#include "pipeline/files/format/digest.h"
#include "pipeline/files/output.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Sets *out to the path of the file, which the caller frees; NULL after an error. Errors as of
 * ics_transfer_check(). */
static int find_path(const char *url, char **out, icestream_error *error)
{
    char shown[ICS_URL_MOST + 1];
    const char *fault = ics_url_fault(url), *path = url + strlen("file://");
    *out = NULL;
    if (fault != NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "found a URL that is none, %s", fault);
    }
    if (!ics_url_is_moved(url)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "found %.2000s, expected " ICS_URL_MOVED,
                             ics_url_shown(url, shown));
    }
    path += strncmp(path, "localhost/", 10) == 0 ? 9 : 0;
    char *made = strdup(path);
    if (made == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a transfer");
    }
    fault = *path != '/' || strpbrk(path, "?#") != NULL
                ? "file:///FOLDER/NAME, with three slashes and without a query"
                : decode(made);
    if (fault != NULL) {
        free(made);
        return ics_error_set(error, ICESTREAM_E_CONFIG, "found %.2000s, expected %s",
                             ics_url_shown(url, shown), fault);
    }
    *out = made;
    return ICESTREAM_OK;
}

int ics_transfer_check(const char *url, icestream_error *error)
{
    char *path;
    const int status = find_path(url, &path, error);
    free(path);
    return status;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static int fault(const char *name, int cause, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%.2000s: %s", name,
                               strerror(cause));
}

/* Opens a regular file to read it. -1: there is none, with errno. */
static int open_regular(const char *path)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file >= 0 && (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(file);
        errno = EINVAL;
        return -1;
    }
    return file;
}

/* Adds all bytes of an open file to the digest, and, unless `output` is NULL, to the output. */
static int read_all(const ics_transfer_request *request, int from, ics_digest *digest,
                    ics_output *output, icestream_error *error)
{
    char *chunk = malloc(CHUNK);
    int status = chunk != NULL ? ICESTREAM_OK
                               : ics_error_set(error, ICESTREAM_E_MEMORY,
                                               "out of memory for %.2000s", request->url);
    uint64_t at = 0;
    for (ssize_t count = 1; count != 0 && status == ICESTREAM_OK;) {
        count = pread(from, chunk, CHUNK, (off_t)at);
        if (request->cancel != NULL && atomic_load(request->cancel)) {
            status = fault(request->url, ECANCELED, error);
        } else if (count < 0 && errno != EINTR) {
            status = fault(request->url, errno, error);
        } else if (count > 0) {
            ics_digest_add(digest, chunk, (size_t)count);
            status = output != NULL ? ics_output_write(output, chunk, (size_t)count, error)
                                    : ICESTREAM_OK;
            at += (uint64_t)count;
        }
    }
    free(chunk);
    return status;
}

/* Copies an open file; its name appears when it is whole. `text` gets the SHA-256. */
static int copy(const ics_transfer_request *request, int from, const char *to, bool replaces,
                char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    ics_output *output = NULL;
    ics_digest *digest = NULL;
    int status = ics_digest_create(&digest, error);
    status = status == ICESTREAM_OK ? ics_output_create(to, replaces, &output, error) : status;
    status = status == ICESTREAM_OK ? read_all(request, from, digest, output, error) : status;
    status = status == ICESTREAM_OK ? ics_output_commit(output, error) : status;
    if (status == ICESTREAM_OK) {
        ics_digest_text(digest, text);
    }
    ics_output_destroy(output);
    ics_digest_destroy(digest);
    return status;
}

/* Sets `text` to the SHA-256 of a file; "": there is no file. */
static int digest_file(const ics_transfer_request *request, const char *path,
                       char text[ICS_DIGEST_TEXT], icestream_error *error)
{
    ics_digest *digest = NULL;
    const int file = open_regular(path);
    text[0] = '\0';
    if (file < 0) {
        return errno == ENOENT ? ICESTREAM_OK : fault(path, errno, error);
    }
    int status = ics_digest_create(&digest, error);
    status = status == ICESTREAM_OK ? read_all(request, file, digest, NULL, error) : status;
    if (status == ICESTREAM_OK) {
        ics_digest_text(digest, text);
    }
    ics_digest_destroy(digest);
    close(file);
    return status;
}

/* ---- both ways ------------------------------------------------------------------------------- */

int ics_transfer_fetch(const ics_transfer_request *request, icestream_error *error)
{
    char *path, text[ICS_DIGEST_TEXT];
    int status = find_path(request->url, &path, error);
    if (path == NULL) {
        return status;
    }
    const int file = open_regular(path);
    status = file >= 0 ? copy(request, file, request->path, true, text, error)
                       : fault(request->url, errno, error);
    if (file >= 0) {
        close(file);
    }
    free(path);
    return status;
}

static int ship(const ics_transfer_request *request, int file, const char *to,
                icestream_error *error)
{
    char sent[ICS_DIGEST_TEXT], found[ICS_DIGEST_TEXT];
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

int ics_transfer_ship(const ics_transfer_request *request, icestream_error *error)
{
    char *to;
    int status = find_path(request->url, &to, error);
    if (to == NULL) {
        return status;
    }
    const int file = open_regular(request->path);
    status = file >= 0 ? ship(request, file, to, error) : fault(request->path, errno, error);
    if (file >= 0) {
        close(file);
    }
    free(to);
    return status;
}
