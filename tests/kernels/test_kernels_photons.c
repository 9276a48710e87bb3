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

/* Runs the graph of the CPU. */
static void compute_expected(const ice_emission *emissions, ice_account *account,
                             uint64_t cells[GRID_PHOTON_CELLS])
{
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_MONOLITHIC,
                                       .variants = world_variants(),
                                       .instruction_set = "baseline",
                                       .photons = compiled_axes()};
    ics_graph *graph = NULL;
    ics_arrivals arrivals = {0};
    const ics_tables tables = {.device = *grid_tables};
    ck_assert_int_eq(ics_graph_create(&options, &tables, &graph, NULL), ICESTREAM_OK);
    ck_assert_int_eq(ics_graph_run(graph, emissions, EMISSIONS, &arrivals, account), ICESTREAM_OK);
    memcpy(cells, ics_graph_photon_cells(graph), GRID_PHOTON_CELLS * sizeof *cells);
    ics_graph_arrivals_free(&arrivals);
    ics_graph_destroy(graph);
}

static void compare(const grid_setting *with, const ice_emission *emissions,
                    const ice_account *account, const uint64_t *cells)
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
    for (uint32_t i = 0; i < GRID_PHOTON_CELLS; ++i) {
        ck_assert_msg(self.cells[i] == cells[i], "%s: cell %u: found %llu, expected %llu", name, i,
                      (unsigned long long)self.cells[i], (unsigned long long)cells[i]);
    }
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
    uint64_t cells[GRID_PHOTON_CELLS];
    compute_expected(emissions, &account, cells);
    for (uint32_t i = 8; i < GRID_PHOTON_CELLS; ++i) {
        const bool is_none = i == 12 || i == 16 || i == 20; /* no layer; 3 candidates */
        ck_assert_msg((cells[i] > 0) == !is_none, "cell %u has %llu", i,
                      (unsigned long long)cells[i]);
    }
    ck_assert_uint_eq(sum_of(cells, 0, 8), account.created);
    ck_assert_uint_eq(sum_of(cells, 8, 12), account.created);
    ck_assert_uint_eq(sum_of(cells, 12, 16), account.bounces);
    ck_assert_uint_eq(sum_of(cells, 16, 21), account.bounces);
    ck_assert_uint_gt(cells[1], 0);
    ck_assert_uint_ge(cells[7], account.stopped); /* 30 bounces */
    for (int join = 0; join <= ics_schedule_can_join(row); ++join) {
        for (int size = 0; size < 2; ++size) {
            const grid_setting with = {.schedule = schedule,
                                       .hits = size == 0 ? 2 : 4096,
                                       .batch = size == 0 ? 5 : 2,
                                       .chains = row->loops && size == 0 ? 2 : 1,
                                       .stream = size == 0,
                                       .join = join,
                                       .late = size == 0};
            compare(&with, emissions, &account, cells);
        }
    }
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
    uint64_t cells[GRID_PHOTON_CELLS];
    compute_expected(emissions, &account, cells);
    ck_assert_uint_gt(cells[7], 0); /* more bounces than the low limit allows */
    ck_assert_uint_eq(account.stopped, 0);
    const grid_setting with = {.schedule = (ics_schedule)_i, .hits = 4096, .batch = 5, .chains = 1};
    compare(&with, emissions, &account, cells);
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
    unsigned long long cells[ICS_LANE_BATCHES * ICS_SHARES * GRID_PHOTON_CELLS];
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
        const uint32_t cell = i - BATCH * ICS_SHARES * GRID_PHOTON_CELLS;
        const bool is_counted = cell == GRID_CELL_LAYERS || cell == GRID_CELL_CANDIDATES;
        ck_assert_uint_eq(cells[i], is_counted ? (1ull << 32) + ADDITIONS / 2 : 0);
    }
}
END_TEST

ICS_TEST_MAIN("kernels_photons")
{
    TCase *tests = tcase_create("schedules");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, kernels_count_what_the_cpu_counts, FIRST_SCHEDULE,
                        ICS_SCHEDULE_COUNT);
    tcase_add_loop_test(tests, high_bounce_limit, FIRST_SCHEDULE, ICS_SCHEDULE_COUNT);
    tcase_add_loop_test(tests, counts_beyond_32_bits, 0, 11);
    suite_add_tcase(suite, tests);
}
