/* The kernels of the GPU schedules run on the CPU, thread by thread (tests/kernels/emulated). They
 * give the same arrivals as the graph of the CPU, bit for bit, for any size of hit buffer and
 * batches, and whether or not photons stay in the pool between launches. The stamps of a profile
 * count the photons that wait.
 *
 * How to join: a new schedule joins with its line in graphs/options.h, its row in
 * graphs/schedule.c, and a file emulated/WORD.c that names its kernels. */
#include "tests/kernels/emulated/lane.h"
#include "tests/kernels/emulated/light.h"
#include "tests/support/shape_world.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { EMISSIONS = 18, LAYERS = 70, FIRST_SCHEDULE = ICS_SCHEDULE_AUTO + 1 };

static stage_world world;
static ice_emission emissions[EMISSIONS];
static world_result expected;

static void expect(void)
{
    const ice_variants variants = world_variants();
    expected =
        world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants, "baseline", 0, emissions, EMISSIONS);
    ck_assert_uint_gt(expected.arrivals.count, 100);
}

/* Makes the world, the light, which begins inside wide modules, and the expected arrivals. The
 * layers are flat without `features` (ICE_HAS_...). With `has_shapes` there are modules of every
 * shape, orientations and cables. */
static void prepare_with(uint32_t features, bool has_shapes)
{
    world = stage_world_from_config(NULL, "detector.oversize=40", "detector.crossing=disc",
                                    "detector.keep_hit_photons=true", NULL);
    /* The ice is clear and segments are long, so that many segments have several hits. */
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = 1.0 / (30.0 + 5.0 * (i % 4));
        a[i] = 1.0 / (50.0 + 10.0 * (i % 3));
    }
    ice_medium *medium = world_medium_layered(-700.0, 20.0, LAYERS, b, a);
    medium->absorb_above = 600.0;
    world_medium_add(medium, features);
    stage_world_set_medium(&world, medium);
    if (has_shapes) {
        shape_world_fill(world.detector, 40.0);
    }
    world.options.bounce_limit = 30;
    grid_tables = stage_world_tables(&world);
    grid_light(&world, emissions, EMISSIONS);
    expect();
}

static void prepare(void)
{
    prepare_with(0, false);
}

/* With more photons in a batch than slots in any pool. */
static void prepare_many(void)
{
    prepare();
    for (int i = 0; i < EMISSIONS; ++i) {
        emissions[i].photons += 20;
    }
    world_result_free(&expected);
    expect();
}

/* Hits are entries of photons, some of which scatter before their impact. */
static void prepare_entries(void)
{
    prepare();
    world.detector->crossing = ICE_CROSSING_ENTRY;
    grid_tables = stage_world_tables(&world);
    ck_assert(grid_tables->features & ICE_HAS_ENTRIES);
    for (int i = 0; i < EMISSIONS; ++i) {
        emissions[i].x += 5.0f; /* out of the module */
        emissions[i].photons += 60;
    }
    world_result_free(&expected);
    expect();
}

static void prepare_shapes(void)
{
    prepare_with(0, true);
}

static void prepare_line(void)
{
    prepare_with(ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY |
                     ICE_HAS_OLD_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE | ICE_HAS_HOLES,
                 false);
}

static void prepare_map(void)
{
    prepare_with(ICE_HAS_TILT_MAP | ICE_HAS_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE, false);
}

static void clean_up(void)
{
    world_result_free(&expected);
    stage_world_destroy(&world);
}

/* Computes all emissions with a setting and compares the arrivals with the expected ones. *clock:
 * what a profile recorded. */
static void compare_with_clock(const grid_setting *with, ics_stage_clock *clock)
{
    grid_lane self;
    grid_lane_make(&self, with, emissions, EMISSIONS);
    while (grid_lane_launch(&self, with)) {
        ck_assert_uint_lt(self.launches, 100000);
    }
    *clock = self.clock;
    char name[120];
    snprintf(name, sizeof name, "%s%s, %u hits, batches of %u, %u chains%s",
             ics_graph_schedule_name(with->schedule), with->join ? " with the join" : "",
             with->hits, with->batch, with->chains, with->stream ? ", a stream" : "");
    ck_assert_uint_eq(self.progress.alive, 0);
    world_sort(&self.arrivals);
    ck_assert_msg(self.arrivals.count == expected.arrivals.count, "%s: found %zu arrivals, %zu",
                  name, self.arrivals.count, expected.arrivals.count);
    ck_assert_mem_eq(self.arrivals.items, expected.arrivals.items,
                     expected.arrivals.count * sizeof(ice_arrival));
    ck_assert_msg(memcmp(&self.account, &expected.account, sizeof self.account) == 0,
                  "%s: the account differs", name);
    grid_lane_free(&self);
}

static void compare(const grid_setting *with)
{
    ics_stage_clock clock;
    compare_with_clock(with, &clock);
}

