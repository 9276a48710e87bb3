/* icestream_plan: what a run would need, without running photons. */
#include "pipeline/tools/plan/plan.h"

#include "base/error.h"

#include <stdlib.h>

int icestream_plan(const icestream_config *config, const icestream_plan_options *options, FILE *out,
                   icestream_error *error)
{
    ics_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "plan: out of memory");
    }
    int status = ics_plan_make(config, options->architecture, plan, error);
    if (status == ICESTREAM_OK) {
        status = options->json ? ics_plan_print_json(plan, out, error)
                               : ics_plan_print_text(plan, out, error);
    }
    ics_plan_free(plan);
    free(plan);
    return status;
}
