/* A choice of schedule AUTO is remembered for the settings that it was measured with, and for no
 * others: every option that can change the speed of a schedule changes the name of the choice.
 * Candidates have the settings of graph.tune. The tests need no GPU.
 *
 * How to join: a new option in ICS_GPU_SPEED_OPTIONS (graphs/gpu.h) is tested without a change of
 * this file. */
#include "graphs/cuda/choice.h"
#include "tests/support/scratch_files.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* What the user has fixed. No value is at a limit, so that twice the value is another setting. */
static ics_gpu_options fixed_options(void)
{
    return (ics_gpu_options){.variants = world_variants(),
                             .math = ICS_MATH_FAST,
                             .pool = 1u << 15,
                             .bounces_per_wave = 64,
                             .block = 64,
                             .blocks_per_processor = 8,
                             .refill = 4,
                             .lanes = 2,
                             .chains = 2,
                             .hits = 1u << 16,
                             .batch_emissions = 1u << 14,
                             .batch_photons = 1u << 20,
                             .sort = ICS_SORT_DEPTH,
                             .when = ICS_COMPACT_ALWAYS,
                             .every = 8,
                             .memory_limit = (uint64_t)1 << 32,
                             .watchdog = 30};
}

static ics_choice_request request_for(const ics_gpu_options *options, const stage_world *world)
{
    ics_choice_request request = {.options = options, .tables = world->tables};
    memset(&request.device, 0, sizeof request.device);
    strcpy(request.device.name, "a GPU");
    request.device.architecture = 90;
    request.device.processors = 132;
    return request;
}

typedef struct key_text {
    char text[65];
} key_text;

static key_text key_of(const ics_choice_request *request)
{
    key_text key;
    ck_assert_int_eq(ics_choice_key(request, key.text), 0);
    ck_assert_uint_eq(strlen(key.text), 64);
    return key;
}

static void expect_other_key(const ics_choice_request *request, const char *base, const char *name)
{
    ck_assert_msg(strcmp(key_of(request).text, base) != 0, "%s does not change the key", name);
}

