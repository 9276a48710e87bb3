/* Claiming work that several workers share: each piece is done by one of them, and what a worker
 * leaves behind when it is killed goes to another.
 *
 * What a claim rests on is an implementation's business: folder_claims.h has the one on a folder of
 * files; one on a network queue fits behind the same functions.
 *
 * Every function blocks (file systems and networks do) and may be called from any thread, one
 * thread at a time per ics_claims. Errors, unless said otherwise: ICESTREAM_E_OUTPUT with file,
 * cause and remedy, and `cause` set, so that callers can tell what passes (ics_error_may_pass) from
 * what does not; ICESTREAM_E_MEMORY. After an error the same call may be made again.
 *
 * Losing a claim is no error: who is stopped for longer than his lease has lost what he had, and
 * *held tells him so. His results are then somebody else's to write.
 */
#ifndef ICS_SPOOL_CLAIMS_H
#define ICS_SPOOL_CLAIMS_H

#include "pipeline/config/config.h"

/* One piece of work. */
typedef struct ics_claim {
    char *name;       /* the key of the work: the base name of its file */
    char *path;       /* where the input is to be read from, while the claim is held */
    uint64_t bytes;   /* of the input */
    double arrived;   /* unix time, s, by the clock of the file system: when it came there, or when
                         the last one claimed it who left it behind */
    uint32_t attempt; /* 1: nobody has begun it before */
    char *refusal;    /* NULL; else the reason why nobody shall work on it: pass it to fail */
    uint64_t ticket;  /* the implementation's */
} ics_claim;

/* Frees the texts. A claim that was not ended stays with the worker. */
void ics_claims_claim_free(ics_claim *claim);

typedef struct ics_claims_counts {
    uint64_t waiting;     /* to be taken */
    uint64_t mine;        /* claimed by this worker */
    uint64_t others;      /* claimed by others, alive or not */
    uint64_t done;        /* as far as traces of them are kept */
    uint64_t quarantined; /* reasons in the quarantine */
} ics_claims_counts;

typedef struct ics_claims_functions {
    void (*destroy)(void *self);
    int (*put)(void *self, const char *path, const char *name, icestream_error *error);
    int (*take)(void *self, size_t most, ics_claim *out, size_t *count, icestream_error *error);
    int (*extend)(void *self, size_t *lost, icestream_error *error);
    int (*holds)(void *self, const ics_claim *claim, bool *held, icestream_error *error);
    int (*done)(void *self, const ics_claim *claim, ics_after after, bool *held,
                icestream_error *error);
    int (*fail)(void *self, const ics_claim *claim, const char *reason, bool *held,
                icestream_error *error);
    int (*give_back)(void *self, const ics_claim *claim, bool *held, icestream_error *error);
    int (*stat)(void *self, ics_claims_counts *out, icestream_error *error);
} ics_claims_functions;

typedef struct ics_claims {
    const ics_claims_functions *functions;
    void *self;
} ics_claims;

/* Gives up the worker's name. Claims that were not ended go to others, or to the next worker of
 * that name, as an attempt more. Accepts one of which `self` is NULL. */
void ics_claims_destroy(ics_claims *claims);

/* Makes a finished file work for all, under `name` (NULL: its own); the file moves. Refuses to
 * replace what waits under that name (cause EEXIST). */
int ics_claims_put(const ics_claims *claims, const char *path, const char *name,
                   icestream_error *error);

/* Claims up to `most` pieces of work into out[most]: first what this worker's name or dead workers
 * left behind, then what waits, oldest arrival first, then by name. *count 0: there is nothing now.
 * Never gives a name that this worker has not ended yet. What was claimed before an error is given,
 * and the next call tells the error. The caller frees the claims. */
int ics_claims_take(const ics_claims *claims, size_t most, ics_claim *out, size_t *count,
                    icestream_error *error);

/* The heartbeat: call it at least three times per lease. *lost (may be NULL): how many claims
 * others have taken over that were not ended yet; `holds` tells which. */
int ics_claims_extend(const ics_claims *claims, size_t *lost, icestream_error *error);

/* Whether the claim is still this worker's: ask before results are committed. */
int ics_claims_holds(const ics_claims *claims, const ics_claim *claim, bool *held,
                     icestream_error *error);

/* Ends a claim; results must be on the medium, for nobody will do it again. *held false: the claim
 * was somebody else's by then, and nothing was done. */
int ics_claims_done(const ics_claims *claims, const ics_claim *claim, ics_after after, bool *held,
                    icestream_error *error);
/* Ends a claim: sets the input aside with the reason, for people to look at. */
int ics_claims_fail(const ics_claims *claims, const ics_claim *claim, const char *reason,
                    bool *held, icestream_error *error);
/* Ends a claim: others may take it, as if nobody had begun it. */
int ics_claims_give_back(const ics_claims *claims, const ics_claim *claim, bool *held,
                         icestream_error *error);

int ics_claims_stat(const ics_claims *claims, ics_claims_counts *out, icestream_error *error);

#endif
