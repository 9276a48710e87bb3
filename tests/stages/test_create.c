/* Photons at their start: the numbers of physics.md 2.2 and 2.3, and the distributions of 12.5. A
 * photon depends on its identity and on nothing else.
 *
 * How to join: add one test for each new kind of light.
 *
 * There are 8 Kolmogorov-Smirnov tests with fixed seeds, rejected at p < 1e-4. With other seeds a
 * correct program would fail with a probability of about 1e-3. */
#include "pipeline/tools/measure/statistics.h"
#include "stages/contact.h"
#include "stages/create_cherenkov.h"
#include "stages/segment.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static ice_emission step_of(uint32_t spectrum, double length, double beta)
{
    const ice_emission emission = {.x = 10.0f,
                                   .y = -20.0f,
                                   .z = 30.0f,
                                   .length = (float)length,
                                   .dx = 0.48f,
                                   .dy = 0.6f,
                                   .dz = -0.64f,
                                   .beta = (float)beta,
                                   .event_low = 5,
                                   .event_high = 6,
                                   .step_id = 7,
                                   .photons = 1000000,
                                   .spectrum = spectrum};
    return emission;
}

static stage_world standard_world(void)
{
    stage_world world = stage_world_from_config(NULL, "light.acceptance=standard", NULL);
    stage_world_tables(&world);
    return world;
}

/* ---- samples --------------------------------------------------------------------------------- */

typedef struct sample {
    double *values;
    size_t count;
} sample;

