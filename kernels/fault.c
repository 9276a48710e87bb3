#include "kernels/fault.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What ice_fault_kind says, in the order of its values. */
static const struct {
    const char *stage, *what, *expected;
} kinds[ICE_FAULT_KINDS] = {[ICE_FAULT_NONE] = {"none", "", ""},
#define ITEM(name, stage, what, expected) {#stage, what, expected},
                            ICE_FAULTS(ITEM)
#undef ITEM
};

static ics_stage find_stage(const char *name)
{
    int stage = 0;
    while (stage + 1 < ICS_STAGES && strcmp(ics_stage_name((ics_stage)stage), name) != 0) {
        ++stage;
    }
    return (ics_stage)stage;
}

/* Writes what the stage was given. */
static void describe_input(const ice_fault *fault, ics_stage stage, char *text, size_t size)
{
    const ice_identity *id = &fault->id;
    double given[sizeof fault->given / sizeof *fault->given];
    for (size_t i = 0; i < sizeof given / sizeof *given; ++i) {
        given[i] = (double)fault->given[i];
    }
    switch (stage) {
    case ICS_STAGE_CREATE:
        snprintf(text, size, "photon %" PRIu32 " of step_id %" PRIu32 ", event_id %" PRIu64,
                 id->photon_id, id->step_id, (uint64_t)id->event_high << 32 | id->event_low);
        break;
    case ICS_STAGE_PROPAGATE:
        snprintf(text, size, "z %.9g m, nz %.9g, scattering %.9g, absorption %.9g", given[0],
                 given[1], given[2], given[3]);
        break;
    case ICS_STAGE_COLLIDE:
        snprintf(text, size,
                 "a start at (%.9g, %.9g, %.9g) m, direction (%.9g, %.9g, %.9g), length %.9g m, "
                 "after_distance %.9g m",
                 given[0], given[1], given[2], given[3], given[4], given[5], given[6], given[7]);
        break;
    case ICS_STAGE_TABULATE:
        snprintf(text, size,
                 "a sample at (%.9g, %.9g, %.9g) m, direction (%.9g, %.9g, %.9g), time %.9g ns",
                 given[0], given[1], given[2], given[3], given[4], given[5], given[6]);
        break;
    case ICS_STAGE_SCATTER:
    case ICS_STAGES:
        snprintf(text, size, "u %.9g", given[0]);
        break;
    }
}

int ics_fault_report(const ice_fault *fault, const char *const custom[ICS_STAGES],
                     icestream_error *error)
{
    const uint32_t kind = fault->kind < ICE_FAULT_KINDS ? fault->kind : ICE_FAULT_NONE;
    const ics_stage stage = find_stage(kinds[kind].stage);
    const char *header = custom[stage];
    const double value = (double)fault->value; /* -nan is printed as nan */
    char input[256];
    describe_input(fault, stage, input, sizeof input);
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s%sstages.%s: device.check: found %.9g as %s for %s, expected %s",
                         header != NULL ? header : "", header != NULL ? ": error: " : "",
                         kinds[kind].stage, isnan(value) ? (double)NAN : value, kinds[kind].what,
                         input, kinds[kind].expected);
}
