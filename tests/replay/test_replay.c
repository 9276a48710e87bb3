/* The replay of hits: weights in other ices, and sums along paths.
 *
 * Promises: in equal tables every weight is exactly 1; hits of one ice with their weights agree
 * with a direct simulation of the other one, for every kind of change; derivatives are those of
 * weights; order and threads change nothing; what cannot be replayed or weighted is an error. To
 * join: a new property of the ice that changes paths gets a row in `changes`.
 *
 * False alarms: two p-values per row and 12 rows at 1e-3 would fail one time in 40; the seeds are
 * fixed, so that the outcome is always the same. */
#include "pipeline/commands/measure/statistics.h"
#include "pipeline/photons/replay/replay.h"
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

/* Simulates isotropic light at the origin. */
static sample simulate(const stage_world *world, uint32_t photons)
{
    icestream_step step = {.photons = photons,
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
    double absorption_of_layers[LAYERS]; /* over all hits */
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
        ck_assert(column ? i + 1 == result->layer_count : layer->layer < LAYERS);
        ck_assert(i == 0 || layer->layer > result->layers[i - 1].layer);
        sums[column ? 2 : 0] += layer->scatters - layer->scattering_depth;
        sums[column ? 3 : 1] -= layer->absorption_depth;
        if (!column) {
            to->absorption_of_layers[layer->layer] -= layer->absorption_depth;
        }
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
    bool keep; /* photons continue after a hit */
} changes[] = {
    {"scattering", more_scattering, 0, ICE_CROSSING_DISC, false},
    {"absorption", more_absorption, 0, ICE_CROSSING_DISC, true},
    {"both, tilted", more_of_both, ICE_HAS_TILT_LINE, ICE_CROSSING_DISC, true},
    {"tilt", other_tilt, ICE_HAS_TILT_LINE, ICE_CROSSING_DISC, false},
    {"anisotropy", other_anisotropy,
     ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_OLD_ABSORPTION_ANISOTROPY, ICE_CROSSING_DISC, false},
    {"absorption anisotropy", other_directions, ICE_HAS_ABSORPTION_ANISOTROPY, ICE_CROSSING_DISC,
     false},
    {"columns", other_columns, ICE_HAS_HOLES, ICE_CROSSING_DISC, false},
    {"mean cosine", other_cosine, 0, ICE_CROSSING_DISC, false},
    {"mixture", other_mixture, 0, ICE_CROSSING_DISC, false},
    {"birefringence in both", more_of_both,
     ICE_HAS_BIREFRINGENCE | ICE_HAS_TILT_LINE | ICE_HAS_HOLES | ALL_ANISOTROPY, ICE_CROSSING_DISC,
     false},
    {"entries", more_of_both, ICE_HAS_TILT_LINE, ICE_CROSSING_ENTRY, false},
    {"entries of all photons", more_of_both, ICE_HAS_ABSORPTION_ANISOTROPY, ICE_CROSSING_ENTRY,
     true},
};

START_TEST(weights_agree_with_a_direct_simulation)
{
    const uint32_t features = changes[_i].features;
    const ice_crossing_rule crossing = changes[_i].crossing;
    const bool keep = changes[_i].keep;
    stage_world a = make_world(features, NULL, 11, crossing, keep);
    stage_world b = make_world(features, changes[_i].change, 12, crossing, keep);
    const uint32_t photons = (uint32_t)test_scaled_up(100000);
    sample of_a = simulate(&a, photons), of_b = simulate(&b, photons);
    /* A target has the seed of the hits. */
    stage_world target = make_world(features, changes[_i].change, 11, crossing, keep);
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

ICS_TEST_MAIN("replay")
{
    TCase *closure = tcase_create("closure");
    tcase_set_timeout(closure, 500);
    tcase_add_loop_test(closure, weights_agree_with_a_direct_simulation, 0, (int)COUNT(changes));
    suite_add_tcase(suite, closure);
}
