#include "pipeline/tools/compare/verdict.h"

#include "base/error.h"
#include "pipeline/devices/batch.h"
#include "pipeline/files/hit_reader.h"

#include <stdlib.h>

const char *ics_verdict_name(ics_verdict_kind kind)
{
    static const char *const names[] = {"identical", "compatible", "different", "empty"};
    return names[kind];
}

static uint64_t count_shared(const ics_hit_sample *a, const ics_hit_sample *b)
{
    uint64_t shared = 0;
    size_t i = 0;
    size_t j = 0;
    while (i < a->count && j < b->count) {
        int order = ics_hit_compare(&a->hits[i], &b->hits[j]);
        shared += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return shared;
}

/* Returns the first row in which the samples differ in any byte: ics_hit_sort_order compares all
 * bytes if the fields by which it sorts are equal. */
static uint64_t find_difference(const ics_hit_sample *a, const ics_hit_sample *b)
{
    size_t i = 0;
    while (i < a->count && i < b->count && ics_hit_sort_order(&a->hits[i], &b->hits[i]) == 0) {
        ++i;
    }
    return i;
}

/* Returns the mean variance inflation of both samples, weighted with their numbers of hits. */
static double common_inflation(const ics_hit_sample *a, const ics_hit_sample *b, bool per_module)
{
    double n = (double)a->count;
    double m = (double)b->count;
    return (n * ics_statistics_variance_inflation(a->hits, a->count, per_module) +
            m * ics_statistics_variance_inflation(b->hits, b->count, per_module)) /
           (n + m);
}

static double hit_time(const icestream_hit *hit)
{
    return hit->t;
}

static double hit_wavelength(const icestream_hit *hit)
{
    return hit->wavelength;
}

static double hit_nz(const icestream_hit *hit)
{
    return hit->dz;
}

static double hit_scatters(const icestream_hit *hit)
{
    return hit->scatters;
}

static double hit_module(const icestream_hit *hit)
{
    return (double)hit->string * 65536 + hit->module;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Memory for one column of each sample, and for the counts of hits per module. */
typedef struct workspace {
    double *a, *b;
    uint64_t *a_counts, *b_counts;
} workspace;

static void column(const ics_hit_sample *sample, double (*field)(const icestream_hit *),
                   double *values)
{
    for (size_t i = 0; i < sample->count; ++i) {
        values[i] = field(&sample->hits[i]);
    }
    qsort(values, sample->count, sizeof *values, ascending);
}

static ics_statistics_test field_test(const ics_hit_sample *a, const ics_hit_sample *b,
                                      double (*field)(const icestream_hit *), double inflation,
                                      workspace *space)
{
    column(a, field, space->a);
    column(b, field, space->b);
    return ics_statistics_kolmogorov_two_sample(space->a, a->count, space->b, b->count, inflation);
}

/* Compares the numbers of hits per module. Only modules with a hit in one of the samples are bins:
 * an empty bin adds nothing to a two-sample test, so no list of modules is needed. */
static ics_statistics_test modules_test(const ics_hit_sample *a, const ics_hit_sample *b,
                                        double inflation, workspace *space)
{
    column(a, hit_module, space->a);
    column(b, hit_module, space->b);
    size_t bins = 0;
    for (size_t i = 0, j = 0; i < a->count || j < b->count; ++bins) {
        double module = i == a->count                                ? space->b[j]
                        : j == b->count || space->a[i] < space->b[j] ? space->a[i]
                                                                     : space->b[j];
        size_t a_start = i;
        size_t b_start = j;
        while (i < a->count && space->a[i] == module) {
            ++i;
        }
        while (j < b->count && space->b[j] == module) {
            ++j;
        }
        space->a_counts[bins] = i - a_start;
        space->b_counts[bins] = j - b_start;
    }
    return ics_statistics_chi_square_two_sample(
        space->a_counts, (double)a->photons, space->b_counts, (double)b->photons, bins, inflation);
}

static void run_tests(const ics_hit_sample *a, const ics_hit_sample *b, workspace *space,
                      ics_verdict *verdict)
{
    static const struct {
        const char *name;
        double (*field)(const icestream_hit *);
    } fields[] = {{"time", hit_time},
                  {"wavelength", hit_wavelength},
                  {"nz", hit_nz},
                  {"scatters", hit_scatters}};
    verdict->photon_inflation = common_inflation(a, b, false);
    verdict->module_inflation = common_inflation(a, b, true);
    ics_verdict_test *test = verdict->tests;
    *test++ = (ics_verdict_test){
        .name = "totals",
        .test = ics_statistics_totals_test((double)a->count, (double)a->photons, (double)b->count,
                                           (double)b->photons, verdict->photon_inflation)};
    *test++ = (ics_verdict_test){.name = "modules",
                                 .test = modules_test(a, b, verdict->module_inflation, space)};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
        *test++ = (ics_verdict_test){
            .name = fields[i].name,
            .test = field_test(a, b, fields[i].field, verdict->photon_inflation, space)};
    }

    unsigned counting = 0;
    for (size_t i = 0; i < ICS_VERDICT_TESTS; ++i) {
        counting += verdict->tests[i].test.size > 0;
    }
    verdict->level = ICS_VERDICT_FALSE_ALARM / counting;
    verdict->kind = ICS_VERDICT_COMPATIBLE;
    for (size_t i = 0; i < ICS_VERDICT_TESTS; ++i) {
        verdict->tests[i].passed = verdict->tests[i].test.probability >= verdict->level;
        if (!verdict->tests[i].passed) {
            verdict->kind = ICS_VERDICT_DIFFERENT;
        }
    }
}

int ics_verdict_reach(const ics_hit_sample *a, const ics_hit_sample *b, ics_verdict *out,
                      icestream_error *error)
{
    *out = (ics_verdict){.kind = ICS_VERDICT_EMPTY, .photon_inflation = 1, .module_inflation = 1};
    if (a->count == 0 && b->count == 0) {
        return ICESTREAM_OK;
    }
    out->shared = count_shared(a, b);
    out->first_difference = find_difference(a, b);
    if (a->count == b->count && out->first_difference == a->count) {
        out->kind = ICS_VERDICT_IDENTICAL;
        return ICESTREAM_OK;
    }
    size_t modules = a->count + b->count;
    workspace space = {
        .a = calloc(a->count + 1, sizeof *space.a),
        .b = calloc(b->count + 1, sizeof *space.b),
        .a_counts = calloc(modules, sizeof *space.a_counts),
        .b_counts = calloc(modules, sizeof *space.b_counts),
    };
    int status = ICESTREAM_OK;
    if (space.a != NULL && space.b != NULL && space.a_counts != NULL && space.b_counts != NULL) {
        run_tests(a, b, &space, out);
    } else {
        status =
            ics_error_set(error, ICESTREAM_E_MEMORY,
                          "compare: out of memory for the tests of %zu hits", a->count + b->count);
    }
    free(space.a);
    free(space.b);
    free(space.a_counts);
    free(space.b_counts);
    return status;
}
