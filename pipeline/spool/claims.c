#include "pipeline/spool/claims.h"

#include <stdlib.h>

void ics_claims_claim_free(ics_claim *claim)
{
    free(claim->name);
    free(claim->path);
    free(claim->refusal);
    *claim = (ics_claim){0};
}

void ics_claims_destroy(ics_claims *claims)
{
    if (claims->self != NULL) {
        claims->functions->destroy(claims->self);
        claims->self = NULL;
    }
}

int ics_claims_put(const ics_claims *claims, const char *path, const char *name,
                   icestream_error *error)
{
    return claims->functions->put(claims->self, path, name, error);
}

int ics_claims_take(const ics_claims *claims, size_t most, ics_claim *out, size_t *count,
                    icestream_error *error)
{
    *count = 0;
    return most == 0 ? ICESTREAM_OK
                     : claims->functions->take(claims->self, most, out, count, error);
}

int ics_claims_extend(const ics_claims *claims, size_t *lost, icestream_error *error)
{
    size_t ignored = 0;
    return claims->functions->extend(claims->self, lost != NULL ? lost : &ignored, error);
}

int ics_claims_holds(const ics_claims *claims, const ics_claim *claim, bool *held,
                     icestream_error *error)
{
    *held = false;
    return claims->functions->holds(claims->self, claim, held, error);
}

int ics_claims_done(const ics_claims *claims, const ics_claim *claim, ics_after after, bool *held,
                    icestream_error *error)
{
    *held = false;
    return claims->functions->done(claims->self, claim, after, held, error);
}

int ics_claims_fail(const ics_claims *claims, const ics_claim *claim, const char *reason,
                    bool *held, icestream_error *error)
{
    *held = false;
    return claims->functions->fail(claims->self, claim, reason, held, error);
}

int ics_claims_give_back(const ics_claims *claims, const ics_claim *claim, bool *held,
                         icestream_error *error)
{
    *held = false;
    return claims->functions->give_back(claims->self, claim, held, error);
}

int ics_claims_stat(const ics_claims *claims, ics_claims_counts *out, icestream_error *error)
{
    *out = (ics_claims_counts){0};
    return claims->functions->stat(claims->self, out, error);
}
