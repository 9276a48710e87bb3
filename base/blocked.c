#include "base/blocked.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool has_wildcard(const char *text, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        if (strchr("*?[\\", text[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_absence(int cause)
{
    return cause == ENOENT || cause == ENOTDIR;
}

static bool report_blocked(const char *path, int found, char *where, size_t size, int *cause)
{
    if (is_absence(found)) {
        return false;
    }
    snprintf(where, size, "%s", path);
    *cause = found;
    return true;
}

/* Examines a folder whose entries a pattern needs. */
static bool is_folder_blocked(const char *path, char *where, size_t size, int *cause)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return report_blocked(path, errno, where, size, cause);
    }
    closedir(folder);
    return false;
}

/* Examines all folders that match a pattern, which may have wildcards. */
static bool are_folders_blocked(const char *pattern, char *where, size_t size, int *cause)
{
    if (!has_wildcard(pattern, strlen(pattern))) {
        return is_folder_blocked(pattern, where, size, cause);
    }
    glob_t found = {0};
    bool blocked = false;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !blocked; ++i) {
            blocked = is_folder_blocked(found.gl_pathv[i], where, size, cause);
        }
    }
    globfree(&found);
    return blocked;
}

bool ics_blocked_pattern(const char *pattern, char *where, size_t size, int *cause)
{
    struct stat about;
    if (!has_wildcard(pattern, strlen(pattern))) {
        return stat(pattern, &about) != 0 && report_blocked(pattern, errno, where, size, cause);
    }
    /* Only folders above a part with wildcards are listed; in the others one name is looked up. */
    for (const char *part = pattern, *end; *part; part = *end ? end + 1 : end) {
        end = strchrnul(part, '/');
        if (!has_wildcard(part, (size_t)(end - part))) {
            continue;
        }
        const size_t length = part > pattern + 1 ? (size_t)(part - pattern) - 1 : 1;
        char *folder = part == pattern ? strdup(".") : strndup(pattern, length);
        if (folder == NULL) {
            return report_blocked(pattern, ENOMEM, where, size, cause);
        }
        const bool blocked = are_folders_blocked(folder, where, size, cause);
        free(folder);
        if (blocked) {
            return true;
        }
    }
    return false;
}
