/* The interface of the room: every function locks the mutex and calls the one of the backend. */
#include "pipeline/production/spool/claims.h"

#include "base/error.h"
#include "pipeline/production/spool/folder_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- the folder ------------------------------------------------------------------------------ */

static const ics_claims_backend folder_backend = {.destroy = ics_folder_destroy,
                                                  .take = ics_folder_take,
                                                  .extend = ics_folder_extend,
                                                  .holds = ics_folder_holds,
                                                  .look_again = ics_folder_look_again,
                                                  .done = ics_folder_done,
                                                  .fail = ics_folder_fail,
                                                  .give_back = ics_folder_give_back,
                                                  .count_waiting = ics_folder_count_waiting};

int ics_claims_create(const ics_claims_options *options, ics_claims *out, icestream_error *error)
{
    ics_folder *folder = NULL;
    const int status = ics_folder_create(options, &folder, error);
    *out = (ics_claims){.backend = &folder_backend,
                        .self = folder,
                        .mutex = folder != NULL ? &folder->mutex : NULL};
    return status;
}

/* ---- any backend ----------------------------------------------------------------------------- */

static void *lock(const ics_claims *claims)
{
    pthread_mutex_lock(claims->mutex);
    return claims->self;
}

static int unlock(const ics_claims *claims, int status)
{
    pthread_mutex_unlock(claims->mutex);
    return status;
}

void ics_claims_claim_free(ics_claim *claim)
{
    free(claim->name);
    free(claim->path);
    free(claim->refusal);
    free(claim->url);
    *claim = (ics_claim){0};
}

void ics_claims_destroy(ics_claims *claims)
{
    if (claims->self != NULL) {
        claims->backend->destroy(claims->self);
        claims->self = NULL;
    }
}

int ics_claims_take(const ics_claims *claims, size_t most, ics_claim *out, size_t *count,
                    icestream_error *error)
{
    *count = 0;
    return most == 0 ? ICESTREAM_OK
                     : unlock(claims, claims->backend->take(lock(claims), most, out, count, error));
}

int ics_claims_extend(const ics_claims *claims, size_t *lost, icestream_error *error)
{
    size_t ignored = 0;
    return unlock(claims,
                  claims->backend->extend(lock(claims), lost != NULL ? lost : &ignored, error));
}

bool ics_claims_holds(const ics_claims *claims, const ics_claim *claim)
{
    const bool held = claims->backend->holds(lock(claims), claim);
    unlock(claims, ICESTREAM_OK);
    return held;
}

int ics_claims_look_again(const ics_claims *claims, const ics_claim *claim, double *age,
                          icestream_error *error)
{
    *age = HUGE_VAL;
    return unlock(claims, claims->backend->look_again(lock(claims), claim, age, error));
}

int ics_claims_done(const ics_claims *claims, const ics_claim *claim, ics_after after, bool *held,
                    icestream_error *error)
{
    *held = false;
    return unlock(claims, claims->backend->done(lock(claims), claim, after, held, error));
}

int ics_claims_fail(const ics_claims *claims, const ics_claim *claim, const char *reason,
                    bool *held, icestream_error *error)
{
    *held = false;
    return unlock(claims, claims->backend->fail(lock(claims), claim, reason, held, error));
}

int ics_claims_give_back(const ics_claims *claims, const ics_claim *claim, bool *held,
                         icestream_error *error)
{
    *held = false;
    return unlock(claims, claims->backend->give_back(lock(claims), claim, held, error));
}

int ics_claims_count_waiting(const ics_claims *claims, uint64_t *out, icestream_error *error)
{
    *out = 0;
    return unlock(claims, claims->backend->count_waiting(lock(claims), out, error));
}
