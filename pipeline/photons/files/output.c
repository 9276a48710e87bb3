#include "pipeline/photons/files/output.h"

#include "base/disk.h"
#include "base/error.h"
#include "pipeline/photons/files/stream_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct ics_output {
    char *path, *part;
    int descriptor;
    bool force, committed;
    bool is_marked; /* only the file of `mark` may be replaced */
    ics_output_mark mark;
    bool
        locked; /* this writer holds the lock on the .part; without a commit it removes the .part */
    mode_t mode; /* mode of the finished file */
    uint64_t size;
    uint64_t pushed; /* bytes for which the system was asked to begin writing to the disk */
};

static int failed(const ics_output *output, const char *what, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                               "%s: %s: %s (after %" PRIu64 " bytes)", output->path, what,
                               strerror(errno), output->size);
}

static int exists_error(const ics_output *output, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EEXIST,
                               "%s: found an existing file, expected none (--force overwrites)",
                               output->path);
}

/* Locks the open .part. *there false: between opening and locking, another process has removed or
 * replaced the file. *named: the state of the file that has the name now. */
static int lock_part(ics_output *output, struct stat *named, bool *there, icestream_error *error)
{
    struct stat opened;
    *there = false;
    if (fstat(output->descriptor, &opened) < 0) {
        return failed(output, "cannot create its .part file", error);
    }
    if (!S_ISREG(opened.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: found something that is not a file, expected "
                             "to create a file",
                             output->part);
    }
    if (ics_disk_lock_open_file(output->descriptor) < 0) {
        if (errno == EWOULDBLOCK) {
            char holder[32];
            return ics_error_set(error, ICESTREAM_E_OUTPUT,
                                 "%s: found another process writing it%s after a wait of %d s, "
                                 "expected to be the only one",
                                 output->path, ics_disk_lock_holder(output->descriptor, holder),
                                 ICS_DISK_LOCK_WAIT);
        }
        return failed(output, "cannot lock its .part file", error);
    }
    *there = stat(output->part, named) == 0 && named->st_ino == opened.st_ino &&
             named->st_dev == opened.st_dev;
    return ICESTREAM_OK;
}

/* Lets only this user open the .part, because flock() needs only the right to read: other users
 * could keep the next writer from locking a .part that a killed writer has left. */
static int make_private(ics_output *output, const struct stat *about, icestream_error *error)
{
    enum { OTHERS = 077 };
    output->mode = about->st_mode & 0777;
    if ((output->mode & OTHERS) == 0) {
        output->mode = ics_disk_file_mode(); /* the file may be one that was left */
        return ICESTREAM_OK;
    }
    /* A file system without permissions may refuse; it has no users to protect from. */
    return fchmod(output->descriptor, output->mode & ~(mode_t)OTHERS) == 0 || errno == EPERM ||
                   errno == EOPNOTSUPP
               ? ICESTREAM_OK
               : failed(output, "cannot set the permissions of its .part file", error);
}

/* Opens NAME.part and locks it. *again: the opened file has lost its name, so try again. */
static int open_part(ics_output *output, bool *again, icestream_error *error)
{
    struct stat named;
    *again = false;
    output->descriptor = TEMP_FAILURE_RETRY(open(
        output->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666));
    if (output->descriptor < 0 && errno == ENOENT) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, ENOENT,
                                   "%s: cannot create its .part file: %s; expected its folder to "
                                   "exist",
                                   output->path, strerror(ENOENT));
    }
    if (output->descriptor < 0) {
        return failed(output, "cannot create its .part file", error);
    }
    bool there = false;
    ICS_TRY(lock_part(output, &named, &there, error));
    if (there && named.st_nlink > 1) {
        /* A writer was killed between link and unlink (take_name): the .part is a second name of
         * the finished file, which must not be emptied. */
        if (unlink(output->part) < 0) {
            return failed(output, "cannot remove its old .part file", error);
        }
        there = false;
    }
    *again = !there;
    output->locked = there;
    ICS_TRY(there ? make_private(output, &named, error) : ICESTREAM_OK);
    if (there && TEMP_FAILURE_RETRY(ftruncate(output->descriptor, 0)) < 0) {
        return failed(output, "cannot empty its .part file", error);
    }
    return ICESTREAM_OK;
}

/* Opens NAME.part, as often as it loses its name meanwhile. */
static int open_until_named(ics_output *output, icestream_error *error)
{
    for (bool again = true; again;) {
        int status = open_part(output, &again, error);
        if (!output->locked && output->descriptor >= 0) {
            close(output->descriptor); /* another process's file: it stays */
            output->descriptor = -1;
        }
        ICS_TRY(status);
    }
    return ICESTREAM_OK;
}

