/* A stage header of the user on the GPU, without a rebuild. The shipped Rayleigh scattering runs in
 * every schedule and both maths, in portable maths with the same bits as on the CPU. A copy of a
 * built-in stage gives the same hits as the built-in stage. Errors name the user's file and line.
 *
 * How to join: a new stage joins in copies_of_built_in_stages. */
#include "tests/gpu/gpu_light.h"
#include "tests/support/scratch_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAYLEIGH ICS_SOURCE_DIRECTORY "/configs/stages/rayleigh.h"

enum { PHOTONS = 60000, LEAST = 2000 };

static ice_emission *make_light(gpu_load *load)
{
    ice_emission *emissions =
        gpu_light_create(GPU_LIGHT_MIXED, gpu_scaled(PHOTONS, LEAST), &load->count);
    load->emissions = emissions;
    return emissions;
}

START_TEST(rayleigh_in_every_schedule)
{
    const ics_math math = gpu_maths[_i];
    stage_world world = gpu_place_create(GPU_PLACE_DENSE);
    gpu_load load = {0};
    ice_emission *emissions = make_light(&load);
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, math);
    world_result ordinary = gpu_run(&world, &options, &load);
    options.custom[ICS_STAGE_SCATTER] = RAYLEIGH;
    world_result cpu = gpu_cpu_run(&world, &options, emissions, load.count);
    world_result expected = math == ICS_MATH_PORTABLE ? cpu : gpu_run(&world, &options, &load);
    printf("Rayleigh, %s: %zu arrivals, %llu bounces; without it %zu\n", gpu_math_name(math),
           expected.arrivals.count, (unsigned long long)expected.account.bounces,
           ordinary.arrivals.count);
    ck_assert_uint_gt(expected.arrivals.count, 100);
    ck_assert_uint_ne(expected.account.bounces, ordinary.account.bounces);
    ck_assert_double_eq_tol((double)expected.account.hits, (double)cpu.account.hits,
                            10.0 + 6.0 * sqrt((double)cpu.account.hits));
    for (size_t i = 0; i < GPU_SCHEDULES; ++i) {
        options.schedule = gpu_schedules[i];
        world_result result = gpu_run(&world, &options, &load);
        gpu_expect_same(&result, &expected, ics_graph_schedule_name(gpu_schedules[i]));
        world_result_free(&result);
    }
    if (math != ICS_MATH_PORTABLE) {
        world_result_free(&expected);
    }
    world_result_free(&cpu);
    world_result_free(&ordinary);
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

static const char copied_scatter[] =
    "#include \"stages/scatter_hg_sl.h\"\n"
    "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
    "{\n"
    "    return ice_scatter_hg_sl(constants, u);\n"
    "}\n";
static const char copied_propagate[] =
    "#include \"stages/propagate_cumulative.h\"\n"
    "ICE_FN ice_segment ice_propagate_custom(const ice_tables *tables, ice_segment_start start)\n"
    "{\n"
    "    return ice_propagate_cumulative(tables, start);\n"
    "}\n";

START_TEST(copies_of_built_in_stages)
{
    const ics_math math = gpu_maths[_i];
    const scratch place = scratch_create();
    char scatter[SCRATCH_PATH], propagate[SCRATCH_PATH];
    scratch_write(scratch_path(&place, "scatter.h", scatter), copied_scatter,
                  strlen(copied_scatter));
    scratch_write(scratch_path(&place, "propagate.h", propagate), copied_propagate,
                  strlen(copied_propagate));
    stage_world world = gpu_place_create(GPU_PLACE_DENSE);
    gpu_load load = {0};
    ice_emission *emissions = make_light(&load);
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, math);
    world_result expected = gpu_run(&world, &options, &load);
    options.custom[ICS_STAGE_SCATTER] = scatter;
    options.custom[ICS_STAGE_PROPAGATE] = propagate;
    for (size_t i = 0; i < GPU_SCHEDULES; ++i) {
        options.schedule = gpu_schedules[i];
        world_result result = gpu_run(&world, &options, &load);
        gpu_expect_same(&result, &expected, ics_graph_schedule_name(gpu_schedules[i]));
        world_result_free(&result);
    }
    world_result_free(&expected);
    free(emissions);
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

static const char mistake[] =
    "#include \"stages/scatter_hg_sl.h\"\n"
    "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
    "{\n"
    "    return u + not_there;\n"
    "}\n";

START_TEST(mistakes)
{
    const scratch place = scratch_create();
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(&place, "broken_scatter.h", path), mistake, strlen(mistake));
    stage_world world = gpu_place_create(GPU_PLACE_UNIFORM);
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_FUSED, ICS_MATH_FAST);
    options.custom[ICS_STAGE_SCATTER] = path;
    icestream_error error = {0};
    ics_gpu *gpu = NULL;
    ck_assert_int_lt(ics_gpu_create(&options, world.tables, &gpu, &error), 0);
    ck_assert_ptr_null(gpu);
    printf("%s\n", error.text);
    ck_assert(strstr(error.text, "broken_scatter.h(4)") ||
              strstr(error.text, "broken_scatter.h:4"));
    ck_assert_ptr_nonnull(strstr(error.text, "not_there"));

    options.custom[ICS_STAGE_SCATTER] = "/nowhere/scatter.h";
    ck_assert_int_lt(ics_gpu_create(&options, world.tables, &gpu, &error), 0);
    ck_assert_ptr_null(gpu);
    ck_assert_ptr_nonnull(strstr(error.text, "/nowhere/scatter.h"));
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu custom");
    TCase *tests = tcase_create("custom");
    tcase_add_loop_test(tests, rayleigh_in_every_schedule, 0, 2);
    tcase_add_loop_test(tests, copies_of_built_in_stages, 0, 2);
    tcase_add_test(tests, mistakes);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
