#include "pipeline/host/run_claims.h"

static int leave(is_run_claims *claims, int status)
{
    pthread_mutex_unlock(&claims->lock);
    return status;
}

int is_run_claims_take(is_run_claims *claims, size_t most, is_claim *out, size_t *count,
                       is_error *error)
{
    pthread_mutex_lock(&claims->lock);
    return leave(claims, is_claims_take(&claims->claims, most, out, count, error));
}

int is_run_claims_extend(is_run_claims *claims, size_t *lost, is_error *error)
{
    pthread_mutex_lock(&claims->lock);
    return leave(claims, is_claims_extend(&claims->claims, lost, error));
}

int is_run_claims_holds(is_run_claims *claims, const is_claim *claim, bool *held, is_error *error)
{
    pthread_mutex_lock(&claims->lock);
    return leave(claims, is_claims_holds(&claims->claims, claim, held, error));
}

int is_run_claims_done(is_run_claims *claims, const is_claim *claim, is_after after, bool *held,
                       is_error *error)
{
    pthread_mutex_lock(&claims->lock);
    return leave(claims, is_claims_done(&claims->claims, claim, after, held, error));
}

int is_run_claims_fail(is_run_claims *claims, const is_claim *claim, const char *reason, bool *held,
                       is_error *error)
{
    pthread_mutex_lock(&claims->lock);
    return leave(claims, is_claims_fail(&claims->claims, claim, reason, held, error));
}

int is_run_claims_give_back(is_run_claims *claims, const is_claim *claim, bool *held,
                            is_error *error)
{
    pthread_mutex_lock(&claims->lock);
    return leave(claims, is_claims_give_back(&claims->claims, claim, held, error));
}

int is_run_claims_stat(is_run_claims *claims, is_claims_counts *out, is_error *error)
{
    pthread_mutex_lock(&claims->lock);
    return leave(claims, is_claims_stat(&claims->claims, out, error));
}
