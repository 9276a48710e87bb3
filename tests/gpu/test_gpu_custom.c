/* A stage header of the user on the GPU, without a rebuild. The shipped Rayleigh scattering runs in
 * every schedule and both maths, in portable maths with the same bits as on the CPU. A copy of a
 * built-in stage gives the same hits as the built-in stage. Errors name the user's file and line. A
 * header decides about every segment. The examples of docs/stages.md run in every schedule. Checks
 * change no hit, and a value that a stage must not return ends the work with an error.
 *
 * How to join: a new stage joins in copies_of_built_in_stages, a new example in `examples`. */
#include "base/error.h"
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
    world.tables->device.reach_cull = 0; /* with a header for propagate no photon is dropped */
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

/* ---- contracts ------------------------------------------------------------------------------- */

/* The examples of docs/stages.md. */
static const char *const examples[ICS_STAGES] = {
    [ICS_STAGE_CREATE] = ICS_SOURCE_DIRECTORY "/configs/stages/lambertian.h",
    [ICS_STAGE_PROPAGATE] = ICS_SOURCE_DIRECTORY "/configs/stages/clear.h",
    [ICS_STAGE_COLLIDE] = ICS_SOURCE_DIRECTORY "/configs/stages/upward.h",
    [ICS_STAGE_SCATTER] = RAYLEIGH,
};

/* All examples together, with and without checks, in every schedule: nothing is absorbed but
 * photons that have an absorption depth below ICE_ABSORPTION_END from the start (0.6 expected),
 * nothing is dropped, and in portable maths the hits are those of the CPU. */
START_TEST(examples_in_every_schedule)
{
    const ics_math math = gpu_maths[_i];
    stage_world world = gpu_place_create(GPU_PLACE_DENSE);
    world.tables->device.bounce_limit = 200;
    gpu_load load = {0};
    ice_emission *emissions = make_light(&load);
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, math);
    memcpy(options.custom, examples, sizeof options.custom);
    world_result cpu = gpu_cpu_run(&world, &options, emissions, load.count);
    world_result expected = math == ICS_MATH_PORTABLE ? cpu : gpu_run(&world, &options, &load);
    ck_assert_uint_gt(expected.arrivals.count, 100);
    ck_assert_uint_le(expected.account.absorbed, 6);
    ck_assert_uint_eq(expected.account.left, 0);
    for (size_t i = 0; i < 2 * GPU_SCHEDULES; ++i) {
        options.schedule = gpu_schedules[i / 2];
        options.check = i % 2 == 1;
        world_result result = gpu_run(&world, &options, &load);
        gpu_expect_same(&result, &expected, ics_graph_schedule_name(options.schedule));
        world_result_free(&result);
    }
    if (math != ICS_MATH_PORTABLE) {
        world_result_free(&expected);
    }
    world_result_free(&cpu);
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

/* Headers that return what they must not. */
static const struct {
    ics_stage stage;
    const char *name, *text, *found;
} faulty[] = {
    {ICS_STAGE_SCATTER, "nan_scatter.h",
     "#include \"stages/tables.h\"\n"
     "ICE_FN float ice_scatter_custom(const ice_scatter_constants *c, float u)\n"
     "{ return (c->g - c->g) / (u - u); }\n",
     "stages.scatter: device.check: found nan as 1 - cos of the scattering angle for u "},
    {ICS_STAGE_PROPAGATE, "back_propagate.h",
     "#include \"stages/segment.h\"\n"
     "ICE_FN ice_segment ice_propagate_custom(const ice_tables *t, ice_segment_start start)\n"
     "{ const ice_segment s = {-2.0f, start.absorption}; return s; }\n",
     "stages.propagate: device.check: found -2 as the length of the segment for z "},
    {ICS_STAGE_COLLIDE, "far_collide.h",
     "#include \"stages/contact.h\"\n"
     "ICE_FN ice_contact ice_collide_custom(const ice_tables *t, const ice_contact_search *s)\n"
     "{ const ice_contact c = {0.0f, t->module_count}; return c; }\n",
     "as the index of the module for a start at ("},
    {ICS_STAGE_CREATE, "long_create.h",
     "#include \"stages/create_cherenkov.h\"\n"
     "ICE_FN ice_photon ice_create_custom(const ice_tables *t, const ice_emission *e,\n"
     "                                    uint32_t index, uint32_t id)\n"
     "{ ice_photon p = ice_create_cherenkov(t, e, index, id); p.dz = 2.0f; return p; }\n",
     "stages.create: device.check: found 2"},
};
enum { FAULTY = sizeof faulty / sizeof *faulty };

/* Computes the light until an error. Returns the status. */
static int run_until_error(ics_gpu *gpu, const gpu_load *load, icestream_error *error)
{
    ICS_TRY(ics_gpu_submit(gpu, load->emissions, NULL, load->count, NULL, error));
    for (ics_gpu_result result; !ics_gpu_take(gpu, &result);) {
        ICS_TRY(ics_gpu_advance(gpu, error));
        ics_gpu_wait(gpu, 0.1);
    }
    return ICESTREAM_OK;
}

START_TEST(faults_end_the_work)
{
    const scratch place = scratch_create();
    stage_world world = gpu_place_create(GPU_PLACE_UNIFORM);
    gpu_load load = {0};
    ice_emission *emissions = gpu_light_create(GPU_LIGHT_MIXED, LEAST, &load.count);
    load.emissions = emissions;
    for (size_t i = 0; i < FAULTY * GPU_SCHEDULES; ++i) {
        const size_t one = i / GPU_SCHEDULES;
        char path[SCRATCH_PATH];
        scratch_write(scratch_path(&place, faulty[one].name, path), faulty[one].text,
                      strlen(faulty[one].text));
        ics_gpu_options options = gpu_options(gpu_schedules[i % GPU_SCHEDULES], gpu_maths[i % 2]);
        options.custom[faulty[one].stage] = path;
        options.check = true;
        icestream_error error = {0};
        ics_gpu *gpu = NULL;
        ck_assert_msg(ics_gpu_create(&options, world.tables, &gpu, &error) == ICESTREAM_OK, "%s",
                      error.text);
        ck_assert_int_eq(run_until_error(gpu, &load, &error), ICESTREAM_E_CONFIG);
        ck_assert_msg(strstr(error.text, faulty[one].name) != NULL &&
                          strstr(error.text, faulty[one].found) != NULL,
                      "%s: %s", faulty[one].name, error.text);
        ics_gpu_destroy(gpu);
    }
    free(emissions);
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

/* ---- mistakes -------------------------------------------------------------------------------- */

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
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_EVENT_WAVEFRONT, ICS_MATH_FAST);
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
    tcase_add_loop_test(tests, examples_in_every_schedule, 0, 2);
    tcase_add_test(tests, faults_end_the_work);
    tcase_add_test(tests, mistakes);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
