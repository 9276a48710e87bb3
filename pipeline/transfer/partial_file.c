#include "pipeline/transfer/partial_file.h"

#include "base/disk.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 256 << 10 };

static int fault(const char *path, int cause, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%s: %s", path, strerror(cause));
}

int ics_partial_file_digest(int file, const char *name, ics_digest *digest, uint64_t *bytes,
                            icestream_error *error)
{
    char *chunk = malloc(CHUNK);
    ssize_t count = 1;
    *bytes = 0;
    if (chunk == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %s", name);
    }
    while (count != 0) {
        count = pread(file, chunk, CHUNK, (off_t)*bytes);
        if (count < 0 && errno != EINTR) {
            const int cause = errno;
            free(chunk);
            return fault(name, cause, error);
        }
        if (count > 0) {
            ics_digest_add(digest, chunk, (size_t)count);
            *bytes += (uint64_t)count;
        }
    }
    free(chunk);
    return ICESTREAM_OK;
}

/* Reads the mark of an earlier attempt; "" if there is none. */
static void read_mark(ics_partial_file *file)
{
    const int mark = open(file->mark, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    const ssize_t count = mark >= 0 ? read(mark, file->etag, sizeof file->etag - 1) : -1;
    file->etag[count > 0 ? count : 0] = '\0';
    if (mark >= 0) {
        close(mark);
    }
}

int ics_partial_file_open(const char *path, ics_partial_file *out, icestream_error *error)
{
    struct stat about;
    *out = (ics_partial_file){.path = path, .file = -1};
    if (asprintf(&out->part, "%s.part", path) < 0) {
        out->part = NULL;
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %s", path);
    }
    if (asprintf(&out->mark, "%s.part.etag", path) < 0) {
        out->mark = NULL;
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %s", path);
    }
    ICS_TRY(ics_digest_create(&out->digest, error));
    out->file = open(out->part, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
    if (out->file < 0 || fstat(out->file, &about) != 0) {
        return fault(out->part, errno, error);
    }
    if (!S_ISREG(about.st_mode)) {
        return fault(out->part, EINVAL, error);
    }
    read_mark(out);
    if (out->etag[0] == '\0') {
        return ics_partial_file_restart(out, "", error);
    }
    ICS_TRY(ics_partial_file_digest(out->file, out->part, out->digest, &out->bytes, error));
    out->resumed = out->bytes;
    return ICESTREAM_OK;
}

int ics_partial_file_restart(ics_partial_file *file, const char *etag, icestream_error *error)
{
    const bool is_strong = etag[0] == '"' && strlen(etag) < sizeof file->etag;
    unlink(file->mark);
    file->bytes = file->resumed = 0;
    ics_digest_reset(file->digest);
    snprintf(file->etag, sizeof file->etag, "%s", is_strong ? etag : "");
    if (ftruncate(file->file, 0) != 0) {
        return fault(file->part, errno, error);
    }
    const ics_disk_part text = {etag, strlen(etag)};
    if (is_strong && ics_disk_write_whole(file->mark, &text, 1) != 0) {
        return fault(file->mark, errno, error);
    }
    return ICESTREAM_OK;
}

int ics_partial_file_append(ics_partial_file *file, const void *bytes, size_t size,
                            icestream_error *error)
{
    const char *from = bytes;
    while (size > 0) {
        const ssize_t count = pwrite(file->file, from, size, (off_t)file->bytes);
        if (count < 0 && errno != EINTR) {
            return fault(file->part, errno, error);
        }
        if (count > 0) {
            ics_digest_add(file->digest, from, (size_t)count);
            file->bytes += (uint64_t)count;
            from += count;
            size -= (size_t)count;
        }
    }
    return ICESTREAM_OK;
}

int ics_partial_file_commit(ics_partial_file *file, icestream_error *error)
{
    if (rename(file->part, file->path) != 0) {
        return fault(file->path, errno, error);
    }
    unlink(file->mark);
    close(file->file);
    file->file = -1;
    return ICESTREAM_OK;
}

void ics_partial_file_close(ics_partial_file *file)
{
    if (file->file >= 0) {
        close(file->file);
        if (file->bytes == 0 || file->etag[0] == '\0') {
            unlink(file->part);
            unlink(file->mark);
        }
    }
    ics_digest_destroy(file->digest);
    free(file->part);
    free(file->mark);
    *file = (ics_partial_file){.file = -1};
}
