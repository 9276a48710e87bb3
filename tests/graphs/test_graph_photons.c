/* The histograms of photons of a graph: every schedule, instruction set, pool and division into
 * batches counts every photon and every segment once, in the same cell, and in uniform ice the
 * counts have their exact laws.
 *
 * How to join: a new feature of the ice joins in the table `features`, a new quantity in
 * axes_of_all(). */
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/segments.h"
#include "stages/histograms/photon_end.h"
#include "tests/graphs/graph_world.h"
#include "tests/support/test_main.h"

#include <stdio.h>
#include <stdlib.h>

enum { ALL_CELLS = ICE_PHOTON_BINS + 2 };

/* Histograms with many bins: bounces from 0 on, one a bin; paths; and delays in a logarithm. */
enum { LARGE_BOUNCES = 100, LARGE_PATHS = 5000, LARGE_DELAYS = 20000 };
enum { LARGE_CELLS = LARGE_BOUNCES + LARGE_PATHS + LARGE_DELAYS + 6 };

typedef struct counted {
    uint64_t cells[ICE_PHOTON_CELLS], large[LARGE_CELLS];
    ice_account account;
} counted;

/* Adds a histogram with ICE_PHOTON_BINS bins of equal width: whole numbers, or the words of floats.
 */
static void add_axis(ice_photon_axes *axes, ice_photon_quantity quantity, double from, double width)
{
    ice_photon_axis *axis = &axes->items[axes->count++];
    axis->quantity = quantity;
    axis->bins = ICE_PHOTON_BINS;
    axes->cells += axis->bins + 2;
    for (uint32_t i = 0; i <= axis->bins; ++i) {
        const double edge = from + width * i;
        axis->edges[i] = quantity == ICE_PHOTON_BOUNCES || ice_counts_segments(quantity)
                             ? (uint32_t)edge
                             : ice_photon_word_of((float)edge);
    }
}

/* Bounces from 0 on, one a bin; delays; and layers and candidates, one a bin. */
static ice_photon_axes axes_of_all(void)
{
    ice_photon_axes axes = {.count = 0};
    add_axis(&axes, ICE_PHOTON_BOUNCES, 0.0, 1.0);
    add_axis(&axes, ICE_PHOTON_DELAY, 10.0, 7.0);
    add_axis(&axes, ICE_PHOTON_LAYERS, 1.0, 1.0);
    add_axis(&axes, ICE_PHOTON_CANDIDATES, 0.0, 1.0);
    return axes;
}

static ics_large_axes large_axes(void)
{
    ics_large_axes axes = {.count = 0};
    ics_large_axes_add(&axes, ICE_PHOTON_BOUNCES,
                       (ics_bin_edges){0.0, LARGE_BOUNCES, LARGE_BOUNCES, false});
    ics_large_axes_add(&axes, ICE_PHOTON_PATH, (ics_bin_edges){0.0, 640.0, LARGE_PATHS, false});
    ics_large_axes_add(&axes, ICE_PHOTON_DELAY, (ics_bin_edges){0.1, 1e4, LARGE_DELAYS, true});
    ck_assert_uint_eq(axes.cells, LARGE_CELLS);
    return axes;
}

/* Runs a graph once for each of `pieces` equal parts of the emissions, and adds its histograms.
 */
static counted count_photons(const stage_world *world, ics_graph_options options,
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
        for (uint32_t k = 0; k < ICE_PHOTON_CELLS; ++k) {
            result.cells[k] += ics_graph_photon_cells(graph)[k];
        }
        for (uint32_t k = 0; k < options.large.cells; ++k) {
            result.large[k] += ics_graph_large_cells(graph)[k];
        }
    }
    ics_graph_arrivals_free(&arrivals);
    ics_graph_destroy(graph);
    return result;
}

