/* Promise: flashers, beams, points of light and standard candles have the photons, positions,
 * directions and times of physics.md 10. To join: a new light source gets its particle in
 * `other_sources` or, with a pulse and an angular distribution, in `flasher`. */
#include "physics/light/light_flasher.h"
#include "pipeline/photons/models/light/light.h"
#include "tests/particles/particle_world.h"
#include "tests/support/scratch_files.h"
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

/* Times of a pulse from a file: a ramp of 2 ns, and 3 ns of half its last intensity, which is 4/7
 * and 3/7 of the light, in the form of clsim without names; and the same as counts, whose ramp is
 * flat. */
START_TEST(pulse_of_a_file)
{
    static const struct {
        const char *name, *text;
        double mean, square;
    } files[] = {
        /* int t (t/2) over 0 .. 2 is 4/3, int t/2 over 2 .. 5 is 21/4; of squares 2 and 39/2 */
        {"plain.txt", "# time[ns]\tcounts\n0\t0\n2\t1\n2 0.5\n5\t0.5\n", (4.0 / 3 + 21.0 / 4) / 2.5,
         (2 + 39.0 / 2) / 2.5},
        {"named.csv", "time,counts\n0,1\n2,1.5\n5,0\n", (1 + 1.5 * 3.5) / 2.5,
         (4.0 / 3 + 1.5 * 13) / 2.5},
    };
    const double photons = 1e6;
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        for (int profile = 0; profile < 2; ++profile) {
            char path[SCRATCH_PATH], text[1024];
            scratch place = scratch_create();
            scratch_path(&place, files[i].name, path);
            scratch_write(path, files[i].text, strlen(files[i].text));
            snprintf(text, sizeof text,
                     PLAIN "light: {acceptance: none}\nparticles: {pulse: %s, %s"
                           "list: [{type: %s, x: 0, y: 0, z: 0, time: 100, pulse: file, "
                           "photons: 1e6%s}]}\n",
                     path, profile ? "" : "photons_per_direction: 10, ", profile ? "beam" : "point",
                     profile ? ", dx: 1, dy: 0, dz: 0" : "");
            world w = open_world(text);
            enum { N = 200000 };
            icestream_step *steps = calloc(N, sizeof *steps);
            ck_assert_ptr_nonnull(steps);
            const size_t count = fill(&w, steps, N);
            ck_assert_uint_lt(count, N);
            double all = 0, mean = 0, square = 0;
            for (size_t k = 0; k < count; ++k) {
                const icestream_step *s = &steps[k];
                const double from = s->t - 100, width = profile ? (double)s->length : 0;
                ck_assert(!profile ||
                          ICESTREAM_STEP_PULSE_OF(s->flags) == ICESTREAM_PULSE_RECTANGLE);
                all += s->photons;
                mean += s->photons * (from + width / 2);
                square += s->photons * (from * from + from * width + width * width / 3);
            }
            mean /= all;
            square /= all;
            /* A point has steps of 10 photons with one time. */
            const double samples = all / (profile ? 1 : 10);
            expect_value("pulse: photons", all, sqrt(photons), photons, 0);
            expect_value("pulse: mean time", mean, sqrt((square - mean * mean) / samples),
                         files[i].mean, 1e-3);
            expect_value("pulse: mean square", square, 8 / sqrt(samples), files[i].square, 5e-3);
            free(steps);
            close_world(&w);
            scratch_remove(&place);
        }
    }
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
    tcase_add_test(sources, pulse_of_a_file);
    tcase_add_test(sources, flasher);
    tcase_add_test(sources, flasher_of_ppc);
    tcase_add_test(sources, gauss_of_ppc);
    tcase_add_test(sources, other_sources);
    suite_add_tcase(suite, sources);
}
