/* What a production needs: many step files like the one that the configuration makes, on many GPUs.
 * docs/production.md has the formulas. */
#ifndef ICS_COMMANDS_PLAN_PRODUCTION_H
#define ICS_COMMANDS_PLAN_PRODUCTION_H

#include "pipeline/photons/config/config.h"

typedef struct ics_production_options {
    uint64_t files;    /* step files, > 0 */
    uint32_t gpus;     /* GPUs that compute at the same time, > 0 */
    const char *bench; /* a report of `icestream bench --json`; NULL: rate */
    double rate;       /* bounces per second of one GPU (1/s), > 0; used without `bench` */
    double hits;       /* hits per photon, >= 0; negative: those of `bench`, or not known */
    double overhead;   /* time for start, fetch and shipping of a file (s), >= 0 */
    bool json;
} ics_production_options;

/* Makes the steps of one file, estimates their bounces (measure/step_cost.h) and writes the plan.
 * ICESTREAM_E_CONFIG: no light. ICESTREAM_E_INPUT: `bench` is no such report. ICESTREAM_E_MEMORY,
 * ICESTREAM_E_FAILED, ICESTREAM_E_OUTPUT. */
int ics_production_plan(const icestream_config *config, const ics_production_options *options,
                        FILE *out, icestream_error *error);

#endif
