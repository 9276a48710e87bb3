/* Turning a direction: the worked numbers of physics.md 7.4, and the same result as the formula in
 * double precision for every turn.
 *
 * How to join: add one test for each new function of stages/direction.h. */
#include "stages/direction.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>

/* The formula of physics.md 7.4 in double precision. */
static void exact_turn(const double n[3], double c, double s, double azimuth, double turned[3])
{
    const double sg = copysign(1.0, n[2]);
    const double a = -1.0 / (sg + n[2]);
    const double b = n[0] * n[1] * a;
    const double t[3] = {1.0 + sg * n[0] * n[0] * a, sg * b, -sg * n[0]};
    const double w[3] = {b, sg + n[1] * n[1] * a, -n[1]};
    double square = 0.0;
    for (int i = 0; i < 3; ++i) {
        turned[i] = c * n[i] + s * (cos(azimuth) * t[i] + sin(azimuth) * w[i]);
        square += turned[i] * turned[i];
    }
    for (int i = 0; i < 3; ++i) {
        turned[i] /= sqrt(square);
    }
}

static ice_direction turn(ice_direction n, double cosine, double azimuth)
{
    return ice_rotate(n, (float)cosine, (float)sqrt(1.0 - cosine * cosine), (float)cos(azimuth),
                      (float)sin(azimuth));
}

static void expect(ice_direction n, double x, double y, double z, double tolerance)
{
    ck_assert_double_eq_tol(n.x, x, tolerance);
    ck_assert_double_eq_tol(n.y, y, tolerance);
    ck_assert_double_eq_tol(n.z, z, tolerance);
}

static double length_error(ice_direction n)
{
    return fabs(sqrt((double)n.x * n.x + (double)n.y * n.y + (double)n.z * n.z) - 1.0);
}

START_TEST(worked_numbers)
{
    const ice_direction n = {0.48f, 0.6f, 0.64f};
    expect(turn(n, 0.9, 0.0), 0.8066527, 0.4634535, 0.3667729, 2e-7);
    expect(turn(n, 0.9, 0.5 * M_PI), 0.3554535, 0.8802067, 0.3144661, 2e-7);
    expect(turn(n, -0.5, 1.0), 0.0342061, 0.1865984, -0.9818406, 2e-7);
    const ice_direction up = {0.0f, 0.0f, 1.0f}, down = {0.0f, 0.0f, -1.0f};
    expect(turn(up, 0.9, 1.0), 0.2355123, 0.3667887, 0.9, 2e-7);
    expect(turn(down, 0.9, 1.0), 0.2355123, -0.3667887, -0.9, 2e-7);
}
END_TEST

START_TEST(deflect_is_rotate)
{
    /* ice_deflect() with 1 - cos and the azimuth in turns gives the same as ice_rotate(). */
    const ice_direction n = {0.48f, 0.6f, 0.64f};
    expect(ice_deflect(n, 0.1f, 0.0f), 0.8066527, 0.4634535, 0.3667729, 3e-7);
    expect(ice_deflect(n, 0.1f, 0.25f), 0.3554535, 0.8802067, 0.3144661, 3e-7);
    expect(ice_deflect(n, 1.5f, (float)(0.5 / M_PI)), 0.0342061, 0.1865984, -0.9818406, 3e-7);
    /* A full turn of the azimuth changes nothing. */
    expect(ice_deflect(n, 0.1f, 1.0f), 0.8066527, 0.4634535, 0.3667729, 3e-7);
    /* A turn by 0 and by 180 degrees. */
    expect(ice_deflect(n, 0.0f, 0.3f), 0.48, 0.6, 0.64, 1e-7);
    expect(ice_deflect(n, 2.0f, 0.3f), -0.48, -0.6, -0.64, 1e-7);
    /* Rounding in 1 - cos must not become the square root of a negative number. */
    expect(ice_deflect(n, -1e-8f, 0.3f), 0.48, 0.6, 0.64, 1e-7);
    expect(ice_deflect(n, 2.0000002f, 0.3f), -0.48, -0.6, -0.64, 1e-7);
}
END_TEST

START_TEST(small_turns_are_exact)
{
    /* 1 - cos = 1e-10 is an angle of 1.414e-5, which 1 - cos^2 in single precision would lose. */
    const ice_direction up = {0.0f, 0.0f, 1.0f};
    const ice_direction turned = ice_deflect(up, 1e-10f, 0.0f);
    ck_assert_double_eq_tol(turned.x / 1.41421356e-5, 1.0, 1e-6);
    ck_assert_double_eq_tol(turned.y, 0.0, 1e-12);
}
END_TEST

