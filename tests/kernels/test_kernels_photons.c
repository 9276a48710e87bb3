/* The kernels of the GPU schedules, compiled with histograms of photons, run on the CPU thread by
 * thread (tests/kernels/emulated). They count every photon and every segment in the cell in which
 * the graph of the CPU counts it, and nothing else changes. With a bounce limit above 2^19 counts
 * of segments in a block may pass 2^32.
 *
 * How to join: a new schedule joins as in test_kernels.c. */
#include "tests/kernels/emulated/count_segments.h"
#include "tests/kernels/emulated/lane.h"
#include "tests/kernels/emulated/light.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { EMISSIONS = 18, FIRST_SCHEDULE = ICS_SCHEDULE_AUTO + 1 };

/* The histograms for which the kernels are compiled (tests/kernels/emulated/grid.h). */
static ice_photon_axes compiled_axes(void)
{
    static const uint32_t edges[] = {GPU_SPECIAL_PHOTON_EDGES};
    ice_photon_axes axes = {.count = 0};
#define ADD_AXIS(of, number, first_cell, first_edge)                                               \
    ck_assert_uint_eq(axes.cells, first_cell);                                                     \
    axes.items[axes.count] = (ice_photon_axis){.quantity = of, .bins = number};                    \
    memcpy(axes.items[axes.count].edges, edges + (first_edge), ((number) + 1) * sizeof *edges);    \
    axes.cells += (number) + 2;                                                                    \
    ++axes.count;
#define ADD_SEGMENT_AXIS(of, number, first_cell, first_edge, in_row)                               \
    ADD_AXIS(of, number, first_cell, first_edge)
    GPU_SPECIAL_PHOTONS(ADD_AXIS)
    GPU_SPECIAL_SEGMENTS(ADD_SEGMENT_AXIS)
    ck_assert_uint_eq(axes.cells, GRID_PHOTON_CELLS);
    return axes;
}

/* Those with many bins. */
static ics_large_axes compiled_large(void)
{
    static const uint32_t rows[][7] = {
#define ROW_OF(...) {__VA_ARGS__},
        GPU_SPECIAL_LARGE(ROW_OF)};
    ics_large_axes axes = {.count = 0};
    uint32_t cell = 0, word = 0;
    ics_large_axes_add(&axes, ICE_PHOTON_DELAY, (ics_bin_edges){0.0, 500.0, 100, false});
    ics_large_axes_add(&axes, ICE_PHOTON_BOUNCES, (ics_bin_edges){0.0, 70.0, 70, false});
    ck_assert_uint_eq(axes.cells, GRID_LARGE_CELLS);
    ck_assert_uint_eq(axes.count, COUNT(rows));
    for (uint32_t i = 0; i < axes.count; ++i) {
        const ice_large_search search = axes.items[i].search;
        const uint32_t expected[] = {axes.items[i].quantity, search.bins,  cell,       word,
                                     search.shift,           search.first, search.last};
        ck_assert_mem_eq(rows[i], expected, sizeof expected);
        cell += search.bins + 2;
        word += ice_large_words(search);
    }
    return axes;
}

/* The counts of all photons. */
typedef struct counted {
    uint64_t cells[GRID_PHOTON_CELLS], large[GRID_LARGE_CELLS];
} counted;

/* Runs the graph of the CPU. */
static void compute_expected(const ice_emission *emissions, ice_account *account, counted *out)
{
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_MONOLITHIC,
                                       .variants = world_variants(),
                                       .instruction_set = "baseline",
                                       .photons = compiled_axes(),
                                       .large = compiled_large()};
    ics_graph *graph = NULL;
    ics_arrivals arrivals = {0};
    const ics_tables tables = {.device = *grid_tables};
    ck_assert_int_eq(ics_graph_create(&options, &tables, &graph, NULL), ICESTREAM_OK);
    ck_assert_int_eq(ics_graph_run(graph, emissions, EMISSIONS, &arrivals, account), ICESTREAM_OK);
    memcpy(out->cells, ics_graph_photon_cells(graph), sizeof out->cells);
    memcpy(out->large, ics_graph_large_cells(graph), sizeof out->large);
    ics_graph_arrivals_free(&arrivals);
    ics_graph_destroy(graph);
}

