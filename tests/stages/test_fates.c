/* How photons end: on modules, at the boundaries of the world and at the bounce limit.
 * tests/propagation has those that the ice absorbs.
 * Every world runs through both schedules of the CPU, which must agree.
 *
 * How to join: a new way to end joins with one test that calls run(). */
#include "graphs/graph.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>

static const ics_schedule schedules[] = {ICS_SCHEDULE_WAVEFRONT, ICS_SCHEDULE_MONOLITHIC};

/* Makes light from one point in one direction: spectrum 1 of world_light_line(). */
static ice_emission beam(double x, double y, double z, double dx, double dy, double dz,
                         uint32_t photons)
{
    const ice_emission emission = {.x = (float)x,
                                   .y = (float)y,
                                   .z = (float)z,
                                   .dx = (float)dx,
                                   .dy = (float)dy,
                                   .dz = (float)dz,
                                   .beta = 1.0f,
                                   .event_low = 1,
                                   .photons = photons,
                                   .spectrum = 1};
    return emission;
}

/* Makes ice with almost no scattering and absorption, so that light flies straight. */
static ice_medium *clear_ice(void)
{
    return world_medium_uniform(1e7, 0.9, 0.35, 1e7);
}

/* Runs one emission. Fails unless both schedules agree and the photon account closes. */
static world_result run(stage_world *world, ice_emission emission)
{
    const ice_variants variants = world_variants();
    stage_world_tables(world);
    world_result results[2];
    for (int i = 0; i < 2; ++i) {
        results[i] = world_run(world, schedules[i], &variants, "auto", 0, &emission, 1);
        const ice_account *a = &results[i].account;
        ck_assert_uint_eq(a->created, emission.photons);
        ck_assert_uint_eq(a->created, a->absorbed + a->detected + a->left + a->stopped);
        ck_assert_uint_eq(a->hits, results[i].arrivals.count);
    }
    ck_assert_mem_eq(&results[0].account, &results[1].account, sizeof results[0].account);
    if (results[0].arrivals.count) {
        ck_assert_mem_eq(results[0].arrivals.items, results[1].arrivals.items,
                         results[0].arrivals.count * sizeof(ice_arrival));
    }
    world_result_free(&results[1]);
    return results[0];
}

/* ---- modules --------------------------------------------------------------------------------- */

static const double three_in_line[3][3] = {{20, 0, 0}, {40, 0.1, 0}, {60, 0, 0.1}};

