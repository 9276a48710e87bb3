/* Taking over what killed and silent workers have left behind. */
#include "pipeline/spool/folder_state.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static bool is_gone(int cause)
{
    return cause == ENOENT || cause == ENOTDIR || cause == ESTALE;
}

/* A killed worker was moving this file where moving is a link and an unlink (NFS): it has its other
 * name already, and only this one is to go. */
static bool end_move(const ics_folder *folder, const char *file, const char *name)
{
    struct stat about;
    const char *const folders[] = {folder->directory, folder->done.text, folder->quarantine_folder,
                                   folder->near.text};
    if (lstat(file, &about) != 0 || about.st_nlink < 2) {
        return false;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        ics_path other = ics_spool_path_join(folders[i], name);
        for (unsigned number = 2; lstat(other.text, &about) == 0 && number != 0; ++number) {
            if (ics_spool_path_same(file, other.text)) {
                return unlink(file) == 0;
            }
            other = ics_spool_path_format("%s/%s.%u", folders[i], name, number);
        }
    }
    return false; /* a link that a user made */
}

/* Claims the files in a worker's folder; *rest: some are still there, not counting those at work.
 */
static int adopt(ics_taking *take, const char *home, const char *before, bool *rest)
{
    ics_names files;
    *rest = false;
    if (ics_spool_folder_list(home, &files) != 0) {
        int cause = errno;
        ics_spool_names_free(&files);
        if (is_gone(cause)) {
            *rest = cause == ESTALE; /* which may be the folder's server, not the folder */
            return ICESTREAM_OK;
        }
        if (ics_folder_denied(cause)) {
            ics_folder_note(take->folder, home, "%s: cannot be looked through: %s", home,
                            strerror(cause));
            return ICESTREAM_OK;
        }
        errno = cause;
        return ics_spool_error(take->error, home, "cannot be looked through", NULL);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < files.count && status == ICESTREAM_OK; ++i) {
        uint32_t attempt = 0;
        ics_dead_claim what = {.from = ics_spool_path_join(home, files.items[i]), .before = before};
        what.name = ics_folder_parse(files.items[i], &attempt);
        bool stranded = strcmp(home, take->folder->home.text) == 0 &&
                        ics_spool_names_have(&take->folder->stranded, files.items[i]);
        what.attempt = attempt + (stranded ? 0 : 1);
        if (what.name == NULL) {
            continue;
        }
        const ics_held_claim *held = ics_folder_held(take->folder, what.name);
        if (held != NULL && strcmp(held->file.text, what.from.text) == 0) {
            continue;
        }
        if (held != NULL || take->count == take->most) {
            *rest = true;
            continue;
        }
        size_t count = take->count;
        if (!end_move(take->folder, what.from.text, what.name)) {
            status = ics_folder_claim(take, &what);
        }
        /* What could not be claimed for now, or by this user, stays a dead worker's. */
        *rest = *rest || (take->count == count && ics_spool_path_exists(what.from.text));
    }
    int cause = errno;
    *rest = *rest || status != ICESTREAM_OK;
    ics_spool_names_free(&files);
    errno = cause;
    return status;
}

int ics_folder_adopt_own(ics_taking *take)
{
    ics_folder *folder = take->folder;
    bool rest = false;
    char before[ICS_CLAIM_WORKER_MAX + 64];
    snprintf(before, sizeof before, "an earlier process of worker %s", folder->worker);
    folder->left_at_home = false; /* claiming may find a reason to look again */
    int status = adopt(take, folder->home.text, before, &rest);
    folder->left_at_home = folder->left_at_home || rest;
    return status;
}

static void remove_lock(const ics_folder *folder, const char *worker)
{
    int lock = -1;
    ics_path path = ics_spool_path_format("%s/locks/%s", folder->spool.text, worker);
    if (ics_spool_path_exists(path.text) &&
        ics_lease_lock_take(path.text, &lock) == ICS_LOCK_TAKEN) {
        ics_lease_lock_remove(path.text, lock);
    }
}

/* Nobody is at home: what the folder needs besides its files goes as well. */
static void clear_away(ics_folder *folder, const char *worker, const char *home)
{
    ics_lease_state lease;
    if (ics_lease_read(home, folder->lease, &lease) != 0 ||
        !ics_lease_expired(&lease, folder->now_ns)) {
        return; /* he woke up */
    }
    ics_lease_remove(home);
    remove_lock(folder, worker);
}

/* Locks of workers that were killed before they had a folder, or after. Who has one is not harmed,
 * who is about to take one notices that it is another file now. */
static void clear_locks(const ics_folder *folder, const ics_names *workers)
{
    ics_names locks;
    /* If they cannot be looked through, they only stay. */
    if (ics_spool_folder_list(ics_spool_path_join(folder->spool.text, "locks").text, &locks) == 0) {
        for (size_t i = 0; i < locks.count; ++i) {
            if (!ics_spool_names_have(workers, locks.items[i])) {
                remove_lock(folder, locks.items[i]);
            }
        }
    }
    ics_spool_names_free(&locks);
}

static int adopt_worker(ics_taking *take, const char *worker, bool *rest)
{
    ics_folder *folder = take->folder;
    ics_path home = ics_spool_path_join(folder->claimed.text, worker);
    ics_lease_state lease;
    if (ics_lease_read(home.text, folder->lease, &lease) != 0) {
        if (ics_folder_denied(errno)) {
            ics_folder_note(folder, home.text, "%s: cannot tell whether this worker is alive: %s",
                            home.text, strerror(errno));
            return ICESTREAM_OK;
        }
        return ics_spool_error(take->error, home.text, "cannot read the lease in it", NULL);
    }
    if (!ics_lease_expired(&lease, folder->now_ns)) {
        folder->look_pause = fmin(folder->look_pause, 0.25 * lease.seconds);
        return ICESTREAM_OK;
    }
    char before[ICS_CLAIM_WORKER_MAX + 320];
    snprintf(before, sizeof before, "worker %s (process %lld on %s)", worker, lease.pid,
             lease.host);
    bool some = false;
    int status = adopt(take, home.text, before, &some);
    if (status == ICESTREAM_OK && !some) {
        clear_away(folder, worker, home.text);
    }
    *rest = *rest || some;
    return status;
}

int ics_folder_adopt_dead(ics_taking *take)
{
    ics_folder *folder = take->folder;
    const double pause_ns = 1e9 * folder->look_pause;
    if (folder->looked_ns != INT64_MIN && folder->now_ns >= folder->looked_ns &&
        (double)(folder->now_ns - folder->looked_ns) < pause_ns) {
        return ICESTREAM_OK;
    }
    ics_names workers;
    bool rest = false;
    if (ics_spool_folder_list(folder->claimed.text, &workers) != 0) {
        ics_spool_names_free(&workers);
        return ics_spool_error(take->error, folder->claimed.text, "cannot be looked through", NULL);
    }
    folder->look_pause = 0.25 * folder->lease;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < workers.count && status == ICESTREAM_OK; ++i) {
        if (strcmp(workers.items[i], folder->worker) != 0) {
            status = adopt_worker(take, workers.items[i], &rest);
        }
    }
    int cause = errno;
    clear_locks(folder, &workers);
    if (status == ICESTREAM_OK && !rest) {
        folder->looked_ns = folder->now_ns;
    }
    ics_spool_names_free(&workers);
    errno = cause;
    return status;
}
