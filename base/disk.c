#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- folders --------------------------------------------------------------------------------- */

int ics_disk_make_folder(const char *path, mode_t permissions)
{
    struct stat about;
    if (mkdir(path, permissions) == 0) {
        return 0;
    }
    if (errno != EEXIST || stat(path, &about) != 0) {
        return -1;
    }
    errno = ENOTDIR;
    return S_ISDIR(about.st_mode) ? 0 : -1;
}

int ics_disk_make_folders(const char *path, mode_t permissions)
{
    char part[PATH_MAX];
    const size_t length = strlen(path);
    if (length >= sizeof part) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (size_t end = 1; end < length; ++end) {
        if (path[end] == '/' && path[end - 1] != '/') {
            memcpy(part, path, end);
            part[end] = 0;
            if (ics_disk_make_folder(part, permissions) != 0) {
                return -1;
            }
        }
    }
    return ics_disk_make_folder(path, permissions);
}

int ics_disk_sync_folder(const char *path)
{
    const int descriptor = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (descriptor < 0) {
        return -1;
    }
    const bool good =
        TEMP_FAILURE_RETRY(fsync(descriptor)) == 0 || errno == EINVAL || errno == ENOTSUP;
    const int cause = errno;
    close(descriptor);
    errno = cause;
    return good ? 0 : -1;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Creates a file that no other thread or process writes, and writes its name to `partial`. Returns
 * its descriptor, or -1 with errno. */
static int create_partial(const char *path, char *partial, size_t size)
{
    enum { ATTEMPTS = 1000 };
    for (unsigned attempt = 0; attempt < ATTEMPTS; ++attempt) {
        const int length = snprintf(partial, size, "%s.%ld-%u.part", path, (long)getpid(), attempt);
        if (length < 0 || (size_t)length >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int descriptor =
            TEMP_FAILURE_RETRY(open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (descriptor >= 0 || errno != EEXIST) {
            return descriptor;
        }
    }
    return -1;
}

static int write_part(int descriptor, const ics_disk_part *part)
{
    const char *next = part->bytes;
    for (size_t left = part->size; left > 0;) {
        const ssize_t count = TEMP_FAILURE_RETRY(write(descriptor, next, left));
        if (count < 0) {
            return -1;
        }
        next += count;
        left -= (size_t)count;
    }
    return 0;
}

int ics_disk_write_whole(const char *path, const ics_disk_part *parts, size_t count)
{
    char partial[PATH_MAX];
    const int descriptor = create_partial(path, partial, sizeof partial);
    if (descriptor < 0) {
        return -1;
    }
    int result = 0;
    for (size_t i = 0; i < count && result == 0; ++i) {
        result = write_part(descriptor, &parts[i]);
    }
    if (result == 0) {
        result = TEMP_FAILURE_RETRY(fsync(descriptor));
    }
    int cause = errno; /* of the first error */
    if (close(descriptor) != 0 && result == 0) {
        result = -1;
        cause = errno;
    }
    if (result == 0 && rename(partial, path) != 0) {
        result = -1;
        cause = errno;
    }
    if (result != 0) {
        (void)unlink(partial);
        errno = cause;
    }
    return result;
}
