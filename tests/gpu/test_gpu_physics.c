/* Whole runs on a GPU against physics.md 12: the account of photons, direct light and fluence on
 * modules, and fast maths against portable maths. With a hundred times the photons of the CPU's
 * suites at ICESTREAM_GPU_SCALE = 100. test_gpu_walk.c tests what arrivals do not show.
 *
 * About 60 comparisons at 4 sigma or p > 1e-4: a correct program would fail one of them with other
 * seeds in less than 1 % of all cases. */
#include "tests/gpu/gpu_light.h"
#include "tests/support/moments.h"

#include <stdlib.h>

enum { PHOTONS = 10000000, LEAST = 200000 };

static uint32_t photons(uint32_t full)
{
    const uint64_t wanted = gpu_scaled(full, LEAST);
    return wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
}

/* ---- the account ----------------------------------------------------------------------------- */

static void ignore(void *user, ics_arrivals *arrivals)
{
    (void)user;
    ck_assert_uint_eq(arrivals->count, 0);
}

/* Many steps with 1000 photons each: some schedules have a thread or a warp for each. */
static ice_account carry_steps(const stage_world *world, ics_schedule schedule, ics_math math,
                               bool isotropic, uint32_t all)
{
    enum { EACH = 1000 };
    const size_t count = (all + EACH - 1) / EACH;
    ice_emission *steps = calloc(count, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    for (size_t i = 0; i < count; ++i) {
        steps[i] = (ice_emission){.dz = 1.0f,
                                  .beta = 1.0f,
                                  .step_id = (uint32_t)i,
                                  .photons = EACH,
                                  .spectrum = 1,
                                  .flags = isotropic ? ICE_EMISSION_ISOTROPIC : 0};
    }
    const ics_gpu_options options = gpu_options(schedule, math);
    ics_gpu *gpu = gpu_create(world, &options);
    const gpu_load load = {.emissions = steps, .count = count};
    const ice_account account = gpu_stream(gpu, &load, ignore, NULL);
    ics_gpu_destroy(gpu);
    free(steps);
    ck_assert_uint_eq(account.created, count * EACH);
    ck_assert_uint_eq(account.created,
                      account.absorbed + account.detected + account.left + account.stopped);
    return account;
}

static stage_world empty_world(ice_medium *medium, uint64_t seed)
{
    stage_world world = stage_world_create(medium, world_detector_far(), world_light_line(400));
    world.options.seed = seed;
    world.options.reach_cull = false;
    world.options.bounce_limit = 1000000;
    return world;
}

static const char *titled(char text[96], const char *what, ics_schedule schedule, ics_math math)
{
    snprintf(text, 96, "%s, %s, %s", what, ics_graph_schedule_name(schedule), gpu_math_name(math));
    return text;
}

/* Case U of 12.1: every photon is absorbed, after 40 scatters on average with variance 1640. */
START_TEST(bounces)
{
    const ics_schedule schedule = gpu_schedules[_i / 2];
    const ics_math math = gpu_maths[_i % 2];
    stage_world world = empty_world(world_medium_uniform(2.5, 0.9, 0.35, 100), 2201 + (uint64_t)_i);
    stage_world_tables(&world);
    const ice_account account = carry_steps(&world, schedule, math, true, photons(PHOTONS / 10));
    ck_assert_uint_eq(account.absorbed, account.created);
    const double count = (double)account.created;
    char text[96];
    expect_value(titled(text, "bounces", schedule, math), (double)account.bounces / count,
                 sqrt(1640.0 / count), 41.0, 0.0);
    stage_world_destroy(&world);
}
END_TEST

/* After three segments that all end by a scatter. */
START_TEST(stopped)
{
    const ics_schedule schedule = gpu_schedules[_i];
    const double on = 100.0 / 102.5;
    stage_world world = empty_world(world_medium_uniform(2.5, 0.9, 0.35, 100), 2221 + (uint64_t)_i);
    world.options.bounce_limit = 3;
    stage_world_tables(&world);
    const ice_account account =
        carry_steps(&world, schedule, ICS_MATH_FAST, true, photons(PHOTONS / 10));
    ck_assert_uint_eq(account.absorbed + account.stopped, account.created);
    char text[96];
    expect_share(titled(text, "stopped", schedule, ICS_MATH_FAST), (double)account.stopped,
                 (double)account.created, on * on * on, 1e-6);
    stage_world_destroy(&world);
}
END_TEST

/* Straight up to a ceiling 70 m above: exp(-0.7) get there. */
START_TEST(left)
{
    const ics_schedule schedule = gpu_schedules[_i];
    ice_medium *medium = world_medium_uniform(1e7, 0.9, 0.35, 100);
    medium->absorb_above = 70.0;
    stage_world world = empty_world(medium, 2231 + (uint64_t)_i);
    stage_world_tables(&world);
    const ice_account account =
        carry_steps(&world, schedule, ICS_MATH_FAST, false, photons(PHOTONS / 10));
    ck_assert_uint_eq(account.absorbed + account.left, account.created);
    char text[96];
    expect_share(titled(text, "left through the ceiling", schedule, ICS_MATH_FAST),
                 (double)account.left, (double)account.created, 0.4965853038, 1e-6);
    stage_world_destroy(&world);
}
END_TEST

/* ---- modules around a lamp ------------------------------------------------------------------- */

enum { RINGS_MAX = 3 };

typedef struct tally {
    const world_ring *rings;
    bool direct;
    bool true_size;
    double hits[RINGS_MAX], squares[RINGS_MAX]; /* hits, and the square of every photon's */
} tally;

static size_t ring_of(const world_ring *rings, uint32_t module)
{
    size_t k = 0;
    for (size_t first = 0; module >= first + rings[k].modules; ++k) {
        first += rings[k].modules;
    }
    return k;
}

static void count_hits(void *user, ics_arrivals *arrivals)
{
    tally *self = user;
    world_sort(arrivals); /* arrivals of one photon follow each other */
    for (size_t i = 0; i < arrivals->count;) {
        double hits[RINGS_MAX] = {0};
        const uint32_t photon = arrivals->items[i].photon_id;
        for (; i < arrivals->count && arrivals->items[i].photon_id == photon; ++i) {
            const ice_arrival *arrival = &arrivals->items[i];
            const size_t k = ring_of(self->rings, arrival->module);
            /* Nothing comes faster than straight from the source. */
            if (self->true_size) {
                ck_assert_double_ge(arrival->path, self->rings[k].radius - 0.1651 - 1e-3);
            }
            if (!self->direct || arrival->scatters == 0) {
                hits[k] += 1.0;
            }
        }
        for (int k = 0; k < RINGS_MAX; ++k) {
            self->hits[k] += hits[k];
            self->squares[k] += hits[k] * hits[k];
        }
    }
}

static tally run_rings(ice_medium *medium, const world_ring *rings, size_t count, double oversize,
                       bool direct, uint64_t seed, uint32_t all, ics_math math)
{
    stage_world world = stage_world_create(medium, world_detector_rings(rings, count, oversize),
                                           world_light_line(400));
    world.options.seed = seed;
    stage_world_tables(&world);
    const ice_emission lamp = {.dz = 1.0f,
                               .beta = 1.0f,
                               .step_id = 122,
                               .photons = all,
                               .spectrum = 1,
                               .flags = ICE_EMISSION_ISOTROPIC};
    tally seen = {.rings = rings, .direct = direct, .true_size = oversize == 1.0};
    const ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, math);
    ics_gpu *gpu = gpu_create(&world, &options);
    const gpu_load load = {.emissions = &lamp, .count = 1};
    const ice_account account = gpu_stream(gpu, &load, count_hits, &seen);
    ck_assert_uint_eq(account.created, all);
    ics_gpu_destroy(gpu);
    stage_world_destroy(&world);
    return seen;
}

