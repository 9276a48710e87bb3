#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
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

/* Locks the open file of a lock. Returns 1, 0 if the path belongs to another file now, or -1 with
 * errno. */
static int lock_named(const char *path, int descriptor)
{
    struct stat locked, named;
    if (TEMP_FAILURE_RETRY(flock(descriptor, LOCK_EX | LOCK_NB)) != 0 ||
        fstat(descriptor, &locked) != 0) {
        return -1;
    }
    return stat(path, &named) == 0 && named.st_ino == locked.st_ino &&
           named.st_dev == locked.st_dev;
}

int ics_disk_lock_open_file(int descriptor)
{
    enum { PAUSE_MS = 10, TRIES = 1000 * ICS_DISK_LOCK_WAIT / PAUSE_MS };
    for (int tries = 0;; ++tries) {
        const int result = TEMP_FAILURE_RETRY(flock(descriptor, LOCK_EX | LOCK_NB));
        if (result == 0 || errno != EWOULDBLOCK || tries == TRIES) {
            return result;
        }
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    }
}

const char *ics_disk_lock_holder(int descriptor, char text[32])
{
    struct stat about;
    char line[256];
    FILE *locks = fstat(descriptor, &about) == 0 ? fopen("/proc/locks", "re") : NULL;
    text[0] = '\0';
    while (locks != NULL && text[0] == '\0' && fgets(line, sizeof line, locks) != NULL) {
        long process;
        unsigned long long node;
        /* "1: FLOCK  ADVISORY  WRITE 3568 08:01:921 0 EOF": process, device, number of the file */
        if (sscanf(line, "%*d: FLOCK %*s %*s %ld %*x:%*x:%llu", &process, &node) == 2 &&
            node == about.st_ino && process > 0) {
            snprintf(text, 32, " (process %ld)", process);
        }
    }
    if (locks != NULL) {
        fclose(locks);
    }
    return text;
}

int ics_disk_lock(const char *path)
{
    for (;;) {
        const int descriptor =
            TEMP_FAILURE_RETRY(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
        const int result = descriptor >= 0 ? lock_named(path, descriptor) : -1;
        if (result == 1) {
            return descriptor;
        }
        const int cause = errno;
        if (descriptor >= 0) {
            close(descriptor);
        }
        errno = cause;
        if (result < 0) {
            return -1;
        }
    }
}

int ics_disk_unlock(const char *path, int descriptor)
{
    if (descriptor < 0) {
        return 0;
    }
    /* Before it is unlocked, because another process may lock it afterwards. */
    const int cause = unlink(path) == 0 || errno == ENOENT ? 0 : errno;
    close(descriptor);
    return cause;
}

/* umask(2) can only be read by changing it, which other threads would notice. */
mode_t ics_disk_file_mode(void)
{
    char line[128];
    unsigned mask = 022;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Umask: %o", &mask) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return 0666 & ~(mode_t)mask;
}

bool ics_disk_is_own_stream(const char *path)
{
    return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0 ||
           strncmp(path, "/dev/fd/", 8) == 0;
}

int ics_disk_open_output(const char *path, int flags)
{
    const int follow = ics_disk_is_own_stream(path) ? 0 : O_NOFOLLOW;
    return TEMP_FAILURE_RETRY(open(path, flags | follow | O_CLOEXEC | O_NOCTTY, 0666));
}

int ics_disk_open_regular(const char *path, const char **why)
{
    struct stat about;
    const int file = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file < 0 || fstat(file, &about) != 0) {
        *why = strerror(errno);
    } else if (S_ISREG(about.st_mode)) {
        return file;
    } else {
        *why = S_ISDIR(about.st_mode)    ? "found a folder, expected a regular file"
               : S_ISFIFO(about.st_mode) ? "found a pipe, expected a regular file"
                                         : "found a device, expected a regular file";
        errno = EINVAL;
    }
    if (file >= 0) {
        const int cause = errno;
        (void)close(file);
        errno = cause;
    }
    return -1;
}

size_t ics_disk_read_at(int file, void *bytes, size_t size, off_t offset)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count = TEMP_FAILURE_RETRY(
            pread(file, (char *)bytes + done, size - done, offset + (off_t)done));
        if (count <= 0) {
            errno = count == 0 ? 0 : errno;
            break;
        }
        done += (size_t)count;
    }
    return done;
}

size_t ics_disk_write_at(int file, const void *bytes, size_t size, off_t offset)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t count = TEMP_FAILURE_RETRY(
            pwrite(file, (const char *)bytes + done, size - done, offset + (off_t)done));
        if (count <= 0) {
            errno = count == 0 ? EIO : errno;
            break;
        }
        done += (size_t)count;
    }
    return done;
}

const char *ics_disk_temporary_folder(void)
{
    const char *chosen = getenv("TMPDIR");
    return chosen != NULL && *chosen != '\0' ? chosen : "/tmp";
}

int ics_disk_open_temporary(const char *folder, bool *can_get_name)
{
    char path[PATH_MAX];
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    *can_get_name = file >= 0;
    if (file >= 0) {
        return file;
    }
    const int length = snprintf(path, sizeof path, "%s/.icestream-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0) {
        unlink(path);
    }
    return file;
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

bool ics_disk_is_same_file(const char *left, const char *right)
{
    struct stat one, other;
    return stat(left, &one) == 0 && stat(right, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino && S_ISREG(one.st_mode);
}