static void compare_cells(const char *name, const uint64_t *found, const uint64_t *expected,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_msg(found[i] == expected[i], "%s: cell %u of %u: found %llu, expected %llu", name,
                      i, count, (unsigned long long)found[i], (unsigned long long)expected[i]);
    }
}

static void compare(const grid_setting *with, const ice_emission *emissions,
                    const ice_account *account, const counted *expected)
{
    static grid_lane self;
    grid_lane_make(&self, with, emissions, EMISSIONS);
    while (grid_lane_launch(&self, with)) {
        ck_assert_uint_lt(self.launches, 100000);
    }
    const ice_photon_axes axes = compiled_axes();
    ice_complete_segments(&axes, self.account.bounces, self.cells);
    char name[100];
    snprintf(name, sizeof name, "%s%s, %u hits, batches of %u",
             ics_graph_schedule_name(with->schedule), with->join ? " with the join" : "",
             with->hits, with->batch);
    ck_assert_msg(memcmp(&self.account, account, sizeof self.account) == 0,
                  "%s: the account differs", name);
    compare_cells(name, self.cells, expected->cells, GRID_PHOTON_CELLS);
    compare_cells(name, self.large_cells, expected->large, GRID_LARGE_CELLS);
    grid_lane_free(&self);
}

static uint64_t sum_of(const uint64_t *cells, uint32_t begin, uint32_t end)
{
    uint64_t sum = 0;
    for (uint32_t i = begin; i < end; ++i) {
        sum += cells[i];
    }
    return sum;
}

/* Every histogram has all photons, or all segments, and they are in many cells. */
static void expect_all_photons(const counted *all, const ice_account *account)
{
    const uint64_t *cells = all->cells, *large = all->large;
    for (uint32_t i = 8; i < GRID_PHOTON_CELLS; ++i) {
        const bool is_none = i == 12 || i == 16 || i == 20; /* no layer; 3 candidates */
        ck_assert_msg((cells[i] > 0) == !is_none, "cell %u has %llu", i,
                      (unsigned long long)cells[i]);
    }
    ck_assert_uint_eq(sum_of(cells, 0, 8), account->created);
    ck_assert_uint_eq(sum_of(cells, 8, 12), account->created);
    ck_assert_uint_eq(sum_of(cells, 12, 16), account->bounces);
    ck_assert_uint_eq(sum_of(cells, 16, 21), account->bounces);
    ck_assert_uint_gt(cells[1], 0);
    ck_assert_uint_ge(cells[7], account->stopped); /* 30 bounces */
    ck_assert_uint_eq(sum_of(large, 0, 102), account->created);
    ck_assert_uint_eq(sum_of(large, 102, 174), account->created);
    uint64_t bounces = 0;
    uint32_t used = 0;
    for (uint32_t i = 1; i <= 70; ++i) { /* cell i has i - 1 bounces */
        bounces += (i - 1) * large[102 + i];
        used += large[i] > 0;
    }
    ck_assert_uint_eq(bounces, account->bounces);
    ck_assert_uint_gt(used, 20);
}

static stage_world make_world(uint32_t bounce_limit)
{
    stage_world world =
        stage_world_from_config(NULL, "detector.oversize=40", "detector.keep_hit_photons=false",
                                "ice.absorb_above=350", NULL);
    world.options.bounce_limit = bounce_limit;
    grid_tables = stage_world_tables(&world);
    return world;
}

/* Photons end in all ways, and those that cannot reach a module are dropped, some before their
 * first bounce. A full hit buffer makes photons repeat their segment, which must not count twice.
 */
