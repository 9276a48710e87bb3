/* Scattering angles: quantiles, distribution functions and moments of physics.md 7.1 to 7.3, and
 * the same angle as the formulas in double precision for random numbers of all sizes.
 *
 * How to join: a new scatter variant joins with its mean cosine, its moments and its distribution.
 */
#include "stages/variants.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>

/* Returns the constants that ics_tables_create() makes. */
static ice_scatter_constants constants_of(double g, double f)
{
    stage_world world = stage_world_create(world_medium_uniform(2.5, g, f, 100.0),
                                           world_detector_far(), world_light_line(400.0));
    const ice_scatter_constants constants = stage_world_tables(&world)->scatter;
    stage_world_destroy(&world);
    return constants;
}

static double cosine(ice_variant variant, const ice_scatter_constants *constants, double u)
{
    return 1.0 - ice_scatter(variant, constants, (float)u);
}

START_TEST(quantiles)
{
    /* physics.md 7.3, g = 0.9. */
    static const double rows[][3] = {{0.1, 0.7497449, 0.7717336},
                                     {0.25, 0.9392562, 0.8592707},
                                     {0.5, 0.9855000, 0.9283520},
                                     {0.75, 0.9960166, 0.9699458},
                                     {0.9, 0.9987764, 0.9889401}};
    const ice_scatter_constants constants = constants_of(0.9, 0.35);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const double u = rows[i][0];
        ck_assert_double_eq_tol(cosine(ICE_scatter_hg, &constants, u), rows[i][1], 3e-7);
        ck_assert_double_eq_tol(cosine(ICE_scatter_sl, &constants, u), rows[i][2], 3e-7);
        /* The mixture uses simplified Liu with u' = u / f and Henyey-Greenstein with
         * u' = (1 - u) / (1 - f). */
        ck_assert_double_eq_tol(cosine(ICE_scatter_hg_sl, &constants, 0.35 * u), rows[i][2], 3e-7);
        ck_assert_double_eq_tol(cosine(ICE_scatter_hg_sl, &constants, 1.0 - 0.65 * u), rows[i][1],
                                4e-7);
    }
}
END_TEST

typedef struct moments {
    double first, second; /* <cos>, <cos^2> */
    double below[6];      /* P(cos <= x) */
} moments;

static const double points[6] = {0.0, 0.5, 0.8, 0.9, 0.95, 0.99};

/* Sums over equidistant values of the random number. There is no statistical error, but one of
 * 1/count. */
static size_t sample(void)
{
    return test_scaled(1u << 19);
}

static double tolerance(void)
{
    return 1e-6 + 1.5 / (double)sample();
}

static moments integrate(ice_variant variant, double g, double f)
{
    const ice_scatter_constants constants = constants_of(g, f);
    const size_t count = sample();
    moments result = {0};
    for (size_t i = 0; i < count; ++i) {
        const double c = cosine(variant, &constants, ((double)i + 0.5) / (double)count);
        result.first += c;
        result.second += c * c;
        for (size_t k = 0; k < 6; ++k) {
            result.below[k] += c <= points[k];
        }
    }
    result.first /= (double)count;
    result.second /= (double)count;
    for (size_t k = 0; k < 6; ++k) {
        result.below[k] /= (double)count;
    }
    return result;
}

static void expect_moments(ice_variant variant, double f, const double below[6], double variance)
{
    const moments m = integrate(variant, 0.9, f);
    ck_assert_double_eq_tol(m.first, 0.9, tolerance());
    ck_assert_double_eq_tol(m.second - m.first * m.first, variance, tolerance());
    for (size_t k = 0; k < 6; ++k) {
        ck_assert_double_eq_tol(m.below[k], below[k], tolerance());
    }
}

START_TEST(distributions_and_moments)
{
    static const double henyey[6] = {0.022903, 0.055097, 0.117977, 0.186605, 0.278240, 0.575260};
    static const double liu[6] = {0.000002, 0.004228, 0.135085, 0.377354, 0.618141, 0.909156};
    static const double mixture[6] = {0.014888, 0.037293, 0.123965, 0.253367, 0.397206, 0.692123};
    expect_moments(ICE_scatter_hg, 0.35, henyey, 0.0633333);
    expect_moments(ICE_scatter_sl, 0.35, liu, 0.0090476);
    expect_moments(ICE_scatter_hg_sl, 0.35, mixture, 0.0443333);
    expect_moments(ICE_scatter_hg_sl, 0.0, henyey, 0.0633333);
    expect_moments(ICE_scatter_hg_sl, 1.0, liu, 0.0090476);
    const moments half = integrate(ICE_scatter_hg_sl, 0.9, 0.45);
    ck_assert_double_eq_tol(half.second - half.first * half.first, 0.0389048, tolerance());
    /* <cos^2> has the number of physics.md. */
    ck_assert_double_eq_tol(integrate(ICE_scatter_hg, 0.9, 0.0).second, 0.8733333, tolerance());
    ck_assert_double_eq_tol(integrate(ICE_scatter_sl, 0.9, 0.0).second, 0.8190476, tolerance());
}
END_TEST

