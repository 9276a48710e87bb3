/* Hole ice: segments through columns have the worked lengths of physics.md 8.7, a column of the
 * same ice changes nothing, and no column of a long row is left out.
 *
 * How to join: add one test for each new property of a column. */
#include "tests/stages/feature_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>

/* Makes a string at the origin with a column of 1 m radius, in ice of one layer. `scattering` and
 * `absorption` are the lengths (m) in the column. */
static stage_world world_with_hole(double scattering, double absorption)
{
    static const double module[1][3] = {{0, 0, 0}};
    ice_medium *medium = world_medium_uniform(2.5, 0.9, 0.35, 100.0);
    medium->hole = (ice_hole){.radius = 1.0,
                              .effective_scattering = scattering / (1.0 - 0.9),
                              .absorption = absorption,
                              .mean_cosine = 0.9,
                              .liu_fraction = 0.35};
    return stage_world_create(medium, world_detector(module, 1, 1.0), world_light_line(400.0));
}

static ice_segment fly(const ice_tables *tables, float x, ice_direction n, float scattering,
                       float absorption)
{
    const ice_segment_start start = {5.0f, n.z, scattering, absorption,
                                     ice_optics_at(tables, 400.0f)};
    return feature_segment(tables, start, x, 0.0f, n, 0.0f);
}

START_TEST(worked_crossings)
{
    /* Ice: 0.4 scatters per metre, 0.01 absorptions; hole: 2 and 0.05. */
    stage_world world = world_with_hole(0.5, 20.0);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_direction forward = {1, 0, 0}, up = {0, 0, 1}, aslant = {0.6f, 0, 0.8f};
    /* From 5 m before the axis: 4 m of ice are a scattering depth of 1.6, 2 m of column one of 4,
     * and ice follows again. */
    ck_assert_double_eq_tol(fly(tables, -5, forward, 1.0f, 9).length, 2.5, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 2.6f, 9).length, 4.5, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 6.0f, 9).length, 7.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 6.0f, 9).absorption, 9 - 0.04 - 0.1 - 0.01,
                            1e-5);
    /* Absorption: 0.04 on the way to the column, 0.1 in it. */
    ck_assert_double_eq_tol(fly(tables, -5, forward, 99, 0.03f).length, 3.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 99, 0.09f).length, 5.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, -5, forward, 99, 0.15f).length, 7.0, 1e-4);
    ck_assert_float_eq(fly(tables, -5, forward, 99, 0.15f).absorption, 0.0f);
    /* From inside the column, and along the axis, where a photon never leaves the column. */
    ck_assert_double_eq_tol(fly(tables, 0, forward, 2.4f, 9).length, 2.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, 0.9f, up, 8.0f, 9).length, 4.0, 1e-5);
    ck_assert_double_eq_tol(fly(tables, 1.1f, up, 8.0f, 9).length, 20.0, 1e-5);
    /* A slanted segment is longer in the column: 2 / 0.6 m. */
    ck_assert_double_eq_tol(fly(tables, -4, aslant, 2.0f + 2.0f, 9).length, 6.0, 1e-5);
    /* A segment that misses the column. */
    const ice_direction past = {1, 0, 0};
    const ice_segment_start start = {5.0f, 0, 1.6f, 9, ice_optics_at(tables, 400.0f)};
    ck_assert_double_eq_tol(feature_segment(tables, start, -5.0f, 1.01f, past, 0.0f).length, 4.0,
                            1e-5);
    ck_assert(ice_in_hole(tables, 0.7f, 0.7f));
    ck_assert(!ice_in_hole(tables, 0.72f, 0.72f));
    ck_assert(!ice_in_hole(tables, 300.0f, 0.0f));
    stage_world_destroy(&world);
}
END_TEST

/* A column of the same ice changes no segment. */
START_TEST(column_of_ice)
{
    stage_world world = world_with_hole(2.5, 100.0);
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 8;
    for (int i = 0; i < 100000; ++i) {
        double v[3];
        test_direction(&state, v);
        const ice_direction n = {(float)v[0], (float)v[1], (float)v[2]};
        const float scattering = (float)test_between(&state, 0, 8);
        const float absorption = (float)test_between(&state, 1e-3, 0.2);
        const ice_segment s =
            fly(tables, (float)test_between(&state, -4, 4), n, scattering, absorption);
        const double length = fmin(scattering * 2.5, absorption * 100.0);
        ck_assert_double_eq_tol(s.length, length, 1e-4 + 1e-5 * length);
        ck_assert_double_eq_tol(s.absorption, fmax(absorption - scattering * 0.025, 0), 1e-5);
    }
    stage_world_destroy(&world);
}
END_TEST

/* A segment may pass more columns than any real detector has in a row: none is left out. */
START_TEST(hundred_columns)
{
    enum { COLUMNS = 100 };
    double modules[COLUMNS][3] = {{0}};
    for (int k = 0; k < COLUMNS; ++k) {
        modules[k][0] = 10.0 * k;
    }
    stage_world world = world_with_hole(0.5, 20.0);
    stage_world_set_detector(&world, world_detector(modules, COLUMNS, 1.0));
    const ice_tables *tables = stage_world_tables(&world);
    const ice_direction forward = {1, 0, 0};
    /* 4 m and 99 times 8 m of ice, 100 times 2 m of columns, and 10 m of ice behind them. */
    const double scattering = 0.4 * (4 + 99 * 8) + 2.0 * 200, absorption = 0.01 * 796 + 0.05 * 200;
    const ice_segment behind = fly(tables, -5, forward, (float)(scattering + 0.4 * 10), 99);
    ck_assert_double_eq_tol(behind.length, 5 + 990 + 1 + 10, 2e-3);
    ck_assert_double_eq_tol(behind.absorption, 99 - absorption - 0.1, 1e-3);
    /* Half way through the last column but one. */
    const ice_segment within = fly(tables, -5, forward, (float)(scattering - 4 - 3.2 - 2), 99);
    ck_assert_double_eq_tol(within.length, 5 + 980, 2e-3);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("hole ice")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, worked_crossings);
    tcase_add_test(all, column_of_ice);
    tcase_add_test(all, hundred_columns);
    suite_add_tcase(suite, all);
}