START_TEST(every_option_changes_the_key)
{
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", NULL);
    stage_world_tables(&world);
    const ics_gpu_options options = fixed_options();
    const ics_choice_request base_request = request_for(&options, &world);
    const key_text base = key_of(&base_request);
    ck_assert_str_eq(key_of(&base_request).text, base.text);
    ics_gpu_options other;
    const ics_choice_request request = request_for(&other, &world);
#define X(type, name)                                                                              \
    other = options;                                                                               \
    other.name = (type)(options.name ? 2 * options.name : 1);                                      \
    expect_other_key(&request, base.text, #name);
    ICS_GPU_SPEED_OPTIONS(X)
#undef X
    other = options;
    other.tune.kernels[ICS_TUNED_PROPAGATE].registers = 48;
    expect_other_key(&request, base.text, "a setting of a kernel");
    other = options;
    other.custom[ICS_STAGE_SCATTER] = ICS_SOURCE_DIRECTORY "/configs/stages/rayleigh.h";
    expect_other_key(&request, base.text, "a header of the user");
    stage_world_destroy(&world);
}
END_TEST

START_TEST(device_and_world_change_the_key)
{
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", NULL);
    stage_world_tables(&world);
    const ics_gpu_options options = fixed_options();
    ics_choice_request request = request_for(&options, &world);
    const key_text base = key_of(&request);
    strcpy(request.device.name, "another GPU");
    expect_other_key(&request, base.text, "the name of the device");
    request = request_for(&options, &world);
    request.device.processors = 66;
    expect_other_key(&request, base.text, "the number of processors");

    /* A number of the tables that is in no array. */
    world.options.bounce_limit /= 2;
    stage_world_tables(&world);
    request = request_for(&options, &world);
    expect_other_key(&request, base.text, "the bounce limit");

    stage_world small =
        stage_world_from_config(NULL, "ice.model=uniform", "detector.oversize=5", NULL);
    stage_world_tables(&small);
    request = request_for(&options, &small);
    expect_other_key(&request, base.text, "detector.oversize");
    stage_world_destroy(&small);
    stage_world_destroy(&world);
}
END_TEST

/* Another device of the same kind, another seed, and options that cannot change the speed, find the
 * choice. */
START_TEST(equal_measurements_share_a_choice)
{
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", NULL);
    stage_world_tables(&world);
    ics_gpu_options options = fixed_options();
    ics_choice_request request = request_for(&options, &world);
    const key_text base = key_of(&request);
    options.ordinal = 3;
    options.watchdog = 7;
    options.use_cache = true;
    options.math = ICS_MATH_AUTO; /* fast */
    world.options.seed += ((uint64_t)1 << 32) + 1;
    stage_world_tables(&world);
    request = request_for(&options, &world);
    ck_assert_str_eq(key_of(&request).text, base.text);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(choices_are_remembered)
{
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", NULL);
    stage_world_tables(&world);
    const scratch place = scratch_create();
    char path[4200], cache[SCRATCH_PATH];
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", scratch_path(&place, "cache", cache), 1), 0);
    ics_gpu_options options = fixed_options();
    const ics_choice_request request = request_for(&options, &world);
    ck_assert_int_eq(ics_choice_path(&request, path, sizeof path), -1); /* caches are off */
    options.use_cache = true;
    ck_assert_int_eq(ics_choice_path(&request, path, sizeof path), 0);
    ics_choice_results found = {{0}};
    ck_assert_int_eq(ics_choice_read(path, &found), -1);
    ics_choice_write(path, &(ics_choice_results){{[3] = 0.5, [1] = ICS_CHOICE_IMPOSSIBLE}});
    /* Another process adds a result. */
    ics_choice_write(path, &(ics_choice_results){{[0] = 1.25, [3] = 0.75}});
    ck_assert_int_eq(ics_choice_read(path, &found), 0);
    ck_assert_double_eq(found.nanoseconds[0], 1.25);
    ck_assert_double_eq(found.nanoseconds[1], ICS_CHOICE_IMPOSSIBLE);
    ck_assert_double_eq(found.nanoseconds[2], 0);
    ck_assert_double_eq(found.nanoseconds[3], 0.75);
    static const char damaged[] = "candidate 99 1 ns\ncandidate 1 -5 ns\ncandidate 2 nan ns\n"
                                  "candidate 0\nnothing\ncandidate 3 0.25 ns\ncandidate 0 1 ns";
    scratch_write(path, damaged, sizeof damaged - 1);
    found = (ics_choice_results){{0}};
    ck_assert_int_eq(ics_choice_read(path, &found), 0);
    for (int i = 0; i < ICS_CHOICE_CANDIDATES_MAX; ++i) {
        ck_assert_double_eq(found.nanoseconds[i], i == 3 ? 0.25 : 0);
    }
    scratch_remove(&place);
    stage_world_destroy(&world);
}
END_TEST

/* The number of the first candidate of a schedule. */
static int candidate_of(const ics_choice_request *request, ics_schedule schedule)
{
    ics_gpu_options one;
    for (size_t i = 0; ics_choice_candidate(request, i, &one); ++i) {
        if (one.schedule == schedule) {
            return (int)i;
        }
    }
    ck_abort_msg("schedule %d is no candidate", schedule);
    return -1;
}

/* A thousand steps of 1e7 photons reach a GPU as batches of two or three steps, of which job-queue
 * would give each to one warp. It took 153 ns per photon instead of 0.35. */
START_TEST(numbers_of_steps_rule_out_candidates)
{
    enum { STEPS = 1 << 14 };
    static ice_emission many[STEPS];
    const ice_emission few[] = {{.photons = 10000000}, {.photons = 6777216}};
    for (int i = 0; i < STEPS; ++i) {
        many[i].photons = 1000;
    }
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", NULL);
    stage_world_tables(&world);
    const ics_gpu_options options = {.variants = world_variants()};
    const ics_choice_request request = request_for(&options, &world);
    const int queue = candidate_of(&request, ICS_SCHEDULE_JOB_QUEUE);
    const int first = candidate_of(&request, ICS_SCHEDULE_MONOLITHIC);
    ics_choice_results results = {{0}};
    ck_assert_int_eq(ics_choice_best(&request, &results, many, STEPS), first);
    ck_assert_int_eq(ics_choice_next(&request, &results, many, STEPS), first);
    for (int i = 0; i < ICS_CHOICE_CANDIDATES_MAX; ++i) {
        results.nanoseconds[i] = i == queue ? 0.3 : 0.5 + 0.1 * abs(i - first);
    }
    ck_assert_int_eq(ics_choice_best(&request, &results, many, STEPS), queue);
    ck_assert_int_eq(ics_choice_best(&request, &results, few, COUNT(few)), first);
    ck_assert_int_eq(ics_choice_next(&request, &results, many, STEPS), -1);
    results.nanoseconds[queue] = 0;
    ck_assert_int_eq(ics_choice_next(&request, &results, many, STEPS), queue);
    ck_assert_int_eq(ics_choice_next(&request, &results, few, COUNT(few)), -1);
    results.nanoseconds[first] = ICS_CHOICE_IMPOSSIBLE;
    ck_assert_int_ne(ics_choice_best(&request, &results, few, COUNT(few)), first);
    many[0].photons = 10000000;
    ck_assert_int_eq(ics_choice_next(&request, &results, many, STEPS), -1);
    stage_world_destroy(&world);
}
END_TEST

/* The schedule of a candidate. */
static ics_schedule schedule_of(const ics_choice_request *request, int index)
{
    ics_gpu_options options;
    ck_assert_int_ge(index, 0);
    ck_assert(ics_choice_candidate(request, (size_t)index, &options));
    return options.schedule;
}

/* Without a measurement a choice begins with monolithic, and where bounces in columns of hole ice
 * have a list with warp-wavefront, also in its trials. Cables have no such list. */
START_TEST(a_choice_begins_with_what_suits_the_ice)
{
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", NULL);
    stage_world_tables(&world);
    const ics_gpu_options options = fixed_options();
    const ics_choice_request request = request_for(&options, &world);
    const ics_choice_results nothing = {{0}};
    const ice_emission light = {.photons = 1000};
    const uint32_t features[] = {0, ICE_HAS_HOLES, ICE_HAS_CABLES};
    for (int i = 0; i < 3; ++i) {
        const ics_schedule expected =
            i == 1 ? ICS_SCHEDULE_WARP_WAVEFRONT : ICS_SCHEDULE_MONOLITHIC;
        world.tables->device.features |= features[i];
        ck_assert_int_eq(schedule_of(&request, ics_choice_best(&request, &nothing, &light, 1)),
                         expected);
        ck_assert_int_eq(schedule_of(&request, ics_choice_next(&request, &nothing, &light, 1)),
                         expected);
    }
    stage_world_destroy(&world);
}
END_TEST

/* The settings of graph.tune, for example those of `icestream-lab sweep`, are settings of the
 * candidates: trials measure with them, and what is chosen has them. Kernels without such settings
 * have their defaults. */
START_TEST(candidates_have_the_settings_of_kernels)
{
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", NULL);
    stage_world_tables(&world);
    ics_gpu_options options = fixed_options(), one;
    options.block = options.blocks_per_processor = 0;
    options.tune.kernels[ICS_TUNED_MONOLITHIC] = (ics_kernel_tune){.threads = 192, .registers = 80};
    options.tune.kernels[ICS_TUNED_PROPAGATE] = (ics_kernel_tune){.threads = 96, .blocks = 6};
    const ics_choice_request request = request_for(&options, &world);
    bool seen[ICS_SCHEDULE_COUNT] = {false};
    for (size_t i = 0; ics_choice_candidate(&request, i, &one); ++i) {
        const ics_kernel_tune *kernels = one.tune.kernels;
        seen[one.schedule] = true;
        if (one.schedule == ICS_SCHEDULE_MONOLITHIC) {
            ck_assert_uint_eq(one.block, 192);
            ck_assert_uint_eq(kernels[ICS_TUNED_MONOLITHIC].registers, 80);
            ck_assert_uint_eq(one.blocks_per_processor, ics_tune_fitting_blocks(192, 80));
        } else if (one.schedule == ICS_SCHEDULE_WAVEFRONT) {
            ck_assert_uint_eq(kernels[ICS_TUNED_PROPAGATE].threads, 96);
            ck_assert_uint_eq(kernels[ICS_TUNED_PROPAGATE].blocks, 6);
            ck_assert_uint_eq(kernels[ICS_TUNED_SCATTER].threads, 256);
        }
    }
    ck_assert(seen[ICS_SCHEDULE_MONOLITHIC] && seen[ICS_SCHEDULE_WAVEFRONT]);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("choice")
{
    TCase *tests = tcase_create("choice");
    tcase_add_test(tests, every_option_changes_the_key);
    tcase_add_test(tests, device_and_world_change_the_key);
    tcase_add_test(tests, equal_measurements_share_a_choice);
    tcase_add_test(tests, a_choice_begins_with_what_suits_the_ice);
    tcase_add_test(tests, candidates_have_the_settings_of_kernels);
    tcase_add_test(tests, choices_are_remembered);
    tcase_add_test(tests, numbers_of_steps_rule_out_candidates);
    suite_add_tcase(suite, tests);
}
