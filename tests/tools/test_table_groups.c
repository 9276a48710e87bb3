/* Groups of photon tables by a permutation test (pipeline/tools/table/table_tool.h).
 *
 * Promises: tables of the same physics give a uniform probability, although the samples of a photon
 * are correlated; another length of scattering gives a small one; tables that cannot be exchanged
 * are refused. Random numbers have fixed seeds, and comments say how likely a test fails by chance.
 * To join: a new reason to refuse a table is a row of `wrong`.
 */
#include "pipeline/tools/measure/statistics.h"
#include "pipeline/tools/table/table_tool.h"
#include "tests/graphs/graph_world.h"
#include "tests/support/test_main.h"
#include "tests/table/table_samples.h"

#include <stdio.h>

/* ---- light in uniform ice -------------------------------------------------------------------- */

enum { RADII = 12, DELAYS = 8, TABLES = 14 };

static const ics_table_axis light_axes[2] = {
    {.name = "r", .unit = "m", .from = 0, .to = 120, .bins = RADII, .power = 1},
    {.name = "delay", .unit = "ns", .from = 0, .to = 1600, .bins = DELAYS, .power = 1},
};

/* Ice with an absorption length of 98 m and this length of scattering (m). */
static stage_world ice_world(double lambda_s)
{
    stage_world world = stage_world_create(world_medium_uniform(lambda_s, 0.9, 0.0, 98.0),
                                           world_detector_far(), world_light_line(400.0));
    world.options.reach_cull = false;
    stage_world_tables(&world);
    return world;
}

/* Photons of an isotropic point source. Tables with different numbers have different random
 * numbers. */
static ics_table *light_table(const stage_world *world, uint32_t number, uint32_t photons)
{
    const ics_table_facts facts = {
        .geometry = ICS_TABLE_CUSTOM, .step_length = 2, .area = 1, .seed = 1};
    icestream_error error = {.text = ""};
    ics_table *table = NULL;
    char part[ICS_DIGEST_TEXT];
    ck_assert_int_eq(ics_table_create(light_axes, 2, &facts, true, &table, &error), 0);
    const ice_tabulation stage = {.axes = {{.stride = DELAYS + 2,
                                            .bins = RADII,
                                            .power = 1,
                                            .scale = RADII / 120.0f,
                                            .ends_above = 1},
                                           {.coordinate = 3,
                                            .stride = 1,
                                            .bins = DELAYS,
                                            .power = 1,
                                            .scale = DELAYS / 1600.0f,
                                            .ends_above = 1}},
                                  .axis_count = 2,
                                  .geometry = ICE_TABULATE_SPHERICAL,
                                  .step = 2,
                                  .inverse_step = 0.5f,
                                  .absorption_lengths = 5,
                                  .inverse_speed = 1.3f * 3.33564095f,
                                  .sums = (uint64_t *)table->sums,
                                  .squares = (uint64_t *)table->squares};
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT,
                                       .variants = world_variants(),
                                       .pool = 128,
                                       .table = &stage,
                                       .instruction_set = "auto"};
    const ice_emission emission = {.dz = 1,
                                   .beta = 1,
                                   .event_low = number,
                                   .photons = photons,
                                   .flags = ICE_EMISSION_ISOTROPIC};
    const ice_tabulate_origin origin = {.ux = 1, .vy = 1, .wz = 1, .weight = 1};
    ics_graph *graph = NULL;
    uint64_t samples = 0;
    ice_account account = {0};
    ck_assert_int_eq(ics_graph_create(&options, world->tables, &graph, &error), 0);
    ck_assert_int_eq(ics_graph_tabulate(graph, &emission, &origin, 1, &samples, &account), 0);
    ics_graph_destroy(graph);
    const ics_table_weight weight = {.whole = photons};
    ck_assert_int_eq(ics_table_add_photons(table, photons, weight, &error), 0);
    snprintf(part, sizeof part, "%064x", number);
    ck_assert_int_eq(ics_table_add_part(table, part, &error), 0);
    return table;
}

static const char *const names[TABLES] = {"1", "2", "3",  "4",  "5",  "6",  "7",
                                          "8", "9", "10", "11", "12", "13", "14"};

static ics_table_tool_groups compare(ics_table *const *tables, size_t first, size_t count)
{
    icestream_error error = {.text = ""};
    ics_table_tool_groups found;
    ck_assert_msg(ics_table_tool_compare_groups((const ics_table *const *)tables, names, first,
                                                count, &found, &error) == 0,
                  "%s", error.text);
    return found;
}

