/* Claims: workers share the step files of one folder, or the tickets of one queue, and every file
 * is processed by one of them. If a worker is killed, other workers take over its files.
 *
 * There are two backends: a folder (this room, ics_claims_create) and a queue
 * (pipeline/production/queue). In a folder a claim is a file that was renamed into the worker's
 * folder. Only atomic renames, links, mkdir and stat decide which worker holds a file, on a local
 * disk or on a network file system. docs/spool.md describes the layout and what happens after a
 * crash.
 *
 * Every function may be called from any thread, and may wait for the file system and for other
 * threads that use the same claims. Errors, unless stated otherwise: ICESTREAM_E_OUTPUT with file,
 * cause and remedy, and with the cause set, so that ics_error_may_pass() can be asked. After an
 * error the same call may be repeated.
 *
 * Losing a claim is no error. A worker that was stopped for longer than its lease has lost its
 * claims. Then *held is false, and the worker must not write results: another worker writes them.
 */
#ifndef ICS_PRODUCTION_SPOOL_CLAIMS_H
#define ICS_PRODUCTION_SPOOL_CLAIMS_H

#include "pipeline/photons/config/config.h"
#include "pipeline/photons/files/format/parts_digest.h"

#include <pthread.h>

enum { ICS_CLAIM_NAME_MAX = 239, ICS_CLAIM_WORKER_MAX = 200 }; /* bytes */

/* One claimed step file. */
typedef struct ics_claim {
    char *name;      /* base name of the file in the shared folder; identifies the work */
    char *path;      /* where to read the input, as long as the claim is held */
    uint64_t bytes;  /* size of the input */
    double arrived;  /* s since 1970, clock of the file system: when the file arrived, or when the
                        worker that left it behind had claimed it */
    uint64_t ticket; /* number of the claim in this process */
    char *refusal; /* why the file must not be processed, for ics_claims_fail(); NULL: it may be */
    /* What the owner of the claim made of it, which it sets before ics_claims_done(). They belong
     * to the owner. NULL: unknown. */
    const char *output, *output_digest;
    char *url;        /* only of a queue: the owner of the claim fetches the file from there to
                         `path`; NULL: it is there */
    uint32_t attempt; /* 1: no worker has begun the file before */
    bool counts;      /* only of a queue: ics_claims_give_back() leaves this attempt counted */
    bool pauses;      /* only of a queue: after it nobody can claim the ticket for a lease */
    char sha256[ICS_PARTS_DIGEST_TEXT]; /* of the input, only of a queue; "": unknown */
} ics_claim;

/* Frees the texts. The file stays claimed by this worker if the claim was not ended. */
void ics_claims_claim_free(ics_claim *claim);

typedef struct ics_claims_options {
    const char *directory; /* the shared folder; must exist */
    const char *pattern;   /* fnmatch(3) pattern of step files; NULL: all. Names that start with '.'
                              or end in .part or .tmp are never step files */
    const char *spool;     /* on the same file system; NULL: .icestream in `directory`. Created if
                              missing; the folder above it must exist */
    const char *worker;    /* name of this worker: a file name of at most ICS_CLAIM_WORKER_MAX bytes
                              that does not start with '.' */
    const char *quarantine; /* where bad files go; NULL: quarantine in `directory` */
    double lease;      /* > 0: a worker without a heartbeat for this time (s) loses its claims */
    uint32_t attempts; /* a file that was begun this many times is refused; 0: no limit */
    bool by_name;      /* files are claimed in the order of their names, not of their arrival */
    bool forget;       /* removes the marks of files that are done and were kept */
    /* Returns whether the results of a marked file exist. If they were removed, the file is new
     * work. It must return true already before ics_claims_done() is called. It is called by the
     * functions below, on their thread, and must not call them. NULL: marks are believed. */
    bool (*has_results)(void *user, const char *name);
    /* Returns whether a name in the shared folder belongs to an output and not to a step file. Such
     * a file is never claimed. Called like has_results. NULL: there are no such names. */
    bool (*is_output)(void *user, const char *name);
    /* Reports something that users should know and that is no error, such as a file that is
     * ignored: one line, once per file. Called like has_results. NULL: not reported. */
    void (*note)(void *user, const char *line);
    void *user; /* for the three functions */
} ics_claims_options;

