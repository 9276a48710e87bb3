/* The claims of a run, for its threads: readers and writers ask whether a claim is still held while
 * another thread takes files and ends claims. */
#ifndef IS_RUN_CLAIMS_H
#define IS_RUN_CLAIMS_H

#include "pipeline/spool/claims.h"

#include <pthread.h>

typedef struct is_run_claims {
    is_claims claims;
    pthread_mutex_t lock; /* claims are for one thread at a time */
} is_run_claims;

/* The functions of claims.h, any thread. Their errors have a cause. */
int is_run_claims_take(is_run_claims *claims, size_t most, is_claim *out, size_t *count,
                       is_error *error);
int is_run_claims_extend(is_run_claims *claims, size_t *lost, is_error *error);
int is_run_claims_holds(is_run_claims *claims, const is_claim *claim, bool *held, is_error *error);
int is_run_claims_done(is_run_claims *claims, const is_claim *claim, is_after after, bool *held,
                       is_error *error);
int is_run_claims_fail(is_run_claims *claims, const is_claim *claim, const char *reason, bool *held,
                       is_error *error);
int is_run_claims_give_back(is_run_claims *claims, const is_claim *claim, bool *held,
                            is_error *error);
int is_run_claims_stat(is_run_claims *claims, is_claims_counts *out, is_error *error);

#endif
