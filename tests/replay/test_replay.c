/* The replay of hits: weights in other ices, and sums along paths.
 *
 * Promises: in equal tables every weight is exactly 1; hits of one ice with their weights agree
 * with a direct simulation of the other one, for every kind of change; derivatives are those of
 * weights; order and threads change nothing; what cannot be replayed or weighted is an error. To
 * join: a new property of the ice that changes paths gets a row in `changes`.
 *
 * False alarms: two p-values per row and 13 rows at 1e-3 would fail one time in 38; the seeds are
 * fixed, so that the outcome is always the same. */
#include "pipeline/commands/measure/statistics.h"
#include "pipeline/photons/replay/replay.h"
#include "tests/support/model_files.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 40, MODULES = 48 };

/* ---- worlds ---------------------------------------------------------------------------------- */

static stage_world make_world(uint32_t features, void (*change)(ice_medium *), uint64_t seed,
                              ice_crossing_rule crossing, bool keep)
{
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = 0.3 + 0.15 * (i % 4);
        a[i] = 0.02 + 0.01 * (i % 3);
    }
    ice_medium *medium = world_medium_layered(-100.0, 5.0, LAYERS, b, a);
    world_medium_add(medium, features);
    if (change != NULL) {
        change(medium);
    }
    static const world_ring rings[] = {{6.0, MODULES / 2, 0}, {14.0, MODULES / 2, 0}};
    ice_detector *detector = world_detector_rings(rings, COUNT(rings), 4.0);
    detector->keep_hit_photons = keep;
    detector->crossing = crossing;
    stage_world world = stage_world_create(medium, detector, world_light_line(400.0));
    world.options.seed = seed;
    stage_world_tables(&world);
    return world;
}

/* A sample of hits in the order of hit files, and the step of each. */
typedef struct sample {
    icestream_hit *hits;
    icestream_step *steps;
    size_t count;
} sample;

static ics_hit_models models_of(const stage_world *world)
{
    return (ics_hit_models){
        .tables = &world->tables->device, .detector = world->detector, .light = world->light};
}

/* Simulates isotropic light at a position. */
static sample simulate_at(const stage_world *world, uint32_t photons, float x, float y, float z)
{
    icestream_step step = {.x = x,
                           .y = y,
                           .z = z,
                           .photons = photons,
                           .dz = 1.0f,
                           .beta = 1.0f,
                           .weight = 1.0f,
                           .event_id = 7,
                           .step_id = 3,
                           .spectrum = 1,
                           .flags = ICESTREAM_STEP_ISOTROPIC};
    ice_emission emission = ics_batch_step_emission(&step, 0, photons);
    const ice_variants variants = world_variants();
    world_result result =
        world_run(world, ICS_SCHEDULE_MONOLITHIC, &variants, "baseline", 0, &emission, 1);
    sample out = {.count = result.arrivals.count};
    out.hits = calloc(out.count + 1, sizeof *out.hits);
    out.steps = calloc(out.count + 1, sizeof *out.steps);
    const ics_hit_models models = models_of(world);
    const ics_batch batch = {.steps = &step, .emissions = &emission, .count = 1};
    for (size_t i = 0; i < out.count; ++i) {
        icestream_error error = {.text = ""};
        ck_assert_msg(ics_batch_hit_from_arrival(&models, &batch, &result.arrivals.items[i],
                                                 &out.hits[i], &error) == ICESTREAM_OK,
                      "%s", error.text);
        out.steps[i] = step;
    }
    world_result_free(&result);
    ck_assert_uint_ge(out.count, 100);
    return out;
}

/* The same at the origin. */
static sample simulate(const stage_world *world, uint32_t photons)
{
    return simulate_at(world, photons, 0.0f, 0.0f, 0.0f);
}

static void free_sample(sample *from)
{
    free(from->hits);
    free(from->steps);
}

/* ---- replays --------------------------------------------------------------------------------- */

enum { TARGETS_MAX = 4 };

/* What a replay gives for every hit. */
typedef struct replayed {
    double (*logs)[TARGETS_MAX];
    size_t targets, next;
    /* sums over all layers of scatters - scattering depth and of -absorption depth, for the ice and
     * for columns, and the four sums of scattering functions */
    double (*sums)[8];
} replayed;

