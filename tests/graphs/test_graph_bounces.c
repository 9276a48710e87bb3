/* The histogram of bounces of a graph: every schedule, instruction set, pool and division into
 * batches counts every photon once, in the same cell, and in uniform ice the counts have their
 * exact law.
 *
 * How to join: a new feature of the ice joins in the table `features`. */
#include "kernels/cpu/kernels.h"
#include "tests/graphs/graph_world.h"
#include "tests/support/test_main.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct counted {
    uint64_t cells[ICE_BOUNCE_CELLS];
    ice_account account;
} counted;

/* Bins of one bounce each, from `first` on. */
static ice_bounce_axis unit_bins(uint32_t first)
{
    ice_bounce_axis axis = {.bins = ICE_BOUNCE_BINS};
    for (uint32_t i = 0; i <= ICE_BOUNCE_BINS; ++i) {
        axis.edges[i] = first + i;
    }
    return axis;
}

/* Runs a graph once for each of `pieces` equal parts of the emissions, and adds its histograms. */
static counted count_bounces(const stage_world *world, ics_graph_options options,
                             const ice_emission *emissions, uint32_t count, uint32_t pieces)
{
    counted result = {.account = {0}};
    ics_arrivals arrivals = {0};
    icestream_error error;
    ics_graph *graph = NULL;
    options.variants = world_variants();
    ck_assert_msg(ics_graph_create(&options, world->tables, &graph, &error) == 0, "%s", error.text);
    for (uint32_t i = 0; i < count; i += count / pieces) {
        ck_assert_int_eq(
            ics_graph_run(graph, emissions + i, count / pieces, &arrivals, &result.account),
            ICESTREAM_OK);
        for (uint32_t k = 0; k < ICE_BOUNCE_CELLS; ++k) {
            result.cells[k] += ics_graph_bounces(graph)[k];
        }
    }
    ics_graph_arrivals_free(&arrivals);
    ics_graph_destroy(graph);
    return result;
}

START_TEST(a_cell_is_the_number_of_edges_that_are_reached)
{
    const ice_bounce_axis axis = {.bins = 4, .edges = {2, 5, 5, 9, 100}};
    static const uint32_t cells[][2] = {{0, 0}, {1, 0}, {2, 1},  {4, 1},   {5, 3},
                                        {8, 3}, {9, 4}, {99, 4}, {100, 5}, {UINT32_MAX, 5}};
    for (size_t i = 0; i < COUNT(cells); ++i) {
        ck_assert_uint_eq(ice_bounce_cell(&axis, cells[i][0]), cells[i][1]);
    }
}
END_TEST

static const uint32_t features[] = {
    0,
    ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_ABSORPTION_ANISOTROPY,
    ICE_HAS_BIREFRINGENCE | ICE_HAS_TILT_MAP,
};

/* Photons end in all ways: absorbed, at a module, outside, dropped because they reach no module,
 * and after 60 bounces. No photon has more, so the bounces of all cells together are those of the
 * account. */
START_TEST(every_way_to_compute_counts_the_same)
{
    stage_world world = graph_world(false);
    if (features[_i] != 0) {
        world_medium_add(world.medium, features[_i]);
    }
    world.options.bounce_limit = 60;
    stage_world_tables(&world);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    ics_graph_options options = {.schedule = ICS_SCHEDULE_MONOLITHIC,
                                 .instruction_set = "baseline",
                                 .bounces = unit_bins(0)};
    const counted expected = count_bounces(&world, options, emissions, GRAPH_STEPS, 1);
    graph_expect_closed(&expected.account, graph_photons(emissions, GRAPH_STEPS));
    uint64_t photons = 0, bounces = 0;
    for (uint32_t k = 0; k < ICE_BOUNCE_CELLS; ++k) {
        photons += expected.cells[k];
        bounces += (k - 1) * expected.cells[k];
    }
    ck_assert_uint_eq(expected.cells[0], 0);
    ck_assert_uint_eq(expected.cells[ICE_BOUNCE_CELLS - 1], 0);
    ck_assert_uint_eq(photons, expected.account.created);
    ck_assert_uint_eq(bounces, expected.account.bounces);
    ck_assert_uint_gt(expected.account.stopped, 0);
    ck_assert_uint_gt(expected.account.detected, 0);
    ck_assert_uint_gt(expected.account.left, 0);
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    options.schedule = ICS_SCHEDULE_WAVEFRONT;
    for (size_t set = 0; set < COUNT(sets); ++set) {
        options.instruction_set = sets[set];
        for (options.pool = 17; ics_kernels_find(sets[set]) != NULL && options.pool < 2000;
             options.pool *= 10) {
            const counted found =
                count_bounces(&world, options, emissions, GRAPH_STEPS, options.pool == 17 ? 1 : 6);
            ck_assert_msg(!memcmp(&found, &expected, sizeof found),
                          "wavefront, %s, pool %u: other counts or another account", sets[set],
                          options.pool);
        }
    }
    stage_world_destroy(&world);
}
END_TEST

