#include "pipeline/production/source/fetch_folder.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char beginning[] = ".fetched-";
enum { WRITER = 8 };

static const char lock_name[] = ".lock"; /* no name of a URL begins with a dot */

/* Removes the files of a folder, and the folder. What cannot be removed stays: the next run tries
 * again. */
static void remove_folder(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            unlinkat(folder, entry->d_name, 0);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    } else if (folder >= 0) {
        close(folder);
    }
    rmdir(path);
}

/* Opens the lock of a folder of this user that is no link; makes it if the folder is new. -1 with
 * errno. */
static int open_lock(const char *path, bool is_new)
{
    struct stat about;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        return -1;
    }
    int lock = -1;
    errno = EACCES;
    if (is_new || (fstat(folder, &about) == 0 && about.st_uid == geteuid())) {
        const int make = is_new ? O_CREAT | O_EXCL : 0;
        lock = openat(folder, lock_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | make, 0600);
    }
    const int cause = errno;
    close(folder);
    errno = cause;
    return lock;
}

/* Locks a folder. The lock is on a file in it, because file servers lock no folders. Where the file
 * system has no locks, a new folder is used, and nobody removes it but its run. -1 with errno: a
 * run has it, or it cannot be locked. */
static int lock_folder(const char *path, bool is_new)
{
    const int lock = open_lock(path, is_new);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0 && (!is_new || errno == EWOULDBLOCK)) {
        const int cause = errno;
        close(lock);
        errno = cause;
        return -1;
    }
    return lock;
}

/* Removes the folders of runs that were killed. */
static void clean(const char *parent)
{
    DIR *entries = opendir(parent);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        if (strncmp(name, beginning, sizeof beginning - 1) != 0 ||
            strlen(name) != sizeof beginning - 1 + WRITER) {
            continue;
        }
        ICS_FREES char *path = ics_new_text("%s/%s", parent, name);
        const int lock = lock_folder(path, false);
        if (lock >= 0) {
            close(lock); /* a file server keeps the names of open files */
            remove_folder(path);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

/* Makes the folder under the name `fresh`, locks it, and gives it its name. Returns 0, or errno. */
static int make_folder(const char *fresh, ics_fetch_folder *out)
{
    if (mkdir(fresh, 0700) != 0) {
        return errno;
    }
    out->lock = lock_folder(fresh, true);
    if (out->lock >= 0 && rename(fresh, out->path) == 0) {
        return 0;
    }
    const int cause = errno;
    if (out->lock >= 0) {
        close(out->lock);
        out->lock = -1;
    }
    remove_folder(fresh);
    return cause;
}

int ics_fetch_folder_open(const char *parent, const char *writer, ics_fetch_folder *out,
                          icestream_error *error)
{
    *out =
        (ics_fetch_folder){.lock = -1, .path = ics_new_text("%s/%s%s", parent, beginning, writer)};
    const int made = ics_disk_make_folders(parent, 0777) == 0 ? 0 : errno;
    if (made == 0) {
        clean(parent);
    }
    /* The name until the folder is locked, which clean() does not know. */
    ICS_FREES char *fresh = ics_new_text("%s/.fetching-%s", parent, writer);
    const int cause = made == 0 ? make_folder(fresh, out) : made;
    if (cause == 0) {
        return ICESTREAM_OK;
    }
    ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause,
                        "%s: cannot make this folder for fetched step files: %s", out->path,
                        strerror(cause));
    free(out->path);
    out->path = NULL;
    return ICESTREAM_E_OUTPUT;
}

void ics_fetch_folder_close(ics_fetch_folder *folder)
{
    if (folder->path != NULL) {
        close(folder->lock);
        remove_folder(folder->path);
        free(folder->path);
        folder->path = NULL;
    }
}
