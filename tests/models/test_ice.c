/* Promise: the built-in ice has the numbers of physics.md 4 and 13, and the planes that end the
 * world are those of the configuration. To join: a new built-in model gets a check of its table
 * like south_pole_like_check_table. Ice of ppc folders, of YAML files and its features have
 * their own files, test_ice_*.c. */
#include "pipeline/photons/models/ice/sources.h"
#include "tests/support/loaded_ice.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* Loads a built-in model. Fails the test on errors. */
static loaded_ice load_model(const char *name)
{
    loaded_ice ice = ice_load("ice.model", name, NULL, NULL);
    expect_ice(&ice);
    return ice;
}

/* Returns the layer at a height. */
static size_t layer_at(const ice_medium *medium, double z)
{
    return (size_t)floor((z - medium->bottom) / medium->thickness);
}

START_TEST(south_pole_like_check_table)
{
    /* physics.md 13.1 */
    static const struct {
        double z, be400, lambda_e, adust400, dtau, lambda_a;
    } rows[] = {
        {700, 0.145599, 6.87, 0.040768, -8.1375, 24.28},
        {500, 0.041258, 24.24, 0.011552, -5.0887, 83.45},
        {400, 0.078599, 12.72, 0.022008, -3.3897, 44.55},
        {250, 0.030831, 32.44, 0.008633, -0.6228, 110.09},
        {100, 0.034484, 29.00, 0.009655, 2.4061, 98.81},
        {0, 0.024440, 40.92, 0.006843, 4.5709, 136.65},
        {-90, 0.163423, 6.12, 0.045758, 6.6187, 21.63},
        {-150, 0.021559, 46.39, 0.006036, 8.0364, 153.21},
        {-300, 0.012670, 78.92, 0.003548, 11.7639, 246.60},
        {-350, 0.013725, 72.86, 0.003843, 13.0646, 229.55},
        {-400, 0.029191, 34.26, 0.008174, 14.3944, 115.04},
        {-500, 0.012394, 80.68, 0.003470, 17.1414, 249.86},
        {-850, 0.083114, 12.03, 0.023272, 27.6729, 41.93},
    };
    loaded_ice ice = load_model("south-pole-like");
    const ice_medium *m = ice.medium;
    ck_assert_uint_eq(m->layer_count, 171);
    ck_assert_double_eq(m->bottom, -855);
    ck_assert_double_eq(m->thickness, 10);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        size_t j = layer_at(m, rows[i].z);
        ck_assert_double_eq_tol(m->layers[j].effective_scattering, rows[i].be400, 6e-7);
        ck_assert_double_eq_tol(m->layers[j].dust_absorption, rows[i].adust400, 6e-7);
        ck_assert_double_eq_tol(m->layers[j].delta_tau, rows[i].dtau, 6e-5);
        ck_assert_double_eq_tol(1 / ics_ice_scattering(m, j, 400), rows[i].lambda_e, 6e-3);
        ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 400), rows[i].lambda_a, 6e-3);
    }
    ice_unload(&ice);
}
END_TEST

START_TEST(south_pole_like_sums)
{
    loaded_ice ice = load_model("south-pole-like");
    const ice_medium *m = ice.medium;
    double scattering = 0, dust = 0, pure = 0;
    double longest_e = 0, shortest_e = 1e9, longest_a = 0, shortest_a = 1e9;
    double central_be = 0, central_le = 0, central_a = 0, central_la = 0;
    int central = 0;
    for (size_t j = 0; j < m->layer_count; ++j) {
        double le = 1 / ics_ice_scattering(m, j, 400), la = 1 / ics_ice_absorption(m, j, 400);
        scattering += 10 * m->layers[j].effective_scattering;
        dust += 10 * m->layers[j].dust_absorption;
        pure += 10 * (1 + 0.01 * m->layers[j].delta_tau);
        longest_e = fmax(longest_e, le);
        shortest_e = fmin(shortest_e, le);
        longest_a = fmax(longest_a, la);
        shortest_a = fmin(shortest_a, la);
        double z = m->bottom + m->thickness * ((double)j + 0.5);
        if (fabs(z) <= 500) {
            ++central;
            central_be += 1 / le;
            central_le += le;
            central_a += 1 / la;
            central_la += la;
        }
    }
    ck_assert_double_eq_tol(scattering, 89.4158, 6e-5);
    ck_assert_double_eq_tol(dust, 25.0364, 6e-5);
    ck_assert_double_eq_tol(pure, 1812.42, 6e-3);
    ck_assert_double_eq_tol(central / central_be, 28.14, 6e-3);
    ck_assert_double_eq_tol(central_le / central, 38.91, 6e-3);
    ck_assert_double_eq_tol(central / central_a, 95.91, 6e-3);
    ck_assert_double_eq_tol(central_la / central, 128.01, 6e-3);
    ck_assert_double_eq_tol(shortest_e, 5.33, 6e-3);
    ck_assert_double_eq_tol(longest_e, 117.0, 6e-2);
    ck_assert_double_eq_tol(shortest_a, 18.9, 6e-2);
    ck_assert_double_eq_tol(longest_a, 337.9, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, layer_at(m, 810), 400), 5.33, 6e-3);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, layer_at(m, -760), 400), 117.0, 6e-2);
    ice_unload(&ice);
}
END_TEST

