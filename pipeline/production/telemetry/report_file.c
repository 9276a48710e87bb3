#include "pipeline/production/telemetry/report_file.h"

#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where the last part of a path begins. */
static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The length of a name without its ending. */
static size_t stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
}

/* The path with the name of the worker, for the caller to free. */
static char *with_worker(const char *path, const char *worker)
{
    const char *base = base_of(path);
    const size_t stem = (size_t)(base - path) + stem_length(base);
    char *result = ics_new_text("%.*s-%s%s", (int)stem, path, worker, path + stem);
    for (char *at = result + stem; *at != '\0'; ++at) {
        if (*at == '/') {
            *at = '_';
        }
    }
    return result;
}

typedef enum lock_result { LOCKED, HELD, FAILED, NEEDS_NONE } lock_result;

/* Whether a folder cannot be written, which is found and reported when the file is written. */
static bool is_of_folder(int cause)
{
    return cause == ENOENT || cause == ENOTDIR || cause == EACCES || cause == EROFS;
}

/* Locks the name of a file. A lock of another user cannot be opened (EACCES). */
static lock_result lock(ics_report_file *file)
{
    struct stat about;
    const char *base = base_of(file->path);
    if (lstat(file->path, &about) == 0 && !S_ISREG(about.st_mode)) {
        return NEEDS_NONE;
    }
    free(file->lock_path);
    file->lock_path = ics_new_text("%.*s.%s.lock", (int)(base - file->path), file->path, base);
    file->lock = ics_disk_lock(file->lock_path);
    if (file->lock >= 0) {
        return LOCKED;
    }
    const int cause = errno;
    const bool is_there = lstat(file->lock_path, &about) == 0;
    if ((cause == EWOULDBLOCK || cause == EACCES) && is_there) {
        return HELD;
    }
    file->lock_fault = is_of_folder(cause) ? 0 : cause;
    return file->lock_fault == 0 ? NEEDS_NONE : FAILED;
}

int ics_report_file_open(const char *path, const char *worker, ics_report_file *out,
                         icestream_error *error)
{
    *out = (ics_report_file){.path = ics_new_copy(path), .lock = -1};
    lock_result result = lock(out);
    if (result == HELD) {
        free(out->path);
        out->path = with_worker(path, worker);
        out->is_other = true;
        result = lock(out);
    }
    return result != HELD
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_OUTPUT,
                               "%s: found other runs that write this file and %s, expected a file "
                               "for this run; give each run another source.worker or another path",
                               path, base_of(out->path));
}

void ics_report_file_close(ics_report_file *file, icestream_error *error)
{
    const int cause = file->path != NULL ? ics_disk_unlock(file->lock_path, file->lock) : 0;
    if (cause != 0) {
        ics_error_set_cause(error, ICESTREAM_E_OUTPUT, cause, "%s: cannot remove this lock: %s",
                            file->lock_path, strerror(cause));
    }
    free(file->path);
    free(file->lock_path);
    *file = (ics_report_file){.lock = -1};
}

bool ics_report_file_is_name(const char *path, const char *name)
{
    const char *base = base_of(path);
    const size_t stem = stem_length(base), length = strlen(name), tail = strlen(base + stem);
    return strcmp(name, base) == 0 ||
           (length > stem + 1 + tail && strncmp(name, base, stem) == 0 && name[stem] == '-' &&
            strcmp(name + length - tail, base + stem) == 0);
}
