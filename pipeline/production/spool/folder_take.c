/* Claiming files: first those that killed or silent workers have left behind, then those that wait.
 */
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/spool/folder_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* On a file system where a move is a link and an unlink (NFS), a worker may have been killed
 * between the two. Then the file has its new name already: removes the old name and returns true.
 */
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
    return false; /* the second name is a link that a user made */
}

/* Lists a worker's folder. *gone: there is no folder, or this user may not read it. */
static int list_home(ics_claim_request *request, const char *home, ics_names *files, bool *gone,
                     bool *rest)
{
    *gone = false;
    if (ics_spool_folder_list(home, files) == 0) {
        return ICESTREAM_OK;
    }
    *gone = true;
    if (ics_spool_is_gone(errno)) {
        *rest = errno == ESTALE; /* perhaps only the file server is gone, and the folder is there */
        return ICESTREAM_OK;
    }
    if (ics_folder_denied(errno)) {
        ics_folder_note(request->folder, home, "%s: cannot be looked through: %s", home,
                        strerror(errno));
        return ICESTREAM_OK;
    }
    return ics_spool_error(request->error, home, "cannot be looked through", NULL);
}

/* Claims one file of a worker's folder. *rest is set to true if the file stays there. */
static int adopt_file(ics_claim_request *request, const char *home, const char *file,
                      const char *before, bool *rest)
{
    ics_folder *folder = request->folder;
    uint32_t attempt = 0;
    ics_claimable what = {.from = ics_spool_path_join(home, file), .before = before};
    what.name = ics_folder_parse(file, &attempt);
    if (what.name == NULL) {
        return ICESTREAM_OK;
    }
    const ics_held_claim *held = ics_folder_held(folder, what.name);
    if (held != NULL && strcmp(held->file.text, what.from.text) == 0) {
        return ICESTREAM_OK; /* this worker is processing the file */
    }
    if (held != NULL || request->count == request->most) {
        *rest = true;
        return ICESTREAM_OK;
    }
    /* A stranded file was claimed but not returned, so nobody has begun it in between. */
    bool stranded =
        strcmp(home, folder->home.text) == 0 && ics_spool_names_have(&folder->stranded, file);
    what.attempt = attempt + (stranded ? 0 : 1);
    size_t count = request->count;
    int status = end_move(folder, what.from.text, what.name) ? ICESTREAM_OK
                                                             : ics_folder_claim(request, &what);
    /* A file that could not be claimed now, or not by this user, stays in the worker's folder. */
    *rest = *rest || (request->count == count && ics_spool_path_exists(what.from.text));
    return status;
}

/* Claims the files in a worker's folder. *rest: some files are still there, apart from those that
 * this worker is processing. */
static int adopt(ics_claim_request *request, const char *home, const char *before, bool *rest)
{
    ICS_FREES_NAMES ics_names files = {0};
    bool gone;
    *rest = false;
    int status = list_home(request, home, &files, &gone, rest);
    for (size_t i = 0; !gone && i < files.count && status == ICESTREAM_OK; ++i) {
        status = adopt_file(request, home, files.items[i], before, rest);
    }
    *rest = *rest || (status != ICESTREAM_OK && !gone);
    return status;
}

