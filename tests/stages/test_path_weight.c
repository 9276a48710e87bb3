/* Densities of scatters and sums along paths: they are those of what the stage scatter draws, their
 * derivatives are right, and products of thousands of scatters neither overflow nor underflow.
 *
 * How to join: a new scatter variant joins `variants`. */
#include "stages/path_weight.h"
#include "tests/stages/feature_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>

START_TEST(logarithm_and_exponential)
{
    uint64_t state = 3;
    for (int i = 0; i < 200000; ++i) {
        const double x = exp(test_between(&state, -690, 690));
        ck_assert_double_eq_tol(ice_double_log(x), log(x), 3e-16 * fmax(1.0, fabs(log(x))));
        const double near = 1.0 + test_between(&state, -1e-3, 1e-3);
        ck_assert_double_eq_tol(ice_double_log(near), log(near), 3e-16 * fabs(log(near)) + 1e-19);
        const double y = test_between(&state, -690, 690);
        ck_assert_double_eq_tol(ice_double_exp(y), exp(y), 4e-16 * exp(y));
    }
    ck_assert_double_eq(ice_double_log(1.0), 0.0);
    ck_assert_double_eq(ice_double_exp(0.0), 1.0);
}
END_TEST

static const struct {
    ice_variant variant;
    double g, f; /* mean cosine, fraction of the mixture */
} variants[] = {
    {ICE_scatter_hg, 0.9, 0.0},          {ICE_scatter_hg, -0.3, 0.0},
    {ICE_scatter_hg, 0.0, 0.0},          {ICE_scatter_sl, 0.9, 0.0},
    {ICE_scatter_sl, 0.6, 0.0},          {ICE_scatter_hg_sl, 0.9, 0.35},
    {ICE_scatter_hg_sl, 0.8, 0.95},      {ICE_scatter_hg_sl, 0.8, 0.0},
    {ICE_scatter_rayleigh_hg, 0.9, 0.2}, {ICE_scatter_isotropic, 0.9, 0.0},
};

static ice_scatter_constants constants_of(ice_variant variant, double g, double f)
{
    ice_medium *medium =
        world_medium_uniform(2.5, g, variant == ICE_scatter_hg_sl ? f : 0.35, 100.0);
    medium->rayleigh_fraction = variant == ICE_scatter_rayleigh_hg ? f : 0.0;
    stage_world world = stage_world_create(medium, world_detector_far(), world_light_line(400.0));
    const ice_scatter_constants constants = stage_world_tables(&world)->scatter;
    stage_world_destroy(&world);
    return constants;
}

/* The share of angles below x that are drawn for equidistant random numbers is the integral of the
 * density up to x. */
START_TEST(densities_are_those_of_the_draws)
{
    const ice_variant variant = variants[_i].variant;
    const ice_scatter_constants constants = constants_of(variant, variants[_i].g, variants[_i].f);
    enum { CELLS = 40000, DRAWS = 1 << 20 };
    static const double points[] = {0.001, 0.01, 0.05, 0.2, 0.7, 1.5, 2.0};
    double below[COUNT(points)] = {0};
    for (int i = 0; i < DRAWS; ++i) {
        const double x = (double)ice_scatter(variant, &constants, ((float)i + 0.5f) / DRAWS);
        for (size_t k = 0; k < COUNT(points); ++k) {
            below[k] += x <= points[k] ? 1.0 / DRAWS : 0.0;
        }
    }
    for (size_t k = 0; k < COUNT(points); ++k) {
        double integral = 0.0;
        for (int i = 0; i < CELLS; ++i) { /* x = points[k] t^2 resolves small angles */
            const double t = (i + 0.5) / CELLS;
            integral += ice_density_of(variant, &constants, points[k] * t * t).value * 2.0 * t *
                        points[k] / CELLS;
        }
        ck_assert_double_eq_tol(integral, k + 1 == COUNT(points) ? 1.0 : below[k], 1e-5);
    }
}
END_TEST

/* Derivatives against differences of ln p for steps of 2^-9, whose error is below 1e-3 of the
 * second difference. */
START_TEST(derivatives_of_densities)
{
    const ice_variant variant = variants[_i].variant;
    const ice_scatter_constants at = constants_of(variant, variants[_i].g, variants[_i].f);
    const float step = 0x1p-9f;
    uint64_t state = 11;
    for (int i = 0; i < 2000; ++i) {
        const double x = 2.0 * pow(test_uniform(&state), 3);
        const ice_density p = ice_density_of(variant, &at, x);
        double by[2];
        for (int parameter = 0; parameter < 2; ++parameter) {
            double log_p[5];
            for (int k = 0; k < 5; ++k) {
                ice_scatter_constants other = at;
                float *fraction = variant == ICE_scatter_rayleigh_hg ? &other.molecules.fraction
                                                                     : &other.liu_fraction;
                *(parameter == 0 ? &other.g : fraction) += (float)(k - 2) * step;
                log_p[k] = log(ice_density_of(variant, &other, x).value);
            }
            /* of fourth order */
            by[parameter] =
                (log_p[0] - 8.0 * log_p[1] + 8.0 * log_p[3] - log_p[4]) / (12.0 * (double)step);
        }
        ck_assert_double_eq_tol(p.by_mean_cosine, by[0], 2e-3 * (1.0 + fabs(by[0])));
        ck_assert_double_eq_tol(p.by_mixture, by[1], 2e-3 * (1.0 + fabs(by[1])));
    }
}
END_TEST