static sample sample_create(size_t count)
{
    sample s = {calloc(count, sizeof(double)), count};
    ck_assert_ptr_nonnull(s.values);
    return s;
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double uniform_between(double value, void *limits)
{
    const double *limit = limits;
    return fmin(fmax((value - limit[0]) / (limit[1] - limit[0]), 0.0), 1.0);
}

static double exponential(double value, void *nothing)
{
    (void)nothing;
    return -expm1(-value);
}

static void expect_distribution(sample *s, const char *name, double (*below)(double, void *),
                                void *user)
{
    qsort(s->values, s->count, sizeof(double), ascending);
    const ics_statistics_test test =
        ics_statistics_kolmogorov_one_sample(s->values, s->count, below, user, 1.0);
    ck_assert_msg(test.probability > 1e-4, "%s: D = %g, p = %g", name, test.statistic,
                  test.probability);
}

static void expect_uniform(sample *s, const char *name, double low, double high)
{
    double limits[2] = {low, high};
    expect_distribution(s, name, uniform_between, limits);
}

/* ---- Cherenkov light ------------------------------------------------------------------------- */

START_TEST(worked_example)
{
    /* physics.md 2.2: u1 = 0.25 of 2 m; 400 nm. */
    const double shift = ice_start_shift(2.0f, 0, 0x40000000);
    ck_assert_double_eq_tol(shift, 0.5, 1e-7);
    ck_assert_double_eq_tol(100.0 + shift / ICE_LIGHT_SPEED, 101.667820, 5.1e-7);

    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                                           world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    const ice_emission emission = step_of(0, 2.0, 1.0);
    const ice_photon photon = ice_create_cherenkov(tables, &emission, 3, 11);
    const double cosine = 0.48 * photon.dx + 0.6 * photon.dy - 0.64 * photon.dz;
    ck_assert_double_eq_tol(cosine, 0.757904, 8e-7);
    ck_assert_double_eq_tol(sqrt(1.0 - cosine * cosine), 0.652366, 1e-6);
    ck_assert_double_eq_tol(acos(cosine) * 180.0 / M_PI, 40.7202, 1e-4);
    ck_assert(photon.wavelength == 400.0f);
    ck_assert(photon.path == 0.0f);
    ck_assert_uint_eq(photon.scatters, 0);
    ck_assert_uint_eq(photon.emission, 3);
    ck_assert_uint_eq(photon.photon_id, 11);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(cherenkov_light)
{
    stage_world world = standard_world();
    const ice_tables *tables = &world.tables->device;
    const size_t count = test_scaled(1000000);
    sample places = sample_create(count), azimuths = sample_create(count);
    sample depths = sample_create(count), wavelengths = sample_create(count);
    const ice_emission emission = step_of(0, 4.0, 0.95);
    /* Two axes across the step. */
    const double n[3] = {emission.dx, emission.dy, emission.dz};
    const double t[3] = {0.6 / sqrt(0.5904), -0.48 / sqrt(0.5904), 0.0};
    const double w[3] = {n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2],
                         n[0] * t[1] - n[1] * t[0]};
    double worst_angle = 0.0, worst_place = 0.0, correlation = 0.0;
    for (size_t i = 0; i < count; ++i) {
        const ice_photon p = ice_create_cherenkov(tables, &emission, 0, (uint32_t)i);
        const double d[3] = {p.dx, p.dy, p.dz};
        const double cosine = d[0] * n[0] + d[1] * n[1] + d[2] * n[2];
        const double cone = 1.0 / ((double)emission.beta * ice_phase_index_double(p.wavelength));
        worst_angle = fmax(worst_angle, fabs(cosine - cone));
        const double along =
            ((double)p.x - 10.0) * n[0] + ((double)p.y + 20.0) * n[1] + ((double)p.z - 30.0) * n[2];
        const double off[3] = {p.x - 10.0 - along * n[0], p.y + 20.0 - along * n[1],
                               p.z - 30.0 - along * n[2]};
        worst_place = fmax(worst_place, sqrt(off[0] * off[0] + off[1] * off[1] + off[2] * off[2]));
        places.values[i] = along;
        azimuths.values[i] =
            atan2(d[0] * w[0] + d[1] * w[1] + d[2] * w[2], d[0] * t[0] + d[1] * t[1] + d[2] * t[2]);
        depths.values[i] = (double)p.absorption;
        wavelengths.values[i] = (double)p.wavelength;
        correlation += (along - 2.0) * ((double)p.absorption - 1.0);

        /* The time is that of an emitter that moves along the step at 0.95 c. */
        if (i % 1000 == 0) {
            const ice_arrival arrival = {.photon_id = (uint32_t)i, .wavelength = p.wavelength};
            ck_assert_double_eq_tol(ics_tables_arrival_delay(tables, &emission, &arrival),
                                    along / (0.95 * 0.299792458), 3e-5);
        }
    }
    ck_assert_double_lt(worst_angle, 1e-6);
    ck_assert_double_lt(worst_place, 1e-5);
    /* Standard deviation of the product: 4/sqrt(12). 4 sigma. */
    ck_assert_double_lt(fabs(correlation / (double)count),
                        4.0 * 4.0 / sqrt(12.0) / sqrt((double)count));
    expect_uniform(&azimuths, "azimuth about the step", -M_PI, M_PI);
    expect_uniform(&places, "place along the step", 0.0, 4.0);
    expect_distribution(&depths, "absorption depth", exponential, NULL);

    /* physics.md 3.3. The last number is 4 sigma of a quantile of 1e6 photons:
     * sqrt(q (1 - q) / 1e6) / density. */
    static const double rows[][3] = {{0.01, 316.52, 0.5}, {0.05, 340.88, 0.3},  {0.25, 379.19, 0.2},
                                     {0.50, 418.75, 0.3}, {0.75, 469.77, 0.45}, {0.95, 549.31, 0.5},
                                     {0.99, 604.27, 1.0}};
    qsort(wavelengths.values, count, sizeof(double), ascending);
    const double scale = sqrt(1e6 / (double)count);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert_double_eq_tol(wavelengths.values[(size_t)(rows[i][0] * (double)count)],
                                rows[i][1], 0.03 + scale * rows[i][2]);
    }
    free(places.values);
    free(azimuths.values);
    free(depths.values);
    free(wavelengths.values);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(below_threshold_is_dark)
{
    /* beta n < 1 for beta < 0.74 or so: no NaN, and no light (physics.md 2.2). Isotropic light and
     * other spectra have no threshold. */
    stage_world world = standard_world();
    static const double betas[] = {1e-6, 0.1, 0.5, 0.7, 0.72, 0.74, 0.76};
    for (size_t b = 0; b < sizeof betas / sizeof *betas; ++b) {
        const ice_emission emission = step_of(0, 1.0, betas[b]);
        for (uint32_t i = 0; i < 1000; ++i) {
            const ice_photon p = ice_create_cherenkov(&world.tables->device, &emission, 0, i);
            const double cosine = (double)p.dx * emission.dx + (double)p.dy * emission.dy +
                                  (double)p.dz * emission.dz;
            const double cone = 1.0 / (betas[b] * ice_phase_index_double(p.wavelength));
            ck_assert_double_eq_tol(cosine, fmin(cone, 1.0), 1e-6);
            ck_assert(fabs(cone - 1) < 1e-5 || (p.absorption < 0) == (cone > 1));
            ck_assert(isfinite(p.x) && isfinite(p.y) && isfinite(p.z));
        }
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(what_is_not_emitted_hits_nothing)
{
    /* The photon starts exactly on the surface of a module and flies into it. */
    stage_world world = standard_world();
    const ice_sphere module = {.oversize = 1};
    ice_tables one = world.tables->device;
    one.modules = &module;
    one.radius = 0.25f;
    const ice_tables *tables = &one;
    ice_emission slow = step_of(0, 0.0, 0.5);
    slow.x = slow.y = slow.dx = slow.dy = 0;
    slow.z = one.radius;
    slow.dz = -1;
    const ice_photon p = ice_create_cherenkov(tables, &slow, 0, 0);
    const ice_segment_start start = {p.z, p.dz, 0.5f, p.absorption,
                                     ice_optics_at(tables, p.wavelength)};
    int32_t leaves;
    const ice_segment segment = ice_segment_in_layer(tables, start, &leaves);
    ck_assert(!leaves && segment.length <= 0 && segment.length > -1e-20f);
    ck_assert_float_eq(segment.absorption, 0);
    ck_assert_float_lt(segment.absorption, ICE_ABSORPTION_END);
    ice_contact_search search = {p.x, p.y, p.z, ice_direction_of(&p), 0.0f, -1.0f, 0};
    ice_contact contact = {0, ICE_NO_MODULE};
    ice_try_module(tables, &search, 0, &contact);
    ck_assert_uint_eq(contact.module, 0);
    search.length = segment.length;
    contact.module = ICE_NO_MODULE;
    ice_try_module(tables, &search, 0, &contact);
    ck_assert_uint_eq(contact.module, ICE_NO_MODULE);
    stage_world_destroy(&world);
}
END_TEST

/* ---- other light ----------------------------------------------------------------------------- */

START_TEST(directed_light)
{
    /* physics.md 2.3: photons have exactly the direction, position and time of the step. Spectrum 6
     * is a line. */
    stage_world world = standard_world();
    const ice_tables *tables = &world.tables->device;
    for (uint32_t spectrum = 1; spectrum <= 6; ++spectrum) {
        const ice_emission point = step_of(spectrum, 0.0, 1.0);
        for (uint32_t i = 0; i < 1000; ++i) {
            const ice_photon p = ice_create_cherenkov(tables, &point, 0, i);
            ck_assert(p.x == 10.0f && p.y == -20.0f && p.z == 30.0f);
            ck_assert_double_eq_tol(p.dx, 0.48, 1.2e-7);
            ck_assert_double_eq_tol(p.dy, 0.6, 1.2e-7);
            ck_assert_double_eq_tol(p.dz, -0.64, 1.2e-7);
            if (spectrum == 6) {
                ck_assert(p.wavelength == 337.0f);
            }
            const ice_arrival arrival = {.photon_id = i, .wavelength = p.wavelength};
            ck_assert_double_eq(ics_tables_arrival_delay(tables, &point, &arrival), 0.0);
        }
    }
    /* If the step has a length, photons start along the step. */
    const size_t count = test_scaled(200000);
    sample places = sample_create(count);
    const ice_emission line = step_of(2, 8.0, 1.0);
    for (size_t i = 0; i < count; ++i) {
        const ice_photon p = ice_create_cherenkov(tables, &line, 0, (uint32_t)i);
        places.values[i] = ((double)p.x - 10.0) / 0.48;
    }
    expect_uniform(&places, "place along a flasher's step", 0.0, 8.0);
    free(places.values);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(isotropic_light)
{
    stage_world world = standard_world();
    const ice_tables *tables = &world.tables->device;
    const size_t count = test_scaled(1000000);
    sample components[3] = {sample_create(count), sample_create(count), sample_create(count)};
    sample azimuths = sample_create(count);
    ice_emission emission = step_of(1, 0.1651, 0.9);
    emission.flags = ICE_EMISSION_ISOTROPIC;
    emission.dx = emission.dy = emission.dz = 0.0f; /* ignored */
    double worst = 0.0;
    for (size_t i = 0; i < count; ++i) {
        const ice_photon p = ice_create_cherenkov(tables, &emission, 0, (uint32_t)i);
        /* Photons start on the sphere and fly outwards. */
        worst = fmax(worst, fabs((double)p.x - 10.0 - 0.1651 * p.dx));
        worst = fmax(worst, fabs((double)p.y + 20.0 - 0.1651 * p.dy));
        worst = fmax(worst, fabs((double)p.z - 30.0 - 0.1651 * p.dz));
        components[0].values[i] = (double)p.dx;
        components[1].values[i] = (double)p.dy;
        components[2].values[i] = (double)p.dz;
        azimuths.values[i] = atan2((double)p.dy, (double)p.dx);
    }
    ck_assert_double_lt(worst, 3e-6);
    expect_uniform(&components[0], "isotropic, x", -1.0, 1.0);
    expect_uniform(&components[1], "isotropic, y", -1.0, 1.0);
    expect_uniform(&components[2], "isotropic, z", -1.0, 1.0);
    expect_uniform(&azimuths, "isotropic, azimuth", -M_PI, M_PI);
    /* files.md 3.2: photons start at the time length / (c beta). */
    const ice_arrival arrival = {.photon_id = 5, .wavelength = 400.0f};
    ck_assert_double_eq_tol(ics_tables_arrival_delay(tables, &emission, &arrival),
                            0.1651 / (0.9 * 0.299792458), 1e-6);
    for (int k = 0; k < 3; ++k) {
        free(components[k].values);
    }
    free(azimuths.values);
    stage_world_destroy(&world);
}
END_TEST

/* ---- identity -------------------------------------------------------------------------------- */

START_TEST(a_photon_is_its_identity)
{
    stage_world world = standard_world();
    const ice_tables *tables = &world.tables->device;
    const ice_emission emission = step_of(0, 4.0, 1.0);
    const ice_photon photon = ice_create_cherenkov(tables, &emission, 0, 5);

    /* The place in the batch and the division of the step do not matter. */
    ice_emission other = emission;
    other.first_photon = 5;
    other.photons = 1;
    ice_photon again = ice_create_cherenkov(tables, &other, 77, 5);
    ck_assert_uint_eq(again.emission, 77);
    again.emission = photon.emission;
    ck_assert_mem_eq(&again, &photon, sizeof photon);

    /* The photon, the step, both words of the event and both words of the seed matter. */
    ck_assert(ice_create_cherenkov(tables, &emission, 0, 6).absorption != photon.absorption);
    other = emission;
    other.step_id = 8;
    ck_assert(ice_create_cherenkov(tables, &other, 0, 5).absorption != photon.absorption);
    other = emission;
    other.event_low = 8;
    ck_assert(ice_create_cherenkov(tables, &other, 0, 5).absorption != photon.absorption);
    other = emission;
    other.event_high = 8;
    ck_assert(ice_create_cherenkov(tables, &other, 0, 5).absorption != photon.absorption);
    const uint64_t seeds[] = {2, UINT64_C(1) << 32 | 1};
    for (size_t i = 0; i < 2; ++i) {
        world.options.seed = seeds[i];
        tables = stage_world_tables(&world);
        ck_assert(ice_create_cherenkov(tables, &emission, 0, 5).absorption != photon.absorption);
    }
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("create")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, worked_example);
    tcase_add_test(all, cherenkov_light);
    tcase_add_test(all, below_threshold_is_dark);
    tcase_add_test(all, what_is_not_emitted_hits_nothing);
    tcase_add_test(all, directed_light);
    tcase_add_test(all, isotropic_light);
    tcase_add_test(all, a_photon_is_its_identity);
    suite_add_tcase(suite, all);
}
