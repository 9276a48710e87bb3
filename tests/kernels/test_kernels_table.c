/* The kernel that fills a table on a GPU, run on the CPU thread by thread (tests/kernels/emulated).
 * In several launches it fills a table with the bytes of the table that the graph of the CPU fills.
 *
 * How to join: a new feature of the ice joins in the table `features`. */
#include "tests/kernels/emulated/grid.h"
#include "tests/kernels/emulated/light.h"
#include "tests/kernels/emulated/table.h"
#include "tests/support/small_table.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>

enum { EMISSIONS = 18, LAYERS = 70, LAUNCH = 301, BYTES = SMALL_TABLE_CELLS * 8 };

static const uint32_t features[] = {
    0,
    ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_OLD_ABSORPTION_ANISOTROPY |
        ICE_HAS_BIREFRINGENCE,
    ICE_HAS_TILT_MAP | ICE_HAS_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE,
};
/* A warp goes on when this number of its threads have no sample left. */
static const uint32_t idle[] = {1, 8, 32};

static stage_world world;
static ice_emission emissions[EMISSIONS];
static ice_tabulate_origin origins[EMISSIONS];

static void prepare(uint32_t has)
{
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = 1.0 / (30.0 + 5.0 * (i % 4));
        a[i] = 1.0 / (50.0 + 10.0 * (i % 3));
    }
    world = stage_world_from_config(NULL, NULL);
    ice_medium *medium = world_medium_layered(-700.0, 20.0, LAYERS, b, a);
    medium->absorb_above = 600.0;
    world_medium_add(medium, has);
    stage_world_set_medium(&world, medium);
    world.options.bounce_limit = 30;
    world.options.reach_cull = false; /* as for all tables */
    grid_tables = stage_world_tables(&world);
    grid_light(&world, emissions, EMISSIONS);
    for (int i = 0; i < EMISSIONS; ++i) {
        if (i % 8 == 6) { /* a table knows no pulses */
            emissions[i].flags = 0;
        }
    }
    small_table_origins(emissions, EMISSIONS, origins);
}

static void *zeros(void)
{
    void *memory = calloc(1, BYTES);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

typedef struct filled {
    ice_tabulation table;
    uint64_t samples;
    ice_account account;
} filled;

static filled fill_on_cpu(void)
{
    filled out = {.table = small_table(zeros(), zeros())};
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_MONOLITHIC,
                                       .variants = world_variants(),
                                       .table = &out.table,
                                       .instruction_set = "baseline"};
    icestream_error error;
    ics_graph *graph = NULL;
    ck_assert_msg(ics_graph_create(&options, world.tables, &graph, &error) == 0, "%s", error.text);
    ck_assert_int_eq(
        ics_graph_tabulate(graph, emissions, origins, EMISSIONS, &out.samples, &out.account),
        ICESTREAM_OK);
    ics_graph_destroy(graph);
    return out;
}

/* Fills `table` by the emulated kernel. Returns the sums of what all launches count. */
static ics_table_counts fill_by_kernel(const ice_tabulation *table)
{
    uint32_t offsets[EMISSIONS], photons = 0;
    ics_table_counts sum = {0};
    for (uint32_t i = 0; i < EMISSIONS; ++i) {
        offsets[i] = photons;
        photons += emissions[i].photons;
    }
    for (uint32_t first = 0; first < photons; first += LAUNCH) {
        ics_table_counts counts = {0};
        const ics_table_work work = {.emissions = emissions,
                                     .origins = origins,
                                     .offsets = offsets,
                                     .counts = &counts,
                                     .count = EMISSIONS,
                                     .first = first,
                                     .photons =
                                         photons - first < LAUNCH ? photons - first : LAUNCH};
        grid_table_run(&(grid_table){&world.tables->device, table, &work}, 2);
        sum.samples += counts.samples;
        sum.bounces += counts.bounces;
        sum.absorbed += counts.absorbed;
        sum.left += counts.left;
        sum.stopped += counts.stopped;
        sum.overflows += counts.overflows;
    }
    return sum;
}

START_TEST(kernel_fills_the_table_of_the_cpu)
{
    prepare(features[_i]);
    const filled expected = fill_on_cpu();
    ck_assert_uint_gt(expected.samples, 10000);
    for (size_t i = 0; i < (_i == 0 ? COUNT(idle) : 1); ++i) {
        const ice_tabulation table = small_table(zeros(), zeros());
        grid_refill = idle[i];
        const ics_table_counts counts = fill_by_kernel(&table);
        ck_assert_uint_eq(counts.samples, expected.samples);
        ck_assert_uint_eq(counts.bounces, expected.account.bounces);
        ck_assert_uint_eq(counts.absorbed, expected.account.absorbed);
        ck_assert_uint_eq(counts.left, expected.account.left);
        ck_assert_uint_eq(counts.stopped, expected.account.stopped);
        ck_assert_uint_eq(counts.overflows, 0);
        ck_assert(memcmp(table.sums, expected.table.sums, BYTES) == 0);
        ck_assert(memcmp(table.squares, expected.table.squares, BYTES) == 0);
        free(table.sums);
        free(table.squares);
    }
    free(expected.table.sums);
    free(expected.table.squares);
    stage_world_destroy(&world);
}
END_TEST

/* A sum that reaches 2^63 is reported, whatever it was before. */
START_TEST(kernel_reports_an_overflow)
{
    prepare(0);
    const ice_tabulation table = small_table(zeros(), NULL);
    for (size_t i = 0; i < SMALL_TABLE_CELLS; ++i) {
        table.sums[i] = (1ull << 63) - 1;
    }
    grid_refill = 8;
    ck_assert_uint_gt(fill_by_kernel(&table).overflows, 0);
    free(table.sums);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("kernels_table")
{
    TCase *tests = tcase_create("tables");
    tcase_add_loop_test(tests, kernel_fills_the_table_of_the_cpu, 0, COUNT(features));
    tcase_add_test(tests, kernel_reports_an_overflow);
    suite_add_tcase(suite, tests);
}
