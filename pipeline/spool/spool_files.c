#include "pipeline/spool/spool_files.h"

#include "pipeline/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

is_path is_path_format(const char *format, ...)
{
    is_path path;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path.text, sizeof path.text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof path.text) {
        path.text[0] = 0;
    }
    return path;
}

is_path is_path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    bool slash = length > 0 && folder[length - 1] == '/';
    return is_path_format("%s%s%s", folder, slash ? "" : "/", name);
}

bool is_path_exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* ---- moving ---------------------------------------------------------------------------------- */

bool is_path_same(const char *a, const char *b)
{
    struct stat first, second;
    return lstat(a, &first) == 0 && lstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* A file server may do what it is asked, lose its answer, and refuse when it is asked again. No
 * other process makes links of these files, so a second name is our own work. */
static int move_by_link(const char *from, const char *to)
{
    if (link(from, to) != 0) {
        int cause = errno;
        if (cause != EEXIST || !is_path_same(from, to)) {
            errno = cause;
            return -1;
        }
    }
    return unlink(from);
}

int is_move(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno == EINVAL || errno == ENOSYS) {
        return move_by_link(from, to);
    }
    if (errno == EEXIST && is_path_same(from, to)) {
        return unlink(from); /* the second half of a move by link */
    }
    return -1;
}

int is_move_numbered(const char *from, const char *folder, const char *name, is_path *where)
{
    *where = is_path_join(folder, name);
    for (unsigned number = 2; is_move(from, where->text) != 0; ++number) {
        if (errno != EEXIST || number == UINT_MAX) {
            return -1;
        }
        *where = is_path_format("%s/%s.%u", folder, name, number);
    }
    return 0;
}

/* ---- folders and small files ----------------------------------------------------------------- */

int is_folder_make(const char *path)
{
    struct stat about;
    if (mkdir(path, 0777) == 0) {
        return 0;
    }
    if (errno != EEXIST || stat(path, &about) != 0) {
        return -1;
    }
    errno = ENOTDIR;
    return S_ISDIR(about.st_mode) ? 0 : -1;
}

static int open_file(const char *path, int flags)
{
    return TEMP_FAILURE_RETRY(open(path, flags | O_CLOEXEC, 0666));
}

static int sync_and_close(int descriptor)
{
    if (descriptor < 0) {
        return -1;
    }
    int result = TEMP_FAILURE_RETRY(fsync(descriptor));
    int cause = errno;
    close(descriptor);
    errno = cause;
    return result;
}

int is_folder_sync(const char *path)
{
    int result = sync_and_close(open_file(path, O_RDONLY | O_DIRECTORY));
    return result == 0 || errno == EINVAL ? 0 : -1;
}

int is_file_sync(const char *path)
{
    return sync_and_close(open_file(path, O_RDONLY | O_NONBLOCK));
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

int is_file_replace(const char *folder, const char *name, const char *part, const char *text)
{
    is_path path = is_path_join(folder, name);
    int descriptor = open_file(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
    if (descriptor < 0) {
        return -1;
    }
    if (write_all(descriptor, text) != 0) {
        int cause = errno;
        close(descriptor);
        (void)unlink(part); /* the first fault is the one to report */
        errno = cause;
        return -1;
    }
    return sync_and_close(descriptor) == 0 && rename(part, path.text) == 0 ? is_folder_sync(folder)
                                                                           : -1;
}

int is_file_read(const char *path, char *text, size_t size, struct stat *about)
{
    struct stat ignored;
    int descriptor = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) {
        return -1;
    }
    size_t used = 0;
    ssize_t count = fstat(descriptor, about != NULL ? about : &ignored) == 0 ? 1 : -1;
    while (count > 0 && used < size - 1) {
        count = read(descriptor, text + used, size - 1 - used);
        if (count < 0 && errno == EINTR) {
            count = 1;
            continue;
        }
        used += count > 0 ? (size_t)count : 0;
    }
    int cause = errno;
    close(descriptor);
    errno = cause;
    text[used] = 0;
    return count < 0 ? -1 : 0;
}

int64_t is_modified_ns(const struct stat *about)
{
    return (int64_t)about->st_mtim.tv_sec * INT64_C(1000000000) + about->st_mtim.tv_nsec;
}

/* ---- lists of names -------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

int is_names_add(is_names *names, const char *name)
{
    if (names->count == names->capacity) {
        size_t capacity = names->capacity == 0 ? 64 : 2 * names->capacity;
        char **items = realloc(names->items, capacity * sizeof *items);
        if (items == NULL) {
            return -1;
        }
        names->items = items;
        names->capacity = capacity;
    }
    names->items[names->count] = strdup(name);
    return names->items[names->count] != NULL ? (names->count++, 0) : -1;
}

void is_names_sort(is_names *names)
{
    if (names->count > 1) {
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    }
}

bool is_names_have(const is_names *names, const char *name)
{
    return names->count > 0 &&
           bsearch(&name, names->items, names->count, sizeof *names->items, compare_names) != NULL;
}

void is_names_free(is_names *names)
{
    for (size_t i = 0; i < names->count; ++i) {
        free(names->items[i]);
    }
    free(names->items);
    *names = (is_names){0};
}

int is_folder_visit(const char *path, int (*visit)(void *user, const char *name), void *user)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return -1;
    }
    int result = 0;
    errno = 0;
    for (struct dirent *entry; result == 0 && (entry = readdir(folder)) != NULL; errno = 0) {
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
    return is_names_add(user, name);
}

int is_folder_list(const char *path, is_names *out)
{
    *out = (is_names){0};
    int result = is_folder_visit(path, add_name, out);
    is_names_sort(out);
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

int is_spool_error(is_error *error, const char *path, const char *what, const char *remedy)
{
    int cause = errno;
    int status = cause == ENOMEM ? IS_E_MEMORY : IS_E_OUTPUT;
    is_error_set_cause(error, status, cause, "%s: %s: %s; %s", path, what, strerror(cause),
                       remedy != NULL ? remedy : remedy_of(cause));
    errno = cause;
    return status;
}
