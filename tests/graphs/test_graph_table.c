/* Graphs that fill a table: every schedule, instruction set, pool and division into batches gives
 * the same sums, and in uniform ice the sums are those of exact formulas.
 *
 * How to join: a new feature of the ice joins in the table `features`. */
#include "kernels/cpu/kernels.h"
#include "tests/graphs/graph_world.h"
#include "tests/support/small_table.h"
#include "tests/support/test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct filled {
    uint64_t *sums, *squares;
    uint64_t samples;
    ice_account account;
} filled;

static filled fill(const stage_world *world, ics_schedule schedule, const char *instruction_set,
                   uint32_t pool, const ice_emission *emissions, uint32_t count, uint32_t pieces)
{
    filled result = {.sums = calloc(SMALL_TABLE_CELLS, 8), .squares = calloc(SMALL_TABLE_CELLS, 8)};
    ice_tabulate_origin origins[GRAPH_STEPS];
    const ice_tabulation table = small_table(result.sums, result.squares);
    const ics_graph_options options = {.schedule = schedule,
                                       .variants = world_variants(),
                                       .pool = pool,
                                       .table = &table,
                                       .fills_table_alone = pool == 170,
                                       .instruction_set = instruction_set};
    icestream_error error;
    ics_graph *graph = NULL;
    small_table_origins(emissions, count, origins);
    ck_assert_msg(ics_graph_create(&options, world->tables, &graph, &error) == 0, "%s", error.text);
    const uint32_t piece = count / pieces;
    for (uint32_t i = 0; i < count; i += piece) {
        uint64_t samples = 0;
        ck_assert_int_eq(
            ics_graph_tabulate(graph, emissions + i, origins + i, piece, &samples, &result.account),
            ICESTREAM_OK);
        result.samples += samples;
    }
    ics_graph_destroy(graph);
    return result;
}

static void empty(filled *result)
{
    free(result->sums);
    free(result->squares);
}

static void expect_same(filled result, const filled *expected, const char *name)
{
    ck_assert_msg(result.samples == expected->samples, "%s: %llu samples, expected %llu", name,
                  (unsigned long long)result.samples, (unsigned long long)expected->samples);
    ck_assert_msg(!memcmp(result.sums, expected->sums, SMALL_TABLE_CELLS * 8ul), "%s: other sums",
                  name);
    ck_assert_msg(!memcmp(result.squares, expected->squares, SMALL_TABLE_CELLS * 8ul),
                  "%s: other squares", name);
    ck_assert_msg(!memcmp(&result.account, &expected->account, sizeof result.account),
                  "%s: another account", name);
    empty(&result);
}

static bool has(const char *instruction_set)
{
    return ics_kernels_find(instruction_set) != NULL;
}

static const uint32_t features[] = {
    0,
    ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_ABSORPTION_ANISOTROPY,
    ICE_HAS_BIREFRINGENCE | ICE_HAS_TILT_MAP,
};

START_TEST(every_way_to_compute_fills_the_same_table)
{
    stage_world world = graph_world(false);
    if (features[_i] != 0) {
        world_medium_add(world.medium, features[_i]);
    }
    world.options.reach_cull = false;
    stage_world_tables(&world);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    for (size_t i = 0; i < GRAPH_STEPS; ++i) {
        emissions[i].photons = (emissions[i].photons + 9) / 10;
    }
    filled expected =
        fill(&world, ICS_SCHEDULE_MONOLITHIC, "baseline", 0, emissions, GRAPH_STEPS, 1);
    graph_expect_closed(&expected.account, graph_photons(emissions, GRAPH_STEPS));
    ck_assert_uint_gt(expected.samples, 10000);
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    for (size_t set = 0; set < COUNT(sets); ++set) {
        for (uint32_t pool = 17; has(sets[set]) && pool < 2000; pool *= 10) {
            char name[64];
            snprintf(name, sizeof name, "wavefront, %s, pool %u", sets[set], pool);
            expect_same(fill(&world, ICS_SCHEDULE_WAVEFRONT, sets[set], pool, emissions,
                             GRAPH_STEPS, pool == 17 ? 1 : 6),
                        &expected, name);
        }
    }
    empty(&expected);
    stage_world_destroy(&world);
}
END_TEST

/* ---- uniform ice ------------------------------------------------------------------------------
 */

enum { SHELLS = 4000 };

