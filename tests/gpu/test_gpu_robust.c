/* Problems before or during a run (too little memory, no GPU of this number, and others) give a
 * clear error or a warning, and never other arrivals.
 *
 * How to join: add one test for each new problem. */
#include "tests/gpu/gpu_light.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHOTONS = 20000, LEAST = 2000 };

static void expect_error(const ics_gpu_options *options, const stage_world *world, int status,
                         const char *word)
{
    icestream_error error = {0};
    ics_gpu *gpu = (void *)&error; /* ics_gpu_create() must set it to NULL */
    const int found = ics_gpu_create(options, world->tables, &gpu, &error);
    printf("%s\n", error.text);
    ck_assert_int_eq(found, status);
    ck_assert_int_eq(error.status, status);
    ck_assert_ptr_null(gpu);
    ck_assert_msg(strstr(error.text, word) != NULL, "no \"%s\" in: %s", word, error.text);
}

static uint64_t bytes_of(ics_gpu *gpu)
{
    ics_gpu_usage usage;
    ics_gpu_usage_of(gpu, &usage);
    return usage.device_bytes;
}

START_TEST(pool_shrinks)
{
    stage_world world = gpu_place_create(GPU_PLACE_DENSE);
    gpu_load load = {0};
    ice_emission *emissions =
        gpu_light_create(GPU_LIGHT_MIXED, gpu_scaled(PHOTONS, LEAST), &load.count);
    load.emissions = emissions;
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_EVENT_WAVEFRONT, ICS_MATH_PORTABLE);
    options.lanes = 1;
    options.hits = 1 << 12;
    options.batch_photons = 1 << 16;
    options.batch_emissions = 1 << 10;
    options.pool = 1 << 22;
    ics_gpu *gpu = gpu_create(&world, &options);
    const uint64_t full = bytes_of(gpu);
    ck_assert_uint_gt(full, (uint64_t)(1 << 22) * 48);
    ck_assert_str_eq(ics_gpu_warnings(gpu), "");
    ics_gpu_destroy(gpu);

    options.memory_limit = full / 4;
    gpu = gpu_create(&world, &options);
    printf("%s\n", ics_gpu_warnings(gpu));
    ck_assert_ptr_nonnull(strstr(ics_gpu_warnings(gpu), "pool"));
    ck_assert_uint_lt(ics_gpu_options_of(gpu)->pool, 1 << 22);
    ck_assert_uint_gt(ics_gpu_options_of(gpu)->pool, 0);
    ck_assert_uint_le(bytes_of(gpu), options.memory_limit);
    world_result result = gpu_carry(gpu, &load);
    world_result expected = gpu_cpu_run(&world, &options, emissions, load.count);
    gpu_expect_same(&result, &expected, "shrunk pool");
    ics_gpu_destroy(gpu);

    options.memory_limit = 1 << 20;
    expect_error(&options, &world, ICESTREAM_E_MEMORY, "memory");
    world_result_free(&result);
    world_result_free(&expected);
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(host_runs_loops_that_the_driver_does_not)
{
    stage_world world = gpu_place_create(GPU_PLACE_DENSE);
    gpu_load load = {0};
    ice_emission *emissions =
        gpu_light_create(GPU_LIGHT_MIXED, gpu_scaled(PHOTONS, LEAST), &load.count);
    load.emissions = emissions;
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_WAVEFRONT, ICS_MATH_PORTABLE);
    options.host_loop = false;
    const char *usual = getenv("ICESTREAM_GPU_HOST_LOOP");
    setenv("ICESTREAM_GPU_HOST_LOOP", "fallback", 1);
    ics_gpu *gpu = gpu_create(&world, &options);
    printf("%s\n", ics_gpu_warnings(gpu));
    ck_assert_ptr_nonnull(strstr(ics_gpu_warnings(gpu), "the host runs the loops"));
    ck_assert(ics_gpu_options_of(gpu)->host_loop);
    world_result result = gpu_carry(gpu, &load);
    world_result expected = gpu_cpu_run(&world, &options, emissions, load.count);
    gpu_expect_same(&result, &expected, "a loop on the host");
    ics_gpu_destroy(gpu);

    /* It is said once. */
    gpu = gpu_create(&world, &options);
    ck_assert_str_eq(ics_gpu_warnings(gpu), "");
    ck_assert(ics_gpu_options_of(gpu)->host_loop);
    ics_gpu_destroy(gpu);

    /* The driver of this machine runs loops. */
    unsetenv("ICESTREAM_GPU_HOST_LOOP");
    gpu = gpu_create(&world, &options);
    ck_assert(!ics_gpu_options_of(gpu)->host_loop);
    ics_gpu_destroy(gpu);
    if (usual != NULL) {
        setenv("ICESTREAM_GPU_HOST_LOOP", "1", 1);
    }
    world_result_free(&result);
    world_result_free(&expected);
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(no_such_device)
{
    stage_world world = gpu_place_create(GPU_PLACE_UNIFORM);
    icestream_error error = {0};
    const int count = ics_gpu_count(&error);
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, ICS_MATH_FAST);
    ics_gpu_device device;
    char number[16];
    for (int i = 0; i < 2; ++i) {
        options.ordinal = i ? -1 : count;
        snprintf(number, sizeof number, "%d", options.ordinal);
        expect_error(&options, &world, ICESTREAM_E_DEVICE, number);
        ck_assert_int_eq(ics_gpu_describe(options.ordinal, &device, &error), ICESTREAM_E_DEVICE);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(device_describes_itself)
{
    icestream_error error = {0};
    ics_gpu_device device;
    ck_assert_msg(ics_gpu_describe(0, &device, &error) == 0, "%s", error.text);
    printf("%s, sm_%d, %d processors, driver %d, %.1f of %.1f GB free\n", device.name,
           device.architecture, device.processors, device.driver, 1e-9 * (double)device.memory_free,
           1e-9 * (double)device.memory_bytes);
    ck_assert_uint_gt(strlen(device.name), 0);
    ck_assert_int_ge(device.architecture, ICS_GPU_OLDEST);
    ck_assert_int_gt(device.processors, 0);
    ck_assert_int_ge(device.driver, 12000);
    ck_assert_uint_gt(device.memory_bytes, (uint64_t)1 << 30);
    ck_assert_uint_le(device.memory_free, device.memory_bytes);
}
END_TEST

START_TEST(schedule_has_to_be_chosen)
{
    stage_world world = gpu_place_create(GPU_PLACE_UNIFORM);
    const ics_gpu_options options = gpu_options(ICS_SCHEDULE_AUTO, ICS_MATH_FAST);
    icestream_error error = {0};
    ics_gpu *gpu = NULL;
    ck_assert_int_lt(ics_gpu_create(&options, world.tables, &gpu, &error), 0);
    ck_assert_ptr_null(gpu);
    ck_assert_uint_gt(strlen(error.text), 0);
    stage_world_destroy(&world);
}
END_TEST

/* A GPU is destroyed while it computes. The next GPU works as if nothing had happened. */
START_TEST(destroyed_while_it_computes)
{
    stage_world world = gpu_place_create(GPU_PLACE_DENSE);
    gpu_load load = {0};
    ice_emission *emissions =
        gpu_light_create(GPU_LIGHT_SINGLE, gpu_scaled(PHOTONS, LEAST), &load.count);
    load.emissions = emissions;
    ics_gpu_options options = gpu_options(gpu_schedules[_i], ICS_MATH_PORTABLE);
    options.hits = 64;
    ics_gpu_destroy(NULL);
    ics_gpu_destroy(gpu_create(&world, &options));
    ics_gpu *gpu = gpu_create(&world, &options);
    icestream_error error = {0};
    const uint32_t most = ics_gpu_options_of(gpu)->batch_emissions;
    const uint32_t count = load.count < most ? (uint32_t)load.count : most;
    for (uint32_t i = 0; i < ics_gpu_credits(gpu); ++i) {
        ck_assert_msg(ics_gpu_submit(gpu, emissions, NULL, count, &load, &error) == 0, "%s",
                      error.text);
        ck_assert_msg(ics_gpu_advance(gpu, &error) == 0, "%s", error.text);
    }
    ics_gpu_destroy(gpu);
    world_result result = gpu_run(&world, &options, &load);
    world_result expected = gpu_cpu_run(&world, &options, emissions, load.count);
    gpu_expect_same(&result, &expected, ics_graph_schedule_name(gpu_schedules[_i]));
    world_result_free(&result);
    world_result_free(&expected);
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

/* ics_gpu_on_event() calls this from any thread. */
static void count_event(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

START_TEST(reports_progress)
{
    stage_world world = gpu_place_create(GPU_PLACE_DENSE);
    gpu_load load = {.batch_photons = 1000};
    ice_emission *emissions =
        gpu_light_create(GPU_LIGHT_MIXED, gpu_scaled(PHOTONS, LEAST), &load.count);
    load.emissions = emissions;
    const ics_gpu_options options = gpu_options(gpu_schedules[_i], ICS_MATH_FAST);
    ics_gpu *gpu = gpu_create(&world, &options);
    atomic_int events = 0;
    ics_gpu_on_event(gpu, count_event, &events);
    world_result result = gpu_carry(gpu, &load);
    ics_gpu_usage usage;
    ics_gpu_usage_of(gpu, &usage);
    printf("%s: %d events, %llu launches, %llu waves, %.3g s\n",
           ics_graph_schedule_name(gpu_schedules[_i]), atomic_load(&events),
           (unsigned long long)usage.launches, (unsigned long long)usage.waves, usage.seconds);
    ck_assert_int_gt(atomic_load(&events), 0);
    ck_assert_uint_gt(usage.launches, 0);
    ck_assert_double_gt(usage.seconds, 0.0);
    ck_assert_double_lt(usage.seconds, 1000.0);
    ics_gpu_destroy(gpu);
    world_result_free(&result);
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu robust");
    TCase *tests = tcase_create("robust");
    tcase_add_test(tests, pool_shrinks);
    tcase_add_test(tests, host_runs_loops_that_the_driver_does_not);
    tcase_add_test(tests, no_such_device);
    tcase_add_test(tests, device_describes_itself);
    tcase_add_test(tests, schedule_has_to_be_chosen);
    tcase_add_loop_test(tests, destroyed_while_it_computes, 0, GPU_SCHEDULES);
    tcase_add_loop_test(tests, reports_progress, 0, GPU_SCHEDULES);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
