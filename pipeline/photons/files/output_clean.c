/* Removing the .part files that killed writers left in a folder. */
#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/files/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes a .part of this user, unless a living writer holds its lock. */
static void remove_abandoned(const char *part)
{
    struct stat opened, named;
    ICS_CLOSES_DESCRIPTOR int descriptor =
        TEMP_FAILURE_RETRY(open(part, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (descriptor >= 0 && fstat(descriptor, &opened) == 0 && S_ISREG(opened.st_mode) &&
        opened.st_uid == geteuid() &&
        TEMP_FAILURE_RETRY(flock(descriptor, LOCK_EX | LOCK_NB)) == 0 && stat(part, &named) == 0 &&
        named.st_ino == opened.st_ino && named.st_dev == opened.st_dev) {
        unlink(part);
    }
}

/* Whether `entry` is NAME.WRITER.part, as ics_output_create_as makes it, with a NAME that matches
 * the pattern. Other programs write files that end in "part" as well. */
static bool is_part_of_writer(const char *entry, const char *pattern)
{
    enum { DIGITS = 8 };
    static const char ending[] = ".part";
    char name[NAME_MAX + 1];
    const size_t tail = 1 + DIGITS + sizeof ending - 1, length = strlen(entry);
    if (length <= tail || length > NAME_MAX) {
        return false;
    }
    const char *writer = entry + length - tail;
    memcpy(name, entry, length - tail);
    name[length - tail] = '\0';
    return writer[0] == '.' && strspn(writer + 1, "0123456789abcdef") == DIGITS &&
           strcmp(writer + 1 + DIGITS, ending) == 0 && fnmatch(pattern, name, FNM_PERIOD) == 0;
}

int ics_output_clean_folder(const char *folder, const char *pattern, icestream_error *error)
{
    DIR *entries;
    do {
        entries = opendir(folder);
    } while (entries == NULL && errno == EINTR);
    if (entries == NULL) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "%s: cannot look for .part files: %s", folder, strerror(errno));
    }
    const struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        char *part = NULL;
        if (!is_part_of_writer(entry->d_name, pattern)) {
            continue;
        }
        if (asprintf(&part, "%s/%s", folder, entry->d_name) >= 0) {
            remove_abandoned(part);
            free(part);
        }
    }
    closedir(entries);
    return ICESTREAM_OK;
}

int ics_output_clean_writers(const char *path, icestream_error *error)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    ICS_FREES char *folder = slash != NULL ? strndup(path, (size_t)(name - path)) : strdup(".");
    ICS_FREES char *pattern = calloc(2, strlen(name) + 1);
    if (folder == NULL || pattern == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    for (char *end = pattern; *name != '\0'; ++name) { /* no character of a name is a wildcard */
        *end++ = '\\';
        *end++ = *name;
    }
    return ics_output_clean_folder(folder, pattern, error);
}
