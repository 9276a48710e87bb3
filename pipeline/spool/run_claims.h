/* The claims of a run, with a lock for its threads: readers and writers ask whether a claim is still
 * held, while the I/O thread claims files and ends claims. */
#ifndef ICS_SPOOL_RUN_CLAIMS_H
#define ICS_SPOOL_RUN_CLAIMS_H

#include "pipeline/spool/claims.h"

#include <pthread.h>

typedef struct ics_run_claims {
    ics_claims claims;
    pthread_mutex_t lock; /* one thread at a time may use `claims` */
} ics_run_claims;

/* The functions of claims.h, with their errors. Any thread; each call may wait for a file system. */
int ics_run_claims_take(ics_run_claims *claims, size_t most, ics_claim *out, size_t *count,
                        icestream_error *error);
int ics_run_claims_extend(ics_run_claims *claims, size_t *lost, icestream_error *error);
int ics_run_claims_holds(ics_run_claims *claims, const ics_claim *claim, bool *held,
                         icestream_error *error);
int ics_run_claims_done(ics_run_claims *claims, const ics_claim *claim, ics_after after, bool *held,
                        icestream_error *error);
int ics_run_claims_fail(ics_run_claims *claims, const ics_claim *claim, const char *reason,
                        bool *held, icestream_error *error);
int ics_run_claims_give_back(ics_run_claims *claims, const ics_claim *claim, bool *held,
                             icestream_error *error);
int ics_run_claims_stat(ics_run_claims *claims, ics_claims_counts *out, icestream_error *error);

#endif
