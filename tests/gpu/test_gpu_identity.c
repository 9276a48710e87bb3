/* The same light gives identical arrivals and accounts in every schedule, bit for bit, in worlds of
 * all kinds and with every stage variant. In portable maths the CPU gives the same bits, too.
 *
 * How to join: a new schedule joins with its line in graphs/options.h, a new variant in the table
 * `others`, a new feature of the ice with a gpu_place in gpu_light.h.
 *
 * Together with test_gpu_settings.c there are about 1e7 photons at ICESTREAM_GPU_SCALE = 1. */
#include "tests/gpu/gpu_light.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PHOTONS = 60000, LEAST = 2000 };

/* Returns the arrivals that all schedules must give. Fast maths has no counterpart on the CPU:
 * there the expected arrivals are those of schedule monolithic, which must be close to portable
 * maths. */
static world_result expected_of(const stage_world *world, const ice_variants *variants,
                                ics_math math, const gpu_load *load)
{
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_MONOLITHIC, math);
    options.variants = *variants;
    world_result cpu = gpu_cpu_run(world, &options, load->emissions, load->count);
    ck_assert_uint_eq(cpu.account.created, cpu.account.absorbed + cpu.account.detected +
                                               cpu.account.left + cpu.account.stopped);
    if (math == ICS_MATH_PORTABLE) {
        return cpu;
    }
    const world_result fast = gpu_run(world, &options, load);
    const double few = 10.0 + 6.0 * sqrt((double)cpu.account.hits);
    ck_assert_double_eq_tol((double)fast.account.hits, (double)cpu.account.hits, few);
    ck_assert_double_eq_tol((double)fast.account.bounces, (double)cpu.account.bounces,
                            10.0 + 0.01 * (double)cpu.account.bounces);
    world_result_free(&cpu);
    return fast;
}

/* Runs the light through all schedules. */
static void compare_schedules(const stage_world *world, const ice_variants *variants, ics_math math,
                              const gpu_load *load, const char *name)
{
    world_result expected = expected_of(world, variants, math, load);
    printf("%s, %s: %llu photons, %zu arrivals, %llu bounces\n", name, gpu_math_name(math),
           (unsigned long long)expected.account.created, expected.arrivals.count,
           (unsigned long long)expected.account.bounces);
    ck_assert_uint_ge(expected.arrivals.count, expected.account.created / 1000);
    for (size_t i = 0; i < GPU_SCHEDULES; ++i) {
        ics_gpu_options options = gpu_options(gpu_schedules[i], math);
        options.variants = *variants;
        world_result result = gpu_run(world, &options, load);
        char what[128];
        snprintf(what, sizeof what, "%s, %s, %s", name, gpu_math_name(math),
                 ics_graph_schedule_name(gpu_schedules[i]));
        gpu_expect_same(&result, &expected, what);
        world_result_free(&result);
    }
    world_result_free(&expected);
}

