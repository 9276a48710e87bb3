/* The settings of a schedule change its speed and nothing else: pools, batches, lanes, hit buffers,
 * blocks, compaction. In portable maths the arrivals are those of the CPU, in fast maths those of
 * schedule monolithic with default settings (test_gpu_identity.c).
 *
 * How to join: a new schedule joins with its row in graphs/schedule.c, a new setting with a line in
 * `settings`. */
#include "graphs/schedule.h"
#include "tests/gpu/gpu_light.h"

#include <stdio.h>
#include <stdlib.h>

enum { PHOTONS = 40000, LEAST = 2000 };

/* The schedules for which a setting has a meaning. The rows of graphs/schedule.c decide. A schedule
 * whose blocks must be smaller than a setting asks is left out, too. */
typedef enum applies { ALL, LOOPS, LONG_VISITS, REFILLS, JOINS } applies;

typedef struct schedule_setting {
    const char *name;
    applies schedules;
    ics_gpu_options options; /* 0: the default of gpu_options() */
    uint32_t batch_photons, batch_emissions, in_flight;
} schedule_setting;

static const schedule_setting settings[] = {
    {.name = "pool 2048", .schedules = ALL, .options = {.pool = 2048}},
    {.name = "pool 100000", .schedules = ALL, .options = {.pool = 100000}},
    {.name = "pool 2^20", .schedules = ALL, .options = {.pool = 1u << 20}},
    {.name = "batches of 777 photons", .schedules = ALL, .batch_photons = 777},
    {.name = "batches of 10000 photons", .schedules = ALL, .batch_photons = 10000},
    {.name = "batches of 3 emissions", .schedules = ALL, .batch_emissions = 3},
    {.name = "one batch after the other", .schedules = ALL, .batch_photons = 5000, .in_flight = 1},
    {.name = "64 hits", .schedules = ALL, .options = {.hits = 64}},
    {.name = "64 hits, one lane, small pool",
     .schedules = ALL,
     .options = {.hits = 64, .lanes = 1, .pool = 2048}},
    {.name = "1 lane", .schedules = ALL, .options = {.lanes = 1}, .batch_photons = 3000},
    {.name = "2 lanes", .schedules = ALL, .options = {.lanes = 2}, .batch_photons = 3000},
    {.name = "3 lanes", .schedules = ALL, .options = {.lanes = 3}, .batch_photons = 3000},
    /* Several batches that are smaller than the pool: photons of one batch are still alive in the
     * pool when those of the next batch are created. */
    {.name = "a stream of small batches",
     .schedules = ALL,
     .options = {.lanes = 1, .pool = 1u << 16},
     .batch_photons = 500},
    {.name = "a stream of small batches and 64 hits",
     .schedules = ALL,
     .options = {.lanes = 2, .pool = 1u << 14, .hits = 64},
     .batch_photons = 500},
    {.name = "blocks of 64 threads", .schedules = ALL, .options = {.block = 64}},
    {.name = "blocks of 320 threads", .schedules = ALL, .options = {.block = 320}},
    {.name = "blocks of 512 threads", .schedules = ALL, .options = {.block = 512}},
    {.name = "4 blocks per processor",
     .schedules = ALL,
     .options = {.block = 128, .blocks_per_processor = 4}},
    /* The kernels of a loop with blocks of different sizes, and limits of registers. */
    {.name = "tuned kernels",
     .schedules = ALL,
     .options = {.tune = {{[ICS_TUNED_CREATE] = {512, 4, 0},
                           [ICS_TUNED_PROPAGATE] = {192, 0, 48},
                           [ICS_TUNED_COLLIDE] = {64, 0, 0},
                           [ICS_TUNED_SCATTER] = {128, 8, 0},
                           [ICS_TUNED_SCATTER_PROPAGATE] = {96, 0, 56},
                           [ICS_TUNED_FLY] = {64, 0, 40},
                           [ICS_TUNED_MONOLITHIC] = {256, 3, 80},
                           [ICS_TUNED_JOB_QUEUE] = {0, 0, 40},
                           [ICS_TUNED_THREAD_PER_STEP] = {1024, 1, 0},
                           [ICS_TUNED_WARP_WAVEFRONT] = {320, 0, 0}}}}},
    {.name = "tuned kernels, scatter and propagate joined",
     .schedules = JOINS,
     .options =
         {.join = true,
          .tune =
              {{[ICS_TUNED_SCATTER_PROPAGATE] = {96, 0, 56}, [ICS_TUNED_COLLIDE] = {1024, 0, 0}}}}},
    {.name = "1 bounce per wave", .schedules = LONG_VISITS, .options = {.bounces_per_wave = 1}},
    {.name = "3 bounces per wave", .schedules = LONG_VISITS, .options = {.bounces_per_wave = 3}},
    {.name = "64 bounces per wave", .schedules = LONG_VISITS, .options = {.bounces_per_wave = 64}},
    {.name = "refill every idle lane", .schedules = REFILLS, .options = {.refill = 1}},
    {.name = "refill 7 idle lanes", .schedules = REFILLS, .options = {.refill = 7}},
    {.name = "refill empty warps", .schedules = REFILLS, .options = {.refill = 32}},
    {.name = "scatter and propagate joined", .schedules = JOINS, .options = {.join = true}},
    {.name = "scatter and propagate joined, 64 hits, a stream, compact always",
     .schedules = JOINS,
     .options =
         {.join = true, .when = ICS_COMPACT_ALWAYS, .hits = 64, .lanes = 2, .pool = 1u << 14},
     .batch_photons = 500},
    {.name = "scatter and propagate joined, stages timed",
     .schedules = JOINS,
     .options = {.join = true, .profile = true}},
    {.name = "stages sampled", .schedules = ALL, .options = {.profile = true, .hits = 64}},
    {.name = "stages timed", .schedules = LOOPS, .options = {.profile = true}},
    {.name = "stages timed, 64 hits",
     .schedules = LOOPS,
     .options = {.profile = true, .hits = 64},
     .batch_photons = 3000},
    {.name = "compact always, unsorted",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_NONE, .when = ICS_COMPACT_ALWAYS}},
    {.name = "compact always, by depth",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_DEPTH, .when = ICS_COMPACT_ALWAYS}},
    {.name = "compact always, by cell",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_CELL, .when = ICS_COMPACT_ALWAYS}},
    {.name = "compact every 5 waves, unsorted",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_NONE, .when = ICS_COMPACT_EVERY, .every = 5}},
    {.name = "compact every 5 waves, by depth",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_DEPTH, .when = ICS_COMPACT_EVERY, .every = 5}},
    {.name = "compact every 5 waves, by cell",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_CELL, .when = ICS_COMPACT_EVERY, .every = 5}},
    {.name = "compact the tail, unsorted",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_NONE, .when = ICS_COMPACT_TAIL}},
    {.name = "compact the tail, by depth",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_DEPTH, .when = ICS_COMPACT_TAIL}},
    {.name = "compact the tail, by cell",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_CELL, .when = ICS_COMPACT_TAIL}},
    /* Compaction moves photons that wait for a place in the hit buffer, in a pool that is always in
     * use. */
    {.name = "compact always, by depth, 64 hits, a stream",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_DEPTH,
                 .when = ICS_COMPACT_ALWAYS,
                 .hits = 64,
                 .lanes = 2,
                 .pool = 1u << 14},
     .batch_photons = 500},
    {.name = "compact always, unsorted, 64 hits, a stream",
     .schedules = LOOPS,
     .options = {.sort = ICS_SORT_NONE,
                 .when = ICS_COMPACT_ALWAYS,
                 .hits = 64,
                 .lanes = 2,
                 .pool = 1u << 14},
     .batch_photons = 500},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* One world and one light for all settings, with many arrivals of photons that continue after a
 * hit. */