/* Fills a table with the light of an isotropic source at the origin. Returns the status. */
static int tabulate_isotropic(const stage_world *world, const ice_tabulation *table,
                              ics_schedule schedule, uint32_t photons)
{
    const ics_graph_options options = {.schedule = schedule,
                                       .variants = world_variants(),
                                       .table = table,
                                       .instruction_set = "auto"};
    const ice_emission emission = {
        .dz = 1, .beta = 1, .photons = photons, .flags = ICE_EMISSION_ISOTROPIC};
    const ice_tabulate_origin origin = {.ux = 1, .vy = 1, .wz = 1, .weight = 1};
    icestream_error error;
    ics_graph *graph = NULL;
    uint64_t samples;
    ice_account account = {0};
    ck_assert_int_eq(ics_graph_create(&options, world->tables, &graph, &error), ICESTREAM_OK);
    const int status = ics_graph_tabulate(graph, &emission, &origin, 1, &samples, &account);
    ics_graph_destroy(graph);
    return status;
}

/* Sums the light of an isotropic source of unscattered or scattered light in uniform ice by the
 * distance r, from 0 to 4 km, and nothing ends at its end. out[SHELLS + 2] are weights times the
 * length between samples per photon, m. */
static void fill_shells(double lambda_s, double g, double lambda_a, float width, uint32_t photons,
                        double *out)
{
    uint64_t *sums = calloc(SHELLS + 2, sizeof *sums);
    stage_world world = stage_world_create(world_medium_uniform(lambda_s, g, 0.0, lambda_a),
                                           world_detector_far(), world_light_line(400.0));
    world.options.reach_cull = false;
    stage_world_tables(&world);
    const ice_tabulation table = {
        .axes = {{.stride = 1, .bins = SHELLS, .power = 1, .scale = 1 / width}},
        .axis_count = 1,
        .geometry = ICE_TABULATE_SPHERICAL,
        .step = 1,
        .inverse_step = 1,
        .absorption_lengths = 22,
        .sums = sums};
    ck_assert_int_eq(tabulate_isotropic(&world, &table, ICS_SCHEDULE_WAVEFRONT, photons),
                     ICESTREAM_OK);
    for (size_t i = 0; i < SHELLS + 2; ++i) {
        out[i] = (double)sums[i] * 0x1p-32 / photons;
    }
    stage_world_destroy(&world);
    free(sums);
}

/* Without scattering, what passes a shell is exp(-r / lambda_a) times its width. The samples of a
 * photon lie 1 m apart, so the number of samples in a shell of 1 m is 1, and only the weight at the
 * sample varies, by less than 1/10 of the width over lambda_a. */
START_TEST(direct_light_decays_as_the_ice_absorbs)
{
    static double found[SHELLS + 2];
    fill_shells(1e9, 0.9, 50.0, 1.0f, (uint32_t)test_scaled(100000), found);
    for (int i = 0; i < 200; ++i) {
        const double expected = 50.0 * (exp(-i / 50.0) - exp(-(i + 1) / 50.0));
        ck_assert_double_eq_tol(found[i + 1] / expected, 1.0, 1e-3);
    }
}
END_TEST

/* Two numbers are known exactly for any number of scatters (the length s of the path at a point is
 * weighted with exp(-s / lambda_a)): all light together is lambda_a, and the mean square of the
 * distance is the integral of 2 t (s - t (1 - exp(-s / t))), where t = lambda_s / (1 - g). The
 * tolerances are five standard deviations of the photons, and 2e-5. */
START_TEST(scattered_light_has_the_exact_sum_and_spread)
{
    const double lambda_s = 2.5, g = 0.9, lambda_a = 98.0, t = lambda_s / (1 - g);
    const double photons = (double)test_scaled(20000);
    static double found[SHELLS + 2];
    fill_shells(lambda_s, g, lambda_a, 0.25f, (uint32_t)photons, found);
    double sum = 0, square = 0;
    for (int i = 0; i < SHELLS + 2; ++i) {
        const double r = 0.25 * (i - 0.5);
        sum += found[i];
        square += found[i] * r * r;
    }
    const double expected_square =
        2 * t * (lambda_a * lambda_a - t * (lambda_a - 1 / (1 / lambda_a + 1 / t)));
    printf("sum %.6g, expected %.6g; square %.6g, expected %.6g\n", sum, lambda_a, square,
           expected_square);
    ck_assert_double_eq_tol(sum / lambda_a, 1.0, 2e-5 + 0.05 / sqrt(photons));
    ck_assert_double_eq_tol(square / expected_square, 1.0, 2e-5 + 5 * 1.0 / sqrt(photons));
    ck_assert_double_eq(found[0], 0.0);
    ck_assert_double_eq(found[SHELLS + 1], 0.0);
}
END_TEST