START_TEST(a_cell_is_the_number_of_edges_that_are_reached)
{
    static const uint32_t edges[] = {2, 5, 5, 9, 100};
    static const uint32_t cells[][2] = {{0, 0}, {1, 0}, {2, 1},  {4, 1},   {5, 3},
                                        {8, 3}, {9, 4}, {99, 4}, {100, 5}, {UINT32_MAX, 5}};
    for (size_t i = 0; i < COUNT(cells); ++i) {
        ck_assert_uint_eq(ice_photon_cell(edges, 4, cells[i][0]), cells[i][1]);
    }
    uint32_t many[ICE_PHOTON_BINS + 1];
    for (uint32_t i = 0; i <= ICE_PHOTON_BINS; ++i) {
        many[i] = 3 * i + 1;
    }
    for (uint32_t bins = 1; bins <= ICE_PHOTON_BINS; ++bins) {
        for (uint32_t word = 0; word < 200; ++word) {
            const uint32_t reached = (word + 2) / 3;
            ck_assert_uint_eq(ice_photon_cell(many, bins, word),
                              reached < bins + 1 ? reached : bins + 1);
        }
    }
}
END_TEST

START_TEST(a_word_grows_with_its_quantity)
{
    const stage_world world = graph_world(false);
    const ice_tables *tables = &world.tables->device;
    ice_photon_end end = {.bounces = 7, .path = 12.5f, .wavelength = 400.0f};
    ck_assert_uint_eq(ice_photon_word(tables, ICE_PHOTON_BOUNCES, end), 7);
    ck_assert_uint_eq(ice_photon_word(tables, ICE_PHOTON_PATH, end), 0x41480000);
    const float delay = 12.5f * ice_slowness(tables, 400.0f);
    ck_assert_double_eq_tol(delay, 12.5 * ice_group_index_double(400.0) / 0.299792458, 1e-4);
    ck_assert_uint_eq(ice_photon_word(tables, ICE_PHOTON_DELAY, end), (uint32_t)ice_bits(delay));
    end.path = -1e-28f; /* of a photon that was not emitted */
    ck_assert_uint_eq(ice_photon_word(tables, ICE_PHOTON_PATH, end), 0);
    ck_assert_uint_eq(ice_photon_word(tables, ICE_PHOTON_DELAY, end), 0);
    ck_assert_uint_lt(ice_photon_word_of(1.0f), ice_photon_word_of(1.0000001f));
    ck_assert_uint_lt(ice_photon_word_of(3e38f), ice_photon_word_of(INFINITY));
    stage_world_destroy((stage_world *)&world);
}
END_TEST

static const uint32_t features[] = {
    0,
    ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_ABSORPTION_ANISOTROPY,
    ICE_HAS_BIREFRINGENCE | ICE_HAS_TILT_MAP,
    ICE_HAS_HOLES | ICE_HAS_TILT_LINE,
};

/* Every histogram of photons has all of them, and those of segments have all of these. No photon
 * has more bounces than there are cells, so those of all cells together are the bounces of the
 * account.
 */
static void expect_all_photons(const counted *found)
{
    uint64_t photons[ICE_PHOTON_HISTOGRAMS] = {0}, bounces = 0;
    for (uint32_t i = 0; i < ICE_PHOTON_HISTOGRAMS; ++i) {
        for (uint32_t k = 0; k < ALL_CELLS; ++k) {
            photons[i] += found->cells[i * ALL_CELLS + k];
            bounces += i == 0 ? (k - 1) * found->cells[k] : 0;
        }
        ck_assert_uint_eq(photons[i], i >= 2 ? found->account.bounces : found->account.created);
    }
    ck_assert_uint_eq(found->cells[0], 0);
    ck_assert_uint_eq(found->cells[ALL_CELLS - 1], 0);
    ck_assert_uint_eq(bounces, found->account.bounces);
}

/* Those with many bins have all photons, too; the first of them has the counts of the histogram
 * with few bins, and the others have their photons in many bins. */
