#include "pipeline/spool/run_claims.h"

int ics_run_claims_take(ics_run_claims *claims, size_t most, ics_claim *out, size_t *count,
                        icestream_error *error)
{
    return ics_claims_take(&claims->claims, most, out, count, error);
}

int ics_run_claims_extend(ics_run_claims *claims, size_t *lost, icestream_error *error)
{
    return ics_claims_extend(&claims->claims, lost, error);
}

int ics_run_claims_holds(ics_run_claims *claims, const ics_claim *claim, bool *held,
                         icestream_error *error)
{
    return ics_claims_holds(&claims->claims, claim, held, error);
}

int ics_run_claims_done(ics_run_claims *claims, const ics_claim *claim, ics_after after, bool *held,
                        icestream_error *error)
{
    return ics_claims_done(&claims->claims, claim, after, held, error);
}

int ics_run_claims_fail(ics_run_claims *claims, const ics_claim *claim, const char *reason,
                        bool *held, icestream_error *error)
{
    return ics_claims_fail(&claims->claims, claim, reason, held, error);
}

int ics_run_claims_give_back(ics_run_claims *claims, const ics_claim *claim, bool *held,
                             icestream_error *error)
{
    return ics_claims_give_back(&claims->claims, claim, held, error);
}

int ics_run_claims_stat(ics_run_claims *claims, ics_claims_counts *out, icestream_error *error)
{
    return ics_claims_stat(&claims->claims, out, error);
}