static int put_result(void *self, const ics_replay_result *result)
{
    replayed *to = self;
    ck_assert_uint_eq(result->hit, to->next++);
    for (size_t i = 0; i < to->targets; ++i) {
        to->logs[result->hit][i] = result->log_weights[i];
    }
    double *sums = to->sums[result->hit];
    for (size_t i = 0; i < result->layer_count; ++i) {
        const ics_replay_layer *layer = &result->layers[i];
        const bool column = layer->layer == ICS_REPLAY_COLUMNS;
        ck_assert(!column || i + 1 == result->layer_count);
        ck_assert(i == 0 || layer->layer > result->layers[i - 1].layer);
        sums[column ? 2 : 0] += layer->scatters - layer->scattering_depth;
        sums[column ? 3 : 1] -= layer->absorption_depth;
    }
    sums[4] = result->mean_cosine;
    sums[5] = result->mixture;
    sums[6] = result->column_mean_cosine;
    sums[7] = result->column_mixture;
    return 0;
}

static replayed new_replayed(size_t count, size_t targets)
{
    replayed out = {.targets = targets};
    out.logs = calloc(count + 1, sizeof *out.logs);
    out.sums = calloc(count + 1, sizeof *out.sums);
    return out;
}

static replayed replay(const stage_world *world, const sample *of, const stage_world *const *others,
                       size_t targets, uint32_t threads)
{
    ics_replay_target to[TARGETS_MAX];
    icestream_error error = {.text = ""};
    for (size_t i = 0; i < targets; ++i) {
        to[i] = (ics_replay_target){others[i]->tables, world_variants().scatter, "other"};
        ck_assert_msg(ics_replay_check_target(world->tables, &to[i], &error) == ICESTREAM_OK, "%s",
                      error.text);
    }
    const ics_replay_options options = {.models = models_of(world),
                                        .variants = world_variants(),
                                        .maths = ICS_MATHS_PORTABLE,
                                        .targets = to,
                                        .target_count = targets,
                                        .sums = true,
                                        .angles = true,
                                        .threads = threads};
    replayed out = new_replayed(of->count, targets);
    const ics_replay_sink sink = {put_result, &out};
    ck_assert_msg(ics_replay_hits(&options, of->hits, of->steps, of->count, &sink, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    ck_assert_uint_eq(out.next, of->count);
    return out;
}

static void free_replayed(replayed *from)
{
    free(from->logs);
    free(from->sums);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

/* Sums of weights in modules, and of their squares, with photons as units; [MODULES] is the total.
 */
typedef struct totals {
    ics_statistics_sum of[MODULES + 1];
    double hits[MODULES];
} totals;

/* logs: NULL: all weights are 1. */
static totals add_up(const sample *of, double (*logs)[TARGETS_MAX])
{
    totals out = {.hits = {0}};
    for (size_t i = 0, end; i < of->count; i = end) {
        double sums[MODULES + 1] = {0};
        for (end = i; end < of->count && of->hits[end].photon_id == of->hits[i].photon_id; ++end) {
            const size_t module = of->hits[end].string - 1u;
            const double weight = logs != NULL ? exp(logs[end][0]) : 1.0;
            sums[module] += weight;
            sums[MODULES] += weight;
            out.hits[module] += 1.0;
        }
        for (size_t m = 0; m <= MODULES; ++m) {
            out.of[m].sum += sums[m];
            out.of[m].variance += sums[m] * sums[m];
        }
    }
    return out;
}

typedef struct p_values {
    double total, modules, pull;
} p_values;

static p_values compare(const totals *a, const totals *b)
{
    double chi_square = 0.0;
    int bins = 0;
    for (size_t m = 0; m < MODULES; ++m) {
        if (a->hits[m] >= 25 && b->hits[m] >= 25) {
            chi_square +=
                pow(a->of[m].sum - b->of[m].sum, 2) / (a->of[m].variance + b->of[m].variance);
            ++bins;
        }
    }
    const ics_statistics_sum x = a->of[MODULES], y = b->of[MODULES];
    const double pull = (x.sum - y.sum) / sqrt(x.variance + y.variance);
    ck_assert_int_ge(bins, 10);
    return (p_values){erfc(fabs(pull) / sqrt(2.0)),
                      ics_statistics_chi_square_probability(chi_square, bins), pull};
}

/* ---- changes --------------------------------------------------------------------------------- */

static void more_scattering(ice_medium *medium)
{
    for (size_t i = 0; i < medium->layer_count; ++i) {
        medium->layers[i].effective_scattering *= i % 3 == 0 ? 1.15 : 1.05;
    }
}

static void more_absorption(ice_medium *medium)
{
    for (size_t i = 0; i < medium->layer_count; ++i) {
        medium->layers[i].dust_absorption *= i % 2 == 0 ? 1.6 : 1.2;
    }
}

static void more_of_both(ice_medium *medium)
{
    more_scattering(medium);
    more_absorption(medium);
}

static void other_tilt(ice_medium *medium)
{
    for (size_t i = 0; i < medium->tilt.depth_count * medium->tilt.station_count; ++i) {
        medium->tilt.shifts[i] += 2.0;
    }
}

static void other_anisotropy(ice_medium *medium)
{
    for (size_t i = 0; i < medium->layer_count; ++i) {
        medium->layers[i].anisotropy_along *= 0.8;
        medium->layers[i].anisotropy_across *= 1.2;
    }
    medium->flow_azimuth += 0.05;
}

static void other_directions(ice_medium *medium)
{
    for (int i = 0; i < 3; ++i) {
        medium->absorption_anisotropy[i] *= i == 2 ? 1.5 : 0.7;
    }
}

static void other_columns(ice_medium *medium)
{
    medium->hole.effective_scattering *= 0.95;
    medium->hole.absorption *= 0.6;
    medium->hole.radius = 0.61;
    medium->hole.mean_cosine = 0.79;
    medium->hole.liu_fraction = 0.55;
}

static void other_cosine(ice_medium *medium)
{
    medium->mean_cosine = 0.89;
}

static void other_mixture(ice_medium *medium)
{
    medium->liu_fraction = 0.5;
}

#define ALL_ANISOTROPY                                                                             \
    (ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_OLD_ABSORPTION_ANISOTROPY |                           \
     ICE_HAS_ABSORPTION_ANISOTROPY)

static const struct {
    const char *name;
    void (*change)(ice_medium *);
    uint32_t features;
    ice_crossing_rule crossing;
    bool keep;      /* photons continue after a hit */
    uint32_t added; /* features that only the other ice has */
} changes[] = {
    {"scattering", more_scattering, 0, ICE_CROSSING_DISC, false, 0},
    {"absorption", more_absorption, 0, ICE_CROSSING_DISC, true, 0},
    {"both, tilted", more_of_both, ICE_HAS_TILT_LINE, ICE_CROSSING_DISC, true, 0},
    {"tilt", other_tilt, ICE_HAS_TILT_LINE, ICE_CROSSING_DISC, false, 0},
    {"anisotropy", other_anisotropy,
     ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_OLD_ABSORPTION_ANISOTROPY, ICE_CROSSING_DISC, false,
     0},
    {"absorption anisotropy", other_directions, ICE_HAS_ABSORPTION_ANISOTROPY, ICE_CROSSING_DISC,
     false, 0},
    {"columns", other_columns, ICE_HAS_HOLES, ICE_CROSSING_DISC, false, 0},
    {"mean cosine", other_cosine, 0, ICE_CROSSING_DISC, false, 0},
    {"mixture", other_mixture, 0, ICE_CROSSING_DISC, false, 0},
    {"birefringence in both", more_of_both,
     ICE_HAS_BIREFRINGENCE | ICE_HAS_TILT_LINE | ICE_HAS_HOLES | ALL_ANISOTROPY, ICE_CROSSING_DISC,
     false, 0},
    {"entries", more_of_both, ICE_HAS_TILT_LINE, ICE_CROSSING_ENTRY, false, 0},
    {"entries of all photons", more_of_both, ICE_HAS_ABSORPTION_ANISOTROPY, ICE_CROSSING_ENTRY,
     true, 0},
    {"anisotropy that only one ice has", NULL, 0, ICE_CROSSING_DISC, false, ALL_ANISOTROPY},
};

START_TEST(weights_agree_with_a_direct_simulation)
{
    const uint32_t features = changes[_i].features, other = features | changes[_i].added;
    const ice_crossing_rule crossing = changes[_i].crossing;
    const bool keep = changes[_i].keep;
    stage_world a = make_world(features, NULL, 11, crossing, keep);
    stage_world b = make_world(other, changes[_i].change, 12, crossing, keep);
    const uint32_t photons = (uint32_t)test_scaled_up(100000);
    sample of_a = simulate(&a, photons), of_b = simulate(&b, photons);
    /* A target has the seed of the hits. */
    stage_world target = make_world(other, changes[_i].change, 11, crossing, keep);
    const stage_world *others[] = {&target};
    replayed weights = replay(&a, &of_a, others, 1, 2);
    const totals direct = add_up(&of_b, NULL), plain = add_up(&of_a, NULL),
                 weighted = add_up(&of_a, weights.logs);
    const p_values before = compare(&plain, &direct), after = compare(&weighted, &direct);
    const ics_statistics_sum all = weighted.of[MODULES];
    printf("%s: %zu and %zu hits; pull %.2f -> %.2f; p total %.3g -> %.3g, modules %.3g -> %.3g; "
           "effective share %.2f\n",
           changes[_i].name, of_a.count, of_b.count, before.pull, after.pull, before.total,
           after.total, before.modules, after.modules,
           all.sum * all.sum / all.variance / (double)of_a.count);
    ck_assert_double_gt(after.total, 1e-3);
    ck_assert_double_gt(after.modules, 1e-3);
    free_replayed(&weights);
    free_sample(&of_a);
    free_sample(&of_b);
    stage_world_destroy(&a);
    stage_world_destroy(&b);
    stage_world_destroy(&target);
}
END_TEST

/* ---- identity -------------------------------------------------------------------------------- */

static void check_weights_are_one(const stage_world *world, const stage_world *equal,
                                  const sample *of)
{
    const stage_world *others[] = {world, equal};
    replayed weights = replay(world, of, others, 2, 2);
    for (size_t i = 0; i < of->count; ++i) {
        ck_assert_double_eq(exp(weights.logs[i][0]), 1.0);
        ck_assert_double_eq(exp(weights.logs[i][1]), 1.0);
    }
    free_replayed(&weights);
}

START_TEST(equal_ice_has_weight_one)
{
    const uint32_t features = changes[_i].features;
    stage_world a = make_world(features, NULL, 11, changes[_i].crossing, changes[_i].keep);
    stage_world b = make_world(features, NULL, 11, changes[_i].crossing, changes[_i].keep);
    sample of = simulate(&a, 20000);
    check_weights_are_one(&a, &b, &of);
    free_sample(&of);
    stage_world_destroy(&a);
    stage_world_destroy(&b);
}
END_TEST

/* Ice and detectors as they are shipped. */
static const struct {
    const char *shared; /* NULL: none */
    const char *sets[3];
} shipped[] = {
    {NULL, {"detector.oversize=5", "detector.crossing=disc", "run.seed=3"}},
    {NULL, {"detector.oversize=5", "detector.crossing=entry", "run.seed=3"}},
    {NULL, {"detector.oversize=1", "ice.hole_ice=true", "run.seed=3"}},
    {"ice/spice_bfr-v2", {"detector.oversize=5", "detector.crossing=disc", "run.seed=3"}},
    {"ice/spice_ftp-v3m", {"detector.oversize=5", "detector.crossing=entry", "run.seed=3"}},
};

static stage_world shipped_world(int row, const char *folder)
{
    char set[MODEL_PATH + 32];
    const char *const *sets = shipped[row].sets;
    snprintf(set, sizeof set, "ice.directory=%s", folder);
    stage_world world = folder[0] != '\0'
                            ? stage_world_from_config(NULL, sets[0], sets[1], sets[2], set,
                                                      "ice.birefringence_subtraction=constant",
                                                      "ice.hole_ice=unscaled", NULL)
                            : stage_world_from_config(NULL, sets[0], sets[1], sets[2], NULL);
    stage_world_tables(&world);
    return world;
}

START_TEST(equal_shipped_ice_has_weight_one)
{
    char folder[MODEL_PATH] = "";
    if (shipped[_i].shared != NULL && model_shared(shipped[_i].shared, folder) == NULL) {
        return;
    }
    stage_world a = shipped_world(_i, folder), b = shipped_world(_i, folder);
    const ice_module *module = &a.detector->modules[a.detector->module_count / 2];
    sample of =
        simulate_at(&a, 200000, (float)module->x + 1.0f, (float)module->y, (float)module->z - 1.0f);
    check_weights_are_one(&a, &b, &of);
    free_sample(&of);
    stage_world_destroy(&a);
    stage_world_destroy(&b);
}
END_TEST

/* ---- order and threads ----------------------------------------------------------------------- */

START_TEST(order_threads_and_other_targets_change_nothing)
{
    const uint32_t features = ICE_HAS_TILT_LINE | ICE_HAS_HOLES | ALL_ANISOTROPY;
    stage_world a = make_world(features, NULL, 11, ICE_CROSSING_DISC, true);
    stage_world b = make_world(features, more_of_both, 11, ICE_CROSSING_DISC, true);
    stage_world c = make_world(features, other_columns, 11, ICE_CROSSING_DISC, true);
    sample of = simulate(&a, 40000);
    const stage_world *both[] = {&b, &c}, *one[] = {&c};
    replayed first = replay(&a, &of, both, 2, 1), second = replay(&a, &of, both, 2, 3),
             alone = replay(&a, &of, one, 1, 2);
    sample mixed = {calloc(of.count, sizeof *of.hits), calloc(of.count, sizeof *of.steps),
                    of.count};
    size_t *from = calloc(of.count, sizeof *from);
    uint64_t state = 9;
    for (size_t i = 0; i < of.count; ++i) { /* a random order (Fisher and Yates) */
        const size_t j = (size_t)(test_word(&state) >> 8) % (i + 1);
        from[i] = from[j];
        from[j] = i;
    }
    for (size_t i = 0; i < of.count; ++i) {
        mixed.hits[i] = of.hits[from[i]];
        mixed.steps[i] = of.steps[from[i]];
    }
    replayed third = replay(&a, &mixed, both, 2, 2);
    for (size_t i = 0; i < of.count; ++i) {
        ck_assert_mem_eq(first.logs[i], second.logs[i], sizeof first.logs[i]);
        ck_assert_mem_eq(first.sums[i], second.sums[i], sizeof first.sums[i]);
        ck_assert_double_eq(alone.logs[i][0], first.logs[i][1]);
        ck_assert_mem_eq(third.logs[i], first.logs[from[i]], sizeof third.logs[i]);
        ck_assert_mem_eq(third.sums[i], first.sums[from[i]], sizeof third.sums[i]);
    }
    free(from);
    free_replayed(&first);
    free_replayed(&second);
    free_replayed(&third);
    free_replayed(&alone);
    free_sample(&of);
    free_sample(&mixed);
    stage_world_destroy(&a);
    stage_world_destroy(&b);
    stage_world_destroy(&c);
}
END_TEST

/* ---- derivatives ----------------------------------------------------------------------------- */

/* The step of differences. Tables in single precision change depths of 100 by 6e-6, which is 1e-3
 * of this step. */
#define STEP 4e-3

static double step; /* +STEP or -STEP, for the functions below */

static void step_scattering(ice_medium *medium)
{
    for (size_t i = 0; i < medium->layer_count; ++i) {
        medium->layers[i].effective_scattering *= 1.0 + step;
    }
}

static void step_absorption(ice_medium *medium)
{
    for (size_t i = 0; i < medium->layer_count; ++i) {
        medium->layers[i].dust_absorption *= 1.0 + step;
    }
    medium->absorption_a *= 1.0 + step;
}

static void step_column_scattering(ice_medium *medium)
{
    medium->hole.effective_scattering /= 1.0 + step;
}

static void step_column_absorption(ice_medium *medium)
{
    medium->hole.absorption /= 1.0 + step;
}

static void step_cosine(ice_medium *medium)
{
    medium->mean_cosine += 0.25 * step;
}

static void step_mixture(ice_medium *medium)
{
    medium->liu_fraction += step;
}

static void step_column_cosine(ice_medium *medium)
{
    medium->hole.mean_cosine += 0.25 * step;
}

static void step_column_mixture(ice_medium *medium)
{
    medium->hole.liu_fraction += step;
}

static const struct {
    void (*change)(ice_medium *);
    int sum;          /* of replayed.sums */
    int scattering;   /* the sum that counts as well, because b changes with g at fixed be; -1 */
    double by_cosine; /* 1 / (1 - g) */
} derivatives[] = {
    {step_scattering, 0, -1, 0},        {step_absorption, 1, -1, 0},
    {step_column_scattering, 2, -1, 0}, {step_column_absorption, 3, -1, 0},
    {step_cosine, 4, 0, 10.0},          {step_mixture, 5, -1, 0},
    {step_column_cosine, 6, 2, 5.0},    {step_column_mixture, 7, -1, 0},
};

START_TEST(derivatives_are_those_of_weights)
{
    const uint32_t features = ICE_HAS_TILT_LINE | ICE_HAS_HOLES | ALL_ANISOTROPY;
    stage_world a = make_world(features, NULL, 11, ICE_CROSSING_DISC, false);
    sample of = simulate(&a, 20000);
    step = STEP;
    stage_world up = make_world(features, derivatives[_i].change, 11, ICE_CROSSING_DISC, false);
    step = -STEP;
    stage_world down = make_world(features, derivatives[_i].change, 11, ICE_CROSSING_DISC, false);
    const stage_world *others[] = {&up, &down};
    replayed weights = replay(&a, &of, others, 2, 2);
    double largest = 0.0;
    for (size_t i = 0; i < of.count; ++i) {
        double expected = weights.sums[i][derivatives[_i].sum];
        if (derivatives[_i].scattering >= 0) {
            expected += derivatives[_i].by_cosine * weights.sums[i][derivatives[_i].scattering];
            expected *= 0.25; /* of the step */
        }
        const double found = (weights.logs[i][0] - weights.logs[i][1]) / (2.0 * STEP);
        ck_assert_double_eq_tol(found, expected,
                                4e-3 * (1.0 + fabs(expected)) + 2e-3 * of.hits[i].scatters);
        largest = fmax(largest, fabs(expected));
    }
    ck_assert_double_gt(largest, 0.05);
    free_replayed(&weights);
    free_sample(&of);
    stage_world_destroy(&a);
    stage_world_destroy(&up);
    stage_world_destroy(&down);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

static void expect_error(const ics_replay_options *options, const sample *of, int status,
                         const char *text)
{
    icestream_error error = {.text = ""};
    replayed out = new_replayed(of->count, options->target_count);
    const ics_replay_sink sink = {put_result, &out};
    const int got = ics_replay_hits(options, of->hits, of->steps, of->count, &sink, &error);
    ck_assert_msg(got == status && strstr(error.text, text) != NULL, "%d: %s", got, error.text);
    free_replayed(&out);
}

START_TEST(what_cannot_be_replayed)
{
    stage_world a = make_world(0, NULL, 11, ICE_CROSSING_DISC, false);
    sample of = simulate(&a, 4000);
    ics_replay_options options = {.models = models_of(&a),
                                  .variants = world_variants(),
                                  .maths = ICS_MATHS_MIXED,
                                  .threads = 2};
    expect_error(&options, &of, ICESTREAM_E_DIFFERENT, "device.math: found hits");
    options.maths = ICS_MATHS_PORTABLE;
    options.variants.scatter = ICE_scatter_custom;
    expect_error(&options, &of, ICESTREAM_E_CONFIG, "header of your own");
    options.variants = world_variants();
    icestream_hit *hit = &of.hits[of.count / 2];
    char text[64];
    snprintf(text, sizeof text, "photon 7:3:%u on string %u", hit->photon_id, hit->string);
    hit->scatters += 1;
    expect_error(&options, &of, ICESTREAM_E_DIFFERENT, text);
    hit->scatters -= 1;
    hit->t = nextafter(hit->t, INFINITY);
    expect_error(&options, &of, ICESTREAM_E_DIFFERENT, text);
    free_sample(&of);
    stage_world_destroy(&a);
}
END_TEST

static void thinner_world(ice_medium *medium)
{
    medium->absorb_above = 50.0;
}

static void expect_refused(const stage_world *own, stage_world *other, const char *text)
{
    icestream_error error = {.text = ""};
    const ics_replay_target target = {other->tables, world_variants().scatter, "b.yaml"};
    const int got = ics_replay_check_target(own->tables, &target, &error);
    ck_assert_msg(got == ICESTREAM_E_CONFIG && strstr(error.text, text) != NULL, "%d: %s", got,
                  error.text);
    stage_world_destroy(other);
}

START_TEST(what_cannot_be_weighted)
{
    stage_world a = make_world(0, NULL, 11, ICE_CROSSING_DISC, false);
    stage_world seed = make_world(0, NULL, 12, ICE_CROSSING_DISC, false);
    stage_world kept = make_world(0, NULL, 11, ICE_CROSSING_DISC, true);
    stage_world entry = make_world(0, NULL, 11, ICE_CROSSING_ENTRY, false);
    stage_world cut = make_world(0, thinner_world, 11, ICE_CROSSING_DISC, false);
    stage_world moved = make_world(0, NULL, 11, ICE_CROSSING_DISC, false);
    moved.detector->modules[3].z += 0.01;
    stage_world_tables(&moved);
    expect_refused(&a, &seed, "b.yaml: seed");
    expect_refused(&a, &kept, "detector");
    expect_refused(&a, &entry, "detector");
    expect_refused(&a, &cut, "boundaries of the world");
    expect_refused(&a, &moved, "positions or oversize of the modules");
    stage_world_destroy(&a);

    const uint32_t features = ICE_HAS_BIREFRINGENCE | ICE_HAS_TILT_LINE | ICE_HAS_HOLES;
    a = make_world(features, NULL, 11, ICE_CROSSING_DISC, false);
    stage_world tilted = make_world(features, other_tilt, 11, ICE_CROSSING_DISC, false);
    stage_world flat =
        make_world(features & ~(uint32_t)ICE_HAS_TILT_LINE, NULL, 11, ICE_CROSSING_DISC, false);
    stage_world plain =
        make_world(ICE_HAS_TILT_LINE | ICE_HAS_HOLES, NULL, 11, ICE_CROSSING_DISC, false);
    stage_world columns = make_world(features, other_columns, 11, ICE_CROSSING_DISC, false);
    expect_refused(&a, &tilted, "tilt");
    expect_refused(&a, &flat, "tilt");
    expect_refused(&a, &plain, "birefringence");
    expect_refused(&a, &columns, "radius of the columns");
    stage_world_destroy(&a);
}
END_TEST

/* A feature that only one of both ices has changes arrays of the tables, which is no reason to
 * refuse it. */
START_TEST(features_of_one_ice_are_weighted)
{
    static const uint32_t features[] = {ICE_HAS_TILT_LINE, ICE_HAS_TILT_MAP, ICE_HAS_HOLES,
                                        ALL_ANISOTROPY};
    stage_world plain = make_world(0, NULL, 11, ICE_CROSSING_DISC, false);
    for (size_t i = 0; i < COUNT(features); ++i) {
        stage_world with = make_world(features[i], NULL, 11, ICE_CROSSING_DISC, false);
        const stage_world *worlds[] = {&plain, &with};
        for (int k = 0; k < 2; ++k) {
            icestream_error error = {.text = ""};
            const ics_replay_target target = {worlds[1 - k]->tables, world_variants().scatter, "b"};
            ck_assert_msg(ics_replay_check_target(worlds[k]->tables, &target, &error) ==
                              ICESTREAM_OK,
                          "%s", error.text);
        }
        stage_world_destroy(&with);
    }
    stage_world_destroy(&plain);
}
END_TEST

ICS_TEST_MAIN("replay")
{
    TCase *closure = tcase_create("closure");
    tcase_set_timeout(closure, 500);
    tcase_add_loop_test(closure, weights_agree_with_a_direct_simulation, 0, (int)COUNT(changes));
    suite_add_tcase(suite, closure);
    TCase *rest = tcase_create("replay");
    tcase_set_timeout(rest, 500);
    tcase_add_loop_test(rest, equal_ice_has_weight_one, 0, (int)COUNT(changes));
    tcase_add_loop_test(rest, equal_shipped_ice_has_weight_one, 0, (int)COUNT(shipped));
    tcase_add_test(rest, order_threads_and_other_targets_change_nothing);
    tcase_add_loop_test(rest, derivatives_are_those_of_weights, 0, (int)COUNT(derivatives));
    tcase_add_test(rest, what_cannot_be_replayed);
    tcase_add_test(rest, what_cannot_be_weighted);
    tcase_add_test(rest, features_of_one_ice_are_weighted);
    suite_add_tcase(suite, rest);
}
