#include "pipeline/production/telemetry/record_file.h"

#include "base/error.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name, *begin;
} records[ICS_RECORDS] = {
    [ICS_RECORD_JOURNAL] = {"a journal of runs", "{\"time\":"},
    [ICS_RECORD_SUMMARY] = {"a summary of a run", "{\n  \"schema\": \"icestream.summary\""},
    [ICS_RECORD_METRICS] = {"metrics of a run", "# HELP icestream_"},
};

static bool ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* Whether the file is empty or begins like the record, also if it was cut short there. */
static bool begins_well(int descriptor, const char *begin)
{
    char found[64];
    const size_t length = strlen(begin);
    const ssize_t got = pread(descriptor, found, length, 0);
    return got < 0 || memcmp(found, begin, (size_t)got) == 0;
}

/* The number of zeros at the beginning of the file, at most `most`. */
static off_t count_zeros(int descriptor, off_t most)
{
    char block[4096];
    off_t count = 0;
    for (ssize_t got = 1; got > 0 && count < most;) {
        got = pread(descriptor, block, sizeof block, count);
        for (ssize_t i = 0; i < got; ++i, ++count) {
            if (block[i] != 0) {
                return count;
            }
        }
    }
    return count;
}

/* Whether the first line of a journal may be one that was not written to its end: a part of it, or
 * the zeros that some file systems leave after a loss of power, or both. Later lines follow behind
 * a newline. */
static bool is_torn(int descriptor, const char *begin)
{
    enum { ZEROS_MOST = 65536 };
    char found[64];
    const off_t zeros = count_zeros(descriptor, ZEROS_MOST);
    const ssize_t got = pread(descriptor, found, strlen(begin), zeros);
    ssize_t same = 0;
    while (same < got && found[same] == begin[same]) {
        ++same;
    }
    const bool ends = same == got || found[same] == '\n' || found[same] == 0;
    return zeros < ZEROS_MOST && zeros + same > 0 && ends;
}

int ics_record_file_check(ics_record record, const char *what, const char *path,
                          icestream_error *error)
{
    struct stat about;
    if (ends_with(path, ".npy")) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found %s, a name of step and hit files, expected another name "
                             "for %s",
                             what, path, records[record].name);
    }
    /* Links, and what is no file, have their own rules (files.md 6.1). */
    if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return ICESTREAM_OK;
    }
    /* O_NONBLOCK: a named pipe must not make this wait. O_NOFOLLOW: what a link leads to is never
     * written; the writing refuses or replaces the link. */
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (descriptor < 0) {
        return ICESTREAM_OK;
    }
    const bool is_right =
        begins_well(descriptor, records[record].begin) ||
        (record == ICS_RECORD_JOURNAL && is_torn(descriptor, records[record].begin));
    close(descriptor);
    return is_right ? ICESTREAM_OK
                    : ics_error_set(error, ICESTREAM_E_CONFIG,
                                    "%s: found %s, a file that is something else, expected %s, or "
                                    "a name that is free",
                                    what, path, records[record].name);
}

/* Whether two records at this path would destroy each other: not at /dev/null. */
static bool is_one_file(const char *left, const char *right)
{
    struct stat about;
    return left != NULL && right != NULL && strcmp(left, right) == 0 &&
           (lstat(left, &about) != 0 || S_ISREG(about.st_mode));
}

int ics_record_file_check_names(const char *const *paths, icestream_error *error)
{
    for (size_t i = 0; i < ICS_RECORDS; ++i) {
        for (size_t k = i + 1; k < ICS_RECORDS; ++k) {
            if (is_one_file(paths[i], paths[k])) {
                return ics_error_set(error, ICESTREAM_E_CONFIG,
                                     "%s: found the same name for %s and %s, expected a name for "
                                     "each",
                                     paths[i], records[i].name, records[k].name);
            }
        }
    }
    return ICESTREAM_OK;
}
