#include "pipeline/production/spool/files.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ics_path ics_spool_path_format(const char *format, ...)
{
    ics_path path;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path.text, sizeof path.text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof path.text) {
        path.text[0] = 0;
    }
    return path;
}

ics_path ics_spool_path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    bool slash = length > 0 && folder[length - 1] == '/';
    return ics_spool_path_format("%s%s%s", folder, slash ? "" : "/", name);
}

bool ics_spool_path_exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

bool ics_spool_is_gone(int cause)
{
    return cause == ENOENT || cause == ENOTDIR || cause == ESTALE;
}

/* ---- moving ---------------------------------------------------------------------------------- */

bool ics_spool_path_same(const char *a, const char *b)
{
    struct stat first, second;
    return lstat(a, &first) == 0 && lstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* A file server may carry out a request, lose its answer, and refuse the repeated request. No other
 * process links these files, so if the new name is the same file, our request was carried out. */
static int move_by_link(const char *from, const char *to)
{
    if (link(from, to) != 0) {
        int cause = errno;
        if (cause != EEXIST || !ics_spool_path_same(from, to)) {
            errno = cause;
            return -1;
        }
    }
    return unlink(from);
}

int ics_spool_move(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno == EINVAL || errno == ENOSYS) {
        return move_by_link(from, to);
    }
    if (errno == EEXIST && ics_spool_path_same(from, to)) {
        return unlink(from); /* the second half of a move by link */
    }
    return -1;
}

int ics_spool_move_numbered(const char *from, const char *folder, const char *name, ics_path *where)
{
    *where = ics_spool_path_join(folder, name);
    for (unsigned number = 2; ics_spool_move(from, where->text) != 0; ++number) {
        if (errno != EEXIST || number == UINT_MAX) {
            return -1;
        }
        *where = ics_spool_path_format("%s/%s.%u", folder, name, number);
    }
    return 0;
}

/* ---- folders and small files ----------------------------------------------------------------- */

static int open_file(const char *path, int flags)
{
    return TEMP_FAILURE_RETRY(open(path, flags | O_CLOEXEC, 0666));
}

static int write_all(int descriptor, const char *text)
{
    for (size_t size = strlen(text); size > 0;) {
        ssize_t count = write(descriptor, text, size);
        if (count < 0 && errno != EINTR) {
            return -1;
        }
        text += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return 0;
}

int ics_spool_file_replace(const char *folder, const char *name, const char *part, const char *text)
{
    ics_path path = ics_spool_path_join(folder, name);
    ICS_CLOSES_DESCRIPTOR int descriptor =
        open_file(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
    if (descriptor < 0) {
        return -1;
    }
    if (write_all(descriptor, text) != 0) {
        int cause = errno;
        (void)unlink(part); /* the first error is the one to report */
        errno = cause;
        return -1;
    }
    return TEMP_FAILURE_RETRY(fsync(descriptor)) == 0 && rename(part, path.text) == 0
               ? ics_disk_sync_folder(folder)
               : -1;
}

int ics_spool_file_read(const char *path, char *text, size_t size, struct stat *about)
{
    struct stat ignored;
    ICS_CLOSES_DESCRIPTOR int descriptor = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) {
        return -1;
    }
    size_t used = 0;
    ssize_t count = fstat(descriptor, about != NULL ? about : &ignored) == 0 ? 1 : -1;
    while (count > 0 && used < size - 1) {
        count = TEMP_FAILURE_RETRY(read(descriptor, text + used, size - 1 - used));
        used += count > 0 ? (size_t)count : 0;
    }
    text[used] = 0;
    return count < 0 ? -1 : 0;
}

int64_t ics_spool_modified_ns(const struct stat *about)
{
    return (int64_t)about->st_mtim.tv_sec * INT64_C(1000000000) + about->st_mtim.tv_nsec;
}

/* ---- lists of names -------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

void ics_spool_names_add(ics_names *names, const char *name)
{
    if (names->count == names->capacity) {
        names->capacity = names->capacity == 0 ? 64 : 2 * names->capacity;
        names->items = ics_new_size(names->items, names->capacity, sizeof *names->items);
    }
    names->items[names->count++] = ics_new_copy(name);
}

void ics_spool_names_sort(ics_names *names)
{
    if (names->count > 1) {
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    }
}

bool ics_spool_names_have(const ics_names *names, const char *name)
{
    return names->count > 0 &&
           bsearch(&name, names->items, names->count, sizeof *names->items, compare_names) != NULL;
}

void ics_spool_names_free(ics_names *names)
{
    const int cause = errno;
    for (size_t i = 0; i < names->count; ++i) {
        free(names->items[i]);
    }
    free(names->items);
    *names = (ics_names){0};
    errno = cause;
}

int ics_spool_folder_visit(const char *path, int (*visit)(void *user, const char *name), void *user)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return -1;
    }
    int result = 0;
    struct dirent *entry;
    while (result == 0 && (errno = 0, entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            result = visit(user, entry->d_name);
        }
    }
    int cause = errno;
    closedir(folder);
    errno = cause;
    return result != 0 || cause != 0 ? -1 : 0;
}

static int add_name(void *user, const char *name)
{
    ics_spool_names_add(user, name);
    return 0;
}

int ics_spool_folder_list(const char *path, ics_names *out)
{
    *out = (ics_names){0};
    int result = ics_spool_folder_visit(path, add_name, out);
    ics_spool_names_sort(out);
    return result;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static const char *remedy_of(int cause)
{
    switch (cause) {
    case EACCES:
    case EPERM:
        return "let this user write to the folder";
    case ENOSPC:
    case EDQUOT:
        return "make room there";
    case EROFS:
        return "mount it for writing";
    case EXDEV:
        return "choose a folder on the same file system";
    case EIO:
    case ESTALE:
    case ETIMEDOUT:
    case EINTR:
    case EAGAIN:
    case ENOMEM:
        return "look after the disk or the file server; trying again may help";
    case ENOENT:
        return "was the folder removed? create it again";
    case EMFILE:
    case ENFILE:
        return "allow more open files (ulimit -n)";
    default:
        return "see that the folder can be used";
    }
}

int ics_spool_error(icestream_error *error, const char *path, const char *what, const char *remedy)
{
    int cause = errno;
    int status = cause == ENOMEM ? ICESTREAM_E_MEMORY : ICESTREAM_E_OUTPUT;
    ics_error_set_cause(error, status, cause, "%s: %s: %s; %s", path, what, strerror(cause),
                        remedy != NULL ? remedy : remedy_of(cause));
    errno = cause;
    return status;
}
