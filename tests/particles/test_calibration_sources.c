/* Promise: flashers, beams, points of light and standard candles have the photons, positions,
 * directions and times of physics.md 10. To join: a new light source gets its particle in
 * `other_sources` or, with a pulse and an angular distribution, in `flasher`. */
#include "physics/light/light_flasher.h"
#include "pipeline/photons/models/light/light.h"
#include "tests/particles/particle_world.h"
#include "tests/support/test_main.h"

START_TEST(flasher)
{
    /* The share of the light of the LED that the acceptance keeps, by an independent integral. */
    double all = 0, kept = 0;
    for (double wl = 362.8; wl < 442.8; wl += 0.01) {
        const double light = exp(-0.5 * pow((wl - 402.8) / 8, 2));
        all += light;
        kept += light * ics_light_standard_acceptance(wl);
    }
    kept /= all;
    world w = open_particles("photons_per_direction: 1000, ",
                             "{type: flasher, string: 43, module: 30, zenith: 90, azimuth: 180, "
                             "brightness: 127, width: 20, event: 1}, "
                             "{type: flasher, string: 43, module: 30, led: 8, led_azimuth: 30, "
                             "photons: 1e6, beam: lab, event: 2}, "
                             "{type: beam, x: 1, y: 2, z: 3, dx: 0, dy: 0, dz: 5, spectrum: 6, "
                             "photons: 1e5, beam: exact, pulse: rectangle, event: 3}");
    enum { N = 200000 };
    icestream_step *steps = calloc(N, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    ck_assert_uint_eq(fill(&w, steps, N), N);
    moment x = {0}, delay = {0};
    const double centre = 501.5 - 17 * 29;
    const ice_pulse pulse = ice_led_pulse(20);
    for (size_t i = 0; i < N; ++i) {
        const icestream_step *s = &steps[i];
        ck_assert(s->photons == 1000 && s->spectrum == 3 && s->kind == ICESTREAM_KIND_FLASHER);
        ck_assert_double_eq_tol(s->x, 0.1651 * s->dx, 1e-6);
        ck_assert_double_eq_tol(s->z, centre + 0.1651 * s->dz, 1e-6);
        moment_add(&x, 1 - s->dx);
        moment_add(&delay, s->t - 0.1651 / ICE_LIGHT_SPEED);
    }
    expect_mean("flasher: 1 - cos", &x, 0.0286615, 1e-7);
    const double areas[] = {pulse.rise / 2, pulse.plateau, pulse.fall};
    const double expected =
        (areas[0] * pulse.rise * 2 / 3 + areas[1] * (pulse.rise + pulse.plateau / 2) +
         areas[2] * (pulse.rise + pulse.plateau + pulse.fall)) /
        (areas[0] + areas[1] + areas[2]);
    expect_mean("flasher: time", &delay, expected, 1e-5);

    double light[4] = {0};
    for (size_t got = N; got > 0;) {
        for (size_t i = 0; i < got; ++i) {
            const icestream_step *s = &steps[i];
            light[s->event_id] += s->photons;
            if (s->event_id == 2) {
                ck_assert_double_eq_tol(hypot(s->x, s->y), 0.119, 1e-6);
                ck_assert_double_eq_tol(atan2(s->y, s->x), ICE_PI / 2, 1e-6);
                ck_assert_double_eq_tol(s->z, centre + 0.08, 1e-5);
                ck_assert_float_eq(s->t, 0);
            }
            if (s->event_id == 3) {
                ck_assert(s->x == 1 && s->dz == 1 && s->spectrum == 6);
                ck_assert(s->t >= 0 && s->t <= 70);
            }
        }
        got = fill(&w, steps, N);
    }
    expect_value("flasher: photons", light[1], sqrt(light[1]), 1.96983e9 * kept, 2e-5 * light[1]);
    expect_value("flasher: photons of an LED", light[2], sqrt(light[2]), 1e6 * kept,
                 2e-5 * light[2]);
    expect_value("flasher: photons of a line", light[3], sqrt(light[3]),
                 1e5 * ics_light_standard_acceptance(337), 0);
    free(steps);
    close_world(&w);
}
END_TEST

/* A beam `lab` with particles.conventions: ppc starts on the surface of its module, not on the
 * belt, and its photons are those that pass. */
START_TEST(flasher_of_ppc)
{
    world w = open_particles("conventions: ppc, photons_per_direction: 1000, ",
                             "{type: flasher, string: 43, module: 30, led: 2, led_azimuth: 30, "
                             "photons: 1e9, beam: lab}");
    world plain = open_particles("photons_per_direction: 1000, ",
                                 "{type: flasher, string: 43, module: 30, led: 2, led_azimuth: 30, "
                                 "photons: 1e9, beam: lab}");
    size_t count, plain_count;
    icestream_step *steps = fill_all(&w, &count);
    icestream_step *plain_steps = fill_all(&plain, &plain_count);
    const double centre = 501.5 - 17 * 29;
    double light = 0, plain_light = 0;
    size_t below = 0;
    for (size_t i = 0; i < plain_count; ++i) {
        plain_light += plain_steps[i].photons;
    }
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *s = &steps[i];
        const double height = s->z - centre;
        ck_assert_double_eq_tol(sqrt(s->x * s->x + s->y * s->y + height * height), 0.1651, 2e-5);
        ck_assert(fabs(height) > 0.03396 - 2e-5);
        ck_assert(s->t > 0.09 && s->t < 1.1);
        light += s->photons;
        below += height < 0;
    }
    const ice_axis axis = {0, cos(ICE_LED_TILTED_ELEVATION), sin(ICE_LED_TILTED_ELEVATION)};
    const double share = ice_led_ppc_share(ICE_LED_TILTED, axis, 0.1651);
    expect_value("LED of ppc: photons", light / plain_light, sqrt(2 / plain_light), share, 0);
    /* Of the whole light about 1 in 400 arrives at the lower half, and a tenth of it passes. */
    ck_assert(below < count / 1000);
    free(steps);
    free(plain_steps);
    close_world(&w);
    close_world(&plain);
}
END_TEST