static void expect_all_in_large(const counted *found)
{
    static const uint32_t bins[] = {LARGE_BOUNCES, LARGE_PATHS, LARGE_DELAYS};
    const uint64_t *cells = found->large;
    for (size_t i = 0; i < COUNT(bins); ++i) {
        uint64_t photons = 0;
        uint32_t used = 0;
        for (uint32_t k = 0; k < bins[i] + 2; ++k) {
            photons += cells[k];
            used += cells[k] > 0;
        }
        ck_assert_uint_eq(photons, found->account.created);
        ck_assert_uint_gt(used, i == 0 ? 50 : 500);
        cells += bins[i] + 2;
    }
    ck_assert_mem_eq(found->large, found->cells, 62 * sizeof *found->cells); /* to 60 bounces */
}

/* Photons end in all ways: absorbed, at a module, outside, dropped because they reach no module,
 * and after 60 bounces. */
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
                                 .photons = axes_of_all(),
                                 .large = large_axes()};
    const counted expected = count_photons(&world, options, emissions, GRAPH_STEPS, 1);
    expect_all_in_large(&expected);
    graph_expect_closed(&expected.account, graph_photons(emissions, GRAPH_STEPS));
    expect_all_photons(&expected);
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
                count_photons(&world, options, emissions, GRAPH_STEPS, options.pool == 17 ? 1 : 6);
            ck_assert_msg(!memcmp(&found, &expected, sizeof found),
                          "wavefront, %s, pool %u: other counts or another account", sets[set],
                          options.pool);
        }
    }
    stage_world_destroy(&world);
}
END_TEST

/* Layers by hand, with the face of a layer at `bottom`. */
START_TEST(a_segment_touches_the_layers_from_its_start_to_its_end)
{
    const stage_world world = graph_world(false);
    const ice_tables *tables = &world.tables->device;
    const float bottom = ice_face(tables, 20), thickness = tables->thickness;
    static const struct {
        float start, dz, length; /* start and length in layers, above the face */
        uint32_t layers;
    } cases[] = {{0.5f, 1.0f, 0.4f, 1},  {0.5f, 1.0f, 0.6f, 2},   {0.5f, -1.0f, 0.6f, 2},
                 {0.5f, 0.0f, 90.0f, 1}, {0.5f, 0.5f, 5.1f, 4},   {0.5f, -0.5f, 5.1f, 4},
                 {0.5f, 1.0f, 0.0f, 1},  {-99.0f, 1.0f, 1.0f, 1}, {-99.0f, 1.0f, 99.5f, 21}};
    for (size_t i = 0; i < COUNT(cases); ++i) {
        const ice_segment_end segment = {.direction = {.z = cases[i].dz},
                                         .height = fmaf(cases[i].start, thickness, bottom),
                                         .length = cases[i].length * thickness};
        ck_assert_uint_eq(ice_layers_of(tables, segment), cases[i].layers);
    }
    for (uint32_t bins = 1; bins < 6; ++bins) {
        static const uint32_t edges[] = {3, 4, 5, 6, 7, 8, 9};
        for (uint32_t word = 0; word < 12; ++word) {
            ck_assert_uint_eq(ice_photon_cell_in_row(edges[0], bins, word),
                              ice_photon_cell(edges, bins, word));
        }
    }
    ck_assert_uint_eq(ice_photon_cell_in_row(3, 5, UINT32_MAX), 6);
    stage_world_destroy((stage_world *)&world);
}
END_TEST

/* Candidates by hand, of one module at the origin: a search tests it, unless the segment is too
 * short or passes far from it. */
START_TEST(a_candidate_is_a_module_that_a_search_tests)
{
    static const double origin[1][3] = {{0.0, 0.0, 0.0}};
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                                           world_detector(origin, 1, 1.0), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    ice_photon_axes axes = {.count = 0};
    add_axis(&axes, ICE_PHOTON_CANDIDATES, 0.0, 1.0);
    static const struct {
        ice_segment_end segment;
        uint32_t candidates;
    } cases[] = {{{.x = -9.0f, .direction = {1.0f, 0.0f, 0.0f}, .length = 20.0f}, 1},
                 {{.x = -9.0f, .direction = {1.0f, 0.0f, 0.0f}, .length = 1.0f}, 0},
                 {{.x = -9.0f, .direction = {-1.0f, 0.0f, 0.0f}, .length = 20.0f}, 0},
                 {{.x = -9.0f, .z = 7.0f, .direction = {1.0f, 0.0f, 0.0f}, .length = 20.0f}, 0}};
    for (size_t i = 0; i < COUNT(cases); ++i) {
        uint64_t cells[ICE_PHOTON_CELLS] = {0};
        ics_segment_counter counter = {tables, &axes, ICE_collide_string_grid, cells};
        ics_segments_count(&counter, cases[i].segment);
        ck_assert_msg(cells[1 + cases[i].candidates] == 1, "case %zu", i);
    }
    stage_world_destroy(&world);
}
END_TEST

