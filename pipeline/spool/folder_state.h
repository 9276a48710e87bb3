/* A folder of claims from the inside; private to the files pipeline/spool/folder_*.c.
 *
 * A claimed file is SPOOL/claimed/WORKER/ATTEMPT~NAME. Its place tells who has it and its name how
 * often it was begun, so that one rename changes both: there is no second file that could be of
 * another opinion.
 */
#ifndef IS_FOLDER_STATE_H
#define IS_FOLDER_STATE_H

#include "pipeline/spool/folder_claims.h"
#include "pipeline/spool/lease.h"
#include "pipeline/spool/marks.h"
#include "pipeline/spool/quarantine.h"

enum { IS_NOTES_MAX = 256 };

/* A claim that the caller has and has not ended. */
typedef struct is_held {
    char *name;
    is_path file; /* its claimed file */
    uint64_t ticket;
    is_identity identity; /* as it was when it was claimed */
    bool lost;            /* its claimed file is gone; what has its name now is another claim's */
    bool ended;           /* it is out of this worker's folder, by what the worker did, */
    is_path to;           /* for this one; "": none. Both have yet to be written to the medium */
} is_held;

/* A file that looked like work. */
typedef struct is_candidate {
    char *name;
    int64_t arrived_ns;
} is_candidate;

typedef struct is_candidates {
    is_candidate *items;
    size_t count, capacity, next;
} is_candidates;

/* That a look found nothing to do, and would find nothing again while the folder's time is the
 * same: a service that waits does not look through 1e5 files that are done every few seconds. */
typedef struct is_stillness {
    bool known;
    int64_t modified_ns; /* of the folder, before that look */
    int64_t since_ns;    /* of that look, by the file system's clock */
} is_stillness;

typedef struct is_folder {
    char *directory, *pattern, *worker, *quarantine_folder;
    is_path spool, claimed, home, done, marks_folder, lock_path, near;
    double lease; /* s */
    uint32_t attempts;
    bool (*has_results)(void *user, const char *name);
    void (*note)(void *user, const char *line);
    void *user;

    int lock;   /* on the worker's name; -1: there are no locks here */
    bool owner; /* of the worker's folder */
    is_marks *marks;
    is_held *held;
    size_t held_count, held_capacity;
    uint64_t tickets;
    is_candidates waiting; /* of the last look */
    is_stillness still;
    int64_t now_ns;    /* of the last heartbeat */
    int64_t looked_ns; /* when dead workers were looked for last */
    double look_pause; /* s, until they are looked for again */
    bool left_at_home; /* claimed files of this worker's name that nobody has begun again */
    is_names stranded; /* claimed files that a fault kept from being handed out */
    is_names noted;    /* what notes have been about */
} is_folder;

/* ---- folder_claims.c */

/* Tells people, once per key. */
void is_folder_note(is_folder *folder, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A heartbeat; establishes the worker's folder anew where others have found it expired. */
int is_folder_beat(is_folder *folder, is_error *error);
is_held *is_folder_held(const is_folder *folder, const char *name);
/* Puts a claimed file back where it came from. Where a newer file has its name by now it goes to
 * done/ if it is finished, and stays at home, for the next take, if not. *there false: the claimed
 * file is gone. */
int is_folder_put_back(is_folder *folder, const char *file, const char *name, bool finished,
                       bool *there, is_error *error);

/* ---- folder_scan.c */

/* Whether a name may be work. */
bool is_folder_is_work(const is_folder *folder, const char *name);
/* The state of the file that a name in `folder` stands for. A symbolic link stands for what it
 * points to from the input folder, wherever the link itself is at the moment: `target` (may be
 * NULL) gets that path. 0 or -1 with errno. */
int is_folder_look(const is_folder *folder, const char *file, is_path *target, struct stat *about);
/* 1: marked as done, with results; 0; -1: errno. */
int is_folder_is_done(is_folder *folder, const char *name, is_identity identity);
/* The files in the folder that wait, oldest first. */
int is_folder_scan(is_folder *folder, is_candidates *out, is_error *error);
/* Whether a look would find nothing. Once a minute it looks all the same: results may have been
 * removed, and rights given. */
bool is_folder_is_still(const is_folder *folder);
void is_candidates_free(is_candidates *candidates);
/* ATTEMPT~NAME; NULL: not such a name. */
const char *is_folder_parse(const char *file, uint32_t *attempt);

/* ---- folder_work.c: the functions behind is_claims */

extern const is_claims_functions is_folder_functions;
void is_folder_destroy(void *self);

/* ---- folder_take.c */

/* One take. */
typedef struct is_taking {
    is_folder *folder;
    size_t most;
    is_claim *out;
    size_t count; /* in `out` */
    is_error *error;
} is_taking;

/* A file to be claimed. */
typedef struct is_prey {
    is_path from;
    const char *name;
    uint32_t attempt;   /* that this would be */
    const char *before; /* who had it, for people; NULL: it waits in the input folder */
} is_prey;

int is_folder_take(void *self, size_t most, is_claim *out, size_t *count, is_error *error);
/* Claims one file, if it can be claimed, and hands it out, unless it is done. */
int is_folder_claim(is_taking *take, const is_prey *what);
/* Whether the cause is that a file is another user's: no reason to stop, the rest can be done. */
bool is_folder_denied(int cause);

/* ---- folder_adopt.c: taking what was left behind */

/* By earlier processes of this worker's name. */
int is_folder_adopt_own(is_taking *take);
/* By dead workers: looks after them four times per lease, the shortest of all, and again as long as
 * there is more to take over. */
int is_folder_adopt_dead(is_taking *take);

#endif
