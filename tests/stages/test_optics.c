/* Optics of the medium: indices of refraction, coefficients of layers and the faces between layers
 * have the numbers of physics.md 4.1, 4.2 and 4.3, and optics that a model gives by wavelength come
 * back as they were given.
 *
 * How to join: add one test for each new formula of the optics. */
#include "pipeline/photons/models/ice/ice.h"
#include "stages/create_cherenkov.h"
#include "stages/optics.h"
#include "tests/support/model_files.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(indices_of_refraction)
{
    /* physics.md 4.1: nm, phase index, group index, group velocity m/ns, Cherenkov angle deg. */
    static const double rows[][5] = {
        {300, 1.334044, 1.400484, 0.2140635, 41.4442},
        {337, 1.327121, 1.380284, 0.2171963, 41.1046},
        {350, 1.325168, 1.374339, 0.2181357, 41.0077},
        {400, 1.319428, 1.356106, 0.2210686, 40.7202},
        {450, 1.315666, 1.343754, 0.2231007, 40.5295},
        {500, 1.313040, 1.335654, 0.2244536, 40.3953},
        {600, 1.309394, 1.327472, 0.2258371, 40.2075},
        {675, 1.307993, 1.325484, 0.2261759, 40.1348},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const double wavelength = rows[i][0];
        const double phase = ice_phase_index_double(wavelength);
        const double group = ice_group_index_double(wavelength);
        ck_assert_double_eq_tol(phase, rows[i][1], 5.1e-7);
        ck_assert_double_eq_tol(group, rows[i][2], 5.1e-7);
        ck_assert_double_eq_tol(ICE_LIGHT_SPEED / group, rows[i][3], 5.1e-8);
        ck_assert_double_eq_tol(acos(1.0 / phase) * 180.0 / M_PI, rows[i][4], 5.1e-5);
        ck_assert_double_eq_tol(ice_phase_index((float)wavelength), rows[i][1], 1e-6);
    }
    /* Travel times over 100 m. */
    ck_assert_double_eq_tol(100.0 * ice_group_index_double(400.0) / ICE_LIGHT_SPEED, 452.348, 5e-4);
    ck_assert_double_eq_tol(100.0 * ice_group_index_double(350.0) / ICE_LIGHT_SPEED, 458.430, 5e-4);
    ck_assert_double_eq_tol(100.0 * ice_group_index_double(500.0) / ICE_LIGHT_SPEED, 445.526, 5e-4);
}
END_TEST

START_TEST(single_precision_over_the_band)
{
    double error = 0.0;
    for (double wavelength = ICE_WAVELENGTH_MIN; wavelength <= ICE_WAVELENGTH_MAX;
         wavelength += 0.01) {
        const float single = (float)wavelength;
        error = fmax(error, fabs(ice_phase_index(single) - ice_phase_index_double(single)));
    }
    ck_assert_double_lt(error, 3e-7);
}
END_TEST

