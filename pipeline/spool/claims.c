/* The interface of the room: every function calls the one of the backend. Those of the folder lock
 * it and call the function that does the work. */
#include "pipeline/spool/claims.h"

#include "base/error.h"
#include "pipeline/spool/folder_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- the folder ------------------------------------------------------------------------------ */

static ics_folder *lock(void *self)
{
    ics_folder *folder = self;
    pthread_mutex_lock(&folder->mutex);
    return folder;
}

static int unlock(void *self, int status)
{
    ics_folder *folder = self;
    pthread_mutex_unlock(&folder->mutex);
    return status;
}

static void folder_destroy(void *self)
{
    ics_folder_destroy(self);
}

static int folder_take(void *self, size_t most, ics_claim *out, size_t *count,
                       icestream_error *error)
{
    return unlock(self, ics_folder_take(lock(self), most, out, count, error));
}

static int folder_extend(void *self, size_t *lost, icestream_error *error)
{
    return unlock(self, ics_folder_extend(lock(self), lost, error));
}

static bool folder_holds(void *self, const ics_claim *claim)
{
    const bool held = ics_folder_holds(lock(self), claim);
    unlock(self, ICESTREAM_OK);
    return held;
}

static int folder_look_again(void *self, const ics_claim *claim, double *age,
                             icestream_error *error)
{
    return unlock(self, ics_folder_look_again(lock(self), claim, age, error));
}

static int folder_done(void *self, const ics_claim *claim, ics_after after, bool *held,
                       icestream_error *error)
{
    return unlock(self, ics_folder_done(lock(self), claim, after, held, error));
}

static int folder_fail(void *self, const ics_claim *claim, const char *reason, bool *held,
                       icestream_error *error)
{
    return unlock(self, ics_folder_fail(lock(self), claim, reason, held, error));
}

static int folder_give_back(void *self, const ics_claim *claim, bool *held, icestream_error *error)
{
    return unlock(self, ics_folder_give_back(lock(self), claim, held, error));
}

static int folder_stat(void *self, ics_claims_counts *out, icestream_error *error)
{
    return unlock(self, ics_folder_stat(lock(self), out, error));
}

static const ics_claims_backend folder_backend = {.destroy = folder_destroy,
                                                  .take = folder_take,
                                                  .extend = folder_extend,
                                                  .holds = folder_holds,
                                                  .look_again = folder_look_again,
                                                  .done = folder_done,
                                                  .fail = folder_fail,
                                                  .give_back = folder_give_back,
                                                  .stat = folder_stat};

int ics_claims_create(const ics_claims_options *options, ics_claims *out, icestream_error *error)
{
    ics_folder *folder = NULL;
    const int status = ics_folder_create(options, &folder, error);
    *out = (ics_claims){.backend = &folder_backend, .self = folder};
    return status;
}

/* ---- any backend ----------------------------------------------------------------------------- */

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

int ics_claims_put(const ics_claims *claims, const char *path, const char *name,
                   icestream_error *error)
{
    return unlock(claims->self, ics_folder_put(lock(claims->self), path, name, error));
}

int ics_claims_take(const ics_claims *claims, size_t most, ics_claim *out, size_t *count,
                    icestream_error *error)
{
    *count = 0;
    return most == 0 ? ICESTREAM_OK : claims->backend->take(claims->self, most, out, count, error);
}

int ics_claims_extend(const ics_claims *claims, size_t *lost, icestream_error *error)
{
    size_t ignored = 0;
    return claims->backend->extend(claims->self, lost != NULL ? lost : &ignored, error);
}

int ics_claims_holds(const ics_claims *claims, const ics_claim *claim, bool *held,
                     icestream_error *error)
{
    (void)error;
    *held = claims->backend->holds(claims->self, claim);
    return ICESTREAM_OK;
}

int ics_claims_look_again(const ics_claims *claims, const ics_claim *claim, double *age,
                          icestream_error *error)
{
    *age = HUGE_VAL;
    return claims->backend->look_again(claims->self, claim, age, error);
}

int ics_claims_done(const ics_claims *claims, const ics_claim *claim, ics_after after, bool *held,
                    icestream_error *error)
{
    *held = false;
    return claims->backend->done(claims->self, claim, after, held, error);
}

int ics_claims_fail(const ics_claims *claims, const ics_claim *claim, const char *reason,
                    bool *held, icestream_error *error)
{
    *held = false;
    return claims->backend->fail(claims->self, claim, reason, held, error);
}

int ics_claims_give_back(const ics_claims *claims, const ics_claim *claim, bool *held,
                         icestream_error *error)
{
    *held = false;
    return claims->backend->give_back(claims->self, claim, held, error);
}

int ics_claims_stat(const ics_claims *claims, ics_claims_counts *out, icestream_error *error)
{
    *out = (ics_claims_counts){0};
    return claims->backend->stat(claims->self, out, error);
}
