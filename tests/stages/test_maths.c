/* The elementary functions of the stages keep the bounds that stages/maths.h states, compared with
 * the C library in double precision, for every argument that can come from a random number.
 *
 * How to join: add one test for each new function of stages/maths.h. */
#include "stages/maths.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <float.h>

enum { UNIFORMS = 1 << 24 };

/* Returns the step between the uniform numbers that a test tries: 1, or more if
 * ICESTREAM_TEST_SCALE is below 1. The step is odd, so that all patterns of low bits occur. */
static uint32_t stride(void)
{
    return (uint32_t)(UNIFORMS / test_scaled(UNIFORMS)) | 1u;
}

/* Returns the distance between a result and the exact value, in units of the last place of the
 * exact value. */
static double ulps(float value, double exact)
{
    int exponent;
    frexp(exact, &exponent);
    return fabs((double)value - exact) / ldexp(1.0, exponent - 24);
}

static double worst(double so_far, double error)
{
    /* The comparison is written so that NaN counts as the worst error. */
    return error <= so_far ? so_far : error;
}

START_TEST(log_of_every_uniform)
{
    double error = 0.0;
    for (uint32_t k = 1; k < UNIFORMS; k += stride()) {
        const float u = (float)k * 0x1p-24f;
        error = worst(error, ulps(ice_log(u), log((double)u)));
    }
    ck_assert_double_lt(error, 1.1);
    /* -ln u is a depth: it must not be negative where u rounds to 1, and 0 only there. */
    ck_assert(ice_log(1.0f) == 0.0f);
    ck_assert(ice_log(1.0f - 0x1p-24f) < 0.0f);
    ck_assert(ice_log(0x1p-24f) > -17.0f);
}
END_TEST

START_TEST(depth_of_every_uniform)
{
    /* The short forms for random numbers give the bits of the general ones. */
    uint32_t faults = 0;
    for (uint32_t k = 1; k < UNIFORMS; k += stride()) {
        const float depth = ice_minus_log_of_count((float)k);
        faults += ice_bits(depth) != ice_bits(-ice_log((float)k * 0x1p-24f));
    }
    ck_assert_uint_eq(faults, 0);
    ck_assert(ice_bits(ice_minus_log_of_count(0x1p24f)) == 0);
}
END_TEST

START_TEST(power_of_every_uniform)
{
    static const float exponents[] = {0.052631579f, 1.0f, 19.0f, 1999.0f};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; ++i) {
        uint32_t faults = 0;
        for (uint32_t k = 1; k <= UNIFORMS; k += stride()) {
            const float u = (float)k * 0x1p-24f;
            const float exact = -2.0f * ice_expm1(exponents[i] * ice_log(u));
            faults += !(ice_twice_one_minus_power(u, exponents[i]) == exact);
        }
        ck_assert_uint_eq(faults, 0);
    }
}
END_TEST

/* Whether the azimuth of a word with these upper 24 bits has other bits than ice_sincos2pi(). */
static bool is_wrong_azimuth(uint32_t k)
{
    /* The lowest 8 bits of the word do not count. */
    const ice_azimuth at = ice_azimuth_of(k << 8 | (k * 2654435761u) >> 24);
    float sine, cosine;
    ice_sincos2pi((float)k * 0x1p-24f, &sine, &cosine);
    return !(ice_with_half_turn(at.sine, at) == sine &&
             ice_with_half_turn(at.cosine, at) == cosine);
}

START_TEST(azimuth_of_every_uniform)
{
    uint32_t faults = 0;
    for (uint32_t k = 0; k < UNIFORMS; k += stride()) {
        faults += is_wrong_azimuth(k);
    }
    /* The middles of the quarters, where two quarters meet. */
    for (uint32_t k = UNIFORMS / 8; k < UNIFORMS; k += UNIFORMS / 4) {
        faults += is_wrong_azimuth(k);
    }
    ck_assert_uint_eq(faults, 0);
}
END_TEST

START_TEST(log_of_every_mantissa)
{
    /* The binades in which the parts of the result are of similar size: e of ice_log from -2 to 2.
     * In the others the error is smaller. */
    double error = 0.0;
    for (int32_t e = -2; e <= 2; ++e) {
        for (uint32_t k = 0; k < UNIFORMS / 2; k += stride()) {
            const float x = ice_from_bits((int32_t)(0x3f2aaaabu + k) + e * (1 << 23));
            if (x != 1.0f) {
                error = worst(error, ulps(ice_log(x), log((double)x)));
            }
        }
    }
    ck_assert_double_lt(error, 1.1);
}
END_TEST