/* Without a histogram the same photons are computed, and the cells are 0. */
START_TEST(no_histogram_counts_nothing)
{
    stage_world world = graph_world(false);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT, .instruction_set = "auto"};
    const counted without = count_bounces(&world, options, emissions, GRAPH_STEPS, 1);
    options.bounces = unit_bins(0);
    const counted with = count_bounces(&world, options, emissions, GRAPH_STEPS, 1);
    ck_assert(!memcmp(&without.account, &with.account, sizeof with.account));
    for (uint32_t k = 0; k < ICE_BOUNCE_CELLS; ++k) {
        ck_assert_uint_eq(without.cells[k], 0);
    }
    stage_world_destroy(&world);
}
END_TEST

/* In uniform ice a segment ends by absorption with the probability p = (1 / 100 m) / (1 / 100 m + 1
 * / 2.5 m) = 1 / 41, whatever was before. So a photon has n bounces with the probability (1 - p)^(n
 * - 1) p. Chi-square of n = 1 to 64 and of all larger n, with 64 degrees of freedom: 115 is
 * exceeded with a probability of 1e-4. The mean is 41 within 4.5 standard deviations (1e-5). */
START_TEST(bounces_in_uniform_ice_have_their_exact_law)
{
    const double p = 1.0 / 41.0, photons = (double)test_scaled(200000);
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                                           world_detector_far(), world_light_line(400.0));
    world.options.reach_cull = false;
    world.options.seed = 17;
    stage_world_tables(&world);
    const ice_emission emission = {
        .dz = 1, .beta = 1, .photons = (uint32_t)photons, .flags = ICE_EMISSION_ISOTROPIC};
    const ics_graph_options options = {
        .schedule = ICS_SCHEDULE_WAVEFRONT, .instruction_set = "auto", .bounces = unit_bins(1)};
    const counted found = count_bounces(&world, options, &emission, 1, 1);
    double chi_square = 0.0, rest = 1.0;
    for (uint32_t n = 1; n <= ICE_BOUNCE_BINS; ++n) {
        const double expected = photons * rest * p;
        chi_square += pow((double)found.cells[n] - expected, 2) / expected;
        rest *= 1.0 - p;
    }
    chi_square +=
        pow((double)found.cells[ICE_BOUNCE_CELLS - 1] - photons * rest, 2) / (photons * rest);
    const double mean = (double)found.account.bounces / photons;
    printf("chi-square %.4g, mean %.6g, expected 41\n", chi_square, mean);
    ck_assert_uint_eq(found.cells[0], 0);
    ck_assert_double_lt(chi_square, 115.0);
    ck_assert_double_eq_tol(mean, 1.0 / p, 4.5 * sqrt(1.0 - p) / p / sqrt(photons));
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("graph_bounces")
{
    TCase *tests = tcase_create("bounces");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, a_cell_is_the_number_of_edges_that_are_reached);
    tcase_add_loop_test(tests, every_way_to_compute_counts_the_same, 0, COUNT(features));
    tcase_add_test(tests, no_histogram_counts_nothing);
    tcase_add_test(tests, bounces_in_uniform_ice_have_their_exact_law);
    suite_add_tcase(suite, tests);
}