static stage_world world;
static ice_emission *emissions;
static size_t emission_count;
static world_result expected[2]; /* by gpu_maths */

static void prepare(void)
{
    world = gpu_place_create(GPU_PLACE_DENSE);
    emissions = gpu_light_create(GPU_LIGHT_MIXED, gpu_scaled(PHOTONS, LEAST), &emission_count);
    const ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, ICS_MATH_FAST);
    const gpu_load load = {.emissions = emissions, .count = emission_count};
    expected[0] = gpu_cpu_run(&world, &options, emissions, emission_count);
    expected[1] = gpu_run(&world, &options, &load);
    for (int i = 0; i < 2; ++i) {
        printf("%s: %zu arrivals\n", gpu_math_name(gpu_maths[i]), expected[i].arrivals.count);
        ck_assert_uint_gt(expected[i].arrivals.count, 200);
    }
}

static void clean_up(void)
{
    world_result_free(&expected[0]);
    world_result_free(&expected[1]);
    free(emissions);
    stage_world_destroy(&world);
}

static bool applies_to(const schedule_setting *setting, ics_schedule schedule)
{
    const ics_gpu_schedule *row = ics_schedule_row(schedule);
    const applies which = setting->schedules;
    if (setting->options.block > ics_schedule_block_max(row, 0)) {
        return false;
    }
    return which == ALL || (which == LOOPS && row->loops) ||
           (which == LONG_VISITS && row->long_visits) || (which == REFILLS && row->refill > 0) ||
           (which == JOINS && ics_schedule_can_join(row));
}

