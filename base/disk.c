#include "base/disk.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

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
