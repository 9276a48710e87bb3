#include "pipeline/tools/trace_verdict.h"

#include "pipeline/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Weights belong to the light and to the detector, not to the path. */
static bool is_same_path(const is_hit *a, const is_hit *b)
{
    is_hit other = *b;
    other.weight = a->weight;
    other.pmt = a->pmt;
    const void *one = a, *two = &other; /* all bytes: hits have no gaps */
    return memcmp(one, two, sizeof other) == 0;
}

static double distance_between(const is_hit *a, const is_hit *b)
{
    const double x = (double)a->x - b->x, y = (double)a->y - b->y, z = (double)a->z - b->z;
    return sqrt(x * x + y * y + z * z);
}

static void add_moved(is_trace_verdict *verdict, const is_hit *a, const is_hit *b)
{
    const uint32_t scatters = (uint32_t)(a->scatters > b->scatters ? a->scatters - b->scatters
                                                                   : b->scatters - a->scatters);
    verdict->moved += 1;
    verdict->time = fmax(verdict->time, fabs(a->t - b->t));
    verdict->place = fmax(verdict->place, distance_between(a, b));
    verdict->scatters = scatters > verdict->scatters ? scatters : verdict->scatters;
}

void is_trace_verdict_add(is_trace_verdict *verdict, const is_hit *expected, const is_hit *found,
                          size_t count)
{
    const is_hit *nearest = NULL;
    for (size_t i = 0; i < count; ++i)
        if (found[i].string == expected->string && found[i].module == expected->module &&
            (!nearest || fabs(found[i].t - expected->t) < fabs(nearest->t - expected->t)))
            nearest = &found[i];
    verdict->expected += 1;
    if (!nearest) {
        if (verdict->lost < IS_TRACE_LOST_SHOWN)
            verdict->first_lost[verdict->lost] = *expected;
        verdict->lost += 1;
    } else if (is_same_path(expected, nearest)) {
        verdict->identical += 1;
    } else {
        add_moved(verdict, expected, nearest);
    }
}

void is_trace_verdict_print(const is_trace_verdict *verdict, is_maths_used maths,
                            const char *others, FILE *out)
{
    if (verdict->expected == 0)
        return;
    if (others[0] != '\0')
        fprintf(out, "  the hits were made with another %s than the configuration has\n", others);
    fprintf(out, "  %zu of %zu hits again, the same to the last bit (made with %s maths)\n",
            verdict->identical, verdict->expected,
            maths == IS_MATHS_NONE ? "unknown" : is_maths_name(maths));
    if (verdict->moved > 0)
        fprintf(out,
                "  %zu on the same module, up to %.6g ns and %u scatters different, and %.6g m on "
                "it\n",
                verdict->moved, verdict->time, verdict->scatters, verdict->place);
    if (verdict->lost > 0)
        fprintf(out, "  %zu not again, their photons take other ways here:\n", verdict->lost);
    for (size_t i = 0; i < verdict->lost && i < IS_TRACE_LOST_SHOWN; ++i) {
        const is_hit *hit = &verdict->first_lost[i];
        fprintf(out, "    %" PRIu64 ":%u:%u, on string %u, module %u at %.3f ns\n", hit->event_id,
                hit->step_id, hit->photon_id, hit->string, hit->module, hit->t);
    }
    if (verdict->lost > IS_TRACE_LOST_SHOWN)
        fprintf(out, "    and %zu more\n", verdict->lost - IS_TRACE_LOST_SHOWN);
}

int is_trace_verdict_status(const is_trace_verdict *verdict, is_maths_used maths,
                            const char *output, is_error *error)
{
    /* The GPU's own functions round otherwise, which a path of many scatters makes ever larger. */
    if ((maths & IS_MATHS_FAST) != 0 || verdict->identical == verdict->expected)
        return IS_OK;
    return is_error_set(error, IS_E_DIFFERENT,
                        "%s: %zu of %zu hits did not come about again, expected all to the last "
                        "bit (are configuration and step file those of the run?)",
                        output, verdict->expected - verdict->identical, verdict->expected);
}