START_TEST(log_of_all_magnitudes)
{
    uint64_t state = 1;
    double error = 0.0;
    for (size_t i = 0, n = test_scaled(1000000); i < n; ++i) {
        /* Positive normal numbers with every bit pattern equally likely. */
        const int32_t bits = 0x00800000 + (int32_t)(test_word(&state) % (0x7f800000 - 0x00800000));
        const float x = ice_from_bits(bits);
        if (x == 1.0f) {
            continue;
        }
        error = worst(error, ulps(ice_log(x), log((double)x)));
    }
    ck_assert_double_lt(error, 1.1);
    ck_assert_double_lt(ulps(ice_log(FLT_MIN), log((double)FLT_MIN)), 1.1);
    ck_assert_double_lt(ulps(ice_log(FLT_MAX), log((double)FLT_MAX)), 1.1);
    /* Around 1, where a careless formula for ln x loses digits. */
    for (int k = 1; k < 100000; k += 7) {
        const float above = 1.0f + (float)k * 0x1p-23f;
        ck_assert_double_lt(ulps(ice_log(above), log((double)above)), 1.1);
    }
}
END_TEST

START_TEST(exponential)
{
    double error = 0.0;
    double error_minus_one = 0.0;
    const size_t n = test_scaled(4000000);
    for (size_t i = 0; i <= n; ++i) {
        const float x = (float)(-87.0 + 175.0 * (double)i / (double)n);
        error = worst(error, ulps(ice_exp(x), exp((double)x)));
        if (x != 0.0f) {
            error_minus_one = worst(error_minus_one, ulps(ice_expm1(x), expm1((double)x)));
        }
    }
    ck_assert_double_lt(error, 1.1);
    ck_assert_double_lt(error_minus_one, 1.6);
    ck_assert(ice_exp(0.0f) == 1.0f);
    ck_assert(ice_expm1(0.0f) == 0.0f);
    /* An argument beyond the range gives the value at the end of the range, which is finite. */
    ck_assert(ice_exp(-1e30f) == ice_exp(-87.0f));
    ck_assert(ice_exp(-INFINITY) == ice_exp(-87.0f));
    ck_assert(ice_exp(INFINITY) == ice_exp(88.0f));
    ck_assert(isfinite(ice_exp(88.0f)));
    ck_assert(ice_expm1(-INFINITY) == -1.0f);
}
END_TEST

START_TEST(exponential_near_zero)
{
    /* All magnitudes below 1 with both signs: the arguments of the simplified Liu function. */
    uint64_t state = 2;
    double error = 0.0;
    for (size_t i = 0, n = test_scaled(2000000); i < n; ++i) {
        const double magnitude = exp(-test_between(&state, 0.0, 80.0));
        const float x = (float)(test_uniform(&state) < 0.5 ? magnitude : -magnitude);
        error = worst(error, ulps(ice_expm1(x), expm1((double)x)));
    }
    ck_assert_double_lt(error, 1.6);
}
END_TEST

START_TEST(sine_and_cosine_of_every_uniform)
{
    double error = 0.0;
    double length = 0.0;
    for (uint32_t k = 0; k <= UNIFORMS; k += stride()) {
        const float u = (float)k * 0x1p-24f;
        float sine, cosine;
        ice_sincos2pi(u, &sine, &cosine);
        double exact_sine, exact_cosine;
        sincos(2.0 * M_PI * (double)u, &exact_sine, &exact_cosine);
        error = worst(error, fabs((double)sine - exact_sine));
        error = worst(error, fabs((double)cosine - exact_cosine));
        length = worst(length, fabs((double)sine * sine + (double)cosine * cosine - 1.0));
    }
    ck_assert_double_lt(error, 1e-7);
    ck_assert_double_lt(length, 3e-7);
    /* Quarters of a turn are exact. */
    static const float quarters[][3] = {
        {0.0f, 0.0f, 1.0f},   {0.25f, 1.0f, 0.0f}, {0.5f, 0.0f, -1.0f},
        {0.75f, -1.0f, 0.0f}, {1.0f, 0.0f, 1.0f},
    };
    for (size_t i = 0; i < sizeof quarters / sizeof *quarters; ++i) {
        float sine, cosine;
        ice_sincos2pi(quarters[i][0], &sine, &cosine);
        ck_assert(sine == quarters[i][1]);
        ck_assert(cosine == quarters[i][2]);
    }
}
END_TEST

