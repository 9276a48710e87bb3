/* The claims of one worker on the files of a shared folder; private to pipeline/production/spool.
 *
 * A claimed file is SPOOL/claimed/WORKER/ATTEMPT~NAME. The folder shows which worker holds it, and
 * the name shows how often it was begun, so one rename changes both together. There is no second
 * file that could contradict the first.
 *
 * The files of the room use each other in this order, from the lowest: spool_files, process, lease,
 * marks and quarantine; folder_state; folder_scan; folder_claim; folder_take, folder_work and
 * folder_start; claims. All functions here expect that the caller holds the mutex
 * (claims.c).
 */
#ifndef ICS_PRODUCTION_SPOOL_FOLDER_STATE_H
#define ICS_PRODUCTION_SPOOL_FOLDER_STATE_H

#include "pipeline/production/spool/claims.h"
#include "pipeline/production/spool/lease.h"
#include "pipeline/production/spool/marks.h"
#include "pipeline/production/spool/quarantine.h"

#include <pthread.h>

enum { ICS_NOTES_MAX = 256 };

/* Other workers take a worker for dead that was stopped for longer than its lease, and remove its
 * folder or its own files in it. That may happen again and again while the worker begins to work
 * again: its operations are tried this often. */
enum { ICS_FOLDER_TRIES = 100 };

/* ns. If a worker that was alive has lost its lease, its folder has no owner when it was not
 * changed for this time, which is longer than the steps of any file system's clock (2 s). */
#define ICS_YOUNG_FOLDER INT64_C(2500000000)

/* A claim that the caller of ics_claims_take() has and has not ended. */
typedef struct ics_held_claim {
    char *name;
    ics_path file; /* path of the claimed file */
    uint64_t ticket;
    ics_identity identity; /* of the file when it was claimed */
    bool lost;   /* the claimed file is gone. A new file with its path belongs to another claim */
    bool ended;  /* this worker has moved or deleted the claimed file; what is left to do is to sync
                    the worker's folder and `to` */
    ics_path to; /* the folder that received the file; "": none */
} ics_held_claim;

/* A file in the shared folder that can be claimed. */
typedef struct ics_candidate {
    char *name;
    int64_t arrived_ns;
} ics_candidate;

typedef struct ics_candidates {
    ics_candidate *items;
    size_t count, capacity, next;
} ics_candidates;

/* Remembers that a scan found nothing to do. As long as the modification time of the folder is the
 * same, another scan would find nothing either, so a waiting service does not look through 1e5
 * finished files every few seconds. */
typedef struct ics_unchanged {
    bool known;
    int64_t modified_ns; /* modification time of the folder before that scan */
    int64_t since_ns;    /* time of that scan, clock of the file system */
} ics_unchanged;

/* Living workers on this machine. If one of them ends without a word, its files can be taken over
 * at once. */
typedef struct ics_neighbours {
    ics_process *items;
    size_t count, capacity;
} ics_neighbours;

typedef struct ics_folder {
    pthread_mutex_t mutex; /* for everything below */
    /* As in the options, but that these texts belong to the folder, and none is NULL. */
    char *directory, *pattern, *worker, *quarantine_folder;
    ics_claims_options options; /* its texts are those of the caller, and not used any more */
    ics_path spool, claimed, home, done, marks_folder, lock_path, near;

    int lock;   /* descriptor of the lock on the worker's name; -1: the file system has no locks */
    bool owner; /* this process owns `home`, the worker's folder */
    ics_marks *marks;
    ics_held_claim *held;
    size_t held_count, held_capacity;
    uint64_t tickets;
    ics_candidates waiting; /* found by the last scan */
    ics_unchanged unchanged;
    int64_t now_ns;            /* time of the last heartbeat */
    int64_t looked_ns;         /* when dead workers were looked for last */
    int64_t claimed_ns;        /* modification time of `claimed` before that look */
    ics_neighbours neighbours; /* found by that look */
    ics_process self;
    ics_names seen;     /* workers that were alive at that look */
    ics_names seeing;   /* the same, of the look that is going on */
    double look_pause;  /* s, until dead workers are looked for again */
    bool left_at_home;  /* `home` has claimed files that are not in `held` */
    ics_names stranded; /* claimed files that were not returned because of an error */
    ics_names noted;    /* keys of the notes so far */
} ics_folder;