/* With particles.conventions: ppc a beam `gauss` of an LED starts on the surface of its module. */
START_TEST(gauss_of_ppc)
{
    world w = open_particles("conventions: ppc, photons_per_direction: 1000, ",
                             "{type: flasher, string: 43, module: 30, led: 2, led_azimuth: 30, "
                             "photons: 1e8, beam: gauss}");
    size_t count;
    icestream_step *steps = fill_all(&w, &count);
    const double centre = 501.5 - 17 * 29;
    moment x = {0};
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *s = &steps[i];
        ck_assert_double_eq_tol(s->x, 0.1651 * s->dx, 1e-6);
        ck_assert_double_eq_tol(s->y, 0.1651 * s->dy, 1e-6);
        ck_assert_double_eq_tol(s->z, centre + 0.1651 * s->dz, 1e-5);
        ck_assert_double_eq_tol(s->t, 0.1651 / ICE_LIGHT_SPEED, 1e-6);
        moment_add(&x, 1 - s->dy * cos(ICE_LED_TILTED_ELEVATION) -
                           s->dz * sin(ICE_LED_TILTED_ELEVATION));
    }
    expect_mean("LED of ppc: 1 - cos", &x, 0.0286615, 1e-7);
    free(steps);
    close_world(&w);
}
END_TEST

START_TEST(other_sources)
{
    world w = open_particles(
        "photons_per_direction: 1000, ",
        "{type: ph, photons: 1234567, spectrum: 2, zenith: 180, azimuth: 0, x: 1, y: 2, z: 3, "
        "event: 0}, {type: point, photons: 1e6, x: 1, y: 2, z: 3, time: 8, event: 1}, "
        "{type: sc1, photons: 1e8, event: 2}, {type: sc2, photons: 1e8, event: 3}");
    size_t count;
    icestream_step *steps = fill_all(&w, &count);
    uint64_t rays = 0;
    moment around = {0};
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *s = &steps[i];
        switch (s->event_id) {
        case 0:
            rays += s->photons;
            ck_assert(s->photons <= 200 && s->dz == 1 && s->length == 0 && s->spectrum == 2);
            ck_assert_uint_eq(s->flags, ICESTREAM_STEP_NOT_THINNED);
            break;
        case 1:
            ck_assert(s->photons <= 200 && s->flags == ICESTREAM_STEP_ISOTROPIC && s->t == 8);
            break;
        case 2:
            ck_assert_double_eq_tol(asin(s->dz) / ICE_DEGREE, 48.87, 1e-4);
            ck_assert(s->x == 544.07F && s->spectrum == 6);
            moment_add(&around, s->dx);
            break;
        default:
            ck_assert_double_eq_tol(asin(s->dz) / ICE_DEGREE, -48.87, 1e-4);
            ck_assert(s->z == -205.64F);
        }
    }
    ck_assert_uint_eq(rays, 1234567); /* exactly, no bias */
    expect_mean("candle: azimuth", &around, 0, 0);
    free(steps);
    close_world(&w);
}
END_TEST

ICS_TEST_MAIN("calibration sources")
{
    TCase *sources = tcase_create("sources");
    tcase_add_test(sources, flasher);
    tcase_add_test(sources, flasher_of_ppc);
    tcase_add_test(sources, gauss_of_ppc);
    tcase_add_test(sources, other_sources);
    suite_add_tcase(suite, sources);
}