enum { DIRECTIONS = 200 };

/* Sums the light of an isotropic source in ice that does not scatter by the cosine of its
 * direction, [DIRECTIONS + 2] from -1 to 1. */
static void fill_directions(bool accepted, ics_schedule schedule, uint64_t *sums)
{
    stage_world world = stage_world_create(world_medium_uniform(1e9, 0.9, 0.0, 50.0),
                                           world_detector_far(), world_light_line(400.0));
    world.options.reach_cull = false;
    stage_world_tables(&world);
    const ice_tabulation table = {.axes = {{.stride = 1,
                                            .coordinate = 2,
                                            .bins = DIRECTIONS,
                                            .power = 1,
                                            .first = -1,
                                            .scale = DIRECTIONS / 2}},
                                  .axis_count = 1,
                                  .geometry = ICE_TABULATE_SPHERICAL,
                                  .step = 1,
                                  .inverse_step = 1,
                                  .absorption_lengths = 10,
                                  .has_acceptance = accepted,
                                  .acceptance = {0.5f, 0.75f, 0.0f, -0.25f},
                                  .sums = sums};
    ck_assert_int_eq(tabulate_isotropic(&world, &table, schedule, 5000), ICESTREAM_OK);
    stage_world_destroy(&world);
}

/* The standard curve of physics.md 8.5 over its maximum is 0.5 + 0.75 x - 0.25 x^3, where x = 1 is
 * light that travels upwards: 0 at x = -1, 0.15625 at -0.5, 0.5 at 0, 0.84375 at 0.5 and 1 at 1.
 * The same photons are tabulated twice, so the tolerance is only half of the largest difference
 * within a bin, 0.75 * 0.01, and the rounding of weights. */
START_TEST(light_of_a_direction_is_weighted_by_the_acceptance)
{
    const ics_schedule schedule = _i ? ICS_SCHEDULE_WAVEFRONT : ICS_SCHEDULE_MONOLITHIC;
    uint64_t all[DIRECTIONS + 2] = {0}, accepted[DIRECTIONS + 2] = {0};
    fill_directions(false, schedule, all);
    fill_directions(true, schedule, accepted);
    for (int i = 0; i < DIRECTIONS; ++i) {
        const double x = (i + 0.5) / 100.0 - 1.0;
        const double share = 0.5 + 0.75 * x - 0.25 * x * x * x;
        if (all[i + 1] > 0) {
            ck_assert_double_eq_tol((double)accepted[i + 1] / (double)all[i + 1], share, 0.004);
        }
    }
    ck_assert_uint_gt(all[DIRECTIONS / 4 * 3], 0);
}
END_TEST

START_TEST(a_sum_that_overflows_is_an_error)
{
    uint64_t sums[3] = {0, (UINT64_C(1) << 63) - 1, 0};
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.0, 98.0),
                                           world_detector_far(), world_light_line(400.0));
    world.options.reach_cull = false;
    stage_world_tables(&world);
    const ice_tabulation table = {.axes = {{.stride = 1, .bins = 1, .power = 1, .scale = 1e-3f}},
                                  .axis_count = 1,
                                  .geometry = ICE_TABULATE_SPHERICAL,
                                  .step = 1,
                                  .inverse_step = 1,
                                  .absorption_lengths = 22,
                                  .sums = sums};
    const ics_schedule schedule = _i ? ICS_SCHEDULE_WAVEFRONT : ICS_SCHEDULE_MONOLITHIC;
    ck_assert_int_eq(tabulate_isotropic(&world, &table, schedule, 1), ICESTREAM_E_FAILED);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("tables of graphs")
{
    TCase *same = tcase_create("same");
    tcase_add_loop_test(same, every_way_to_compute_fills_the_same_table, 0, COUNT(features));
    tcase_add_loop_test(same, a_sum_that_overflows_is_an_error, 0, 2);
    suite_add_tcase(suite, same);
    TCase *uniform = tcase_create("uniform ice");
    tcase_add_test(uniform, direct_light_decays_as_the_ice_absorbs);
    tcase_add_test(uniform, scattered_light_has_the_exact_sum_and_spread);
    tcase_add_loop_test(uniform, light_of_a_direction_is_weighted_by_the_acceptance, 0, 2);
    suite_add_tcase(suite, uniform);
}