START_TEST(coefficients_of_the_example)
{
    /* physics.md 4.2: be400 0.04, adust400 0.01, dtau 5; A and B rounded. */
    ice_medium *medium = world_medium_uniform(2.5, 0.9, 0.35, 100.0);
    medium->layers[0].dust_absorption = 0.01;
    medium->layers[0].delta_tau = 5.0;
    medium->absorption_a = 6954.1;
    stage_world world = stage_world_create(medium, world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    const ice_layer_row *row = &tables->layers[0];
    const ice_optics at_400 = ice_optics_at(tables, 400.0f);
    const double b = ice_scattering(at_400, row->scattering, row->bubbles);
    const double a = ice_absorption(at_400, row->dust, row->ice);
    ck_assert_double_eq_tol(1.0 / b, 2.5, 2.5e-6);
    ck_assert_double_eq_tol(a, 0.01047676, 1e-8);
    ck_assert_double_eq_tol(1.0 / a, 95.449, 6e-4);

    static const double ice_terms[][2] = {{337, 2.0601e-5},  {365, 9.2923e-5},  {400, 4.54057e-4},
                                          {450, 2.85403e-3}, {500, 1.24204e-2}, {600, 0.112760}};
    for (size_t i = 0; i < sizeof ice_terms / sizeof *ice_terms; ++i) {
        const double term = ice_optics_at(tables, (float)ice_terms[i][0]).ice;
        ck_assert_double_eq_tol(term / ice_terms[i][1], 1.0, 3e-5);
    }
    ck_assert_double_eq_tol(ice_optics_at(tables, 500.0f).scattering, 0.81831, 6e-6);
    ck_assert_double_eq_tol(ice_optics_at(tables, 500.0f).dust, 0.78513, 6e-6);
    ck_assert_double_eq_tol(ice_optics_at(tables, 300.0f).scattering, 1.29500, 6e-6);
    ck_assert_double_eq_tol(ice_optics_at(tables, 300.0f).dust, 1.36599, 6e-6);
    ck_assert(at_400.scattering == 1.0f);
    ck_assert(at_400.dust == 1.0f);
    stage_world_destroy(&world);
}
END_TEST

/* Compares the coefficients of the tables with those of the model, in all layers and at many
 * wavelengths. */
static void compare_coefficients(stage_world *world)
{
    const ice_tables *tables = stage_world_tables(world);
    const ice_medium *medium = world->medium;
    double scattering = 0.0, absorption = 0.0;
    for (double wavelength = 250.0; wavelength <= 700.0; wavelength += 2.5) {
        const ice_optics optics = ice_optics_at(tables, (float)wavelength);
        for (size_t i = 0; i < medium->layer_count; ++i) {
            const ice_layer_row *row = &tables->layers[i];
            const double b = ice_scattering(optics, row->scattering, row->bubbles);
            const double a = ice_absorption(optics, row->dust, row->ice);
            const double exact_b =
                ics_ice_scattering(medium, i, wavelength) / (1.0 - medium->mean_cosine);
            scattering = fmax(scattering, fabs(b / exact_b - 1.0));
            absorption = fmax(absorption, fabs(a / ics_ice_absorption(medium, i, wavelength) - 1));
        }
    }
    ck_assert_double_lt(scattering, 1e-6);
    /* exp(-B/wl) with B/wl up to 26 in single precision. */
    ck_assert_double_lt(absorption, 4e-6);
}

START_TEST(coefficients_of_the_built_in_ice)
{
    stage_world world = stage_world_from_config(NULL, "detector.oversize=1", NULL);
    compare_coefficients(&world);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(coefficients_of_real_ice_with_bubbles)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    if (model_shared("ice/spice_bfr-v2", path) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "ice.directory=%s", path);
    stage_world world = stage_world_from_config(NULL, set, MODEL_LAYERS_ONLY, NULL);
    const size_t top = world.medium->layer_count - 1;
    ck_assert_double_gt(world.medium->layers[top].bubbles, 0.0);
    ck_assert_double_eq(world.medium->layers[0].bubbles, 0.0);
    compare_coefficients(&world);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(layers_and_faces)
{
    static const double b[] = {1.0, 2.0, 3.0}, a[] = {0.1, 0.2, 0.3};
    stage_world world = stage_world_create(world_medium_layered(-10.0, 10.0, 3, b, a),
                                           world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    static const struct {
        float z;
        int32_t layer;
    } rows[] = {{-10.0f, 0},  {-0.001f, 0}, {0.0f, 1},    {9.999f, 1},   {10.0f, 2},
                {19.999f, 2}, {20.0f, 2},   {20.001f, 2}, {1e6f, 2},     {-10.001f, 0},
                {-1e6f, 0},   {-15.0f, 0},  {-25.0f, 0},  {INFINITY, 2}, {-INFINITY, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert_msg(ice_layer_at(tables, rows[i].z) == rows[i].layer, "z = %g: layer %d",
                      (double)rows[i].z, ice_layer_at(tables, rows[i].z));
    }
    ck_assert(ice_face(tables, 0) == -10.0f);
    ck_assert(ice_face(tables, 1) == 0.0f);
    ck_assert(ice_face(tables, 3) == 20.0f);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(layers_of_real_ice)
{
    /* A height well inside a layer is found in that layer, and the faces are those of the model. */
    stage_world world = stage_world_from_config(NULL, "detector.oversize=1", NULL);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_medium *medium = world.medium;
    uint64_t state = 5;
    for (size_t i = 0, n = test_scaled(200000); i < n; ++i) {
        const double place = test_between(&state, 0.0, (double)medium->layer_count);
        const double z = medium->bottom + place * medium->thickness;
        const double within = place - floor(place);
        if (within > 1e-4 && within < 1.0 - 1e-4) {
            ck_assert_int_eq(ice_layer_at(tables, (float)z), (int32_t)floor(place));
        }
    }
    for (size_t face = 0; face <= medium->layer_count; ++face) {
        ck_assert_double_eq_tol(ice_face(tables, (int32_t)face),
                                medium->bottom + (double)face * medium->thickness, 6.2e-5);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(optics_by_wavelength)
{
    stage_world world = stage_world_create(world_medium_uniform(10.0, 0.9, 0.0, 1.0),
                                           world_detector_far(), world_light_line(400.0));
    ice_medium *medium = world.medium;
    medium->layers[0].effective_scattering = 1.0 - medium->mean_cosine;
    medium->layers[0].dust_absorption = 1.0;
    medium->spectral = calloc(ICE_SPECTRAL_ROWS, sizeof *medium->spectral);
    ck_assert_ptr_nonnull(medium->spectral);
    for (int i = 0; i < ICE_SPECTRAL_ROWS; ++i) {
        medium->spectral[i] = (ice_spectral_optics){.phase_index = 1.4 - 1e-4 * i,
                                                    .group_index = 1.45 - 2e-4 * i,
                                                    .scattering = 0.02 + 1e-4 * i,
                                                    .absorption = 0.1 - 1e-4 * i};
    }
    const ice_tables *tables = stage_world_tables(&world);
    for (double wavelength = ICE_WAVELENGTH_MIN; wavelength <= ICE_WAVELENGTH_MAX;
         wavelength += 0.37) {
        const double i = wavelength - ICE_WAVELENGTH_MIN;
        const ice_optics optics = ice_optics_at(tables, (float)wavelength);
        const ice_layer_row *row = &tables->layers[0];
        ck_assert_double_eq_tol(ice_scattering(optics, row->scattering, row->bubbles),
                                0.02 + 1e-4 * i, 1e-6);
        ck_assert_double_eq_tol(ice_absorption(optics, row->dust, row->ice), 0.1 - 1e-4 * i, 1e-6);
        ck_assert_double_eq_tol(ice_medium_index(tables, (float)wavelength), 1.4 - 1e-4 * i, 1e-6);
    }
    /* Light of 400 nm leaves on the cone of this phase index and flies with this group index. */
    const ice_emission step = {.dx = 1.0f, .beta = 1.0f, .photons = 1};
    const ice_photon photon = ice_create_cherenkov(tables, &step, 0, 0);
    ck_assert_double_eq_tol(photon.dx, 1.0 / 1.385, 1e-6);
    const ice_arrival arrival = {.path = 100.0f, .wavelength = 400.0f};
    ck_assert_double_eq_tol(ics_tables_arrival_delay(tables, &step, &arrival),
                            100.0 * 1.42 / ICE_LIGHT_SPEED, 1e-3);

    medium->spectral[17].absorption = 0.0;
    ics_tables *none = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_int_eq(
        ics_tables_create(medium, world.detector, world.light, &world.options, &none, &error),
        ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "267 nm"));
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("optics")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, indices_of_refraction);
    tcase_add_test(all, single_precision_over_the_band);
    tcase_add_test(all, coefficients_of_the_example);
    tcase_add_test(all, coefficients_of_the_built_in_ice);
    tcase_add_test(all, coefficients_of_real_ice_with_bubbles);
    tcase_add_test(all, layers_and_faces);
    tcase_add_test(all, layers_of_real_ice);
    tcase_add_test(all, optics_by_wavelength);
    suite_add_tcase(suite, all);
}