/* Claims what earlier processes with this worker's name left behind. */
static int adopt_own(ics_claim_request *request)
{
    ics_folder *folder = request->folder;
    bool rest = false;
    char before[ICS_CLAIM_WORKER_MAX + 64];
    snprintf(before, sizeof before, "an earlier process of worker %s", folder->worker);
    folder->left_at_home = false; /* ics_folder_claim() may set it again */
    int status = adopt(request, folder->home.text, before, &rest);
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

/* Whether a living process holds the lock on a worker's name, as far as this machine can see. */
static bool is_locked(const ics_folder *folder, const char *worker)
{
    int lock = -1;
    ics_path path = ics_spool_path_format("%s/locks/%s", folder->spool.text, worker);
    if (!ics_spool_path_exists(path.text)) {
        return false;
    }
    const ics_lock_result result = ics_lease_lock_take(path.text, &lock);
    if (lock >= 0) {
        close(lock);
    }
    return result == ICS_LOCK_HELD || result == ICS_LOCK_FAULT;
}

/* Whether a worker's folder without a lease has no owner. A living worker holds the lock on its
 * name while it writes its lease again. If the worker was alive at the last look and its folder has
 * just changed, the spool may be being removed, or made again on a file system without locks: the
 * next looks know more. */
static bool is_abandoned(const ics_folder *folder, const char *worker)
{
    struct stat home;
    const bool young = stat(ics_spool_path_join(folder->claimed.text, worker).text, &home) == 0 &&
                       folder->now_ns - ics_spool_modified_ns(&home) < ICS_YOUNG_FOLDER;
    return !(young && ics_spool_names_have(&folder->seen, worker)) && !is_locked(folder, worker);
}

/* Whether a worker is dead: its lease has expired, or its process has ended on this machine. */
static bool is_dead(ics_folder *folder, const char *worker, const ics_lease_state *lease)
{
    if (!lease->there) {
        return is_abandoned(folder, worker);
    }
    if (ics_lease_is_ahead(lease, folder->now_ns)) {
        const bool locked = is_locked(folder, worker);
        ics_path key = ics_spool_path_format("%s/ahead", worker);
        ics_folder_note(folder, key.text,
                        "worker %s (process %lld on %s): found a lease dated %.0f s in the future, "
                        "expected at most %.0f s: the clock of the file system was set back; %s",
                        worker, lease->process.pid, lease->host,
                        1e-9 * (double)(lease->beat_ns - folder->now_ns), lease->seconds,
                        locked ? "its process lives and keeps its step files"
                               : "its step files are taken over");
        return !locked;
    }
    return ics_lease_expired(lease, folder->now_ns) ||
           (ics_process_is_gone(&lease->process, &folder->self) && !is_locked(folder, worker));
}

/* Removes the lease, the folder and the lock of a dead worker that has no files left. */
static void clear_away(ics_folder *folder, const char *worker, const char *home)
{
    ics_lease_state lease;
    if (ics_lease_read(home, folder->options.lease, &lease) != 0 ||
        !is_dead(folder, worker, &lease)) {
        return; /* the worker is alive again */
    }
    ics_lease_remove(home);
    remove_lock(folder, worker);
}

/* Removes locks of workers that have no folder, because they were killed before they made one or
 * after it was removed. A lock that a living process holds stays. A process that is about to lock a
 * removed file notices it (ics_lease_lock_take()). */
static void clear_locks(const ics_folder *folder, const ics_names *workers)
{
    ICS_FREES_NAMES ics_names locks = {0};
    /* Locks that cannot be listed stay; that does no harm. */
    (void)ics_spool_folder_list(ics_spool_path_join(folder->spool.text, "locks").text, &locks);
    for (size_t i = 0; i < locks.count; ++i) {
        if (!ics_spool_names_have(workers, locks.items[i])) {
            remove_lock(folder, locks.items[i]);
        }
    }
}

/* Remembers a living worker, and its process if this process would notice its end. */
static void add_living(ics_folder *folder, const char *worker, const ics_process *process)
{
    ics_neighbours *list = &folder->neighbours;
    ics_spool_names_add(&folder->seeing, worker);
    if (folder->self.space[0] == '\0' || strcmp(folder->self.space, process->space) != 0) {
        return;
    }
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        list->items = ics_new_size(list->items, list->capacity, sizeof *list->items);
    }
    list->items[list->count++] = *process;
}

static bool has_lost_neighbour(const ics_folder *folder)
{
    bool any = false;
    for (size_t i = 0; i < folder->neighbours.count && !any; ++i) {
        any = ics_process_is_gone(&folder->neighbours.items[i], &folder->self);
    }
    return any;
}

/* Whether the last look for dead workers still holds. */
static bool is_looked_through(const ics_folder *folder)
{
    struct stat claimed;
    return folder->looked_ns != INT64_MIN && folder->now_ns >= folder->looked_ns &&
           (double)(folder->now_ns - folder->looked_ns) < 1e9 * folder->look_pause &&
           stat(folder->claimed.text, &claimed) == 0 &&
           ics_spool_modified_ns(&claimed) == folder->claimed_ns && !has_lost_neighbour(folder);
}