START_TEST(schedules_agree)
{
    if (gpu_is_of_another_part(_i)) {
        return;
    }
    const gpu_place place = (gpu_place)(_i / 2);
    stage_world world = gpu_place_create(place);
    const ice_variants variants = world_variants();
    gpu_load load = {0};
    ice_emission *emissions =
        gpu_light_create(GPU_LIGHT_MIXED, gpu_scaled(PHOTONS, LEAST), &load.count);
    load.emissions = emissions;
    compare_schedules(&world, &variants, gpu_maths[_i % 2], &load, gpu_place_name(place));
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(light_of_all_kinds)
{
    if (gpu_is_of_another_part(_i)) {
        return;
    }
    static const uint32_t photons[GPU_LIGHTS] = {PHOTONS, PHOTONS / 3, PHOTONS, 10000, PHOTONS};
    const gpu_light light = (gpu_light)(_i / 2);
    stage_world world = gpu_place_create(GPU_PLACE_DENSE);
    const ice_variants variants = world_variants();
    gpu_load load = {0};
    /* A step has at most 2^24 photons here, because its photon_id starts at 2^32 - 2^24. */
    const uint64_t wanted = gpu_scaled(photons[light], LEAST);
    ice_emission *emissions =
        gpu_light_create(light, wanted < 0x1000000 ? wanted : 0x1000000, &load.count);
    load.emissions = emissions;
    compare_schedules(&world, &variants, gpu_maths[_i % 2], &load, gpu_light_name(light));
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

/* One stage at a time has another variant than the default. */
static const struct {
    const char *name;
    ice_variants variants;
} others[] = {
    {"layer-walk",
     {ICE_create_cherenkov, ICE_propagate_layer_walk, ICE_collide_string_grid, ICE_scatter_hg_sl,
      ICE_compact_partition}},
    {"cell-grid",
     {ICE_create_cherenkov, ICE_propagate_cumulative, ICE_collide_cell_grid, ICE_scatter_hg_sl,
      ICE_compact_partition}},
    {"brute-force",
     {ICE_create_cherenkov, ICE_propagate_cumulative, ICE_collide_brute_force, ICE_scatter_hg_sl,
      ICE_compact_partition}},
    {"hg",
     {ICE_create_cherenkov, ICE_propagate_cumulative, ICE_collide_string_grid, ICE_scatter_hg,
      ICE_compact_partition}},
    {"sl",
     {ICE_create_cherenkov, ICE_propagate_cumulative, ICE_collide_string_grid, ICE_scatter_sl,
      ICE_compact_partition}},
    {"isotropic",
     {ICE_create_cherenkov, ICE_propagate_cumulative, ICE_collide_string_grid,
      ICE_scatter_isotropic, ICE_compact_partition}},
};
enum { OTHERS = sizeof others / sizeof *others };

START_TEST(every_variant)
{
    if (gpu_is_of_another_part(_i)) {
        return;
    }
    const int which = _i / 2;
    stage_world world = gpu_place_create(GPU_PLACE_PLAIN);
    gpu_load load = {0};
    /* Comparing all modules with all segments is slow, most of all on the CPU. */
    const bool slow = others[which].variants.collide == ICE_collide_brute_force;
    const uint64_t few = PHOTONS / 10, wanted = gpu_scaled(PHOTONS / 2, LEAST);
    ice_emission *emissions =
        gpu_light_create(GPU_LIGHT_MIXED, slow && wanted > few ? few : wanted, &load.count);
    load.emissions = emissions;
    compare_schedules(&world, &others[which].variants, gpu_maths[_i % 2], &load,
                      others[which].name);
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

/* The hits are the same, whichever schedule the measurement chooses. */
START_TEST(chosen_schedule)
{
    if (gpu_is_of_another_part(0)) {
        return;
    }
    stage_world world = gpu_place_create(GPU_PLACE_PLAIN);
    gpu_load load = {0};
    ice_emission *emissions =
        gpu_light_create(GPU_LIGHT_MIXED, gpu_scaled(PHOTONS, LEAST), &load.count);
    load.emissions = emissions;
    ics_gpu_options options = gpu_options(ICS_SCHEDULE_AUTO, ICS_MATH_PORTABLE);
    char report[4096] = "";
    icestream_error error = {0};
    /* The second time it comes from the cache. */
    ics_schedule chosen[2];
    for (int i = 0; i < 2; ++i) {
        options = gpu_options(ICS_SCHEDULE_AUTO, ICS_MATH_PORTABLE);
        ck_assert_msg(ics_gpu_choose(&options, world.tables, emissions, (uint32_t)load.count,
                                     report, sizeof report, &error) == 0,
                      "%s", error.text);
        printf("%s\n", report);
        chosen[i] = options.schedule;
    }
    ck_assert_int_ne(chosen[0], ICS_SCHEDULE_AUTO);
    ck_assert_int_eq(chosen[0], chosen[1]);
    ck_assert_uint_gt(options.pool, 0);
    world_result expected = gpu_cpu_run(&world, &options, emissions, load.count);
    world_result result = gpu_run(&world, &options, &load);
    gpu_expect_same(&result, &expected, "chosen schedule");
    world_result_free(&result);
    world_result_free(&expected);
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu identity");
    TCase *tests = tcase_create("identity");
    tcase_add_loop_test(tests, schedules_agree, 0, 2 * GPU_PLACES);
    tcase_add_loop_test(tests, light_of_all_kinds, 0, 2 * GPU_LIGHTS);
    tcase_add_loop_test(tests, every_variant, 0, 2 * OTHERS);
    tcase_add_test(tests, chosen_schedule);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