/* Whether the chi-square of two tables, which takes bins as independent, rejects at 1 %. */
static bool is_rejected(const ics_table *a, const ics_table *b)
{
    icestream_error error = {.text = ""};
    ics_table_tool_comparison found;
    ck_assert_int_eq(ics_table_tool_compare(a, "a", b, "b", &found, &error), 0);
    return found.probability < 0.01;
}

/* 200 times 4 tables against 4, each of 40 photons. The 35 possible probabilities are put into 7
 * classes, and the test of equal numbers in all classes fails by chance with the probability 1e-4.
 * The chi-square of two tables rejects far too often: more than 10 of 200 at 1 % would have a
 * probability of 1e-5 if its bins were independent. */
START_TEST(the_probability_is_uniform_for_equal_physics)
{
    enum { TRIALS = 200, CLASSES = 7, SIZE = 4 };
    const double expected = (double)TRIALS / CLASSES;
    stage_world world = ice_world(2.5);
    size_t found[CLASSES] = {0}, rejected = 0;
    uint32_t number = 0;
    for (int trial = 0; trial < TRIALS; ++trial) {
        ics_table *tables[2 * SIZE];
        for (size_t i = 0; i < 2 * SIZE; ++i) {
            tables[i] = light_table(&world, ++number, 40);
        }
        const ics_permutation test = compare(tables, SIZE, 2 * SIZE).test;
        ck_assert_uint_eq(test.splits, 70);
        ++found[(test.as_large - 1) / 10];
        rejected += is_rejected(tables[0], tables[SIZE]);
        for (size_t i = 0; i < 2 * SIZE; ++i) {
            ics_table_destroy(tables[i]);
        }
    }
    double chi_square = 0.0;
    for (size_t i = 0; i < CLASSES; ++i) {
        chi_square += ((double)found[i] - expected) * ((double)found[i] - expected) / expected;
    }
    const double p = ics_statistics_chi_square_probability(chi_square, CLASSES - 1);
    printf("p = %.3g; the chi-square of two tables rejects %zu of %d at 1 %%\n", p, rejected,
           TRIALS);
    ck_assert_double_gt(p, 1e-4);
    ck_assert_uint_gt(rejected, 10);
    stage_world_destroy(&world);
}
END_TEST

/* 7 tables of 2000 photons against 7 with scattering that is longer by 10 %: the real groups differ
 * most of all 3432 splits. */
START_TEST(another_scattering_is_found)
{
    stage_world worlds[2] = {ice_world(2.5), ice_world(2.75)};
    ics_table *tables[TABLES];
    for (size_t i = 0; i < TABLES; ++i) {
        tables[i] = light_table(&worlds[i / 7], (uint32_t)(i + 5000), 2000);
    }
    const ics_table_tool_groups found = compare(tables, 7, TABLES);
    printf("statistic %.4g for %llu bins\n", found.test.statistic, (unsigned long long)found.bins);
    ck_assert_uint_eq(found.test.splits, 3432);
    ck_assert_uint_eq(found.test.as_large, 2);
    ck_assert_double_gt(found.test.statistic, 1.5 * (double)found.bins);
    ck_assert_double_gt(found.largest, 2.0);
    for (size_t i = 0; i < TABLES; ++i) {
        ics_table_destroy(tables[i]);
    }
    stage_world_destroy(&worlds[0]);
    stage_world_destroy(&worlds[1]);
}
END_TEST

/* ---- tables by hand -------------------------------------------------------------------------- */

enum { FEW = 4 };

static void make_few(ics_table *tables[FEW])
{
    for (size_t i = 0; i < FEW; ++i) {
        char part[ICS_DIGEST_TEXT];
        snprintf(part, sizeof part, "%064zx", i + 1);
        tables[i] = sample_table(0, part, false);
        memset(tables[i]->sums, 0, tables[i]->cells * sizeof *tables[i]->sums);
        tables[i]->weight = (ics_table_weight){.whole = 10};
    }
}

static void free_few(ics_table *tables[FEW])
{
    for (size_t i = 0; i < FEW; ++i) {
        ics_table_destroy(tables[i]);
    }
}

/* The light of two bins is 1, 2 | 11, 12 and 3, 3 | 3, 3 units: the second bin is equal in all
 * tables. The squared differences from the mean 6.5 add up to 101, so the difference of the means,
 * 10, is 10 / sqrt(101 / 3) standard deviations of a table. */