/* Every size of a batch is combined with every size of the list of hits. Where ICESTREAM_TEST_SCALE
 * is below 1, it is combined with one of them. */
static void compare_sizes(ics_schedule schedule, bool join)
{
    const ics_gpu_schedule *row = ics_schedule_row(schedule);
    static const uint32_t hits[] = {2, 20, 4096}, batches[] = {1, 5, GRID_BATCH};
    const bool all = test_scaled(1000000) >= 1000000;
    for (int h = 0; h < 3; ++h) {
        for (int b = all ? 0 : h; b < (all ? 3 : h + 1); ++b) {
            for (int stream = 0; stream < 2; ++stream) {
                for (uint32_t chains = 1; chains <= (row->loops ? 2 : 1); ++chains) {
                    const grid_setting with = {.schedule = schedule,
                                               .hits = hits[h],
                                               .batch = batches[b],
                                               .chains = chains,
                                               .stream = stream,
                                               .join = join,
                                               .late = chains == 2};
                    compare(&with);
                }
            }
        }
    }
}

START_TEST(kernels_give_what_the_cpu_gives)
{
    compare_sizes((ics_schedule)_i, false);
}
END_TEST

START_TEST(joined_kernels_give_what_the_cpu_gives)
{
    int joined = 0;
    for (int i = FIRST_SCHEDULE; i < ICS_SCHEDULE_COUNT; ++i) {
        if (ics_schedule_can_join(ics_schedule_row((ics_schedule)i))) {
            compare_sizes((ics_schedule)i, true);
            ++joined;
        }
    }
    ck_assert_int_eq(joined, 1);
}
END_TEST

/* A warp takes new photons after 1, after 31 or after all 32 of its threads have no photon. */
START_TEST(refills)
{
    static const uint32_t idle[] = {1, 31, 32};
    grid_refill = idle[_i];
    for (int i = FIRST_SCHEDULE; i < ICS_SCHEDULE_COUNT; ++i) {
        const ics_gpu_schedule *row = ics_schedule_row((ics_schedule)i);
        for (int join = 0; join <= ics_schedule_can_join(row); ++join) {
            compare(&(grid_setting){(ics_schedule)i, .hits = 64, .batch = 5, .chains = 1,
                                    .join = join, .late = join});
        }
    }
}
END_TEST

/* A stamp comes 1000 ns after the one before, and every kernel of a wave has one. So the time of a
 * stage is that of its kernels, and a stage without a kernel has none. */
START_TEST(stages_are_timed)
{
    const ics_gpu_schedule *row = ics_schedule_row((ics_schedule)_i);
    for (int join = 0; row->loops && join <= ics_schedule_can_join(row); ++join) {
        ics_stage_clock clock;
        compare_with_clock(&(grid_setting){(ics_schedule)_i, .hits = 20, .batch = GRID_BATCH,
                                           .chains = 1, .join = join, .profile = true},
                           &clock);
        bool has[ICS_CLOCKS] = {false};
        for (const ics_schedule_kernel *one = ics_schedule_kernels(row, join); one->name != NULL;
             ++one) {
            has[one->stage] = true;
        }
        for (int stage = 0; stage < ICS_CLOCK_OTHER; ++stage) {
            ck_assert_int_eq(clock.stages[stage] > 0, has[stage]);
            ck_assert_uint_eq(clock.stages[stage] % 1000, 0);
        }
    }
}
END_TEST

ICS_TEST_MAIN("kernels")
{
    TCase *tests = tcase_create("schedules");
    tcase_add_unchecked_fixture(tests, prepare, clean_up);
    tcase_add_loop_test(tests, kernels_give_what_the_cpu_gives, FIRST_SCHEDULE, ICS_SCHEDULE_COUNT);
    tcase_add_test(tests, joined_kernels_give_what_the_cpu_gives);
    tcase_add_loop_test(tests, refills, 0, 3);
    suite_add_tcase(suite, tests);
    TCase *profiles = tcase_create("profiles");
    tcase_add_unchecked_fixture(profiles, prepare_many, clean_up);
    tcase_add_loop_test(profiles, stages_are_timed, FIRST_SCHEDULE, ICS_SCHEDULE_COUNT);
    suite_add_tcase(suite, profiles);
    static const struct {
        const char *name;
        void (*prepare)(void);
    } rich[] = {{"1-D tilt, anisotropy, birefringence, hole ice", prepare_line},
                {"2-D tilt, absorption anisotropy, birefringence", prepare_map},
                {"entries", prepare_entries},
                {"shapes, orientations, cables", prepare_shapes}};
    for (size_t i = 0; i < COUNT(rich); ++i) {
        TCase *features = tcase_create(rich[i].name);
        tcase_add_unchecked_fixture(features, rich[i].prepare, clean_up);
        tcase_add_loop_test(features, refills, 0, 3);
        suite_add_tcase(suite, features);
    }
}