START_TEST(against_double_precision)
{
    uint64_t state = 3;
    double error = 0.0, angle = 0.0, length = 0.0;
    for (size_t i = 0, count = test_scaled(1000000); i < count; ++i) {
        double n[3], turned[3];
        test_direction(&state, n);
        /* Some directions lie along an axis or near a pole, where the frame is least accurate. */
        if (i % 10 == 0) {
            const double tilt = exp(-test_between(&state, 0.0, 40.0));
            const double sign = i % 20 ? 1.0 : -1.0;
            n[0] = sin(tilt);
            n[1] = 0.0;
            n[2] = sign * cos(tilt);
        } else if (i % 10 == 1) {
            n[0] = i % 20 == 1 ? 1.0 : 0.0;
            n[1] = i % 20 == 1 ? 0.0 : -1.0;
            n[2] = i % 40 < 20 ? 0.0 : -0.0;
        }
        const ice_direction single = {(float)n[0], (float)n[1], (float)n[2]};
        const double cosine = test_between(&state, -1.0, 1.0);
        const double azimuth = test_between(&state, 0.0, 2.0 * M_PI);
        const ice_direction m = turn(single, cosine, azimuth);
        exact_turn(n, cosine, sqrt(1.0 - cosine * cosine), azimuth, turned);
        error = fmax(error, fabs(m.x - turned[0]));
        error = fmax(error, fabs(m.y - turned[1]));
        error = fmax(error, fabs(m.z - turned[2]));
        angle = fmax(angle, fabs(m.x * n[0] + m.y * n[1] + m.z * n[2] - cosine));
        length = fmax(length, length_error(m));
    }
    ck_assert_double_lt(error, 6e-7);
    ck_assert_double_lt(angle, 3e-7);
    ck_assert_double_lt(length, 2e-7);
}
END_TEST

START_TEST(length_does_not_drift)
{
    uint64_t state = 4;
    ice_direction n = {0.48f, 0.6f, 0.64f};
    double length = 0.0;
    for (size_t i = 0, count = test_scaled(2000000); i < count; ++i) {
        const float x = (float)(2.0 * pow(test_uniform(&state), 8.0));
        n = ice_deflect(n, x, (float)test_uniform(&state));
        length = fmax(length, length_error(n));
    }
    ck_assert_double_lt(length, 2e-7);
}
END_TEST

START_TEST(azimuth_is_uniform)
{
    /* Turns by 90 degrees about an axis, counted in 16 sectors around it: chi-square of 15 degrees
     * of freedom below 44.3 (false alarm 1e-4). Fixed seed. */
    uint64_t state = 6;
    const ice_direction n = {0.48f, 0.6f, -0.64f};
    /* Two axes across n that are not those of the frame under test. */
    const double horizontal = sqrt(0.48 * 0.48 + 0.6 * 0.6);
    const double t[3] = {0.6 / horizontal, -0.48 / horizontal, 0.0};
    const double w[3] = {n.y * t[2] - n.z * t[1], n.z * t[0] - n.x * t[2], n.x * t[1] - n.y * t[0]};
    size_t counts[16] = {0};
    const size_t total = test_scaled(1000000);
    for (size_t i = 0; i < total; ++i) {
        const ice_direction m = ice_deflect(n, 1.0f, (float)test_uniform(&state));
        const double azimuth =
            atan2(m.x * w[0] + m.y * w[1] + m.z * w[2], m.x * t[0] + m.y * t[1] + m.z * t[2]);
        ++counts[(size_t)fmin(15.0, floor((azimuth + M_PI) / (2.0 * M_PI) * 16.0))];
    }
    double chi_square = 0.0;
    const double expected = (double)total / 16.0;
    for (size_t i = 0; i < 16; ++i) {
        chi_square += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    }
    ck_assert_double_lt(chi_square, 44.3);
}
END_TEST

ICS_TEST_MAIN("direction")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, worked_numbers);
    tcase_add_test(all, deflect_is_rotate);
    tcase_add_test(all, small_turns_are_exact);
    tcase_add_test(all, against_double_precision);
    tcase_add_test(all, length_does_not_drift);
    tcase_add_test(all, azimuth_is_uniform);
    suite_add_tcase(suite, all);
}