/* ---- folder_state.c */

/* Calls options.note, once per key and for at most ICS_NOTES_MAX keys. */
void ics_folder_note(ics_folder *folder, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes the folders of the spool that are missing. */
int ics_folder_make_spool(const ics_folder *folder, icestream_error *error);
/* Locks the worker's name. Tries for a second, because a worker that cleans up after a dead worker
 * with our name holds the lock for a moment. As ics_lease_lock_take(). */
ics_lock_result ics_folder_lock_name(const ics_folder *folder, int *lock);
/* Renews the lease. Creates the worker's folder again if other workers found it expired, and the
 * whole spool if it was removed with the shared folder. */
int ics_folder_beat(ics_folder *folder, icestream_error *error);
/* The held claim with this name, or NULL. */
ics_held_claim *ics_folder_held(const ics_folder *folder, const char *name);
/* Moves a claimed file back into the shared folder. If a newer file has its name there, a finished
 * file goes to done/ instead, and an unfinished one stays in `home` for the next take. *there
 * false: the claimed file is gone. */
int ics_folder_put_back(ics_folder *folder, const char *file, const char *name, bool finished,
                        bool *there, icestream_error *error);

void ics_folder_candidates_free(ics_candidates *candidates);

/* ---- folder_scan.c */

/* Gets the state of a file. A symbolic link stands for its target, which is resolved from the
 * shared folder, wherever the link is now: `target` (may be NULL) gets that path. 0, or -1 with
 * errno. */
int ics_folder_look(const ics_folder *folder, const char *file, ics_path *target,
                    struct stat *about);
/* Returns 1 if the file is marked as done and its results exist, 0 if not, -1 with errno. */
int ics_folder_look_done(ics_folder *folder, const char *name, ics_identity identity);
/* Lists the files in the shared folder that wait, oldest first. */
int ics_folder_scan(ics_folder *folder, ics_candidates *out, icestream_error *error);
/* Whether a scan would find nothing. False at least once a minute, because results may be removed
 * and permissions given without a change of the folder. */
bool ics_folder_is_unchanged(const ics_folder *folder);
/* Splits ATTEMPT~NAME. Returns NAME, or NULL if the text has another form. */
const char *ics_folder_parse(const char *file, uint32_t *attempt);

/* ---- folder_claim.c */

/* One call of ics_claims_take(). */
typedef struct ics_claim_request {
    ics_folder *folder;
    size_t most;
    ics_claim *out;
    size_t count; /* in `out` */
    icestream_error *error;
} ics_claim_request;

/* A file to be claimed. */
typedef struct ics_claimable {
    ics_path from;
    const char *name;
    uint32_t attempt;   /* of the claim */
    const char *before; /* text: which worker held the file; NULL: it waits in the shared folder */
} ics_claimable;

/* Claims one file and adds it to the request. Adds nothing if another worker was faster, if the
 * file is done, or if this user may not claim it. */
int ics_folder_claim(ics_claim_request *request, const ics_claimable *what);
/* Whether errno means that a file belongs to another user. Then only this file is left out. */
bool ics_folder_denied(int cause);

/* ---- folder_take.c, folder_work.c, folder_start.c: the functions of claims.h. `self`: an
 * ics_folder */

int ics_folder_take(void *self, size_t most, ics_claim *out, size_t *count, icestream_error *error);

int ics_folder_extend(void *self, size_t *lost, icestream_error *error);
bool ics_folder_holds(void *self, const ics_claim *claim);
int ics_folder_look_again(void *self, const ics_claim *claim, double *age, icestream_error *error);
int ics_folder_done(void *self, const ics_claim *claim, ics_after after, bool *held,
                    icestream_error *error);
int ics_folder_fail(void *self, const ics_claim *claim, const char *reason, bool *held,
                    icestream_error *error);
int ics_folder_give_back(void *self, const ics_claim *claim, bool *held, icestream_error *error);
int ics_folder_count_waiting(void *self, uint64_t *out, icestream_error *error);

int ics_folder_create(const ics_claims_options *options, ics_folder **out, icestream_error *error);
/* Accepts NULL. */
void ics_folder_destroy(void *self);

#endif
