#include "pipeline/transfer/local.h"

#include "base/error.h"
#include "pipeline/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

static int fault(const ics_transfer_target *target, int cause, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%.2000s: %s", target->shown,
                               strerror(cause));
}

/* Calls `put` for all bytes of an open file. */
static int copy_bytes(int from, const ics_transfer_target *target,
                      const ics_transfer_request *request,
                      int (*put)(void *to, const void *bytes, size_t size, icestream_error *error),
                      void *to, icestream_error *error)
{
    char *chunk = malloc(CHUNK);
    int status = chunk != NULL ? ICESTREAM_OK
                               : ics_error_set(error, ICESTREAM_E_MEMORY,
                                               "out of memory for %.2000s", target->shown);
    uint64_t at = 0;
    for (ssize_t count = 1; count != 0 && status == ICESTREAM_OK;) {
        count = pread(from, chunk, CHUNK, (off_t)at);
        if (request->cancel != NULL && atomic_load(request->cancel)) {
            status = fault(target, ECANCELED, error);
        } else if (count < 0 && errno != EINTR) {
            status = fault(target, errno, error);
        } else if (count > 0) {
            status = put(to, chunk, (size_t)count, error);
            at += (uint64_t)count;
        }
    }
    free(chunk);
    return status;
}

/* Opens a regular file to read it. *out -1: there is none, with errno. */
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

static int put_part(void *to, const void *bytes, size_t size, icestream_error *error)
{
    return ics_partial_file_append(to, bytes, size, error);
}

int ics_local_fetch(const ics_transfer_target *target, const ics_transfer_request *request,
                    ics_partial_file *file, icestream_error *error)
{
    ICS_TRY(ics_partial_file_restart(file, "", error));
    const int from = open_regular(target->url);
    if (from < 0) {
        return fault(target, errno, error);
    }
    const int status = copy_bytes(from, target, request, put_part, file, error);
    close(from);
    return status;
}

static int put_output(void *to, const void *bytes, size_t size, icestream_error *error)
{
    return ics_output_write(to, bytes, size, error);
}

/* Whether the file at the URL has the bytes. *there false: there is no file. */
static int compare(const ics_transfer_target *target, const ics_transfer_result *result,
                   bool *there, bool *same, icestream_error *error)
{
    char text[ICS_DIGEST_TEXT];
    ics_digest *digest = NULL;
    uint64_t bytes = 0;
    const int file = open_regular(target->url);
    *same = false;
    *there = file >= 0;
    if (file < 0) {
        return errno == ENOENT ? ICESTREAM_OK : fault(target, errno, error);
    }
    int status = ics_digest_create(&digest, error);
    if (status == ICESTREAM_OK) {
        status = ics_partial_file_digest(file, target->shown, digest, &bytes, error);
        ics_digest_text(digest, text);
        *same =
            status == ICESTREAM_OK && bytes == result->bytes && strcmp(text, result->sha256) == 0;
    }
    ics_digest_destroy(digest);
    close(file);
    return status;
}

static int write_copy(const ics_transfer_target *target, const ics_transfer_request *request,
                      int file, icestream_error *error)
{
    ics_output *output = NULL;
    ICS_TRY(ics_output_create(target->url, request->replaces, &output, error));
    int status = copy_bytes(file, target, request, put_output, output, error);
    if (status == ICESTREAM_OK) {
        status = ics_output_commit(output, error);
    }
    ics_output_destroy(output);
    return status;
}

int ics_local_ship(const ics_transfer_target *target, const ics_transfer_request *request, int file,
                   ics_transfer_result *result, icestream_error *error)
{
    bool there, same;
    ICS_TRY(compare(target, result, &there, &same, error));
    if (there && same) {
        result->was_there = true;
        return ICESTREAM_OK;
    }
    if (there && !request->replaces) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EEXIST, ICS_TRANSFER_OTHER,
                                   target->shown);
    }
    ICS_TRY(write_copy(target, request, file, error));
    ICS_TRY(compare(target, result, &there, &same, error));
    return there && same ? ICESTREAM_OK
                         : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EAGAIN,
                                               "%.2000s: found other bytes than were written there",
                                               target->shown);
}