/* Without histograms the same photons are computed, and the cells are 0. */
START_TEST(no_histogram_counts_nothing)
{
    stage_world world = graph_world(false);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT, .instruction_set = "auto"};
    const counted without = count_photons(&world, options, emissions, GRAPH_STEPS, 1);
    options.photons = axes_of_all();
    const counted with = count_photons(&world, options, emissions, GRAPH_STEPS, 1);
    ck_assert(!memcmp(&without.account, &with.account, sizeof with.account));
    for (uint32_t k = 0; k < ICE_PHOTON_CELLS; ++k) {
        ck_assert_uint_eq(without.cells[k], 0);
    }
    stage_world_destroy(&world);
}
END_TEST

/* A graph that has only histograms with many bins counts the same in them. */
START_TEST(many_bins_need_no_others)
{
    const stage_world world = graph_world(false);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    for (int wave = 0; wave < 2; ++wave) {
        ics_graph_options options = {.schedule =
                                         wave ? ICS_SCHEDULE_WAVEFRONT : ICS_SCHEDULE_MONOLITHIC,
                                     .instruction_set = "auto",
                                     .large = large_axes()};
        counted alone = count_photons(&world, options, emissions, GRAPH_STEPS, 2);
        options.photons = axes_of_all();
        const counted both = count_photons(&world, options, emissions, GRAPH_STEPS, 1);
        ck_assert_mem_eq(alone.large, both.large, sizeof both.large);
        ck_assert(!memcmp(&alone.account, &both.account, sizeof both.account));
    }
    stage_world_destroy((stage_world *)&world);
}
END_TEST

/* A photon that a module ends has the path of its hit: photon by photon, in both schedules. */
START_TEST(the_path_of_a_detected_photon_is_that_of_its_hit)
{
    const stage_world world = graph_world(false);
    ice_photon_axes axes = {.count = 0};
    add_axis(&axes, ICE_PHOTON_PATH, 0.0, 0.5);
    for (int wave = 0; wave < 2; ++wave) {
        const ics_graph_options options = {.schedule = wave ? ICS_SCHEDULE_WAVEFRONT
                                                            : ICS_SCHEDULE_MONOLITHIC,
                                           .variants = world_variants(),
                                           .instruction_set = "auto",
                                           .photons = axes};
        ics_graph *graph = NULL;
        ics_arrivals arrivals = {0};
        ck_assert_int_eq(ics_graph_create(&options, world.tables, &graph, NULL), ICESTREAM_OK);
        uint32_t detected = 0;
        for (uint32_t i = 0; i < 3000; ++i) {
            const ice_emission one = {.x = 3.0f,
                                      .dz = 1.0f,
                                      .beta = 1.0f,
                                      .first_photon = i,
                                      .photons = 1,
                                      .flags = ICE_EMISSION_ISOTROPIC};
            ice_account account = {0};
            arrivals.count = 0;
            ck_assert_int_eq(ics_graph_run(graph, &one, 1, &arrivals, &account), ICESTREAM_OK);
            if (account.detected == 0) {
                continue;
            }
            ++detected;
            const uint32_t word = ice_photon_word_of(arrivals.items[0].path);
            const uint32_t cell = ice_photon_cell(axes.items[0].edges, axes.items[0].bins, word);
            ck_assert_uint_eq(ics_graph_photon_cells(graph)[cell], 1);
        }
        ck_assert_uint_gt(detected, 10);
        ics_graph_arrivals_free(&arrivals);
        ics_graph_destroy(graph);
    }
    stage_world_destroy((stage_world *)&world);
}
END_TEST

