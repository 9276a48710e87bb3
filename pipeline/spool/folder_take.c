/* Claiming: what was left behind first, then what waits. */
#include "pipeline/error.h"
#include "pipeline/spool/folder_state.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One take. */
typedef struct taking {
    is_folder *folder;
    size_t most;
    is_claim *out;
    size_t count; /* in `out` */
    is_error *error;
} taking;

/* A file to be claimed. */
typedef struct prey {
    is_path from;
    const char *name;
    uint32_t attempt;   /* that this would be */
    const char *before; /* who had it, for people; NULL: it waits in the input folder */
} prey;

static int out_of_memory(const taking *take)
{
    errno = ENOMEM;
    return is_spool_error(take->error, take->folder->directory, "cannot claim work", NULL);
}

/* Of another user, which is no reason to stop: the rest can be worked on. */
static bool is_denied(int cause)
{
    return cause == EACCES || cause == EPERM;
}

static bool is_gone(int cause)
{
    return cause == ENOENT || cause == ENOTDIR || cause == ESTALE;
}

static int reserve_held(is_folder *folder)
{
    if (folder->held_count == folder->held_capacity) {
        size_t capacity = folder->held_capacity == 0 ? 16 : 2 * folder->held_capacity;
        is_held *held = realloc(folder->held, capacity * sizeof *held);
        if (held == NULL) {
            return -1;
        }
        folder->held = held;
        folder->held_capacity = capacity;
    }
    return 0;
}

/* The claim itself: 1: it is ours; 0: somebody was faster; -1: errno. Plain rename, for a link and
 * an unlink could both succeed for two workers; only this worker makes names in its own folder, so
 * nothing comes there between the look and the rename. */
static int claim_file(const char *from, const char *to)
{
    if (is_path_exists(to)) {
        return 0; /* an older file of that name, left at home: its turn comes */
    }
    if (rename(from, to) == 0) {
        return 1;
    }
    if (errno != ENOENT && errno != ESTALE) {
        return -1;
    }
    /* A file server may lose its answer, and find nothing when it is asked again. */
    if (is_path_exists(to)) {
        return 1;
    }
    errno = ENOENT;
    return is_path_exists(from) ? -1 : 0;
}

/* Others remove this worker's folder when they find it expired. */
static int claim_file_home(taking *take, const prey *what, const char *to)
{
    int result = claim_file(what->from.text, to);
    if (result < 0 && errno == ENOENT) {
        if (is_folder_beat(take->folder, take->error) != IS_OK) {
            return -1;
        }
        result = claim_file(what->from.text, to);
    }
    return result;
}

static char *refusal_of(const is_folder *folder, const prey *what, int look,
                        const struct stat *about)
{
    char *text = NULL;
    int length = 0;
    if (look != 0) {
        length = asprintf(&text, "%s: cannot be examined: %s", what->name, strerror(look));
    } else if (!S_ISREG(about->st_mode)) {
        length = asprintf(&text, "%s: found something that is not a file, expected a step file",
                          what->name);
    } else if (folder->attempts != 0 && what->attempt > folder->attempts) {
        length = asprintf(&text,
                          "%s: begun %" PRIu32 " times by workers that ended before it was "
                          "finished, the last time by %s; it is set aside because it may be what "
                          "ends them",
                          what->name, what->attempt - 1, what->before);
    }
    return length < 0 ? NULL : text;
}

/* Makes a claim of a file that is in this worker's folder. *mine false: it was done already, or is
 * gone again. Without memory the file stays there for the next take. */
static int describe(taking *take, const prey *what, const is_path *file, bool *mine)
{
    is_folder *folder = take->folder;
    struct stat about = {0};
    is_path target = *file;
    *mine = false;
    int look = is_folder_look(folder, file->text, &target, &about) == 0 ? 0 : errno;
    if (look != 0 && !is_path_exists(file->text)) {
        return IS_OK;
    }
    is_identity identity = is_identity_of(&about);
    int done = look == 0 ? is_folder_is_done(folder, what->name, identity) : 0;
    if (done != 0) {
        /* The end of a worker that was killed between the mark and the way back, or somebody was
         * done with it between our look and our claim. */
        bool there = true;
        int status =
            done > 0 ? is_folder_put_back(folder, file->text, what->name, true, &there, take->error)
                     : is_spool_error(take->error, folder->marks_folder.text,
                                      "cannot look for a mark in it", NULL);
        folder->left_at_home = folder->left_at_home || status != IS_OK;
        return status;
    }
    char *refusal = refusal_of(folder, what, look, &about);
    bool refused = look != 0 || !S_ISREG(about.st_mode) ||
                   (folder->attempts != 0 && what->attempt > folder->attempts);
    is_claim claim = {.name = strdup(what->name),
                      .path = strdup(target.text),
                      .bytes = (uint64_t)about.st_size,
                      .arrived =
                          (double)about.st_ctim.tv_sec + 1e-9 * (double)about.st_ctim.tv_nsec,
                      .attempt = what->attempt,
                      .refusal = refusal,
                      .ticket = ++folder->tickets};
    is_held held = {
        .name = strdup(what->name), .file = *file, .ticket = claim.ticket, .identity = identity};
    if (claim.name == NULL || claim.path == NULL || held.name == NULL ||
        (refused && refusal == NULL)) {
        free(held.name);
        is_claim_free(&claim);
        folder->left_at_home = true;
        return out_of_memory(take);
    }
    folder->held[folder->held_count++] = held;
    take->out[take->count++] = claim;
    *mine = true;
    return IS_OK;
}

