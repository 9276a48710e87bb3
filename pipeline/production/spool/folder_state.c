/* What several files of the room do with the state of a worker's claims. */
#include "pipeline/production/spool/folder_state.h"

#include "base/disk.h"
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void ics_folder_note(ics_folder *folder, const char *key, const char *format, ...)
{
    if (folder->options.note == NULL || folder->noted.count > ICS_NOTES_MAX ||
        ics_spool_names_have(&folder->noted, key)) {
        return;
    }
    if (folder->noted.count == ICS_NOTES_MAX) {
        key = "";
        format = "more files are passed over in the input folder; no more of them are reported";
    }
    ics_spool_names_add(&folder->noted, key);
    ics_spool_names_sort(&folder->noted);
    char line[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    folder->options.note(folder->options.user, line);
}

int ics_folder_make_spool(const ics_folder *folder, icestream_error *error)
{
    ics_path locks = ics_spool_path_join(folder->spool.text, "locks");
    const char *const paths[] = {folder->spool.text, folder->claimed.text, folder->done.text,
                                 folder->marks_folder.text, locks.text};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
        if (ics_disk_make_folder(paths[i], 0777) != 0) {
            return ics_spool_error(error, paths[i], "cannot create this folder of the spool", NULL);
        }
    }
    struct stat directory, claimed;
    if (stat(folder->directory, &directory) != 0 || stat(folder->claimed.text, &claimed) != 0) {
        return ics_spool_error(error, folder->spool.text, "cannot be examined", NULL);
    }
    if (directory.st_dev != claimed.st_dev) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found the spool on another file system than the input folder %s, "
                             "expected the same: files are claimed by renaming; set source.spool",
                             folder->spool.text, folder->directory);
    }
    return ICESTREAM_OK;
}

ics_lock_result ics_folder_lock_name(const ics_folder *folder, int *lock)
{
    enum { TRIES = 50, PAUSE_NS = 20000000 };
    ics_lock_result result = ICS_LOCK_HELD;
    for (unsigned tries = 0; result == ICS_LOCK_HELD && tries < TRIES; ++tries) {
        if (tries > 0) {
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        }
        result = ics_lease_lock_take(folder->lock_path.text, lock);
    }
    return result;
}

/* Locks the worker's name in a spool that was made again: the file that this process had locked is
 * gone. */
static int lock_again(ics_folder *folder, icestream_error *error)
{
    int lock = -1;
    switch (ics_folder_lock_name(folder, &lock)) {
    case ICS_LOCK_TAKEN:
        if (folder->lock >= 0) {
            close(folder->lock);
        }
        folder->lock = lock;
        return ICESTREAM_OK;
    case ICS_LOCK_HELD:
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "%s: the folder was made again, and another process has the worker "
                             "name '%s' there; give each process a different name (source.worker)",
                             folder->spool.text, folder->worker);
    case ICS_LOCK_FAULT:
        return ics_spool_error(error, folder->lock_path.text, "cannot lock this worker's name",
                               NULL);
    default:
        return ICESTREAM_OK; /* the file system has no locks */
    }
}

/* Whether the spool was removed with the shared folder. Another worker may have made it again
 * already; then the file that this process has locked is not the one in the spool. */
static bool is_new_spool(const ics_folder *folder)
{
    struct stat locked, there;
    if (!ics_spool_path_exists(folder->claimed.text)) {
        return true;
    }
    if (folder->lock < 0 || fstat(folder->lock, &locked) != 0) {
        return false;
    }
    /* Another error than ENOENT, such as that of a network for a moment, does not show this. */
    return stat(folder->lock_path.text, &there) != 0
               ? errno == ENOENT
               : there.st_ino != locked.st_ino || there.st_dev != locked.st_dev;
}

/* Writes the lease again. If the whole spool was removed with the shared folder, and the shared
 * folder is there again, the spool is made again as well: this worker holds no claims any more. The
 * lock comes before the lease and the lease before claims, so that no other worker takes this one
 * for dead. */
static int write_lease_again(ics_folder *folder, icestream_error *error)
{
    if (is_new_spool(folder)) {
        ICS_TRY(ics_folder_make_spool(folder, error));
        ICS_TRY(lock_again(folder, error));
        ics_marks_forget(folder->marks);
        ics_folder_candidates_free(&folder->waiting);
        folder->unchanged.known = false;
        folder->looked_ns = INT64_MIN;
    }
    return ics_lease_write(folder->home.text, folder->options.lease) == 0
               ? ICESTREAM_OK
               : ics_spool_error(error, folder->home.text, "cannot renew this worker's lease",
                                 NULL);
}

int ics_folder_beat(ics_folder *folder, icestream_error *error)
{
    for (unsigned tries = 0; tries < ICS_FOLDER_TRIES; ++tries) {
        if (ics_lease_beat(folder->home.text, &folder->now_ns) == 0) {
            return ICESTREAM_OK;
        }
        if (errno != ENOENT && errno != ESTALE) {
            break;
        }
        ICS_TRY(write_lease_again(folder, error));
    }
    return ics_spool_error(error, folder->home.text, "cannot renew this worker's lease", NULL);
}

ics_held_claim *ics_folder_held(const ics_folder *folder, const char *name)
{
    for (size_t i = 0; i < folder->held_count; ++i) {
        if (strcmp(folder->held[i].name, name) == 0) {
            return &folder->held[i];
        }
    }
    return NULL;
}

int ics_folder_put_back(ics_folder *folder, const char *file, const char *name, bool finished,
                        bool *there, icestream_error *error)
{
    ics_path to = ics_spool_path_join(folder->directory, name);
    int result = ics_spool_move(file, to.text);
    if (result != 0 && errno == EEXIST && finished) {
        result = ics_spool_move_numbered(file, folder->done.text, name, &to);
    } else if (result != 0 && errno == EEXIST) {
        folder->left_at_home = true;
        *there = true;
        return ICESTREAM_OK;
    }
    int cause = errno;
    *there = result == 0 || ics_spool_path_exists(file);
    errno = cause;
    return result == 0 || !*there
               ? ICESTREAM_OK
               : ics_spool_error(error, file, "cannot be put back into the input folder", NULL);
}

void ics_folder_candidates_free(ics_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; ++i) {
        free(candidates->items[i].name);
    }
    free(candidates->items);
    *candidates = (ics_candidates){0};
}