/* Returns chi-square of 64 bins and the overflow, in which a photon is with the probability
 * survives(lower edge) - survives(upper edge), where survives(i) = q^i at edge i. */
static double chi_square_of(const uint64_t *cells, double photons, double q)
{
    double chi_square = 0.0, rest = 1.0;
    for (uint32_t n = 1; n <= ICE_PHOTON_BINS; ++n) {
        const double expected = photons * rest * (1.0 - q);
        chi_square += pow((double)cells[n] - expected, 2) / expected;
        rest *= q;
    }
    const double expected = photons * rest;
    return chi_square + pow((double)cells[ALL_CELLS - 1] - expected, 2) / expected;
}

/* In uniform ice a segment ends by absorption with the probability p = (1 / 100 m) / (1 / 100 m + 1
 * / 2.5 m) = 1 / 41, whatever was before. So a photon has n bounces with the probability (1 - p)^(n
 * - 1) p. It has a path longer than s with the probability exp(-s / 100 m), and the delay of light
 * of one wavelength is in proportion to the path. Chi-square with 64 degrees of freedom: 115 is
 * exceeded with a probability of 1e-4. The mean of the bounces is 41 within 4.5 standard deviations
 * (1e-5). */
START_TEST(photons_in_uniform_ice_have_their_exact_laws)
{
    const double p = 1.0 / 41.0, photons = (double)test_scaled(200000);
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                                           world_detector_far(), world_light_line(400.0));
    world.options.reach_cull = false;
    world.options.seed = 17;
    stage_world_tables(&world);
    const double slowness = ice_group_index_double(400.0) / 0.299792458; /* ns/m */
    ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT, .instruction_set = "auto"};
    add_axis(&options.photons, ICE_PHOTON_BOUNCES, 1.0, 1.0);
    add_axis(&options.photons, ICE_PHOTON_PATH, 0.0, 3.0);
    add_axis(&options.photons, ICE_PHOTON_DELAY, 0.0, 2.0 * slowness);
    const ice_emission emission = {
        .dz = 1, .beta = 1, .photons = (uint32_t)photons, .flags = ICE_EMISSION_ISOTROPIC};
    const counted found = count_photons(&world, options, &emission, 1, 1);
    const double chi_squares[] = {
        chi_square_of(found.cells, photons, 1.0 - p),
        chi_square_of(found.cells + ALL_CELLS, photons, exp(-3.0 / 100.0)),
        chi_square_of(found.cells + 2 * ALL_CELLS, photons, exp(-2.0 / 100.0))};
    const double mean = (double)found.account.bounces / photons;
    for (size_t i = 0; i < COUNT(chi_squares); ++i) {
        printf("chi-square %.4g\n", chi_squares[i]);
        ck_assert_uint_eq(found.cells[i * ALL_CELLS], 0);
        ck_assert_double_lt(chi_squares[i], 115.0);
    }
    ck_assert_double_eq_tol(mean, 1.0 / p, 4.5 * sqrt(1.0 - p) / p / sqrt(photons));
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("graph_photons")
{
    TCase *tests = tcase_create("photons");
    tcase_add_test(tests, a_cell_is_the_number_of_edges_that_are_reached);
    tcase_add_test(tests, a_word_grows_with_its_quantity);
    tcase_add_test(tests, a_segment_touches_the_layers_from_its_start_to_its_end);
    tcase_add_test(tests, a_candidate_is_a_module_that_a_search_tests);
    tcase_add_loop_test(tests, every_way_to_compute_counts_the_same, 0, COUNT(features));
    tcase_add_test(tests, no_histogram_counts_nothing);
    tcase_add_test(tests, many_bins_need_no_others);
    tcase_add_test(tests, the_path_of_a_detected_photon_is_that_of_its_hit);
    tcase_add_test(tests, photons_in_uniform_ice_have_their_exact_laws);
    suite_add_tcase(suite, tests);
}