static int claim(taking *take, const prey *what)
{
    is_folder *folder = take->folder;
    struct stat before;
    bool mine = false;
    if (reserve_held(folder) != 0) {
        return out_of_memory(take);
    }
    /* Renaming changes the time at which it came. */
    bool known = is_folder_look(folder, what->from.text, NULL, &before) == 0;
    if (known && what->before == NULL &&
        is_folder_is_done(folder, what->name, is_identity_of(&before)) == 1) {
        return IS_OK; /* by somebody else, since our look through the folder */
    }
    is_path to = is_path_format("%s/%" PRIu32 "~%s", folder->home.text, what->attempt, what->name);
    int result = claim_file_home(take, what, to.text);
    if (result < 0 && is_denied(errno)) {
        is_folder_note(folder, what->from.text, "%s: cannot be claimed: %s; it is left where it is",
                       what->from.text, strerror(errno));
        return IS_OK;
    }
    if (result < 0) {
        return is_spool_error(take->error, what->from.text, "cannot be claimed", NULL);
    }
    if (result == 0 && is_path_exists(to.text)) {
        folder->left_at_home = true;
    }
    int status = result == 1 ? describe(take, what, &to, &mine) : IS_OK;
    if (mine && known) {
        take->out[take->count - 1].arrived =
            (double)before.st_ctim.tv_sec + 1e-9 * (double)before.st_ctim.tv_nsec;
    }
    return status;
}

/* ---- what was left behind -------------------------------------------------------------------- */

/* A killed worker was moving this file where moving is a link and an unlink (NFS): it has its other
 * name already, and only this one is to go. */
static bool end_move(const is_folder *folder, const char *file, const char *name)
{
    struct stat about;
    const char *const folders[] = {folder->directory, folder->done.text, folder->quarantine_folder,
                                   folder->near.text};
    if (lstat(file, &about) != 0 || about.st_nlink < 2) {
        return false;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) {
        is_path other = is_path_join(folders[i], name);
        for (unsigned number = 2; is_path_exists(other.text) && number != 0; ++number) {
            if (is_path_same(file, other.text)) {
                return unlink(file) == 0;
            }
            other = is_path_format("%s/%s.%u", folders[i], name, number);
        }
    }
    return false; /* a link that a user made */
}

/* Claims the files in a worker's folder; *rest: some are still there, not counting those at work.
 */
static int adopt(taking *take, const char *home, const char *before, bool *rest)
{
    is_names files;
    *rest = false;
    if (is_folder_list(home, &files) != 0) {
        int cause = errno;
        is_names_free(&files);
        if (is_gone(cause)) {
            return IS_OK;
        }
        if (is_denied(cause)) {
            is_folder_note(take->folder, home, "%s: cannot be looked through: %s", home,
                           strerror(cause));
            return IS_OK;
        }
        errno = cause;
        return is_spool_error(take->error, home, "cannot be looked through", NULL);
    }
    int status = IS_OK;
    for (size_t i = 0; i < files.count && status == IS_OK; ++i) {
        uint32_t attempt = 0;
        prey what = {.from = is_path_join(home, files.items[i]), .before = before};
        what.name = is_folder_parse(files.items[i], &attempt);
        what.attempt = attempt + 1;
        if (what.name == NULL) {
            continue;
        }
        const is_held *held = is_folder_held(take->folder, what.name);
        if (held != NULL && strcmp(held->file.text, what.from.text) == 0) {
            continue;
        }
        if (held != NULL || take->count == take->most) {
            *rest = true;
            continue;
        }
        if (!end_move(take->folder, what.from.text, what.name)) {
            status = claim(take, &what);
        }
    }
    int cause = errno;
    *rest = *rest || status != IS_OK;
    is_names_free(&files);
    errno = cause;
    return status;
}

static int adopt_own(taking *take)
{
    is_folder *folder = take->folder;
    bool rest = false;
    char before[IS_CLAIM_WORKER_MAX + 64];
    snprintf(before, sizeof before, "an earlier process of worker %s", folder->worker);
    folder->left_at_home = false; /* claiming may find a reason to look again */
    int status = adopt(take, folder->home.text, before, &rest);
    folder->left_at_home = folder->left_at_home || rest;
    return status;
}

static void remove_lock(const is_folder *folder, const char *worker)
{
    int lock = -1;
    is_path path = is_path_format("%s/locks/%s", folder->spool.text, worker);
    if (is_path_exists(path.text) && is_lock_take(path.text, &lock) == IS_LOCK_TAKEN) {
        is_lock_remove(path.text, lock);
    }
}

