#include "pipeline/commands/compare/verdict.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/files/hit_reader.h"

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
    if (a->count + b->count == 0) {
        return 1;
    }
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

/* What is tested in addition to totals and modules. */
static const struct {
    const char *name;
    double (*field)(const icestream_hit *);
} fields[] = {
    {"time", hit_time}, {"wavelength", hit_wavelength}, {"nz", hit_nz}, {"scatters", hit_scatters}};

/* Judges the tests that have a result. Without any, nothing shows that the hits are compatible. */
static void conclude(ics_verdict *verdict)
{
    unsigned counting = 0;
    for (size_t i = 0; i < ICS_VERDICT_TESTS; ++i) {
        counting += verdict->tests[i].test.size > 0;
    }
    verdict->level = ICS_VERDICT_FALSE_ALARM / (counting > 0 ? counting : 1);
    verdict->kind = counting > 0 ? ICS_VERDICT_COMPATIBLE : ICS_VERDICT_DIFFERENT;
    for (size_t i = 0; i < ICS_VERDICT_TESTS; ++i) {
        verdict->tests[i].passed = verdict->tests[i].test.probability >= verdict->level;
        if (!verdict->tests[i].passed) {
            verdict->kind = ICS_VERDICT_DIFFERENT;
        }
    }
}

static void run_tests(const ics_hit_sample *a, const ics_hit_sample *b, workspace *space,
                      ics_verdict *verdict)
{
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
    conclude(verdict);
}

/* Compares the bytes. Returns whether the tests are needed. */
static bool look_for_differences(const ics_hit_sample *a, const ics_hit_sample *b, ics_verdict *out)
{
    *out = (ics_verdict){.kind = ICS_VERDICT_EMPTY, .photon_inflation = 1, .module_inflation = 1};
    if (a->count == 0 && b->count == 0) {
        return false;
    }
    out->first = ics_statistics_weights(a->hits, a->count);
    out->second = ics_statistics_weights(b->hits, b->count);
    out->shared = count_shared(a, b);
    out->first_difference = find_difference(a, b);
    if (a->count == b->count && out->first_difference == a->count) {
        out->kind = ICS_VERDICT_IDENTICAL;
        return false;
    }
    return true;
}

static int no_memory(const ics_hit_sample *a, const ics_hit_sample *b, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY,
                         "compare: out of memory for the tests of %zu hits", a->count + b->count);
}

int ics_verdict_reach(const ics_hit_sample *a, const ics_hit_sample *b, ics_verdict *out,
                      icestream_error *error)
{
    if (!look_for_differences(a, b, out)) {
        return ICESTREAM_OK;
    }
    const size_t modules = a->count + b->count;
    ICS_FREES double *first = calloc(a->count + 1, sizeof *first);
    ICS_FREES double *second = calloc(b->count + 1, sizeof *second);
    ICS_FREES uint64_t *first_counts = calloc(modules, sizeof *first_counts);
    ICS_FREES uint64_t *second_counts = calloc(modules, sizeof *second_counts);
    if (first == NULL || second == NULL || first_counts == NULL || second_counts == NULL) {
        return no_memory(a, b, error);
    }
    run_tests(a, b, &(workspace){first, second, first_counts, second_counts}, out);
    return ICESTREAM_OK;
}

/* ---- different light ------------------------------------------------------------------------- */

typedef struct weight_space {
    ics_statistics_weighted *a, *b;
    ics_statistics_sum *a_sums, *b_sums;
} weight_space;

static int by_value(const void *left, const void *right)
{
    const double a = ((const ics_statistics_weighted *)left)->value;
    const double b = ((const ics_statistics_weighted *)right)->value;
    return (a > b) - (a < b);
}

static void weighted_column(const ics_hit_sample *sample, double (*field)(const icestream_hit *),
                            ics_statistics_weighted *values)
{
    for (size_t i = 0; i < sample->count; ++i) {
        values[i].value = field(&sample->hits[i]);
        values[i].weight = sample->hits[i].weight;
    }
    qsort(values, sample->count, sizeof *values, by_value);
}