START_TEST(kernels_count_what_the_cpu_counts)
{
    const ics_schedule schedule = (ics_schedule)_i;
    const ics_gpu_schedule *row = ics_schedule_row(schedule);
    stage_world world = make_world(30);
    ice_emission emissions[EMISSIONS];
    grid_light(&world, emissions, EMISSIONS);
    ice_account account = {0};
    counted expected;
    compute_expected(emissions, &account, &expected);
    expect_all_photons(&expected, &account);
    const ics_large_axes axes = compiled_large();
    uint32_t *words;
    ck_assert_int_eq(ics_large_axes_create_words(&axes, &words, NULL), ICESTREAM_OK);
    grid_large_words = (grid_words){words, ics_large_axes_words(&axes)};
    for (int join = 0; join <= ics_schedule_can_join(row); ++join) {
        for (int size = 0; size < 2; ++size) {
            const grid_setting with = {.schedule = schedule,
                                       .hits = size == 0 ? 2 : 4096,
                                       .batch = size == 0 ? 5 : 2,
                                       .chains = row->loops && size == 0 ? 2 : 1,
                                       .stream = size == 0,
                                       .join = join,
                                       .late = size == 0};
            compare(&with, emissions, &account, &expected);
        }
    }
    free(words);
    stage_world_destroy(&world);
}
END_TEST

/* ---- a bounce limit above 2^19 --------------------------------------------------------------- */

START_TEST(high_bounce_limit)
{
    stage_world world = make_world(GRID_HIGH_BOUNCE_LIMIT);
    ice_emission emissions[EMISSIONS];
    grid_light(&world, emissions, EMISSIONS);
    ice_account account = {0};
    counted expected;
    compute_expected(emissions, &account, &expected);
    ck_assert_uint_gt(expected.cells[7], 0); /* more bounces than the low limit allows */
    ck_assert_uint_eq(account.stopped, 0);
    const ics_large_axes axes = compiled_large();
    uint32_t *words;
    ck_assert_int_eq(ics_large_axes_create_words(&axes, &words, NULL), ICESTREAM_OK);
    grid_large_words = (grid_words){words, ics_large_axes_words(&axes)};
    const grid_setting with = {.schedule = (ics_schedule)_i, .hits = 4096, .batch = 5, .chains = 1};
    compare(&with, emissions, &account, &expected);
    free(words);
    stage_world_destroy(&world);
}
END_TEST

/* The counts of a block pass 2^32 in the middle of its additions. No count is lost, also if the
 * block moves its counts before that or afterwards. */
START_TEST(counts_beyond_32_bits)
{
    enum { BATCH = 1, SEGMENTS = 10, ADDITIONS = GRID_BLOCK * SEGMENTS };
    const ice_tables tables = {.bounce_limit = GRID_HIGH_BOUNCE_LIMIT};
    grid_tables = &tables;
    ics_share shares[ICS_SHARES];
    unsigned long long cells[ICS_LANE_BATCHES * GRID_BATCH_COUNTS];
    memset(shares, 0, sizeof shares);
    memset(cells, 0, sizeof cells);
    const ics_lane_memory lane = {.shares = shares, .photon_cells = cells};
    grid_counting counting = {.lane = &lane,
                              .batch = BATCH,
                              .begin = 0u - ADDITIONS / 2,
                              .segments = SEGMENTS,
                              .moved = (uint32_t)_i};
    grid_run(1, GRID_BLOCK, grid_count_segments, &counting);
    for (uint32_t i = 0; i < sizeof cells / sizeof *cells; ++i) {
        const uint32_t cell = i - BATCH * GRID_BATCH_COUNTS;
        const bool is_counted = cell == GRID_CELL_LAYERS || cell == GRID_CELL_CANDIDATES;
        ck_assert_uint_eq(cells[i], is_counted ? (1ull << 32) + ADDITIONS / 2 : 0);
    }
}
END_TEST

ICS_TEST_MAIN("kernels_photons")
{
    TCase *tests = tcase_create("schedules");
    tcase_add_loop_test(tests, kernels_count_what_the_cpu_counts, FIRST_SCHEDULE,
                        ICS_SCHEDULE_COUNT);
    tcase_add_loop_test(tests, high_bounce_limit, FIRST_SCHEDULE, ICS_SCHEDULE_COUNT);
    tcase_add_loop_test(tests, counts_beyond_32_bits, 0, 11);
    suite_add_tcase(suite, tests);
}