/* Nobody is at home: what the folder needs besides its files goes as well. */
static void clear_away(is_folder *folder, const char *worker, const char *home)
{
    is_lease_state lease;
    if (is_lease_read(home, folder->lease, &lease) != 0 ||
        !is_lease_expired(&lease, folder->now_ns)) {
        return; /* he woke up */
    }
    is_lease_remove(home);
    remove_lock(folder, worker);
}

/* Locks of workers that were killed before they had a folder, or after. Who has one is not harmed,
 * who is about to take one notices that it is another file now. */
static void clear_locks(const is_folder *folder, const is_names *workers)
{
    is_names locks;
    /* If they cannot be looked through, they only stay. */
    if (is_folder_list(is_path_join(folder->spool.text, "locks").text, &locks) == 0) {
        for (size_t i = 0; i < locks.count; ++i) {
            if (!is_names_have(workers, locks.items[i])) {
                remove_lock(folder, locks.items[i]);
            }
        }
    }
    is_names_free(&locks);
}

static int adopt_worker(taking *take, const char *worker, bool *rest)
{
    is_folder *folder = take->folder;
    is_path home = is_path_join(folder->claimed.text, worker);
    is_lease_state lease;
    if (is_lease_read(home.text, folder->lease, &lease) != 0) {
        if (is_denied(errno)) {
            is_folder_note(folder, home.text, "%s: cannot tell whether this worker is alive: %s",
                           home.text, strerror(errno));
            return IS_OK;
        }
        return is_spool_error(take->error, home.text, "cannot read the lease in it", NULL);
    }
    if (!is_lease_expired(&lease, folder->now_ns)) {
        folder->look_pause = fmin(folder->look_pause, 0.25 * lease.seconds);
        return IS_OK;
    }
    char before[IS_CLAIM_WORKER_MAX + 320];
    snprintf(before, sizeof before, "worker %s (process %lld on %s)", worker, lease.pid,
             lease.host);
    bool some = false;
    int status = adopt(take, home.text, before, &some);
    if (status == IS_OK && !some) {
        clear_away(folder, worker, home.text);
    }
    *rest = *rest || some;
    return status;
}

/* Looks after the others four times per lease, the shortest of all, and again as long as there is
 * more to take over. */
static int adopt_dead(taking *take)
{
    is_folder *folder = take->folder;
    const double pause_ns = 1e9 * folder->look_pause;
    if (folder->looked_ns != INT64_MIN && folder->now_ns >= folder->looked_ns &&
        (double)(folder->now_ns - folder->looked_ns) < pause_ns) {
        return IS_OK;
    }
    is_names workers;
    bool rest = false;
    if (is_folder_list(folder->claimed.text, &workers) != 0) {
        is_names_free(&workers);
        return is_spool_error(take->error, folder->claimed.text, "cannot be looked through", NULL);
    }
    folder->look_pause = 0.25 * folder->lease;
    int status = IS_OK;
    for (size_t i = 0; i < workers.count && status == IS_OK; ++i) {
        if (strcmp(workers.items[i], folder->worker) != 0) {
            status = adopt_worker(take, workers.items[i], &rest);
        }
    }
    int cause = errno;
    clear_locks(folder, &workers);
    if (status == IS_OK && !rest) {
        folder->looked_ns = folder->now_ns;
    }
    is_names_free(&workers);
    errno = cause;
    return status;
}

/* ---- what waits ------------------------------------------------------------------------------ */

/* The list of one look is used up before the next: a folder of 1e5 files is not read for each. */
static int take_waiting(taking *take)
{
    is_folder *folder = take->folder;
    is_candidates *waiting = &folder->waiting;
    int status = IS_OK;
    for (bool fresh = false; status == IS_OK && take->count < take->most;) {
        if (waiting->next == waiting->count) {
            if (fresh) {
                break;
            }
            is_candidates_free(waiting);
            status = is_folder_scan(folder, waiting, take->error);
            fresh = true;
            continue;
        }
        const char *name = waiting->items[waiting->next++].name;
        if (is_folder_held(folder, name) == NULL) {
            prey what = {.from = is_path_join(folder->directory, name), .name = name, .attempt = 1};
            status = claim(take, &what);
        }
    }
    return status;
}

int is_folder_take(void *self, size_t most, is_claim *out, size_t *count, is_error *error)
{
    is_folder *folder = self;
    is_error found = {.status = IS_OK};
    taking take = {.folder = folder, .most = most, .out = out, .error = &found};
    int status = is_folder_beat(folder, &found);
    if (status == IS_OK && folder->left_at_home) {
        status = adopt_own(&take);
    }
    if (status == IS_OK && take.count < most) {
        status = adopt_dead(&take);
    }
    if (status == IS_OK && take.count < most) {
        status = take_waiting(&take);
    }
    *count = take.count;
    return *count > 0 || status == IS_OK ? IS_OK : is_error_copy(error, &found);
}