/* The number of hits of equal weight, of different photons, that would fluctuate as much. */
static double size_of(const ics_hit_sample *sample)
{
    const ics_statistics_sum all = ics_statistics_weights(sample->hits, sample->count);
    return all.variance > 0 ? all.sum * all.sum / all.variance : 0;
}

/* Adds the hits of one module, from *at on, and moves *at behind them. */
static ics_statistics_sum take_module(const ics_statistics_weighted *values, size_t count,
                                      double module, double inflation, size_t *at)
{
    ics_statistics_sum sum = {0, 0};
    for (; *at < count && values[*at].value == module; ++*at) {
        sum.sum += values[*at].weight;
        sum.variance += inflation * values[*at].weight * values[*at].weight;
    }
    return sum;
}

static ics_statistics_test module_weights_test(const ics_hit_sample *a, const ics_hit_sample *b,
                                               double inflation, weight_space *space)
{
    weighted_column(a, hit_module, space->a);
    weighted_column(b, hit_module, space->b);
    size_t bins = 0;
    for (size_t i = 0, j = 0; i < a->count || j < b->count; ++bins) {
        const double module =
            i == a->count || (j < b->count && space->b[j].value < space->a[i].value)
                ? space->b[j].value
                : space->a[i].value;
        space->a_sums[bins] = take_module(space->a, a->count, module, inflation, &i);
        space->b_sums[bins] = take_module(space->b, b->count, module, inflation, &j);
    }
    return ics_statistics_sums_chi_square(space->a_sums, space->b_sums, bins);
}

static void run_weight_tests(const ics_hit_sample *a, const ics_hit_sample *b, weight_space *space,
                             ics_verdict *verdict)
{
    verdict->photon_inflation = common_inflation(a, b, false);
    verdict->module_inflation = common_inflation(a, b, true);
    verdict->first = ics_statistics_weights(a->hits, a->count);
    verdict->second = ics_statistics_weights(b->hits, b->count);
    ics_verdict_test *test = verdict->tests;
    *test++ = (ics_verdict_test){.name = "totals",
                                 .test = ics_statistics_sums_test(verdict->first, verdict->second)};
    *test++ = (ics_verdict_test){
        .name = "modules", .test = module_weights_test(a, b, verdict->module_inflation, space)};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
        weighted_column(a, fields[i].field, space->a);
        weighted_column(b, fields[i].field, space->b);
        *test++ =
            (ics_verdict_test){.name = fields[i].name,
                               .test = ics_statistics_kolmogorov_weighted(
                                   space->a, a->count, size_of(a), space->b, b->count, size_of(b))};
    }
    conclude(verdict);
}

/* Copies the hits of the band. All hits of a photon have one wavelength, so photons stay whole. */
static ics_hit_sample cut(const ics_hit_sample *sample, ics_range band, icestream_hit *hits)
{
    ics_hit_sample inside = {hits, 0, sample->photons};
    for (size_t i = 0; i < sample->count; ++i) {
        const double wavelength = sample->hits[i].wavelength;
        if (wavelength >= band.low && wavelength <= band.high) {
            hits[inside.count++] = sample->hits[i];
        }
    }
    return inside;
}

int ics_verdict_reach_by_weight(const ics_hit_sample *a, const ics_hit_sample *b, ics_range band,
                                ics_verdict *out, icestream_error *error)
{
    if (!look_for_differences(a, b, out)) {
        return ICESTREAM_OK;
    }
    const size_t modules = a->count + b->count;
    ICS_FREES icestream_hit *hits = calloc(modules, sizeof *hits);
    ICS_FREES ics_statistics_weighted *first = calloc(a->count + 1, sizeof *first);
    ICS_FREES ics_statistics_weighted *second = calloc(b->count + 1, sizeof *second);
    ICS_FREES ics_statistics_sum *first_sums = calloc(modules, sizeof *first_sums);
    ICS_FREES ics_statistics_sum *second_sums = calloc(modules, sizeof *second_sums);
    if (hits == NULL || first == NULL || second == NULL || first_sums == NULL ||
        second_sums == NULL) {
        return no_memory(a, b, error);
    }
    const ics_hit_sample one = cut(a, band, hits), other = cut(b, band, hits + a->count);
    run_weight_tests(&one, &other, &(weight_space){first, second, first_sums, second_sums}, out);
    return ICESTREAM_OK;
}
