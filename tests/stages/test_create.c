/* Photons at their start: the numbers of physics.md 2.2 and 2.3. A photon depends on its identity
 * and on nothing else. tests/propagation/test_creation.c has the distributions.
 *
 * How to join: add one test for each new kind of light. */
#include "stages/contact.h"
#include "stages/create_cherenkov.h"
#include "stages/segment.h"
#include "tests/support/moments.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

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
    double *places = sample_allocate(count);
    const ice_emission line = step_of(2, 8.0, 1.0);
    for (size_t i = 0; i < count; ++i) {
        const ice_photon p = ice_create_cherenkov(tables, &line, 0, (uint32_t)i);
        places[i] = ((double)p.x - 10.0) / 0.48;
    }
    double length = 8.0;
    expect_distribution("place along a flasher's step", places, count, uniform_distribution,
                        &length);
    free(places);
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
    tcase_add_test(all, below_threshold_is_dark);
    tcase_add_test(all, what_is_not_emitted_hits_nothing);
    tcase_add_test(all, directed_light);
    tcase_add_test(all, a_photon_is_its_identity);
    suite_add_tcase(suite, all);
}