static ics_gpu_options options_of(const schedule_setting *setting, ics_schedule schedule,
                                  ics_math math)
{
    const ics_gpu_options usual = gpu_options(schedule, math);
    ics_gpu_options options = setting->options;
    options.schedule = usual.schedule;
    options.variants = usual.variants;
    options.math = usual.math;
    options.watchdog = usual.watchdog;
    options.use_cache = usual.use_cache;
    options.host_loop = usual.host_loop;
    options.hits = setting->options.hits ? setting->options.hits : usual.hits;
    options.batch_emissions = usual.batch_emissions;
    options.batch_photons = usual.batch_photons;
    return options;
}

START_TEST(settings_do_not_matter)
{
    if (gpu_is_of_another_part(_i)) {
        return;
    }
    const schedule_setting *setting = &settings[_i];
    const gpu_load load = {.emissions = emissions,
                           .count = emission_count,
                           .batch_photons = setting->batch_photons,
                           .batch_emissions = setting->batch_emissions,
                           .in_flight = setting->in_flight};
    for (size_t i = 0; i < GPU_SCHEDULES; ++i) {
        if (!applies_to(setting, gpu_schedules[i])) {
            continue;
        }
        for (int k = 0; k < 2; ++k) {
            char name[160];
            snprintf(name, sizeof name, "%s, %s, %s", setting->name,
                     ics_graph_schedule_name(gpu_schedules[i]), gpu_math_name(gpu_maths[k]));
            const ics_gpu_options options = options_of(setting, gpu_schedules[i], gpu_maths[k]);
            world_result result = gpu_run(&world, &options, &load);
            gpu_expect_same(&result, &expected[k], name);
            world_result_free(&result);
            printf("%s: the same\n", name);
            fflush(stdout);
        }
    }
}
END_TEST

/* Loads of different sizes follow each other on one GPU: nothing of a load is left for the next. */
START_TEST(one_gpu_for_many_loads)
{
    static const uint32_t batches[] = {0, 100, 5000, 1};
    if (gpu_is_of_another_part(_i)) {
        return;
    }
    const ics_schedule schedule = gpu_schedules[_i];
    ics_gpu_options options = gpu_options(schedule, ICS_MATH_PORTABLE);
    options.hits = 256;
    ics_gpu *gpu = gpu_create(&world, &options);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; ++i) {
        const gpu_load load = {.emissions = emissions,
                               .count = i < 3 ? emission_count : 3,
                               .batch_photons = batches[i]};
        world_result wanted = gpu_cpu_run(&world, &options, load.emissions, load.count);
        world_result result = gpu_carry(gpu, &load);
        gpu_expect_same(&result, &wanted, ics_graph_schedule_name(schedule));
        world_result_free(&result);
        world_result_free(&wanted);
    }
    ics_gpu_result none;
    ck_assert(!ics_gpu_take(gpu, &none));
    ics_gpu_destroy(gpu);
}
END_TEST

/* A profile changes no hit, and times the stages. */
START_TEST(stages_are_timed)
{
    const ics_schedule schedule = gpu_schedules[_i];
    if (gpu_is_of_another_part(_i)) {
        return;
    }
    ics_gpu_options options = gpu_options(schedule, ICS_MATH_PORTABLE);
    options.profile = true;
    ics_gpu *gpu = gpu_create(&world, &options);
    const gpu_load load = {.emissions = emissions, .count = emission_count};
    world_result result = gpu_carry(gpu, &load);
    gpu_expect_same(&result, &expected[0], ics_graph_schedule_name(schedule));
    world_result_free(&result);
    ics_gpu_usage usage;
    ics_gpu_usage_of(gpu, &usage);
    ics_gpu_destroy(gpu);
    double sum = 0;
    for (size_t i = 0; i < sizeof usage.stage_seconds / sizeof *usage.stage_seconds; ++i) {
        sum += usage.stage_seconds[i];
    }
    ck_assert_double_gt(sum, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu settings");
    TCase *tests = tcase_create("settings");
    tcase_add_unchecked_fixture(tests, prepare, clean_up);
    tcase_add_loop_test(tests, settings_do_not_matter, 0, SETTINGS);
    tcase_add_loop_test(tests, one_gpu_for_many_loads, 0, GPU_SCHEDULES);
    tcase_add_loop_test(tests, stages_are_timed, 0, GPU_SCHEDULES);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
