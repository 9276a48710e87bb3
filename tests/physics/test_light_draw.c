/* Random numbers of light sources: the streams are words of Philox, and normal, gamma and Poisson
 * draws have their distributions. Directions turn by the angle that was asked for.
 *
 * How to join: add one test for each function of light_draw.h.
 *
 * There are 28 statistical comparisons at 4 standard deviations or p > 1e-4. Correct code would
 * fail one of them with other seeds in less than 1 % of all cases. */
#include "physics/light/light_draw.h"
#include "tests/physics/light_streams.h"
#include "tests/support/moments.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

START_TEST(streams_are_philox)
{
    /* The words are those of photon 5 of step 3 in block 0xC4000000 of the same event. A photon
     * never counts to that block. */
    ice_stream stream = ice_stream_of(UINT64_C(0x1122334455667788), UINT64_C(0x99aabbccddeeff00), 3,
                                      ICE_PURPOSE_STEP, 5);
    for (uint32_t block = 0; block < 3; ++block) {
        const ice_block expected =
            ice_draw(ice_key_low(UINT64_C(0x1122334455667788)), 0x11223344 ^ 0x99aabbcc, 0xddeeff00,
                     3, 5, 0xC4000000 + block);
        ck_assert_uint_eq(ice_stream_word(&stream), expected.a);
        ck_assert_uint_eq(ice_stream_word(&stream), expected.b);
        ck_assert_uint_eq(ice_stream_word(&stream), expected.c);
        ck_assert_uint_eq(ice_stream_word(&stream), expected.d);
    }
    ice_stream later = ice_stream_of(1, 2, 3, ICE_PURPOSE_LOSS, 4);
    ice_stream_skip_to(&later, 100);
    ck_assert_uint_eq(ice_stream_word(&later), ice_draw(1, 0, 2, 3, 4, 0xCC000064).a);
}
END_TEST

static double normal_distribution(double value, void *user)
{
    (void)user;
    return 0.5 * erfc(-value * sqrt(0.5));
}

static double gamma_distribution(double value, void *shape)
{
    return value > 0 ? 1 - ics_statistics_gamma_upper(*(const double *)shape, value) : 0;
}

START_TEST(normal_and_gamma)
{
    const size_t count = test_scaled(LIGHT_SAMPLE);
    double *sample = sample_allocate(count);
    ice_stream stream = light_stream(0);
    for (size_t i = 0; i < count; ++i) {
        sample[i] = ice_stream_normal(&stream);
    }
    expect_distribution("normal", sample, count, normal_distribution, NULL);
    static const double shapes[] = {0.599, 1, 2.01849, 12};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k) {
        const size_t fewer = count / 4;
        double shape = shapes[k];
        for (size_t i = 0; i < fewer; ++i) {
            sample[i] = ice_stream_gamma(&stream, shape);
        }
        expect_distribution("gamma", sample, fewer, gamma_distribution, &shape);
    }
    free(sample);
}
END_TEST

START_TEST(log_factorial)
{
    for (int k = 0; k < 200; ++k) {
        expect_near(ice_log_factorial(k), lgamma(k + 1.0), 2e-10 + 1e-14 * lgamma(k + 1.0));
    }
    expect_near(ice_log_factorial(1e7), lgamma(1e7 + 1), 1e-6);
}
END_TEST

/* Compares the probability of every number for small means, and two moments for all means. */
START_TEST(poisson)
{
    static const double means[] = {0.01, 0.7, 9.99, 10, 37.5, 1e4, 9e6, 1.1e7, 1e12};
    const size_t count = test_scaled(200000);
    for (size_t k = 0; k < sizeof means / sizeof *means; ++k) {
        ice_stream stream = light_stream(100 + (uint32_t)k);
        const double mean = means[k];
        moment number = {0}, square = {0};
        double seen[80] = {0};
        for (size_t i = 0; i < count; ++i) {
            const double drawn = (double)ice_stream_poisson(&stream, mean);
            moment_add(&number, drawn);
            moment_add(&square, (drawn - mean) * (drawn - mean));
            if (drawn < 80) {
                ++seen[(int)drawn];
            }
        }
        expect_mean("poisson: mean", &number, mean, 0);
        expect_mean("poisson: variance", &square, mean, 0);
        if (mean > 40) {
            continue;
        }
        double chi_square = 0, degrees = 0;
        for (int n = 0; n < 80; ++n) {
            const double expected = (double)count * exp(n * log(mean) - mean - lgamma(n + 1.0));
            if (expected < 10) {
                continue;
            }
            chi_square += (seen[n] - expected) * (seen[n] - expected) / expected;
            ++degrees;
        }
        const ics_statistics_test test = {
            chi_square, degrees, ics_statistics_chi_square_probability(chi_square, degrees)};
        expect_probability("poisson: shape", test);
    }
    ice_stream stream = light_stream(0);
    ck_assert_uint_eq(ice_stream_poisson(&stream, 0), 0);
}
END_TEST

START_TEST(turning)
{
    uint64_t state = 11;
    for (int i = 0; i < 1000; ++i) {
        double d[3];
        test_direction(&state, d);
        if (i < 2) {
            d[0] = d[1] = 0;
            d[2] = i ? -1 : 1;
        }
        const ice_axis axis = {d[0], d[1], d[2]};
        const double x = test_between(&state, 0, 2);
        const ice_axis turned = ice_axis_turn(axis, x, test_between(&state, 0, 2 * ICE_PI));
        expect_near(turned.x * turned.x + turned.y * turned.y + turned.z * turned.z, 1, 1e-12);
        expect_near(turned.x * d[0] + turned.y * d[1] + turned.z * d[2], 1 - x, 1e-12);
    }
    /* Light from zenith 0 flies downwards (physics.md 1). */
    const ice_axis down = ice_axis_from_origin(0, 1);
    expect_near(down.z, -1, 1e-15);
    const ice_axis level = ice_axis_from_origin(ICE_PI / 2, ICE_PI / 2);
    expect_near(level.y, -1, 1e-15);
}
END_TEST

ICS_TEST_MAIN("light draw")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, streams_are_philox);
    tcase_add_test(all, normal_and_gamma);
    tcase_add_test(all, log_factorial);
    tcase_add_test(all, poisson);
    tcase_add_test(all, turning);
    suite_add_tcase(suite, all);
}