/* Direct light: physics.md 12.2, fractions per module of true size. */
static const struct {
    const char *name;
    double lambda_s, lambda_a;
    uint32_t photons;
    world_ring rings[RINGS_MAX];
    size_t count;
} direct_light[] = {
    {"geometry only", 1e7, 1e7, PHOTONS / 5, {{10, 100, 6.814967e-5}}, 1},
    {"absorption only",
     1e7,
     100,
     PHOTONS / 5,
     {{5, 40, 2.596461e-4}, {10, 100, 6.173271e-5}, {20, 200, 1.396375e-5}},
     3},
    {"direct light", 2.5, 100, PHOTONS, {{5, 40, 3.674533e-5}, {10, 200, 1.182035e-6}}, 2},
};
enum { DIRECT_LIGHT = sizeof direct_light / sizeof *direct_light };

START_TEST(direct_fractions)
{
    const int n = _i / 2;
    const uint32_t all = photons(direct_light[n].photons);
    const tally seen = run_rings(
        world_medium_uniform(direct_light[n].lambda_s, 0.9, 0.35, direct_light[n].lambda_a),
        direct_light[n].rings, direct_light[n].count, 1.0, true, 2300 + (uint64_t)_i, all,
        gpu_maths[_i % 2]);
    for (size_t k = 0; k < direct_light[n].count; ++k) {
        const world_ring *at = &direct_light[n].rings[k];
        char what[64];
        snprintf(what, sizeof what, "%s at %g m, %s", direct_light[n].name, at->radius,
                 gpu_math_name(gpu_maths[_i % 2]));
        /* Where there should be no scattering or absorption, its length is 1e7 m: 2e-6 at 20 m. */
        expect_share(what, seen.hits[k], (double)all * (double)at->modules, at->expected,
                     3e-6 * at->expected);
    }
}
END_TEST

