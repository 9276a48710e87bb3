#include "pipeline/commands/split/names.h"

#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/files/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char marker[] = "{part}";

/* Copies `length` bytes as a text. False: they do not fit. */
static bool copy(char *to, size_t size, const char *from, size_t length)
{
    if (length >= size) {
        return false;
    }
    memcpy(to, from, length);
    to[length] = '\0';
    return true;
}

int ics_split_names_read(const char *pattern, ics_split_names *out, icestream_error *error)
{
    const char *slash = strrchr(pattern, '/');
    const char *name = slash != NULL ? slash + 1 : pattern;
    const char *number = strstr(name, marker);
    if (number == NULL || strstr(pattern, marker) != number || strstr(number + 1, marker) != NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--output: found \"%s\", expected a name of files with {part} once, "
                             "for example parts/muons-{part}.steps.npy",
                             pattern);
    }
    ICS_TRY(ics_output_check_ending("--output", pattern, ".npy", error));
    const char *after = number + strlen(marker);
    const char *folder = slash != NULL ? pattern : ".";
    const size_t folder_length = slash > pattern ? (size_t)(slash - pattern) : 1;
    if (!copy(out->folder, sizeof out->folder, folder, folder_length) ||
        !copy(out->before, sizeof out->before, name, (size_t)(number - name)) ||
        !copy(out->after, sizeof out->after, after, strlen(after))) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--output: found a text of %zu bytes, expected a folder of less than "
                             "%zu bytes and a name of less than %zu",
                             strlen(pattern), sizeof out->folder, sizeof out->before);
    }
    return ICESTREAM_OK;
}

char *ics_split_names_path(const ics_split_names *names, uint32_t number)
{
    return ics_new_text("%s/%s%0*u%s", names->folder, names->before, ICS_SPLIT_DIGITS, number,
                        names->after);
}

/* Returns the number of the part with this name, or -1 if the name is none of a part. */
static long number_of(const ics_split_names *names, const char *name)
{
    const size_t before = strlen(names->before), after = strlen(names->after);
    if (strlen(name) != before + ICS_SPLIT_DIGITS + after ||
        strncmp(name, names->before, before) != 0 ||
        strcmp(name + before + ICS_SPLIT_DIGITS, names->after) != 0 ||
        strspn(name + before, "0123456789") < ICS_SPLIT_DIGITS) {
        return -1;
    }
    char digits[ICS_SPLIT_DIGITS + 1] = "";
    memcpy(digits, name + before, ICS_SPLIT_DIGITS);
    return strtol(digits, NULL, 10);
}

/* Whether the folder's file `name` is the file `input`. */
static bool is_input(DIR *folder, const char *name, const char *input)
{
    struct stat one, other;
    return input != NULL && stat(input, &one) == 0 &&
           fstatat(dirfd(folder), name, &other, 0) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

int ics_split_names_check(const ics_split_names *names, uint32_t count, const char *input,
                          bool force, icestream_error *error)
{
    DIR *folder = opendir(names->folder);
    if (folder == NULL) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "--output: %s cannot be opened: %s", names->folder,
                                   strerror(errno));
    }
    int status = ICESTREAM_OK;
    for (const struct dirent *entry; status == ICESTREAM_OK && (entry = readdir(folder)) != NULL;) {
        const long number = number_of(names, entry->d_name);
        if (number >= 0 && is_input(folder, entry->d_name, input)) {
            status = ics_error_set(error, ICESTREAM_E_USAGE,
                                   "--output: part %ld would replace the input %s", number, input);
        } else if (number >= 0 && (!force || number >= (long)count)) {
            status = ics_error_set(error, ICESTREAM_E_USAGE,
                                   "--output: found %s/%s of another split, expected no part%s",
                                   names->folder, entry->d_name,
                                   force ? " that the new ones do not replace: remove it"
                                         : " (--force replaces parts)");
        }
    }
    closedir(folder);
    return status;
}
