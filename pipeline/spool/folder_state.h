/* A folder of claims from the inside; private to the files pipeline/spool/folder_*.c.
 *
 * A claimed file is SPOOL/claimed/WORKER/ATTEMPT~NAME. Its place tells who has it and its name how
 * often it was begun, so that one rename changes both: there is no second file that could be of
 * another opinion.
 */
#ifndef ICS_SPOOL_FOLDER_STATE_H
#define ICS_SPOOL_FOLDER_STATE_H

#include "pipeline/spool/folder_claims.h"
#include "pipeline/spool/lease.h"
#include "pipeline/spool/marks.h"
#include "pipeline/spool/quarantine.h"

enum { ICS_NOTES_MAX = 256 };

/* A claim that the caller has and has not ended. */
typedef struct ics_held_claim {
    char *name;
    ics_path file; /* its claimed file */
    uint64_t ticket;
    ics_identity identity; /* as it was when it was claimed */
    bool lost;             /* its claimed file is gone; what has its name now is another claim's */
    bool ended;            /* it is out of this worker's folder, by what the worker did, */
    ics_path to;           /* for this one; "": none. Both have yet to be written to the medium */
} ics_held_claim;

/* A file that looked like work. */
typedef struct ics_candidate {
    char *name;
    int64_t arrived_ns;
} ics_candidate;

typedef struct ics_candidates {
    ics_candidate *items;
    size_t count, capacity, next;
} ics_candidates;

/* That a look found nothing to do, and would find nothing again while the folder's time is the
 * same: a service that waits does not look through 1e5 files that are done every few seconds. */
typedef struct ics_stillness {
    bool known;
    int64_t modified_ns; /* of the folder, before that look */
    int64_t since_ns;    /* of that look, by the file system's clock */
} ics_stillness;

typedef struct ics_folder {
    char *directory, *pattern, *worker, *quarantine_folder;
    ics_path spool, claimed, home, done, marks_folder, lock_path, near;
    double lease; /* s */
    uint32_t attempts;
    bool (*has_results)(void *user, const char *name);
    void (*note)(void *user, const char *line);
    void *user;

    int lock;   /* on the worker's name; -1: there are no locks here */
    bool owner; /* of the worker's folder */
    ics_marks *marks;
    ics_held_claim *held;
    size_t held_count, held_capacity;
    uint64_t tickets;
    ics_candidates waiting; /* of the last look */
    ics_stillness still;
    int64_t now_ns;     /* of the last heartbeat */
    int64_t looked_ns;  /* when dead workers were looked for last */
    double look_pause;  /* s, until they are looked for again */
    bool left_at_home;  /* claimed files of this worker's name that nobody has begun again */
    ics_names stranded; /* claimed files that a fault kept from being handed out */
    ics_names noted;    /* what notes have been about */
} ics_folder;

/* ---- folder_claims.c */

/* Tells people, once per key. */
void ics_folder_note(ics_folder *folder, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A heartbeat; establishes the worker's folder anew where others have found it expired. */
int ics_folder_beat(ics_folder *folder, icestream_error *error);
ics_held_claim *ics_folder_held(const ics_folder *folder, const char *name);
/* Puts a claimed file back where it came from. Where a newer file has its name by now it goes to
 * done/ if it is finished, and stays at home, for the next take, if not. *there false: the claimed
 * file is gone. */
int ics_folder_put_back(ics_folder *folder, const char *file, const char *name, bool finished,
                        bool *there, icestream_error *error);

/* ---- folder_scan.c */

/* Whether a name may be work. */
bool ics_folder_is_step_file(const ics_folder *folder, const char *name);
/* The state of the file that a name in `folder` stands for. A symbolic link stands for what it
 * points to from the input folder, wherever the link itself is at the moment: `target` (may be
 * NULL) gets that path. 0 or -1 with errno. */
int ics_folder_look(const ics_folder *folder, const char *file, ics_path *target,
                    struct stat *about);
/* 1: marked as done, with results; 0; -1: errno. */
int ics_folder_look_done(ics_folder *folder, const char *name, ics_identity identity);
/* The files in the folder that wait, oldest first. */
int ics_folder_scan(ics_folder *folder, ics_candidates *out, icestream_error *error);
/* Whether a look would find nothing. Once a minute it looks all the same: results may have been
 * removed, and rights given. */
bool ics_folder_is_still(const ics_folder *folder);
void ics_folder_candidates_free(ics_candidates *candidates);
/* ATTEMPT~NAME; NULL: not such a name. */
const char *ics_folder_parse(const char *file, uint32_t *attempt);

/* ---- folder_work.c: the functions behind ics_claims */

extern const ics_claims_functions ics_folder_functions;
void ics_folder_destroy(void *self);

/* ---- folder_take.c */

/* One take. */
typedef struct ics_taking {
    ics_folder *folder;
    size_t most;
    ics_claim *out;
    size_t count; /* in `out` */
    icestream_error *error;
} ics_taking;

/* A file to be claimed. */
typedef struct ics_dead_claim {
    ics_path from;
    const char *name;
    uint32_t attempt;   /* that this would be */
    const char *before; /* who had it, for people; NULL: it waits in the input folder */
} ics_dead_claim;

int ics_folder_take(void *self, size_t most, ics_claim *out, size_t *count, icestream_error *error);
/* Claims one file, if it can be claimed, and hands it out, unless it is done. */
int ics_folder_claim(ics_taking *take, const ics_dead_claim *what);
/* Whether the cause is that a file is another user's: no reason to stop, the rest can be done. */
bool ics_folder_denied(int cause);

/* ---- folder_adopt.c: taking what was left behind */

/* By earlier processes of this worker's name. */
int ics_folder_adopt_own(ics_taking *take);
/* By dead workers: looks after them four times per lease, the shortest of all, and again as long as
 * there is more to take over. */
int ics_folder_adopt_dead(ics_taking *take);

#endif