START_TEST(light_stops_at_the_first_module)
{
    stage_world world = stage_world_create(clear_ice(), world_detector(three_in_line, 3, 1.0),
                                           world_light_line(400.0));
    world_result result = run(&world, beam(0, 0, 0, 1, 0, 0, 100));
    ck_assert_uint_eq(result.account.detected, 100);
    ck_assert_uint_eq(result.arrivals.count, 100);
    for (size_t i = 0; i < 100; ++i) {
        const ice_arrival *arrival = &result.arrivals.items[i];
        ck_assert_uint_eq(arrival->module, 0);
        ck_assert_uint_eq(arrival->photon_id, i);
        ck_assert_uint_eq(arrival->scatters, 0);
        ck_assert_double_eq_tol(arrival->path, 20.0 - 0.1651, 1e-4);
        ck_assert_double_eq_tol(arrival->x, -0.1651, 1e-6);
        ck_assert(arrival->wavelength == 400.0f);
    }
    world_result_free(&result);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(light_that_continues_hits_every_module_once)
{
    stage_world world = stage_world_create(clear_ice(), world_detector(three_in_line, 3, 5.0),
                                           world_light_line(400.0));
    world.detector->keep_hit_photons = true;
    world.options.reach_cull = false;
    world_result result = run(&world, beam(0, 0, 0, 1, 0, 0, 50));
    ck_assert_uint_eq(result.account.detected, 0);
    ck_assert_uint_eq(result.account.hits, 150);
    ck_assert_uint_eq(result.account.absorbed + result.account.left + result.account.stopped, 50);
    for (size_t i = 0; i < 150; ++i) {
        const ice_arrival *arrival = &result.arrivals.items[i];
        ck_assert_uint_eq(arrival->photon_id, i / 3);
        ck_assert_uint_eq(arrival->module, i % 3);
        ck_assert_double_eq_tol(arrival->path, 20.0 * (double)(i % 3 + 1), 0.2);
    }
    world_result_free(&result);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(excluded_modules_absorb_at_their_true_size)
{
    /* The first module is excluded. Light flies through its centre, and past it at a distance of
     * three radii. */
    stage_world world = stage_world_create(clear_ice(), world_detector(three_in_line, 3, 5.0),
                                           world_light_line(400.0));
    world.detector->modules[0].absorbs = true;
    for (int keep = 0; keep < 2; ++keep) {
        world.detector->keep_hit_photons = keep;
        world_result result = run(&world, beam(0, 0, 0, 1, 0, 0, 20));
        ck_assert_uint_eq(result.arrivals.count, 0);
        ck_assert_uint_eq(result.account.absorbed, 20);
        world_result_free(&result);
    }
    world.detector->keep_hit_photons = false;
    world_result result = run(&world, beam(0, 0.5, 0, 1, 0, 0, 20));
    ck_assert_uint_eq(result.arrivals.count, 20);
    for (size_t i = 0; i < 20; ++i) {
        ck_assert_uint_eq(result.arrivals.items[i].module, 1);
    }
    world_result_free(&result);
    /* Light flies just inside and just outside the true radius of 0.1651 m. */
    result = run(&world, beam(0, 0.164, 0, 1, 0, 0, 20));
    ck_assert_uint_eq(result.account.absorbed, 20);
    world_result_free(&result);
    result = run(&world, beam(0, 0.166, 0, 1, 0, 0, 20));
    ck_assert_uint_eq(result.account.detected, 20);
    world_result_free(&result);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(hits_before_an_excluded_module_count)
{
    stage_world world = stage_world_create(clear_ice(), world_detector(three_in_line, 3, 5.0),
                                           world_light_line(400.0));
    world.detector->modules[1].absorbs = true;
    world.detector->keep_hit_photons = true;
    world_result result = run(&world, beam(0, 0, 0, 1, 0, 0, 20));
    ck_assert_uint_eq(result.account.hits, 20);
    ck_assert_uint_eq(result.account.absorbed, 20);
    world_result_free(&result);
    stage_world_destroy(&world);
}
END_TEST

/* ---- limits ---------------------------------------------------------------------------------- */

START_TEST(the_bounce_limit_stops)
{
    stage_world world = stage_world_create(world_medium_uniform(0.1, 0.9, 0.35, 1e6),
                                           world_detector_far(), world_light_line(400.0));
    world.options.reach_cull = false;
    static const uint32_t limits[] = {1, 2, 50};
    for (size_t i = 0; i < 3; ++i) {
        world.options.bounce_limit = limits[i];
        world_result result = run(&world, beam(0, 0, 0, 0, 0, 1, 300));
        ck_assert_uint_ge(result.account.stopped, 299); /* 0.1 m of 1e6 m: 3e-5 are absorbed */
        ck_assert_uint_le(result.account.bounces, UINT64_C(300) * limits[i]);
        ck_assert_uint_ge(result.account.bounces, UINT64_C(299) * limits[i]);
        world_result_free(&result);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(boundaries_end_the_world)
{
    static const double below[1][3] = {{0, 0, -30}}, above[1][3] = {{0, 0, 80}};
    static const struct {
        const double (*module)[3];
        double z, dz;
        bool hit;
    } rows[] = {
        {above, 0.0, 1.0, false},  /* the module is beyond the ceiling at 50 m */
        {below, 0.0, -1.0, true},  /* this module is above the floor at -60 m */
        {below, 0.0, 1.0, false},  /* away from the module, through the ceiling */
        {above, 60.0, 1.0, false}, /* starts outside the world: it has left */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        stage_world world = stage_world_create(clear_ice(), world_detector(rows[i].module, 1, 1.0),
                                               world_light_line(400.0));
        world.medium->absorb_above = 50.0;
        world.medium->absorb_below = -60.0;
        world.options.reach_cull = false;
        world_result result = run(&world, beam(0, 0, rows[i].z, 0, 0, rows[i].dz, 100));
        ck_assert_uint_eq(result.account.detected, rows[i].hit ? 100 : 0);
        ck_assert_uint_eq(result.account.left, rows[i].hit ? 0 : 100);
        world_result_free(&result);
        stage_world_destroy(&world);
    }
}
END_TEST

START_TEST(light_from_below_the_floor_has_left)
{
    /* Light flies horizontally and downwards. A module is in its way, and must not be reached. */
    static const double at[1][3] = {{5, 0, -100}};
    for (int keep = 0; keep < 2; ++keep) {
        stage_world world =
            stage_world_create(clear_ice(), world_detector(at, 1, 1.0), world_light_line(400.0));
        world.medium->absorb_below = -60.0;
        world.detector->keep_hit_photons = keep;
        world_result result = run(&world, beam(0, 0, -100, 1, 0, 0, 10));
        ck_assert_uint_eq(result.account.left, 10);
        ck_assert_uint_eq(result.arrivals.count, 0);
        world_result_free(&result);
        result = run(&world, beam(5, 0, -90, 0, 0, -1, 10));
        ck_assert_uint_eq(result.account.left, 10);
        ck_assert_uint_eq(result.arrivals.count, 0);
        world_result_free(&result);
        stage_world_destroy(&world);
    }
}
END_TEST

START_TEST(boundaries_cut_the_path)
{
    /* Light scatters in a slab of 20 m: every photon leaves, none is lost, and hits are inside. */
    static const double at[4][3] = {{3, 0, 0}, {0, 4, 5}, {2, 2, 9.9}, {-3, 1, 12}};
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 1e5),
                                           world_detector(at, 4, 1.0), world_light_line(400.0));
    world.medium->absorb_above = 10.0;
    world.medium->absorb_below = -10.0;
    world.options.reach_cull = false;
    const uint32_t n = (uint32_t)test_scaled(100000);
    ice_emission emission = beam(0, 0, 0, 0, 0, 1, n);
    emission.flags = ICE_EMISSION_ISOTROPIC;
    world_result result = run(&world, emission);
    ck_assert_uint_gt(result.account.left, n / 2);
    ck_assert_uint_gt(result.arrivals.count, 0);
    for (size_t i = 0; i < result.arrivals.count; ++i) {
        const ice_arrival *arrival = &result.arrivals.items[i];
        ck_assert_uint_ne(arrival->module, 3);
        ck_assert_double_le(at[arrival->module][2] + (double)arrival->z, 10.0 + 1e-5);
    }
    world_result_free(&result);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("fates")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, light_stops_at_the_first_module);
    tcase_add_test(all, light_that_continues_hits_every_module_once);
    tcase_add_test(all, excluded_modules_absorb_at_their_true_size);
    tcase_add_test(all, hits_before_an_excluded_module_count);
    tcase_add_test(all, the_bounce_limit_stops);
    tcase_add_test(all, boundaries_end_the_world);
    tcase_add_test(all, light_from_below_the_floor_has_left);
    tcase_add_test(all, boundaries_cut_the_path);
    suite_add_tcase(suite, all);
}