/* Water: molecules scatter with the density 1 + 0.835 cos^2, particles by Henyey-Greenstein. */
START_TEST(molecules_and_particles)
{
    const double b = 0.835, norm = 2.0 * (1.0 + b / 3.0);
    for (int fraction = 0; fraction <= 4; ++fraction) {
        const double r = 0.25 * fraction;
        ice_medium *medium = world_medium_uniform(2.5, 0.924, 0.0, 100.0);
        medium->rayleigh_fraction = r;
        stage_world world =
            stage_world_create(medium, world_detector_far(), world_light_line(400.0));
        const ice_scatter_constants constants = stage_world_tables(&world)->scatter;
        const size_t count = sample();
        double first = 0.0, second = 0.0, below = 0.0;
        for (size_t i = 0; i < count; ++i) {
            const double u = ((double)i + 0.5) / (double)count;
            const double c = cosine(ICE_scatter_rayleigh_hg, &constants, u);
            first += c / (double)count;
            second += c * c / (double)count;
            below += (c <= -0.5) / (double)count;
        }
        const double g = 0.924, half = -0.5;
        const double molecules = (half + b * half * half * half / 3.0 + 0.5 * norm) / norm;
        const double particles = (1 - g * g) / (2 * g) * (1 / sqrt(1 + g * g + g) - 1 / (1 + g));
        ck_assert_double_eq_tol(first, (1 - r) * g, 2.0 * tolerance());
        ck_assert_double_eq_tol(
            second, r * (1.0 / 3.0 + b / 5.0) / (1.0 + b / 3.0) + (1 - r) * (1 + 2 * g * g) / 3.0,
            2.0 * tolerance());
        ck_assert_double_eq_tol(below, r * molecules + (1 - r) * particles, 2.0 * tolerance());
        stage_world_destroy(&world);
    }
    /* Every result solves its cubic equation. */
    for (int i = 0; i <= 100000; ++i) {
        const double u = i / 100000.0, c = 1.0 - (double)ice_rayleigh((float)u);
        ck_assert_double_eq_tol((c + b * c * c * c / 3.0 + 0.5 * norm) / norm, (float)u, 3e-7);
    }
}
END_TEST

START_TEST(mean_cosine_is_g)
{
    static const double values[] = {-0.9, -0.3, 0.0, 0.2, 0.5, 0.8, 0.9, 0.94, 0.99};
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        const double g = values[i];
        const moments henyey = integrate(ICE_scatter_hg, g, 0.0);
        ck_assert_double_eq_tol(henyey.first, g, tolerance());
        ck_assert_double_eq_tol(henyey.second, (1.0 + 2.0 * g * g) / 3.0, tolerance());
        const double beta = (1.0 - g) / (1.0 + g);
        const moments liu = integrate(ICE_scatter_sl, g, 0.0);
        ck_assert_double_eq_tol(liu.first, g, tolerance());
        ck_assert_double_eq_tol(liu.second, 4.0 / (2.0 * beta + 1.0) - 4.0 / (beta + 1.0) + 1.0,
                                tolerance());
        ck_assert_double_eq_tol(integrate(ICE_scatter_hg_sl, g, 0.35).first, g, tolerance());
    }
    const moments isotropic = integrate(ICE_scatter_isotropic, 0.9, 0.35);
    ck_assert_double_eq_tol(isotropic.first, 0.0, tolerance());
    ck_assert_double_eq_tol(isotropic.second, 1.0 / 3.0, tolerance());
    ck_assert_double_eq_tol(isotropic.below[1], 0.75, tolerance());
}
END_TEST

/* 1 - cos in double precision (physics.md 7.3). */
static double exact_henyey(double g, double u)
{
    if (g == 0.0) {
        return 2.0 - 2.0 * u;
    }
    const double s = 2.0 * u - 1.0;
    const double root = (1.0 - g * g) / (1.0 + g * s);
    return (root * root - (1.0 - g) * (1.0 - g)) / (2.0 * g);
}

static double exact_liu(double g, double u)
{
    return -2.0 * expm1((1.0 - g) / (1.0 + g) * log(u));
}