/* Makes the output one to standard output. */
static int start_stream(ics_output *output, icestream_error *error)
{
    char *name = strdup(ICS_STREAM_OUTPUT_NAME);
    if (name == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for standard output");
    }
    free(output->path);
    free(output->part);
    output->path = name;
    output->part = NULL;
    return ics_stream_output_temporary(&output->descriptor, error);
}

static int start(ics_output *output, icestream_error *error)
{
    struct stat existing;
    if (strcmp(output->path, "-") == 0) {
        return start_stream(output, error);
    }
    if (!*output->path) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "found an empty name, expected that of a file");
    }
    if (lstat(output->path, &existing) == 0) {
        if (S_ISDIR(existing.st_mode)) {
            return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EEXIST,
                                       "%s: found a folder, expected to write a file",
                                       output->path);
        }
        if (!output->force) {
            return exists_error(output, error);
        }
        /* A rename would turn /dev/null into a file. */
        if (stat(output->path, &existing) == 0 && !S_ISREG(existing.st_mode)) {
            return ics_error_set(error, ICESTREAM_E_OUTPUT,
                                 "%s: found something that is not a file, expected to write a file",
                                 output->path);
        }
    }
    return open_until_named(output, error);
}

/* Makes an output without an open file. */
static int prepare(const char *path, const char *writer, bool force, ics_output **out,
                   icestream_error *error)
{
    *out = NULL;
    ics_output *output = calloc(1, sizeof *output);
    if (output != NULL) {
        char *part = NULL;
        output->descriptor = -1;
        output->force = force;
        output->path = strdup(path);
        output->part = asprintf(&part, "%s%s%s.part", path, writer != NULL ? "." : "",
                                writer != NULL ? writer : "") < 0
                           ? NULL
                           : part;
    }
    if (output == NULL || output->path == NULL || output->part == NULL) {
        ics_output_destroy(output);
        ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
        return ICESTREAM_E_MEMORY;
    }
    *out = output;
    return ICESTREAM_OK;
}

int ics_output_create(const char *path, bool force, ics_output **out, icestream_error *error)
{
    return ics_output_create_as(path, NULL, force, out, error);
}

int ics_output_create_as(const char *path, const char *writer, bool force, ics_output **out,
                         icestream_error *error)
{
    ICS_DESTROYS(ics_output_destroy) ics_output *output = NULL;
    *out = NULL;
    ICS_TRY(prepare(path, writer, force, &output, error));
    ICS_TRY(start(output, error));
    *out = ICS_HAND_OVER(output);
    return ICESTREAM_OK;
}

int ics_output_clean(const char *path, icestream_error *error)
{
    ICS_DESTROYS(ics_output_destroy) ics_output *output = NULL;
    struct stat named;
    ICS_TRY(prepare(path, NULL, false, &output, error));
    output->descriptor = TEMP_FAILURE_RETRY(
        open(output->part, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (output->descriptor < 0) {
        return errno == ENOENT || errno == ENAMETOOLONG
                   ? ICESTREAM_OK
                   : failed(output, "cannot open its old .part file", error);
    }
    return flock(output->descriptor, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK
               ? ICESTREAM_OK /* a process is writing it */
               : lock_part(output, &named, &output->locked, error);
}

int ics_output_check_ending(const char *what, const char *path, const char *ending,
                            icestream_error *error)
{
    static const char *const formats[] = {".npy", ".csv",  ".h5",  ".hdf5", ".f2k",
                                          ".npz", ".yaml", ".yml", ".json"};
    const char *slash = strrchr(path, '/');
    const char *found = strrchr(slash != NULL ? slash : path, '.');
    for (size_t i = 0; found != NULL && i < sizeof formats / sizeof *formats; ++i) {
        if (strcmp(found, formats[i]) == 0 && strcmp(found, ending) != 0) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "%s: found %s, the ending of another format, expected a name that "
                                 "ends in %s, which is what is written",
                                 what, path, ending);
        }
    }
    return ICESTREAM_OK;
}

void ics_output_destroy(ics_output *output)
{
    if (output == NULL) {
        return;
    }
    int cause = errno; /* callers report it after this function */
    if (output->descriptor >= 0) {
        if (output->locked && !output->committed) {
            /* The lock is still held, so no other process can be using the .part. */
            unlink(output->part);
        }
        close(output->descriptor);
    }
    free(output->path);
    free(output->part);
    free(output);
    errno = cause;
}

/* Opens the file of `descriptor` once more, for a separate lock, and gives it the name of the
 * .part. Returns the new descriptor, or -1. */
static int link_as_part(const ics_output *output, int descriptor)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    const int opened = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (opened >= 0 && (flock(opened, LOCK_EX | LOCK_NB) < 0 || unlink(output->part) < 0 ||
                        linkat(AT_FDCWD, path, AT_FDCWD, output->part, AT_SYMLINK_FOLLOW) < 0)) {
        close(opened);
        return -1;
    }
    return opened;
}

