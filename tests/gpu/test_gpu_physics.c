/* Whole runs on a GPU have the results of physics.md 12: the photon account, direct light and
 * fluence on modules. Fast maths has the same physics as portable maths, whose bits are those
 * of a CPU (test_gpu_identity.c). At ICESTREAM_GPU_SCALE = 100 there are a hundred times the
 * photons of the CPU's suites.
 *
 * How to join: expectations that the CPU shares stand in tests/support/point_source.c.
 *
 * About 60 comparisons at 4 sigma or p > 1e-4: a correct program would fail one of them with other
 * seeds in less than 1 % of all cases. */
#include "tests/gpu/gpu_light.h"
#include "tests/support/moments.h"
#include "tests/support/point_source.h"

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

/* Computes many steps with 1000 photons each, because some schedules have a thread or a warp for
 * each step. Returns the account, which must close. */
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

/* In case U of physics.md 12.1 every photon is absorbed, after 40 scatters on average with variance
 * 1640. */
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

/* A photon is stopped after three segments that all end by a scatter. */
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

/* Photons fly straight up to a ceiling 70 m above: a share exp(-0.7) reaches it. */
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

typedef struct ring_view {
    const ring_run *run;
    ring_tally tally;
} ring_view;

static void count_hits(void *user, ics_arrivals *arrivals)
{
    ring_view *self = user;
    world_sort(arrivals); /* arrivals of one photon follow each other */
    if (self->run->oversize == 1.0) {
        /* No photon is faster than light straight from the source. */
        for (size_t i = 0; i < arrivals->count; ++i) {
            const ice_arrival *arrival = &arrivals->items[i];
            const double radius = self->run->rings[ring_of(self->run, arrival->module)].radius;
            ck_assert_double_ge(arrival->path, radius - 0.1651 - 1e-3);
        }
    }
    ring_tally_add(&self->tally, self->run, arrivals);
}

/* A ring_runner; `user` points to the maths. */
static ring_tally run_rings(const ring_run *run, void *user)
{
    const ics_math *math = user;
    const uint32_t all = photons(run->photons);
    stage_world world = ring_world(run);
    const ice_emission lamp = {.dz = 1.0f,
                               .beta = 1.0f,
                               .step_id = 122,
                               .photons = all,
                               .spectrum = 1,
                               .flags = ICE_EMISSION_ISOTROPIC};
    ring_view seen = {.run = run, .tally = {.emitted = all}};
    const ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, *math);
    ics_gpu *gpu = gpu_create(&world, &options);
    const gpu_load load = {.emissions = &lamp, .count = 1};
    const ice_account account = gpu_stream(gpu, &load, count_hits, &seen);
    ck_assert_uint_eq(account.created, all);
    ics_gpu_destroy(gpu);
    stage_world_destroy(&world);
    return seen.tally;
}

static const char *const where[2] = {", portable", ", fast"}; /* in the order of gpu_maths */

START_TEST(direct_fractions)
{
    ics_math math = gpu_maths[_i % 2];
    expect_direct_fractions(_i / 2, run_rings, &math, 2300 + (uint64_t)_i, 3e-6, where[_i % 2]);
}
END_TEST

START_TEST(hits_scale_with_size)
{
    ics_math math = gpu_maths[_i];
    expect_hits_scale_with_size(run_rings, &math, 2400 + 10 * (uint64_t)_i, where[_i]);
}
END_TEST

/* ---- fast against portable maths ------------------------------------------------------------- */

/* Histograms of hits. Photons end on a hit, so that counts are independent. */
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

/* Computes the default ice and detector with light everywhere. `exposure` gets the number of
 * photons. */
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
        /* Low-discrepancy positions: the light is at the same positions for both maths. */
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

/* The two runs have different seeds. Portable maths stands for the CPU, which gives the same bits.
 */
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
    tcase_add_loop_test(tests, direct_fractions, 0, 2 * DIRECT_LIGHTS);
    tcase_add_loop_test(tests, hits_scale_with_size, 0, 2);
    tcase_add_test(tests, fast_maths_has_the_same_physics);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