START_TEST(bins_are_scaled_as_by_hand)
{
    static const int64_t light[FEW] = {1, 2, 11, 12};
    ics_table *tables[FEW];
    make_few(tables);
    for (size_t i = 0; i < FEW; ++i) {
        tables[i]->sums[7] = light[i];
        tables[i]->sums[9] = 3;
    }
    tables[3]->weight.whole = 20; /* and twice the light */
    tables[3]->sums[7] = 24;
    tables[3]->sums[9] = 6;
    const ics_table_tool_groups found = compare(tables, 2, FEW);
    ck_assert_uint_eq(found.bins, 1);
    ck_assert_uint_eq(found.largest_cell, 7);
    ck_assert_double_eq_tol(found.largest, 10 / sqrt(101.0 / 3), 1e-12);
    ck_assert_double_eq_tol(found.test.statistic, 300.0 / 101, 1e-12);
    ck_assert_uint_eq(found.test.as_large, 2);
    free_few(tables);
}
END_TEST

START_TEST(equal_tables_are_no_difference)
{
    ics_table *tables[FEW];
    make_few(tables);
    const ics_table_tool_groups found = compare(tables, 1, FEW);
    ck_assert_uint_eq(found.bins, 0);
    ck_assert_double_eq(found.test.statistic, 0);
    ck_assert_double_eq(found.test.probability, 1);
    free_few(tables);
}
END_TEST

static void change_bins(ics_table *table)
{
    table->axes[1].to = 90;
}

static void change_geometry(ics_table *table)
{
    table->facts.geometry = ICS_TABLE_CUSTOM;
}

static void change_step(ics_table *table)
{
    table->facts.step_length = 2;
}

static void change_ice(ics_table *table)
{
    strcpy(table->facts.ice, SAMPLE_PART_A);
}

static void change_configuration(ics_table *table)
{
    strcpy(table->facts.configuration, SAMPLE_PART_A);
}

static void change_part(ics_table *table)
{
    snprintf(table->parts[0].digest, ICS_DIGEST_TEXT, "%064x", 1);
}

static void remove_part(ics_table *table)
{
    table->part_count = 0;
}

static void change_photons(ics_table *table)
{
    table->photons = 106;
}

static void remove_weight(ics_table *table)
{
    table->weight.whole = 0;
}

static const struct {
    void (*change)(ics_table *table); /* of table d, the second one of the second group */
    const char *says;
} wrong[] = {
    {change_bins, "d: axis 2: found azimuth with 3 bins from 0 to 90, expected the bins of a"},
    {change_geometry, "d: found the geometry custom, expected spherical as in a"},
    {change_step, "d: found samples every 2 m, expected every 1 m as in a"},
    {change_ice, "d: the digest of the ice differs from that of c; expected tables of one group"},
    {change_configuration, "d: the digest of the configuration differs from that of c"},
    {change_part, "d: found the part 0000000000000000..., which a has, too; expected"},
    {remove_part, "d: found a table without parts"},
    {change_photons, "d: found 106 photons, expected as many as in a, 100 (within 5 %)"},
    {remove_weight, "d: found a weight of photons of 0"},
};

START_TEST(tables_that_cannot_be_exchanged_are_refused)
{
    static const char *const letters[FEW] = {"a", "b", "c", "d"};
    icestream_error error = {.text = ""};
    ics_table_tool_groups found;
    ics_table *tables[FEW];
    make_few(tables);
    wrong[_i].change(tables[3]);
    ck_assert_int_eq(ics_table_tool_compare_groups((const ics_table *const *)tables, letters, 2,
                                                   FEW, &found, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, wrong[_i].says) == error.text, "%s", error.text);
    free_few(tables);
}
END_TEST

/* What both groups may differ in: the physics that is compared. */
START_TEST(groups_may_differ)
{
    ics_table *tables[FEW];
    make_few(tables);
    for (size_t i = 2; i < FEW; ++i) {
        change_ice(tables[i]);
        change_configuration(tables[i]);
        tables[i]->photons = 105;
    }
    compare(tables, 2, FEW);
    free_few(tables);
}
END_TEST

ICS_TEST_MAIN("table_groups")
{
    TCase *hand = tcase_create("hand");
    tcase_add_test(hand, bins_are_scaled_as_by_hand);
    tcase_add_test(hand, equal_tables_are_no_difference);
    tcase_add_loop_test(hand, tables_that_cannot_be_exchanged_are_refused, 0, COUNT(wrong));
    tcase_add_test(hand, groups_may_differ);
    suite_add_tcase(suite, hand);
    TCase *light = tcase_create("light");
    tcase_add_test(light, the_probability_is_uniform_for_equal_physics);
    tcase_add_test(light, another_scattering_is_found);
    suite_add_tcase(suite, light);
}