int ics_output_adopt(ics_output *output, int file, bool *adopted, icestream_error *error)
{
    struct stat about;
    const int linked =
        output->part != NULL && fstat(file, &about) == 0 ? link_as_part(output, file) : -1;
    *adopted = linked >= 0;
    if (output->part == NULL) {
        return ICESTREAM_OK;
    }
    close(output->descriptor);
    output->descriptor = linked;
    output->locked = linked >= 0;
    output->size = output->pushed = linked >= 0 ? (uint64_t)about.st_size : 0;
    return linked >= 0 ? ICESTREAM_OK : open_until_named(output, error);
}

int ics_output_rewrite(ics_output *output, uint64_t offset, const void *bytes, size_t size,
                       icestream_error *error)
{
    const size_t done = ics_disk_write_at(output->descriptor, bytes, size, (off_t)offset);
    output->size = offset + done > output->size ? offset + done : output->size;
    return done == size ? ICESTREAM_OK : failed(output, "cannot write", error);
}

int ics_output_write(ics_output *output, const void *bytes, size_t size, icestream_error *error)
{
    enum { PUSH = 8 << 20 };
    int status = ics_output_rewrite(output, output->size, bytes, size, error);
    if (status || output->size - output->pushed < PUSH) {
        return status;
    }
    /* Lets the disk write while rows are still being computed. Only a hint: errors do not matter.
     */
    (void)sync_file_range(output->descriptor, (off_t)output->pushed,
                          (off_t)(output->size - output->pushed), SYNC_FILE_RANGE_WRITE);
    output->pushed = output->size;
    return ICESTREAM_OK;
}

int ics_output_sync(ics_output *output, icestream_error *error)
{
    return TEMP_FAILURE_RETRY(fdatasync(output->descriptor)) < 0
               ? failed(output, "cannot write to the disk", error)
               : ICESTREAM_OK;
}

ics_output_mark ics_output_mark_of(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 ? (ics_output_mark){.there = true,
                                                        .device = about.st_dev,
                                                        .number = about.st_ino,
                                                        .modified = about.st_mtim}
                                    : (ics_output_mark){.there = false};
}

void ics_output_expect(ics_output *output, const ics_output_mark *mark)
{
    output->is_marked = true;
    output->mark = *mark;
}

/* Whether another process has made the file that the output would replace. */
static bool is_of_another(const ics_output *output)
{
    const ics_output_mark now = ics_output_mark_of(output->path), *then = &output->mark;
    return output->force && output->is_marked && now.there &&
           (!then->there || now.device != then->device || now.number != then->number ||
            now.modified.tv_sec != then->modified.tv_sec ||
            now.modified.tv_nsec != then->modified.tv_nsec);
}

/* Gives the file its final name. Without `force` no other file is replaced. Two processes that
 * follow the rules of this header cannot be here at the same time, because of the lock. */
static int take_name(ics_output *output, icestream_error *error)
{
    if (is_of_another(output)) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, EEXIST,
                                   "%s: found a file that another process has made since this one "
                                   "began, expected the file that was to be replaced, or none; "
                                   "that file stays",
                                   output->path);
    }
    int result = renameat2(AT_FDCWD, output->part, AT_FDCWD, output->path,
                           output->force ? 0 : RENAME_NOREPLACE);
    if (result < 0 && !output->force && (errno == EINVAL || errno == ENOSYS)) {
        /* The file system does not have this flag; a hard link does not replace a file either. */
        result = link(output->part, output->path);
        if (result == 0) {
            unlink(output->part);
        }
    }
    if (result < 0) {
        return errno == EEXIST ? exists_error(output, error)
                               : failed(output, "cannot take its final name", error);
    }
    output->committed = true;
    return ICESTREAM_OK;
}

int ics_output_sync_folder(const char *path, icestream_error *error)
{
    const char *slash = strrchr(path, '/');
    ICS_FREES char *folder =
        slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (folder == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    return ics_disk_sync_folder(folder) == 0
               ? ICESTREAM_OK
               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                     "%s: cannot write its folder to the disk: %s", path,
                                     strerror(errno));
}

int ics_output_commit(ics_output *output, icestream_error *error)
{
    if (output->part == NULL) {
        return ics_stream_output_copy(output->descriptor, error);
    }
    if (fchmod(output->descriptor, output->mode) != 0 && errno != EPERM && errno != EOPNOTSUPP) {
        return failed(output, "cannot set its permissions", error);
    }
    if (TEMP_FAILURE_RETRY(fsync(output->descriptor)) < 0) {
        return failed(output, "cannot write to the disk", error);
    }
    ICS_TRY(take_name(output, error));
    return ics_output_sync_folder(output->path, error);
}

const char *ics_output_path(const ics_output *output)
{
    return output->path;
}

uint64_t ics_output_size(const ics_output *output)
{
    return output->size;
}
