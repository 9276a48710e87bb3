/* Light of flashers has the worked numbers of physics.md 2.4, and random draws follow its formulas.
 *
 * How to join: add one test for each function of light_flasher.h.
 *
 * There are 14 statistical comparisons at 4 standard deviations or p > 1e-4. Correct code would
 * fail one of them with other seeds in less than 1 % of all cases. */
#include "physics/light/light_flasher.h"
#include "tests/physics/light_streams.h"
#include "tests/support/moments.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

static double gauss_distribution(double x, void *sigma)
{
    const double k = *(const double *)sigma * *(const double *)sigma;
    return expm1(-x / k) / expm1(-2 / k);
}

static double linear_distribution(double x, void *user)
{
    (void)user;
    return 1 - (1 - x / 2) * (1 - x / 2);
}

static double led_distribution(double x, void *user)
{
    const ice_led_beam *beam = user;
    const double half = erf(x / beam->s1 * sqrt(0.5));
    const double tail = -expm1(-x / beam->s2);
    /* A draw beyond 2 is replaced by a linear one; for these widths that is very rare. */
    return beam->c1 * half + (beam->c2 - beam->c1) * tail +
           (1 - beam->c2) * linear_distribution(x, NULL);
}

START_TEST(beams)
{
    double sigma = 9.7 * ICE_DEGREE;
    expect_near(sigma * sigma, 0.0286615, 5e-8);
    const size_t count = test_scaled(LIGHT_SAMPLE) / 2;
    double *sample = sample_allocate(count);
    moment mean = {0};
    ice_stream stream = light_stream(0);
    for (size_t i = 0; i < count; ++i) {
        sample[i] = ice_beam_gauss(sigma, ice_stream_uniform(&stream));
        moment_add(&mean, sample[i]);
    }
    expect_mean("gauss: mean", &mean, 0.0286615, 5e-8);
    expect_distribution("gauss", sample, count, gauss_distribution, &sigma);
    sigma = 1.5; /* wide enough for the edge at 1 - cos = 2 to matter */
    for (size_t i = 0; i < count; ++i) {
        sample[i] = ice_beam_gauss(sigma, ice_stream_uniform(&stream));
    }
    expect_distribution("wide gauss", sample, count, gauss_distribution, &sigma);
    for (size_t i = 0; i < count; ++i) {
        sample[i] = ice_beam_linear(ice_stream_uniform(&stream));
    }
    expect_distribution("linear", sample, count, linear_distribution, NULL);
    double end = 2;
    for (size_t i = 0; i < count; ++i) {
        sample[i] = ice_beam_isotropic(ice_stream_uniform(&stream));
    }
    expect_distribution("isotropic", sample, count, uniform_distribution, &end);
    for (int kind = ICE_LED_AVERAGE; kind <= ICE_LED_TILTED; ++kind) {
        ice_led_beam beam = ice_led_beam_of((ice_led_kind)kind);
        for (size_t i = 0; i < count; ++i) {
            sample[i] = ice_beam_led((ice_led_kind)kind, &stream);
        }
        expect_distribution("LED in the laboratory", sample, count, led_distribution, &beam);
    }
    free(sample);
    ck_assert_double_eq(ice_beam_gauss(1e-3, 0), 2);
    ck_assert_double_ge(ice_beam_gauss(1e-3, nextafter(1, 0)), 0);
}
END_TEST

START_TEST(smeared_leds)
{
    double polar, azimuth;
    ck_assert(ice_led_smear(3, true, &polar, &azimuth));
    expect_near(polar / ICE_DEGREE, 9.7, 1e-12);
    expect_near(azimuth / ICE_DEGREE, 9.8, 1e-12);
    ck_assert(ice_led_smear(3, false, &polar, &azimuth));
    expect_near(azimuth / ICE_DEGREE, 10.1, 1e-12);
    ck_assert(ice_led_smear(5, true, &polar, &azimuth));
    expect_near(polar / ICE_DEGREE, 4.5, 1e-12);
    ck_assert(!ice_led_smear(0, false, &polar, &azimuth));
    ck_assert(!ice_led_smear(6, false, &polar, &azimuth));
    const size_t count = test_scaled(200000);
    moment theta = {0}, phi = {0};
    ice_stream stream = light_stream(0);
    const ice_axis axis = {0.6, 0, 0.8};
    for (size_t i = 0; i < count; ++i) {
        const ice_axis to = ice_axis_smear(axis, 0.05, 0.1, &stream);
        moment_add(&theta, pow(acos(to.z) - acos(0.8), 2));
        moment_add(&phi, pow(atan2(to.y, to.x), 2));
    }
    expect_mean("smear: polar", &theta, 0.05 * 0.05, 0);
    expect_mean("smear: azimuth", &phi, 0.1 * 0.1, 0);
}
END_TEST