START_TEST(hits_scale_with_size)
{
    static const world_ring rings[] = {
        {20, 60, 2.5542e-4}, {30, 100, 1.1204e-4}, {50, 200, 3.1553e-5}};
    /* Small modules see less of each photon, so they get more photons. */
    static const struct {
        double factor;
        uint32_t photons;
    } sizes[] = {{1, 2 * PHOTONS}, {2, PHOTONS / 2}, {5, PHOTONS / 5}};
    enum { RINGS = 3, SIZES = 3 };
    const ics_math math = gpu_maths[_i];
    double rates[SIZES][RINGS], errors[SIZES][RINGS];
    char what[64];
    for (int n = 0; n < SIZES; ++n) {
        const uint32_t all = photons(sizes[n].photons);
        const tally seen =
            run_rings(world_medium_uniform(2.5, 0.9, 0.35, 100), rings, RINGS, sizes[n].factor,
                      false, 2400 + 10 * (uint64_t)_i + (uint64_t)n, all, math);
        for (int k = 0; k < RINGS; ++k) {
            const double reach = sizes[n].factor * ICE_MODULE_RADIUS;
            const double scale = (double)all * (double)rings[k].modules * M_PI * reach * reach;
            rates[n][k] = seen.hits[k] / scale;
            errors[n][k] = sqrt(seen.squares[k]) / scale;
            snprintf(what, sizeof what, "hits of F = %g at %g m as fluence, %s", sizes[n].factor,
                     rings[k].radius, gpu_math_name(math));
            expect_value(what, rates[n][k], errors[n][k], rings[k].expected,
                         0.005 * rings[k].expected);
        }
    }
    for (int n = 1; n < SIZES; ++n) {
        for (int k = 0; k < RINGS; ++k) {
            snprintf(what, sizeof what, "F = %g over F = 1 at %g m, %s", sizes[n].factor,
                     rings[k].radius, gpu_math_name(math));
            expect_value(what, rates[n][k] / rates[0][k],
                         hypot(errors[n][k] / rates[n][k], errors[0][k] / rates[0][k]), 1.0, 0.002);
        }
    }
}
END_TEST

/* ---- fast against portable maths --------------------------------------------------------------*/

/* What hits look like. Photons end on them, so that counts are independent. */
enum { MODULES_MAX = 6000, VIEW_BINS = 500 };
typedef struct picture {
    uint64_t modules[MODULES_MAX];
    uint64_t paths[VIEW_BINS]; /* of 2 m */
    uint64_t scatters[VIEW_BINS];
    uint64_t wavelengths[VIEW_BINS]; /* of 1 nm from 250 nm on */
    uint64_t heights[VIEW_BINS];     /* impact, of 1 mm from the lowest point on */
    uint64_t inclinations[VIEW_BINS];
    uint64_t hits;
} picture;

static size_t bin_of(double value)
{
    return value > 0.0 ? (size_t)fmin(value, VIEW_BINS - 1) : 0;
}

