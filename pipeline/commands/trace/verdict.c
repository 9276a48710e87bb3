#include "pipeline/commands/trace/verdict.h"

#include "base/error.h"
#include "pipeline/photons/replay/replay.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double distance_between(const icestream_hit *a, const icestream_hit *b)
{
    const double x = (double)a->x - b->x, y = (double)a->y - b->y, z = (double)a->z - b->z;
    return sqrt(x * x + y * y + z * z);
}

static void add_moved(ics_trace_verdict *verdict, const icestream_hit *a, const icestream_hit *b)
{
    const uint32_t scatters = (uint32_t)(a->scatters > b->scatters ? a->scatters - b->scatters
                                                                   : b->scatters - a->scatters);
    verdict->moved += 1;
    verdict->time = fmax(verdict->time, fabs(a->t - b->t));
    verdict->position = fmax(verdict->position, distance_between(a, b));
    verdict->scatters = scatters > verdict->scatters ? scatters : verdict->scatters;
}

void ics_trace_verdict_add(ics_trace_verdict *verdict, const icestream_hit *expected,
                           const icestream_hit *found, size_t count)
{
    const icestream_hit *nearest = NULL;
    for (size_t i = 0; i < count; ++i) {
        if (found[i].string == expected->string && found[i].module == expected->module &&
            (nearest == NULL || fabs(found[i].t - expected->t) < fabs(nearest->t - expected->t))) {
            nearest = &found[i];
        }
    }
    verdict->expected += 1;
    if (nearest == NULL) {
        if (verdict->lost < ICS_TRACE_LOST_SHOWN) {
            verdict->first_lost[verdict->lost] = *expected;
        }
        verdict->lost += 1;
    } else if (ics_replay_is_same_path(expected, nearest)) {
        verdict->identical += 1;
    } else {
        add_moved(verdict, expected, nearest);
    }
}

void ics_trace_verdict_print(const ics_trace_verdict *verdict, ics_maths_used maths,
                             const char *others, FILE *out)
{
    if (verdict->expected == 0) {
        return;
    }
    if (others[0] != '\0') {
        fprintf(out, "  the run of the hits and the configuration differ in: %s\n", others);
    }
    fprintf(out, "  %zu of %zu hits are identical to the last bit (they were made with %s maths)\n",
            verdict->identical, verdict->expected,
            maths == ICS_MATHS_NONE ? "unknown" : ics_metadata_maths_name(maths));
    if (verdict->moved > 0) {
        fprintf(
            out,
            "  %zu are on the same module and differ by at most %.6g ns, %u scatters and %.6g m\n",
            verdict->moved, verdict->time, verdict->scatters, verdict->position);
    }
    if (verdict->lost > 0) {
        fprintf(out, "  %zu were not reproduced, because their photons take other paths:\n",
                verdict->lost);
    }
    for (size_t i = 0; i < verdict->lost && i < ICS_TRACE_LOST_SHOWN; ++i) {
        const icestream_hit *hit = &verdict->first_lost[i];
        fprintf(out, "    %" PRIu64 ":%u:%u, on string %u, module %u at %.3f ns\n", hit->event_id,
                hit->step_id, hit->photon_id, hit->string, hit->module, hit->t);
    }
    if (verdict->lost > ICS_TRACE_LOST_SHOWN) {
        fprintf(out, "    and %zu more\n", verdict->lost - ICS_TRACE_LOST_SHOWN);
    }
}

int ics_trace_verdict_status(const ics_trace_verdict *verdict, ics_maths_used maths,
                             const char *output, icestream_error *error)
{
    /* Fast maths rounds differently, and every scatter makes the difference larger. */
    if ((maths & ICS_MATHS_FAST) != 0 || verdict->identical == verdict->expected) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_DIFFERENT,
                         "%s: %zu of %zu hits were not reproduced, expected all to the last "
                         "bit (are configuration and step file those of the run?)",
                         output, verdict->expected - verdict->identical, verdict->expected);
}