static int adopt_worker(ics_claim_request *request, const char *worker, bool *rest)
{
    ics_folder *folder = request->folder;
    ics_path home = ics_spool_path_join(folder->claimed.text, worker);
    ics_lease_state lease;
    if (ics_lease_read(home.text, folder->options.lease, &lease) != 0) {
        if (ics_folder_denied(errno)) {
            ics_folder_note(folder, home.text,
                            "%s: cannot find out whether this worker is alive: %s", home.text,
                            strerror(errno));
            return ICESTREAM_OK;
        }
        return ics_spool_error(request->error, home.text, "cannot read the lease in it", NULL);
    }
    if (!is_dead(folder, worker, &lease)) {
        *rest = *rest || !lease.there;
        folder->look_pause = fmin(folder->look_pause, 0.25 * lease.seconds);
        add_living(folder, worker, &lease.process);
        return ICESTREAM_OK;
    }
    char before[ICS_CLAIM_WORKER_MAX + 320];
    snprintf(before, sizeof before, "worker %s (process %lld on %s)", worker, lease.process.pid,
             lease.host);
    bool some = false;
    int status = adopt(request, home.text, before, &some);
    if (status == ICESTREAM_OK && !some) {
        clear_away(folder, worker, home.text);
    }
    *rest = *rest || some;
    return status;
}

/* Claims what dead workers left behind. Looks for them four times per lease (the shortest lease of
 * all workers), at every call as long as a dead worker has files left, and when a worker has begun
 * or a process of this machine has ended. */
static int adopt_dead(ics_claim_request *request)
{
    ics_folder *folder = request->folder;
    if (is_looked_through(folder)) {
        return ICESTREAM_OK;
    }
    ICS_FREES_NAMES ics_names workers = {0};
    struct stat claimed;
    bool rest = false;
    folder->claimed_ns =
        stat(folder->claimed.text, &claimed) == 0 ? ics_spool_modified_ns(&claimed) : INT64_MIN;
    folder->neighbours.count = 0;
    if (ics_spool_folder_list(folder->claimed.text, &workers) != 0) {
        return ics_spool_error(request->error, folder->claimed.text, "cannot be looked through",
                               NULL);
    }
    folder->look_pause = 0.25 * folder->options.lease;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < workers.count && status == ICESTREAM_OK; ++i) {
        if (strcmp(workers.items[i], folder->worker) != 0) {
            status = adopt_worker(request, workers.items[i], &rest);
        }
    }
    int cause = errno;
    ics_spool_names_free(&folder->seen);
    folder->seen = folder->seeing;
    folder->seeing = (ics_names){0};
    ics_spool_names_sort(&folder->seen);
    clear_locks(folder, &workers);
    folder->looked_ns = status == ICESTREAM_OK && !rest ? folder->now_ns : INT64_MIN;
    errno = cause;
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Claims waiting files. The list of one scan is used up before the next scan, so that a folder with
 * 1e5 files is not read for every claim. In the order of names, a newer file may come before the
 * rest of the list, so the folder is read again; it is that of a listener, and has few files. */
static int take_waiting(ics_claim_request *request)
{
    ics_folder *folder = request->folder;
    ics_candidates *waiting = &folder->waiting;
    bool fresh = false;
    if (folder->options.by_name) {
        ics_folder_candidates_free(waiting);
    }
    while (request->count < request->most) {
        if (waiting->next == waiting->count) {
            if (fresh || ics_folder_is_unchanged(folder)) {
                break;
            }
            ics_folder_candidates_free(waiting);
            ICS_TRY(ics_folder_scan(folder, waiting, request->error));
            fresh = true;
            continue;
        }
        const char *name = waiting->items[waiting->next++].name;
        if (ics_folder_held(folder, name) == NULL) {
            ics_claimable what = {
                .from = ics_spool_path_join(folder->directory, name), .name = name, .attempt = 1};
            ICS_TRY(ics_folder_claim(request, &what));
        }
    }
    return ICESTREAM_OK;
}

static int take_all(ics_claim_request *request)
{
    ics_folder *folder = request->folder;
    ICS_TRY(ics_folder_beat(folder, request->error));
    if (folder->left_at_home) {
        ICS_TRY(adopt_own(request));
    }
    if (request->count < request->most) {
        ICS_TRY(adopt_dead(request));
    }
    return request->count < request->most ? take_waiting(request) : ICESTREAM_OK;
}

int ics_folder_take(void *self, size_t most, ics_claim *out, size_t *count, icestream_error *error)
{
    ics_folder *folder = self;
    icestream_error found = {.status = ICESTREAM_OK};
    ics_claim_request request = {.folder = folder, .most = most, .out = out, .error = &found};
    const int status = take_all(&request);
    *count = request.count;
    return *count > 0 || status == ICESTREAM_OK ? ICESTREAM_OK : ics_error_copy(error, &found);
}