static void look(void *user, ics_arrivals *arrivals)
{
    picture *self = user;
    for (size_t i = 0; i < arrivals->count; ++i) {
        const ice_arrival *arrival = &arrivals->items[i];
        ck_assert_uint_lt(arrival->module, MODULES_MAX);
        self->modules[arrival->module] += 1;
        self->paths[bin_of(0.5 * (double)arrival->path)] += 1;
        self->scatters[bin_of(arrival->scatters)] += 1;
        self->wavelengths[bin_of((double)arrival->wavelength - 250.0)] += 1;
        self->heights[bin_of(1e3 * ((double)arrival->z + ICE_MODULE_RADIUS))] += 1;
        self->inclinations[bin_of(250.0 * ((double)arrival->dz + 1.0))] += 1;
    }
    self->hits += arrivals->count;
}

/* The default ice and detector with light everywhere in it. */
static picture *take_picture(ics_math math, uint64_t seed, double *exposure)
{
    enum { EACH = 5000 };
    stage_world world = stage_world_from_config(NULL, "detector.oversize=5", NULL);
    world.options.seed = seed;
    stage_world_tables(&world);
    const size_t count = photons(PHOTONS) / EACH;
    ice_emission *steps = calloc(count, sizeof *steps);
    picture *seen = calloc(1, sizeof *seen);
    ck_assert(steps && seen);
    for (size_t i = 0; i < count; ++i) {
        /* Low-discrepancy positions: both pictures have light in the same places. */
        const double u = fmod(0.7548776662 * (double)i, 1.0),
                     v = fmod(0.5698402910 * (double)i, 1.0);
        const double w = fmod(0.8191725134 * (double)i, 1.0);
        steps[i] = (ice_emission){.x = (float)(800.0 * u - 400.0),
                                  .y = (float)(800.0 * v - 400.0),
                                  .z = (float)(1000.0 * w - 500.0),
                                  .length = 1.0f,
                                  .dx = 0.6f,
                                  .dz = i % 2 ? 0.8f : -0.8f,
                                  .beta = 1.0f,
                                  .step_id = (uint32_t)i,
                                  .photons = EACH};
    }
    const ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, math);
    ics_gpu *gpu = gpu_create(&world, &options);
    const gpu_load load = {.emissions = steps, .count = count};
    const ice_account account = gpu_stream(gpu, &load, look, seen);
    *exposure = (double)account.created;
    ics_gpu_destroy(gpu);
    free(steps);
    stage_world_destroy(&world);
    return seen;
}

static void compare_bins(const char *what, const uint64_t *fast, const uint64_t *portable,
                         size_t count, const double exposures[2])
{
    expect_probability(what, ics_statistics_chi_square_two_sample(fast, exposures[1], portable,
                                                                  exposures[0], count, 1.0));
}

/* Different seeds: portable maths stands for the CPU, whose bits it has. */
START_TEST(fast_maths_has_the_same_physics)
{
    double exposures[2];
    picture *portable = take_picture(ICS_MATH_PORTABLE, 2500, &exposures[0]);
    picture *fast = take_picture(ICS_MATH_FAST, 2501, &exposures[1]);
    expect_probability("fast and portable: hits",
                       ics_statistics_totals_test((double)fast->hits, exposures[1],
                                                  (double)portable->hits, exposures[0], 1.0));
    compare_bins("fast and portable: modules", fast->modules, portable->modules, MODULES_MAX,
                 exposures);
    compare_bins("fast and portable: path", fast->paths, portable->paths, VIEW_BINS, exposures);
    compare_bins("fast and portable: scatters", fast->scatters, portable->scatters, VIEW_BINS,
                 exposures);
    compare_bins("fast and portable: wavelength", fast->wavelengths, portable->wavelengths,
                 VIEW_BINS, exposures);
    compare_bins("fast and portable: impact", fast->heights, portable->heights, VIEW_BINS,
                 exposures);
    compare_bins("fast and portable: inclination", fast->inclinations, portable->inclinations,
                 VIEW_BINS, exposures);
    free(portable);
    free(fast);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu physics");
    TCase *tests = tcase_create("physics");
    tcase_add_loop_test(tests, bounces, 0, 2 * GPU_SCHEDULES);
    tcase_add_loop_test(tests, stopped, 0, GPU_SCHEDULES);
    tcase_add_loop_test(tests, left, 0, GPU_SCHEDULES);
    tcase_add_loop_test(tests, direct_fractions, 0, 2 * DIRECT_LIGHT);
    tcase_add_loop_test(tests, hits_scale_with_size, 0, 2);
    tcase_add_test(tests, fast_maths_has_the_same_physics);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