/* What a backend of claims does: the functions below, for its own `self`. Except for `destroy`,
 * they are called from any thread with the mutex of the claims locked, so that one of them runs at
 * a time. They may wait for the file system or for a broker, and must not call the functions below.
 * The outputs have the values that say "nothing" when they are called: no files, not held. Their
 * errors are those of the functions below. */
typedef struct ics_claims_backend {
    void (*destroy)(void *self);
    int (*take)(void *self, size_t most, ics_claim *out, size_t *count, icestream_error *error);
    int (*extend)(void *self, size_t *lost, icestream_error *error);
    bool (*holds)(void *self, const ics_claim *claim);
    int (*look_again)(void *self, const ics_claim *claim, double *age, icestream_error *error);
    int (*done)(void *self, const ics_claim *claim, ics_after after, bool *held,
                icestream_error *error);
    int (*fail)(void *self, const ics_claim *claim, const char *reason, bool *held,
                icestream_error *error);
    int (*give_back)(void *self, const ics_claim *claim, bool *held, icestream_error *error);
    int (*count_waiting)(void *self, uint64_t *out, icestream_error *error);
} ics_claims_backend;

/* The claims of one worker. */
typedef struct ics_claims {
    const ics_claims_backend *backend; /* private */
    void *self;                        /* private; NULL: there are no claims */
    pthread_mutex_t *mutex;            /* private, of the backend */
} ics_claims;

/* Reserves the worker's name and begins its lease. The options need not outlive the call, except
 * `user`. Other errors: ICESTREAM_E_CONFIG: impossible names, a missing folder, a spool on another
 * file system; ICESTREAM_E_FAILED: a living process has this worker's name. */
int ics_claims_create(const ics_claims_options *options, ics_claims *out, icestream_error *error);

/* Releases the worker's name. Claims that were not ended go to other workers, or to the next worker
 * with this name, which begin them again with `attempt` increased. Does nothing if `self` is NULL.
 */
void ics_claims_destroy(ics_claims *claims);

/* Claims up to `most` files into out[most]. Files that earlier processes with this worker's name or
 * dead workers left behind come first, then waiting files, in the order of arrival, then of names.
 * *count 0: no file can be claimed now. A name of which this worker holds a claim is not given
 * again. Claims made before an error are returned as a success, and the next call reports the
 * error. The caller frees the claims. */
int ics_claims_take(const ics_claims *claims, size_t most, ics_claim *out, size_t *count,
                    icestream_error *error);

/* The heartbeat: renews the lease. Call it at least three times per lease. *lost (may be NULL): how
 * many claims that were not ended other workers have taken over; ics_claims_holds() shows which. */
int ics_claims_extend(const ics_claims *claims, size_t *lost, icestream_error *error);

/* Whether the claim is still this worker's. Ask before results are committed. */
bool ics_claims_holds(const ics_claims *claims, const ics_claim *claim);

/* Looks at the claimed file before it is read again: a producer may write to it. From now on the
 * file counts as it is now. *age: time since its last change (s), by the clock of the file system.
 */
int ics_claims_look_again(const ics_claims *claims, const ics_claim *claim, double *age,
                          icestream_error *error);

/* Ends a claim: the file is done. The results must be on the disk, because no worker will process
 * the file again. *held false: the claim was lost, and nothing was done. */
int ics_claims_done(const ics_claims *claims, const ics_claim *claim, ics_after after, bool *held,
                    icestream_error *error);
/* Ends a claim: moves the file into the quarantine, with the reason. *held as above. */
int ics_claims_fail(const ics_claims *claims, const ics_claim *claim, const char *reason,
                    bool *held, icestream_error *error);
/* Ends a claim: the file waits again, as if no worker had begun it, unless the claim `counts`.
 * *held as above. */
int ics_claims_give_back(const ics_claims *claims, const ics_claim *claim, bool *held,
                         icestream_error *error);

/* Whether a file of this name in the shared folder is a step file, as far as its name shows.
 * `pattern` as in the options. */
bool ics_claims_is_step_file(const char *pattern, const char *name);

/* Counts the files that can be claimed now. */
int ics_claims_count_waiting(const ics_claims *claims, uint64_t *out, icestream_error *error);

#endif