/* With scattering anisotropy the density of the new direction has the integral 1 over the sphere,
 * and its means are those of directions that the stage draws. False alarms: 6 means per direction
 * at 5 standard deviations, 6e-7 each. */
START_TEST(density_with_anisotropy)
{
    ice_medium *medium = world_medium_uniform(2.5, 0.4, 0.35, 100.0);
    world_medium_add(medium, ICE_HAS_SCATTERING_ANISOTROPY);
    stage_world world = stage_world_create(medium, world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert(ICE_HAS(tables, ICE_HAS_SCATTERING_ANISOTROPY));
    uint64_t state = 5;
    for (int direction = 0; direction < 4; ++direction) {
        double v[3], total = 0.0, means[6] = {0}, sums[6] = {0};
        test_direction(&state, v);
        const ice_direction before = {(float)v[0], (float)v[1], (float)v[2]};
        enum { POLAR = 600, AZIMUTH = 400 };
        for (int i = 0; i < POLAR * AZIMUTH; ++i) {
            const double z = 2.0 * (i / AZIMUTH + 0.5) / POLAR - 1.0;
            const double azimuth = 2.0 * M_PI * (i % AZIMUTH) / AZIMUTH, across = sqrt(1.0 - z * z);
            const double n[3] = {across * cos(azimuth), across * sin(azimuth), z};
            const ice_photon end = {.dx = (float)n[0], .dy = (float)n[1], .dz = (float)n[2]};
            ice_density angle;
            const double p =
                ice_path_scatter(ICE_scatter_hg_sl, tables, 0.0f, before, &end, &angle) * 2.0 /
                (POLAR * AZIMUTH);
            total += p;
            for (int k = 0; k < 3; ++k) {
                means[k] += p * n[k];
                means[3 + k] += p * n[k] * n[k];
            }
        }
        ck_assert_double_eq_tol(total, 1.0, 2e-5);
        const size_t draws = test_scaled(1000000);
        const ice_photon photon = {.dx = before.x, .dy = before.y, .dz = before.z};
        for (size_t i = 0; i < draws; ++i) {
            const ice_scatter_draw draw = {
                ice_uniform_positive((uint32_t)(test_word(&state) >> 32)),
                (uint32_t)(test_word(&state) >> 32)};
            const ice_direction n = ice_scattered(ICE_scatter_hg_sl, tables, &draw, &photon, 0.0f);
            const double drawn[3] = {(double)n.x, (double)n.y, (double)n.z};
            for (int k = 0; k < 3; ++k) {
                sums[k] += drawn[k];
                sums[3 + k] += drawn[k] * drawn[k];
            }
        }
        for (int k = 0; k < 6; ++k) { /* a mean of numbers within -1 .. 1 */
            ck_assert_double_eq_tol(sums[k] / (double)draws, means[k],
                                    5.0 / sqrt((double)draws) + 2e-5);
        }
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(long_products)
{
    ice_path_sum one = ice_path_sum_begin(), two = ice_path_sum_begin();
    for (int i = 0; i < 100000; ++i) {
        ice_path_sum_multiply(&one, i % 2 ? 1e-200 : 3.0);
        ice_path_sum_multiply(&two, i % 2 ? 1.1e-200 : 3.0);
    }
    ck_assert_double_eq_tol(ice_path_sum_log_ratio(&one, &two), 50000 * log(1.1), 1e-7);
    ck_assert_double_eq(ice_path_sum_log_ratio(&one, &one), 0.0);
    ice_path_sum_multiply(&two, 0.0);
    ice_path_sum_multiply(&two, 5.0);
    ck_assert_double_eq(ice_path_sum_log_ratio(&one, &two), -INFINITY);
}
END_TEST

ICS_TEST_MAIN("path_weight")
{
    TCase *weight = tcase_create("path_weight");
    tcase_set_timeout(weight, 300);
    tcase_add_test(weight, logarithm_and_exponential);
    tcase_add_loop_test(weight, densities_are_those_of_the_draws, 0, (int)COUNT(variants));
    tcase_add_loop_test(weight, derivatives_of_densities, 0, (int)COUNT(variants));
    tcase_add_test(weight, density_with_anisotropy);
    tcase_add_test(weight, long_products);
    suite_add_tcase(suite, weight);
}