START_TEST(wavelength_dependence)
{
    loaded_ice ice = load_model("south-pole-like");
    const ice_medium *m = ice.medium;
    size_t j = layer_at(m, -350);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, j, 300), 56.26, 6e-3);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, j, 500), 89.04, 6e-3);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, j, 600), 104.89, 6e-3);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 300), 190.4, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 365), 229.9, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 400), 229.6, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 450), 151.3, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 500), 58.6, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 600), 7.69, 6e-3);
    ice_unload(&ice);
}
END_TEST

START_TEST(temperature_differences)
{
    /* physics.md 4.2 */
    ck_assert_double_eq_tol(ics_ice_delta_tau(1730), 0, 1e-12);
    ck_assert_double_eq_tol(ics_ice_delta_tau(1098.47), -10.1134, 6e-5);
    ck_assert_double_eq_tol(ics_ice_delta_tau(1098.47 + 6.53), -10.0326, 6e-5);
    ck_assert_double_eq_tol(ics_ice_delta_tau(1948.07), 4.5709, 6e-5);
    ck_assert_double_eq_tol(ics_ice_delta_tau(2450), 17.1956, 6e-5);
}
END_TEST

START_TEST(uniform_is_case_u)
{
    loaded_ice ice = load_model("uniform");
    const ice_medium *m = ice.medium;
    ck_assert_uint_eq(m->layer_count, 1);
    ck_assert_double_eq(m->mean_cosine, 0.9);
    ck_assert_double_eq(m->liu_fraction, 0.35);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, 0, 400), 25, 1e-12);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, 0, 400), 100, 1e-4);
    /* Power laws and the ice term of physics.md 4.2. */
    ck_assert_double_eq_tol(ics_ice_scattering(m, 0, 500) / 0.04, 0.81831, 6e-6);
    ck_assert_double_eq_tol(ics_ice_scattering(m, 0, 300) / 0.04, 1.29500, 6e-6);
    static const struct {
        double wavelength, term, tolerance;
    } terms[] = {{337, 2.0601e-5, 6e-10}, {365, 9.2923e-5, 6e-10}, {400, 4.54057e-4, 6e-10},
                 {450, 2.85403e-3, 6e-9}, {500, 1.24204e-2, 6e-8}, {600, 0.112760, 6e-7}};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; ++i) {
        double dust = 0.009545943 * pow(terms[i].wavelength / 400, -1.0841);
        ck_assert_double_eq_tol(ics_ice_absorption(m, 0, terms[i].wavelength) - dust, terms[i].term,
                                terms[i].tolerance);
    }
    double dust = ics_ice_absorption(m, 0, 300) - 6954.1 * exp(-6617.75 / 300);
    ck_assert_double_eq_tol(dust / 0.009545943, 1.36599, 6e-6);
    ice_unload(&ice);
}
END_TEST

START_TEST(world_ends)
{
    loaded_ice ice =
        ice_load("ice.model", "uniform", "ice.absorb_above=900", "ice.absorb_below=-900.5");
    expect_ice(&ice);
    ck_assert_double_eq(ice.medium->absorb_above, 900);
    ck_assert_double_eq(ice.medium->absorb_below, -900.5);
    ice_unload(&ice);
    ice = load_model("uniform");
    ck_assert(isinf(ice.medium->absorb_above) && ice.medium->absorb_above > 0);
    ck_assert(isinf(ice.medium->absorb_below) && ice.medium->absorb_below < 0);
    ice_unload(&ice);
}
END_TEST

ICS_TEST_MAIN("ice")
{
    TCase *built_in = tcase_create("built in");
    tcase_add_test(built_in, south_pole_like_check_table);
    tcase_add_test(built_in, south_pole_like_sums);
    tcase_add_test(built_in, wavelength_dependence);
    tcase_add_test(built_in, temperature_differences);
    tcase_add_test(built_in, uniform_is_case_u);
    tcase_add_test(built_in, world_ends);
    suite_add_tcase(suite, built_in);
}