START_TEST(led_numbers)
{
    expect_near(ice_led_output(127, 127), 1.17076e10, 5e4);
    expect_near(ice_led_output(127, 20), 1.96983e9, 5e3);
    ck_assert_double_eq(ice_led_output(20, 20), 0);
    ice_pulse pulse = ice_led_pulse(127);
    expect_near(pulse.rise, 14.063, 5e-4);
    expect_near(pulse.plateau, 61.138, 5e-4);
    pulse = ice_led_pulse(0);
    expect_near(pulse.rise, 5, 0);
    expect_near(pulse.plateau, 0, 0);

    ice_axis place, to;
    ice_led_position(1, 0, &place, &to);
    expect_near(place.x, 0.119, 1e-15);
    expect_near(place.z, 0.08, 1e-15);
    expect_near(asin(to.z) / ICE_DEGREE, 48.1, 1e-9);
    ice_led_position(8, 0, &place, &to);
    expect_near(atan2(place.y, place.x) / ICE_DEGREE, 60, 1e-9);
    expect_near(hypot(place.x, place.y), 0.119, 1e-15);
    expect_near(asin(to.z) / ICE_DEGREE, -0.2, 1e-9);
    expect_near(atan2(to.y, to.x) / ICE_DEGREE, 60, 1e-9);

    const ice_candle upward = ice_candle_of(1), downward = ice_candle_of(2);
    expect_near(upward.x, 544.07, 0);
    expect_near(upward.elevation / ICE_DEGREE, 48.87, 1e-12);
    expect_near(downward.z, -205.64, 0);
    expect_near(downward.elevation, -upward.elevation, 0);
}
END_TEST

static double pulse_distribution(double t, void *user)
{
    const ice_pulse *p = user;
    const double total = p->rise / 2 + p->plateau + p->fall;
    if (t < p->rise) {
        return t * t / (2 * p->rise) / total;
    }
    if (t < p->rise + p->plateau) {
        return (p->rise / 2 + t - p->rise) / total;
    }
    return 1 - p->fall * exp(-(t - p->rise - p->plateau) / p->fall) / total;
}

START_TEST(pulses)
{
    const size_t count = test_scaled(LIGHT_SAMPLE) / 4;
    double *sample = sample_allocate(count);
    ice_stream stream = light_stream(0);
    ice_pulse pulse = ice_led_pulse(127);
    for (size_t i = 0; i < count; ++i) {
        sample[i] = ice_pulse_time(&pulse, &stream);
    }
    expect_distribution("LED pulse", sample, count, pulse_distribution, &pulse);
    pulse = (ice_pulse){0, 70, 0};
    double end = 70;
    for (size_t i = 0; i < count; ++i) {
        sample[i] = ice_pulse_time(&pulse, &stream);
    }
    expect_distribution("rectangle", sample, count, uniform_distribution, &end);
    free(sample);
    pulse = (ice_pulse){0, 0, 0};
    ck_assert_double_eq(ice_pulse_time(&pulse, &stream), 0);
}
END_TEST

/* The share of light that leaves a module in the way of ppc, and where it leaves. */
START_TEST(leds_of_ppc)
{
    const double radius = 0.1651;
    const double elevations[] = {ICE_LED_HORIZONTAL_ELEVATION, ICE_LED_TILTED_ELEVATION};
    const double ways[] = {0.0349, 0.0305}; /* by hand, m */
    const size_t count = test_scaled(LIGHT_SAMPLE);
    for (int i = 0; i < 2; ++i) {
        const ice_led_kind kind = i == 0 ? ICE_LED_HORIZONTAL : ICE_LED_TILTED;
        const ice_axis axis = {0, -cos(elevations[i]), sin(elevations[i])};
        const ice_axis led = ice_led_ppc_position(axis);
        ck_assert(fabs(led.x) < 1e-9 && led.y < 0);
        expect_near(ice_led_way_out(led, axis, radius), ways[i], 1e-4);
        moment passes = {0};
        ice_stream stream = light_stream(40 + (uint32_t)i);
        for (size_t k = 0; k < count; ++k) {
            const double x = ice_beam_led(kind, &stream);
            const ice_axis to = ice_axis_turn(axis, x, 2 * ICE_PI * ice_stream_uniform(&stream));
            const double way = ice_led_way_out(led, to, radius);
            const double at[] = {led.x + way * to.x, led.y + way * to.y, led.z + way * to.z};
            ck_assert(fabs(sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]) - radius) < 1e-9);
            moment_add(&passes, fabs(at[2]) < 0.03396 ? 0 : at[2] < 0 ? 0.1 : 1);
        }
        expect_mean("LED of ppc: share", &passes, ice_led_ppc_share(kind, axis, radius), 3e-4);
    }
}
END_TEST

ICS_TEST_MAIN("light flasher")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, beams);
    tcase_add_test(all, smeared_leds);
    tcase_add_test(all, led_numbers);
    tcase_add_test(all, pulses);
    tcase_add_test(all, leds_of_ppc);
    suite_add_tcase(suite, all);
}