START_TEST(random_numbers_of_all_sizes)
{
    static const double pairs[][2] = {
        {0.9, 0.35}, {0.9, 0.0}, {0.9, 1.0}, {0.0, 0.35}, {0.94, 0.5}};
    const uint32_t values = 1u << 24;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        const double g = pairs[i][0], f = pairs[i][1];
        const ice_scatter_constants constants = constants_of(g, f);
        /* The default variant is tried with more numbers than the others. */
        const uint32_t stride =
            (uint32_t)(values / test_scaled(i == 0 ? values / 4 : values / 32)) | 1u;
        double henyey = 0.0, liu = 0.0, outside = 0.0, mixture = 0.0;
        for (uint32_t k = 1; k < values; k += stride) {
            const float u = (float)k * 0x1p-24f;
            const double from_henyey = ice_scatter_hg(&constants, u);
            const double from_liu = ice_scatter_sl(&constants, u);
            const double mixed = ice_scatter_hg_sl(&constants, u);
            henyey = fmax(henyey, fabs(from_henyey / exact_henyey(g, (double)u) - 1.0));
            liu = fmax(liu, fabs(from_liu / exact_liu(g, (double)u) - 1.0));
            const double single_f = (double)constants.liu_fraction;
            const double exact = (double)u <= single_f
                                     ? exact_liu(g, (double)u / single_f)
                                     : exact_henyey(g, (1.0 - (double)u) / (1.0 - single_f));
            /* u' has the rounding errors of numbers near 1. */
            mixture = fmax(mixture, fabs(mixed - exact) / (exact + 1e-3));
            outside = fmax(outside, fmax(-mixed, mixed - 2.0));
            outside = fmax(outside, fmax(-from_henyey, from_henyey - 2.0));
            outside = fmax(outside, fmax(-from_liu, from_liu - 2.0));
            ck_assert(isfinite(from_henyey) && isfinite(from_liu) && isfinite(mixed));
        }
        ck_assert_double_lt(henyey, 3e-6);
        ck_assert_double_lt(liu, 1e-6);
        ck_assert_double_lt(mixture, 1e-4);
        /* Rounding may give a result outside [0, 2]; ice_deflect() limits it. */
        ck_assert_double_lt(outside, 1e-5);
    }
}
END_TEST

START_TEST(ends)
{
    static const double pairs[][2] = {{0.9, 0.35},  {0.9, 0.0},    {0.9, 1.0},
                                      {0.0, 0.35},  {0.0, 0.0},    {0.0, 1.0},
                                      {-0.5, 0.35}, {0.999, 0.35}, {-0.999, 0.5}};
    static const ice_variant variants[] = {ICE_scatter_hg_sl, ICE_scatter_hg, ICE_scatter_sl,
                                           ICE_scatter_isotropic};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        const ice_scatter_constants constants = constants_of(pairs[i][0], pairs[i][1]);
        for (size_t v = 0; v < 4; ++v) {
            for (uint32_t word = 0; word < 4; ++word) {
                static const float values[4] = {0x1p-24f, 1.0f - 0x1p-24f, 1.0f, 0.35f};
                const float x = ice_scatter(variants[v], &constants, values[word]);
                ck_assert_msg(isfinite(x) && x >= -1e-5f && x <= 2.00001f,
                              "variant %d, g %g, f %g, u %.8g: 1 - cos = %g", (int)variants[v],
                              pairs[i][0], pairs[i][1], (double)values[word], (double)x);
            }
        }
    }
    const ice_scatter_constants constants = constants_of(0.9, 0.35);
    ck_assert(ice_scatter_hg(&constants, 1.0f) == 0.0f);
    ck_assert(ice_scatter_sl(&constants, 1.0f) == 0.0f);
    ck_assert_double_eq_tol(ice_scatter_hg(&constants, 0x1p-24f), 2.0, 1e-4);
    /* g = 0 is isotropic for both functions: cos = 2u - 1. */
    const ice_scatter_constants even = constants_of(0.0, 0.35);
    ck_assert_double_eq_tol(cosine(ICE_scatter_hg, &even, 0.25), -0.5, 1e-7);
    ck_assert_double_eq_tol(cosine(ICE_scatter_sl, &even, 0.25), -0.5, 3e-7);
    /* A number that is no variant of the stage means the default. */
    ck_assert(ice_scatter(ICE_VARIANT_COUNT, &constants, 0.3f) ==
              ice_scatter_hg_sl(&constants, 0.3f));
}
END_TEST

ICS_TEST_MAIN("scatter")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, quantiles);
    tcase_add_test(all, distributions_and_moments);
    tcase_add_test(all, molecules_and_particles);
    tcase_add_test(all, mean_cosine_is_g);
    tcase_add_test(all, random_numbers_of_all_sizes);
    tcase_add_test(all, ends);
    suite_add_tcase(suite, all);
}
