/* Workloads from a configuration in memory, for tests. Every function fails the test on errors. */
#ifndef WORKLOAD_CONFIG_H
#define WORKLOAD_CONFIG_H

#include "pipeline/photons/config/config.h"
#include "pipeline/photons/generator/workload.h"

#include <check.h>
#include <string.h>

/* A workload of `steps` steps with 200 photons each. */
static inline icestream_config make_config(ics_workload_kind kind, uint32_t steps)
{
    static icestream_config *defaults; /* owns the texts; never destroyed */
    icestream_error error = {0};
    if (defaults == NULL) {
        ck_assert_msg(icestream_config_load(NULL, NULL, 0, &defaults, &error) == ICESTREAM_OK, "%s",
                      error.text);
    }
    icestream_config config = *defaults; /* its ice and its detector */
    config.origin = NULL;                /* all values count as given */
    memset(&config.workload, 0, sizeof config.workload);
    config.workload.kind = kind;
    config.workload.steps = steps;
    config.workload.photons_per_step = 200;
    return config;
}

/* The caller destroys the workload. */
static inline ics_workload *make_workload(const icestream_config *config)
{
    icestream_error error = {0};
    ics_workload *workload = NULL;
    ck_assert_msg(ics_workload_create(config, &workload, &error) == ICESTREAM_OK, "%s", error.text);
    return workload;
}

/* One step of the workload. */
static inline icestream_step make_step(const ics_workload *workload, uint64_t number)
{
    icestream_step step;
    ics_workload_fill(workload, number, 1, &step);
    return step;
}

#endif
