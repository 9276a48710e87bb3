#include "base/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
