#include "pipeline/production/source/incoming_file.h"

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

struct ics_incoming_file {
    char *folder, *part;
    int descriptor;
};

static int output_error(const char *path, const char *what, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: cannot %s: %s", path, what,
                         strerror(errno));
}

static void destroy(ics_incoming_file *file)
{
    if (file->descriptor >= 0) {
        close(file->descriptor);
    }
    free(file->part);
    free(file->folder);
    free(file);
}

/* Creates and locks the part. Another process may find it before it is locked and remove it as left
 * behind; then it is created again. */
static int open_part(ics_incoming_file *file, icestream_error *error)
{
    struct stat about = {.st_nlink = 0};
    while (about.st_nlink == 0) {
        if (file->descriptor >= 0) {
            close(file->descriptor);
        }
        file->descriptor = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file->descriptor < 0) {
            return output_error(file->part, "create it", error);
        }
        if (flock(file->descriptor, LOCK_EX) != 0 || fstat(file->descriptor, &about) != 0) {
            int status = output_error(file->part, "lock it", error);
            unlink(file->part);
            return status;
        }
    }
    return ICESTREAM_OK;
}

int ics_incoming_file_create(const char *folder, const char *name, ics_incoming_file **out,
                             icestream_error *error)
{
    *out = NULL;
    ics_incoming_file *file = ICS_NEW(ics_incoming_file);
    file->descriptor = -1;
    file->folder = ics_new_copy(folder);
    file->part = ics_new_text("%s/%s.part", folder, name);
    const int status = open_part(file, error);
    if (status != ICESTREAM_OK) {
        destroy(file);
        return status;
    }
    *out = file;
    return ICESTREAM_OK;
}

int ics_incoming_file_write(ics_incoming_file *file, const void *bytes, size_t size,
                            icestream_error *error)
{
    const unsigned char *next = bytes;
    while (size > 0) {
        ssize_t count = write(file->descriptor, next, size);
        if (count < 0 && errno != EINTR) {
            return output_error(file->part, "write", error);
        }
        if (count > 0) {
            next += count;
            size -= (size_t)count;
        }
    }
    return ICESTREAM_OK;
}

const char *ics_incoming_file_part(const ics_incoming_file *file)
{
    return file->part;
}

int ics_incoming_file_commit(ics_incoming_file *file, const char *path, icestream_error *error)
{
    int status = fdatasync(file->descriptor) != 0
                     ? output_error(file->part, "write it to the disk", error)
                 : rename(file->part, path) != 0 ? output_error(path, "rename to it", error)
                                                 : ICESTREAM_OK;
    if (status != ICESTREAM_OK) {
        ics_incoming_file_abandon(file);
        return status;
    }
    if (ics_disk_sync_folder(file->folder) != 0) {
        status = output_error(file->folder, "write the folder to the disk", error);
        unlink(path); /* the sender gets the answer that the message was refused */
    }
    destroy(file);
    return status;
}

void ics_incoming_file_abandon(ics_incoming_file *file)
{
    if (file != NULL) {
        unlink(file->part);
        destroy(file);
    }
}

static bool is_part(const char *name, const char *prefix)
{
    static const char ending[] = ".part";
    size_t length = strlen(name), tail = sizeof ending - 1;
    return strncmp(name, prefix, strlen(prefix)) == 0 && length > tail &&
           strcmp(name + length - tail, ending) == 0;
}

int ics_incoming_file_clean(const char *folder, const char *prefix, icestream_error *error)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return output_error(folder, "read the folder", error);
    }
    int status = ICESTREAM_OK;
    errno = 0;
    for (struct dirent *entry; status == ICESTREAM_OK && (entry = readdir(entries)) != NULL;
         errno = 0) {
        if (!is_part(entry->d_name, prefix)) {
            continue;
        }
        int descriptor =
            openat(dirfd(entries), entry->d_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (descriptor < 0) {
            continue; /* it was committed in the meantime, or belongs to another user */
        }
        if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
            unlinkat(dirfd(entries), entry->d_name, 0) != 0 && errno != ENOENT) {
            status = output_error(entry->d_name, "remove it", error);
        }
        close(descriptor);
    }
    if (status == ICESTREAM_OK && errno != 0) {
        status = output_error(folder, "read the folder", error);
    }
    closedir(entries);
    return status;
}