START_TEST(sine_and_cosine_of_every_12_bits)
{
    double error = 0.0;
    for (uint32_t b = 0; b < 4096; ++b) {
        float sine, cosine;
        ice_sincos4096(b, &sine, &cosine);
        double exact_sine, exact_cosine;
        sincos(2.0 * M_PI * ((double)b + 0.5) / 4096.0, &exact_sine, &exact_cosine);
        error = worst(error, fabs((double)sine - exact_sine));
        error = worst(error, fabs((double)cosine - exact_cosine));
    }
    ck_assert_double_lt(error, 1e-7);
}
END_TEST

START_TEST(powers_of_wavelength)
{
    /* The two exponents of the built-in ice over the whole band (physics.md 4.2). */
    static const double exponents[] = {-0.8986, -1.0841, -0.898608505726, 1.0};
    for (size_t e = 0; e < sizeof exponents / sizeof *exponents; ++e) {
        double error = 0.0;
        for (double wavelength = 250.0; wavelength <= 700.0; wavelength += 0.01) {
            const float ratio = (float)(wavelength / 400.0);
            const double exact = pow((double)ratio, exponents[e]);
            error = worst(error, fabs(ice_pow(ratio, (float)exponents[e]) / exact - 1.0));
        }
        ck_assert_double_lt(error, 4e-7);
    }
    ck_assert_double_eq_tol(ice_pow(1.25f, -0.8986f), 0.81831, 1e-5);
    ck_assert_double_eq_tol(ice_pow(1.25f, -1.0841f), 0.78513, 1e-5);
    ck_assert_double_eq_tol(ice_pow(0.75f, -0.8986f), 1.29500, 1e-5);
    ck_assert_double_eq_tol(ice_pow(0.75f, -1.0841f), 1.36599, 1e-5);
    ck_assert(ice_pow(1.0f, -0.8986f) == 1.0f);
}
END_TEST

START_TEST(small_parts)
{
    ck_assert(ice_min(1.0f, 2.0f) == 1.0f);
    ck_assert(ice_max(-1.0f, -2.0f) == -1.0f);
    ck_assert(ice_with_sign_of(1.0f, -3.0f) == -1.0f);
    ck_assert(ice_with_sign_of(1.0f, 3.0f) == 1.0f);
    ck_assert(ice_with_sign_of(1.0f, -0.0f) == -1.0f);
    ck_assert(ice_with_sign_of(1.0f, 0.0f) == 1.0f);
    ck_assert_int_eq(ice_bits(1.0f), 0x3f800000);
    ck_assert(ice_from_bits(0x40490fdb) == (float)M_PI);
    ck_assert(ice_div(1.0f, 3.0f) == 1.0f / 3.0f);
    ck_assert(ice_sqrt(2.0f) == sqrtf(2.0f));
    ck_assert(ice_ratio(1.0f, 3.0f) == 1.0f / 3.0f);
    ck_assert(ice_inverse(3.0f) == 1.0f / 3.0f);
    ck_assert(ice_root(2.0f) == sqrtf(2.0f));
    ck_assert(ice_root(0.0f) == 0.0f);
    ck_assert(ice_inverse_root(2.0f) == 1.0f / sqrtf(2.0f));
}
END_TEST

ICS_TEST_MAIN("maths")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, log_of_every_uniform);
    tcase_add_test(all, depth_of_every_uniform);
    tcase_add_test(all, power_of_every_uniform);
    tcase_add_test(all, azimuth_of_every_uniform);
    tcase_add_test(all, log_of_every_mantissa);
    tcase_add_test(all, log_of_all_magnitudes);
    tcase_add_test(all, exponential);
    tcase_add_test(all, exponential_near_zero);
    tcase_add_test(all, sine_and_cosine_of_every_uniform);
    tcase_add_test(all, sine_and_cosine_of_every_12_bits);
    tcase_add_test(all, powers_of_wavelength);
    tcase_add_test(all, small_parts);
    suite_add_tcase(suite, all);
}
