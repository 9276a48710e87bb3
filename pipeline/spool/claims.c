#include "pipeline/spool/claims.h"

#include <stdlib.h>

void is_claim_free(is_claim *claim)
{
    free(claim->name);
    free(claim->path);
    free(claim->refusal);
    *claim = (is_claim){0};
}

void is_claims_destroy(is_claims *claims)
{
    if (claims->self != NULL) {
        claims->functions->destroy(claims->self);
        claims->self = NULL;
    }
}

int is_claims_put(const is_claims *claims, const char *path, const char *name, is_error *error)
{
    return claims->functions->put(claims->self, path, name, error);
}

int is_claims_take(const is_claims *claims, size_t most, is_claim *out, size_t *count,
                   is_error *error)
{
    *count = 0;
    return most == 0 ? IS_OK : claims->functions->take(claims->self, most, out, count, error);
}

int is_claims_extend(const is_claims *claims, size_t *lost, is_error *error)
{
    size_t ignored = 0;
    return claims->functions->extend(claims->self, lost != NULL ? lost : &ignored, error);
}

int is_claims_holds(const is_claims *claims, const is_claim *claim, bool *held, is_error *error)
{
    *held = false;
    return claims->functions->holds(claims->self, claim, held, error);
}

int is_claims_done(const is_claims *claims, const is_claim *claim, is_after after, bool *held,
                   is_error *error)
{
    *held = false;
    return claims->functions->done(claims->self, claim, after, held, error);
}

int is_claims_fail(const is_claims *claims, const is_claim *claim, const char *reason, bool *held,
                   is_error *error)
{
    *held = false;
    return claims->functions->fail(claims->self, claim, reason, held, error);
}

int is_claims_give_back(const is_claims *claims, const is_claim *claim, bool *held, is_error *error)
{
    *held = false;
    return claims->functions->give_back(claims->self, claim, held, error);
}

int is_claims_stat(const is_claims *claims, is_claims_counts *out, is_error *error)
{
    *out = (is_claims_counts){0};
    return claims->functions->stat(claims->self, out, error);
}
