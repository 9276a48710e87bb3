/* Anisotropy of scattering and absorption: directions and factors have the worked numbers of
 * physics.md 6.2 and 6.3, and photons are absorbed at the distance that follows from them.
 *
 * How to join: add one test for each new formula of anisotropy. */
#include "tests/stages/feature_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>

static stage_world anisotropic_world(double azimuth, double m1, double m2, double exponent)
{
    stage_world world = feature_world(0);
    world.medium->flow_azimuth = azimuth;
    world.medium->absorption_exponent = exponent;
    for (size_t i = 0; i < world.medium->layer_count; ++i) {
        world.medium->layers[i].anisotropy_along = m1;
        world.medium->layers[i].anisotropy_across = m2;
    }
    return world;
}

/* Returns the factor of absorption along n. Fails unless its inverse belongs to it. */
static double factor_along(const ice_tables *tables, ice_direction n)
{
    const ice_absorption_factor slant = ice_absorption_factor_along(tables, 0.0f, n);
    ck_assert_double_eq_tol((double)slant.factor * (double)slant.inverse, 1.0, 3e-7);
    return slant.factor;
}

START_TEST(scattering_anisotropy)
{
    stage_world world = anisotropic_world(216.0 * M_PI / 180.0, 0.04, -0.08, 0.0);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_anisotropy_row row = ice_anisotropy_at(tables, 12.0f);
    const ice_direction n = {0.48f, 0.6f, 0.64f};
    const ice_direction m = ice_unit(ice_stretch(&row.to, n));
    ck_assert_double_eq_tol(m.x, 0.4957009, 2e-7);
    ck_assert_double_eq_tol(m.y, 0.5839840, 2e-7);
    ck_assert_double_eq_tol(m.z, 0.6428401, 2e-7);
    const ice_direction back = ice_unit(ice_stretch(&row.back, m));
    ck_assert_double_eq_tol(back.x, n.x, 2e-7);
    ck_assert_double_eq_tol(back.y, n.y, 2e-7);
    ck_assert_double_eq_tol(back.z, n.z, 2e-7);
    ck_assert_uint_eq(tables->features, ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_EVEN_ANISOTROPY);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(old_absorption_anisotropy)
{
    static const struct {
        double m1, m2, along, across, vertical;
    } sets[] = {{0.04, -0.08, 1.135625, 0.786628, 1.135625},
                {-0.069, 0.0345, 0.813020, 1.114991, 1.114991}};
    for (int i = 0; i < 2; ++i) {
        stage_world world = anisotropic_world(1.0, sets[i].m1, sets[i].m2, 1.0);
        const ice_tables *tables = stage_world_tables(&world);
        const double found[3] = {factor_along(tables, feature_direction(1.0, 1, 0, 0)),
                                 factor_along(tables, feature_direction(1.0, 0, 1, 0)),
                                 factor_along(tables, feature_direction(1.0, 0, 0, 1))};
        ck_assert_double_eq_tol(found[0], sets[i].along, 2e-6);
        ck_assert_double_eq_tol(found[1], sets[i].across, 2e-6);
        ck_assert_double_eq_tol(found[2], sets[i].vertical, 2e-6);
        ck_assert_double_le(tables->least_absorption, fmin(found[0], found[1]));
        if (i == 0) {
            const ice_direction n = feature_direction(1.0, 0.6, 0.48, 0.64);
            ck_assert_double_eq_tol(factor_along(tables, n), 1.050084, 2e-6);
        }
        stage_world_destroy(&world);
    }
}
END_TEST

START_TEST(old_absorption_anisotropy_on_average)
{
    stage_world world = anisotropic_world(1.0, 0.04, -0.08, 1.0);
    const ice_tables *tables = stage_world_tables(&world);
    double sum = 0.0;
    enum { POLAR = 200, TURN = 200 };
    for (int i = 0; i < POLAR; ++i) {
        for (int j = 0; j < TURN; ++j) {
            const double z = -1.0 + (2.0 * i + 1.0) / POLAR, azimuth = 2 * M_PI * (j + 0.5) / TURN;
            const double r = sqrt(1 - z * z);
            const ice_direction n = {(float)(r * cos(azimuth)), (float)(r * sin(azimuth)),
                                     (float)z};
            const double factor = factor_along(tables, n);
            ck_assert_double_ge(factor, tables->least_absorption);
            sum += factor / (POLAR * TURN);
        }
    }
    /* (B <M> - <NM>) / 2 with <s_i s_i> = 1/5 and <s_i s_j> = 1/15 (physics.md has 1.01566). */
    ck_assert_double_eq_tol(sum, 1.0154333, 2e-5);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(absorption_anisotropy)
{
    stage_world world = feature_world(ICE_HAS_ABSORPTION_ANISOTROPY);
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert_double_eq_tol(factor_along(tables, feature_direction(FEATURE_FLOW, 1, 0, 0)),
                            0.589814, 1e-6);
    ck_assert_double_eq_tol(factor_along(tables, feature_direction(FEATURE_FLOW, 0, 1, 0)),
                            1.450708, 2e-6);
    ck_assert_double_eq_tol(factor_along(tables, feature_direction(FEATURE_FLOW, 0, 0, -1)),
                            1.450708, 2e-6);
    ck_assert_double_eq_tol(tables->least_absorption, 0.589814, 1e-4);
    ck_assert_double_lt(tables->least_absorption, 0.589814);
    stage_world_destroy(&world);
}
END_TEST

/* The absorption coefficient along n is that of the layer times the factor, so a path without
 * scatters is shorter by this factor. */
START_TEST(absorbed_at_the_right_distance)
{
    stage_world world = feature_world(ICE_HAS_ABSORPTION_ANISOTROPY);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_optics optics = ice_optics_at(tables, 400.0f);
    const ice_direction along = feature_direction(FEATURE_FLOW, 1, 0, 0),
                        across = feature_direction(FEATURE_FLOW, 0, 1, 0);
    const ice_segment_start start = {3.0f, 0.0f, 1e6f, 0.5f, optics};
    const float a = feature_segment(tables, start, 0.0f, 0.0f, along, 1e9f).length;
    const float b = feature_segment(tables, start, 0.0f, 0.0f, across, 1e9f).length;
    const ice_layer_row *row = &tables->layers[ice_layer_at(tables, 3.0f)];
    ck_assert_double_eq_tol(a, 0.5 / (row->dust * 0.589814), 1e-3);
    ck_assert_double_eq_tol(b, 0.5 / (row->dust * 1.450708), 1e-3);
    /* The depth left at a scatter is the photon's own: it is not divided by the factor of the
     * direction. */
    const ice_segment_start scattered = {3.0f, 0.0f, 1.0f, 0.5f, optics};
    const ice_segment s = feature_segment(tables, scattered, 0.0f, 0.0f, along, 1e9f);
    ck_assert_double_eq_tol(s.absorption, 0.5 - s.length * row->dust * 0.589814, 1e-6);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("anisotropy")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, scattering_anisotropy);
    tcase_add_test(all, old_absorption_anisotropy);
    tcase_add_test(all, old_absorption_anisotropy_on_average);
    tcase_add_test(all, absorption_anisotropy);
    tcase_add_test(all, absorbed_at_the_right_distance);
    suite_add_tcase(suite, all);
}
