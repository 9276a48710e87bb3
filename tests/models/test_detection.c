/* Promise: the detect stage has the probabilities and random numbers of physics.md 8.5 at worked
 * numbers, and mean results do not depend on the oversize, the maximum of the angular acceptance or
 * the bias. To join: a setting that must not change mean results is a row of `variants`. */
#include "physics/detect/detect_none.h"
#include "pipeline/photons/devices/batch.h"
#include "tests/models/spectrum_quantile.h"
#include "tests/support/detection_world.h"
#include "tests/support/test_main.h"

#include <stdlib.h>
#include <string.h>

/* Returns the probability of detection of light with this wavelength (nm) that travels upwards with
 * cosine nz and arrives at the lowest point of the module. */
static float probability(const ics_models *models, uint32_t module, double wavelength, double nz)
{
    const ice_arrival arrival = {.module = module,
                                 .wavelength = (float)wavelength,
                                 .z = -0.1651f,
                                 .dx = (float)sqrt(1 - nz * nz),
                                 .dz = (float)nz};
    return ice_detect_pe(&models->detection->tables, &arrival);
}

/* ---- acceptances ----------------------------------------------------------------------------- */

START_TEST(worked_chain)
{
    /* physics.md 8.5: F = 5, 450 nm, n_z 0.5: bias 0.00328794, weight 304.142, P 0.84375. */
    ics_models *models = models_load(model_config("stages.detect=pe", "detector.oversize=5", NULL));
    ck_assert_float_eq_tol(probability(models, 0, 450, 0.5), 0.84375f, 1e-6f);
    const double weight = 1 / ics_batch_light_bias(models->light, 450);
    ck_assert_double_eq_tol(weight, 304.142, 0.03);
    ck_assert_double_eq_tol(weight * 0.12088 / 25 * 0.57375, 0.84375, 3e-5);
    ics_models_destroy(models);
    /* If the detector has modules of efficiency 1.35, the other modules detect 1/1.35 of their
     * light. */
    models = models_load(
        model_config("stages.detect=pe", "detector.oversize=5", "detector.dense=true", NULL));
    ck_assert_float_eq_tol(probability(models, detection_module(models, 1, 1), 450, 0.5),
                           (float)(0.84375 / 1.35), 1e-6f);
    ck_assert_float_eq_tol(probability(models, detection_module(models, 80, 1), 450, 0.5), 0.84375f,
                           1e-6f);
    ics_models_destroy(models);
}
END_TEST

START_TEST(light_that_was_not_thinned)
{
    /* All wavelengths are detected alike. With oversize 2 a module has four times its true area, so
     * a quarter of its light is detected. */
    ics_models *models = models_load(
        model_config("stages.detect=pe", "light.acceptance=none", "detector.oversize=2", NULL));
    ck_assert_float_eq_tol(probability(models, 0, 300, 1), 0.17f, 1e-7f);
    ck_assert_float_eq_tol(probability(models, 0, 650, 0.5), 0.57375f / 4, 1e-7f);
    ics_models_destroy(models);
}
END_TEST

START_TEST(upgoing_light_is_favoured)
{
    /* physics.md 14.2: with the wrong sign of cos(eta) the result would be reversed. */
    ics_models *models = models_load(model_config("stages.detect=pe", NULL));
    ck_assert_float_eq_tol(probability(models, 7, 400, 1), 1.0f, 1e-6f);
    ck_assert_float_eq_tol(probability(models, 7, 400, 0), 0.5f, 1e-6f);
    ck_assert_float_eq_tol(probability(models, 7, 400, -1), 0.0f, 1e-6f);
    ck_assert_float_eq(ice_detect_none(NULL, NULL), 1.0f);
    ics_models_destroy(models);
}
END_TEST

START_TEST(tilted_modules)
{
    /* The PMT of module 1 looks to -x, its back to +x; that of module 2 upwards. */
    ics_models *models =
        detection_with_file("detector.axes", "1 1 1 0 0 1\n1 2 0 0 -1 1\n", "detector.oversize=1");
    const ice_arrival east = {.module = detection_module(models, 1, 1), .wavelength = 400, .dx = 1};
    ice_arrival west = east, up = east;
    west.dx = -1;
    up.dx = 0;
    up.dz = 1;
    const ice_detection *tables = &models->detection->tables;
    ck_assert_float_eq_tol(ice_detect_pe(tables, &east), 1.0f, 1e-6f);
    ck_assert_float_eq_tol(ice_detect_pe(tables, &west), 0.0f, 1e-6f);
    ck_assert_float_eq_tol(ice_detect_pe(tables, &up), 0.5f, 1e-6f);
    ck_assert_float_eq_tol(probability(models, detection_module(models, 1, 2), 400, -1), 1.0f,
                           1e-6f);
    ck_assert_float_eq_tol(probability(models, detection_module(models, 1, 3), 400, 1), 1.0f,
                           1e-6f);
    ics_models_destroy(models);
}
END_TEST

START_TEST(sharp_edge)
{
    ics_models *models = detection_with_file("detector.angular_acceptance", "0\n0.3\n", NULL);
    const float heights[] = {-0.31f, -0.29f, 0.0f, 1.0f}, expected[] = {1, 0, 0, 0};
    for (int i = 0; i < 4; ++i) {
        const ice_arrival arrival = {.wavelength = 400, .z = 0.1651f * heights[i], .dz = -1};
        ck_assert_float_eq(ice_detect_pe(&models->detection->tables, &arrival), expected[i]);
    }
    ics_models_destroy(models);
}
END_TEST

START_TEST(high_efficiency_by_wavelength)
{
    /* The ratio is 0.5 at 300 nm and rises. The second file gives module 2 this acceptance and the
     * efficiency 0.8. */
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], ratio[MODEL_PATH + 64], list[MODEL_PATH + 64];
    snprintf(ratio, sizeof ratio, "light.high_efficiency=%s",
             model_folder_write(&folder, "wv.rde", "300 0.5\n500 2\n", path));
    snprintf(list, sizeof list, "detector.efficiencies=%s",
             model_folder_write(&folder, "eff-f2k", "1 2 0.8 1\n", path));
    ics_models *models = models_load(model_config("stages.detect=pe", ratio, list, NULL));
    const uint32_t plain = detection_module(models, 1, 1), high = detection_module(models, 1, 2);
    /* Module 2 detects 0.8 (0.5 + 1.5 (wl - 300) / 200) of what module 1 detects. The light is
     * thinned by the larger of this ratio and 1, and both probabilities are relative to that
     * envelope. */
    static const double rows[][3] = {{290, 1, 0.4},    {300, 1, 0.4},      {340, 1, 0.64},
                                     {400, 1, 1},      {480, 1 / 1.48, 1}, {500, 1 / 1.6, 1},
                                     {600, 1 / 1.6, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert_float_eq_tol(probability(models, plain, rows[i][0], 1), (float)rows[i][1], 2e-6f);
        ck_assert_float_eq_tol(probability(models, high, rows[i][0], 1), (float)rows[i][2], 2e-6f);
    }
    /* No probability exceeds 1, between the points of the tables either. */
    for (double wl = 280; wl <= 680; wl += 0.173) {
        ck_assert_float_le(probability(models, plain, wl, 1), 1 + 1e-6f);
        ck_assert_float_le(probability(models, high, wl, 1), 1 + 1e-6f);
    }
    ics_models_destroy(models);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(real_folder_of_high_efficiency)
{
    char path[MODEL_PATH], ice[MODEL_PATH + 32], geometry[MODEL_PATH + 64];
    if (model_shared("ice/spice_bfr-v2", path) == NULL ||
        model_shared("ice/spice_ftp-v3m", path) == NULL) {
        return;
    }
    snprintf(ice, sizeof ice, "ice.directory=%s", path);
    snprintf(geometry, sizeof geometry, "detector.file=%s/geo-f2k", path);
    ics_models *plain =
        models_load(model_config(ice, geometry, "ice.birefringence_subtraction=none", NULL));
    ics_models *models = models_load(model_config(
        ice, geometry, "ice.birefringence_subtraction=none", "stages.detect=pe", NULL));
    /* ppc made 1191730012 photons of 100 TeV. With the standard acceptance as envelope there would
     * be 1e5 * 5.25403 * 2450.08 * 1.015 * 0.68 photons. The ratio is the mean, over wv.dat, of the
     * larger of 1 and wv.rde. */
    const double ratio = models->light->photons_per_metre / plain->light->photons_per_metre;
    ck_assert_double_eq_tol(ratio, 1191730012.0 / (1e5 * 5.25403 * 2450.08 * 1.015 * 0.68), 1e-4);
    ck_assert_ptr_null(plain->detection);
    ics_models_destroy(plain);
    ics_models_destroy(models);
    snprintf(ice, sizeof ice, "ice.directory=%.*s/spice_bfr-v2", (int)(strrchr(path, '/') - path),
             path);
    plain =
        models_load(model_config(ice, geometry, "ice.birefringence_subtraction=constant", NULL));
    models = models_load(model_config(ice, geometry, "ice.birefringence_subtraction=constant",
                                      "stages.detect=pe", NULL));
    ck_assert_double_eq_tol(models->light->photons_per_metre / plain->light->photons_per_metre,
                            1.35, 1e-12);
    ics_models_destroy(plain);
    ics_models_destroy(models);
}
END_TEST

START_TEST(modules_without_voltage)
{
    ics_models *models = detection_with_file("detector.voltages", "1 1 1300\n", NULL);
    ck_assert_float_eq_tol(probability(models, detection_module(models, 1, 1), 400, 1), 1.0f,
                           1e-6f);
    ck_assert_float_eq(probability(models, detection_module(models, 1, 2), 400, 1), 0.0f);
    ics_models_destroy(models);
}
END_TEST

/* ---- random numbers -------------------------------------------------------------------------- */

static int compare_words(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

START_TEST(blocks_of_a_photon)
{
    enum { STRINGS = 86, MODULES = 60, BOUNCES = 10000 };
    static uint32_t blocks[STRINGS * MODULES > BOUNCES ? STRINGS * MODULES : BOUNCES];
    size_t count = 0;
    for (uint32_t string = 1; string <= STRINGS; ++string) {
        for (uint32_t module = 1; module <= MODULES; ++module) {
            blocks[count++] = ice_detection_block(3, string, module);
        }
    }
    for (int pass = 0; pass < 2; ++pass) {
        qsort(blocks, count, sizeof *blocks, compare_words);
        ck_assert_uint_ge(blocks[0], ICE_BLOCK_DETECT);
        for (size_t i = 1; i < count; ++i) {
            ck_assert_uint_ne(blocks[i], blocks[i - 1]);
        }
        count = 0;
        for (uint32_t scatters = 0; scatters < BOUNCES; ++scatters) {
            blocks[count++] = ice_detection_block(scatters, 63, 20);
        }
    }
}
END_TEST

START_TEST(hits_of_a_photon_are_independent)
{
    enum { PHOTONS = 40000 };
    const ice_tables tables = {.seed_low = 1};
    size_t first = 0, other_module = 0, other_segment = 0;
    for (uint32_t i = 0; i < PHOTONS; ++i) {
        const ice_identity photon = {.event_low = 3, .step_id = i / 200, .photon_id = i % 200};
        const bool one = ice_detection_number(&tables, photon, 5, 63, 20) < 0.5f;
        first += one;
        other_module += one == (ice_detection_number(&tables, photon, 5, 63, 21) < 0.5f);
        other_segment += one == (ice_detection_number(&tables, photon, 6, 63, 20) < 0.5f);
    }
    /* Half of each; 4 sigma. */
    const double allowed = 4 * sqrt(0.25 * PHOTONS);
    ck_assert_double_eq_tol((double)first, 0.5 * PHOTONS, allowed);
    ck_assert_double_eq_tol((double)other_module, 0.5 * PHOTONS, allowed);
    ck_assert_double_eq_tol((double)other_segment, 0.5 * PHOTONS, allowed);
}
END_TEST

/* ---- means ----------------------------------------------------------------------------------- */

static const struct {
    const char *sets[3];
    uint16_t string; /* of the module that is hit */
    double efficiency;
} variants[] = {
    {{"detector.oversize=1", NULL, NULL}, 1, 1},
    {{"detector.oversize=5", NULL, NULL}, 1, 1},
    {{"detector.oversize=16", NULL, NULL}, 1, 1},
    {{"detector.angular_polynomial=[1, 0.34, 0.51, 0, -0.17]", NULL, NULL}, 1, 1},
    {{"detector.dense=true", NULL, NULL}, 1, 1},
    {{"detector.dense=true", NULL, NULL}, 86, 1.35},
    {{"detector.dense=true", "detector.angular_polynomial=[1, 0.34, 0.51, 0, -0.17]",
      "detector.oversize=2"},
     86,
     1.35},
};

START_TEST(means_do_not_depend_on_what_is_generated)
{
    /* Photo-electrons per metre of track and cross-section of a module: the yield of
     * physics.md 3.3, 2456.51 photons per metre, times the mean of the angular acceptance, 0.34,
     * whatever the oversize F, the maximum of the angular acceptance pk and the envelope are. The
     * limit is 4 sigma: by chance one of the seven cases fails in 1 of 2000 runs. */
    enum { PHOTONS = 150000 };
    ics_models *models = models_load(
        model_config("stages.detect=pe", variants[_i].sets[0] != NULL ? variants[_i].sets[0] : NULL,
                     variants[_i].sets[1], variants[_i].sets[2], NULL));
    const ice_tables tables = {.seed_low = 5};
    const ice_spectrum *spectrum = &models->light->spectra[0];
    const double area = models->detector->oversize * models->detector->oversize;
    detection_numbers random = {0};
    double detected = 0;
    for (uint32_t i = 0; i < PHOTONS; ++i) {
        double n[3];
        detection_isotropic(&random, n);
        const ice_arrival arrival = {
            .module = detection_module(models, variants[_i].string, 30),
            .wavelength = (float)spectrum_quantile(spectrum, detection_uniform(&random),
                                                   models->light->photons_per_metre),
            .dx = (float)n[0],
            .dy = (float)n[1],
            .dz = (float)n[2]};
        const ice_identity photon = {.photon_id = i};
        detected += ice_detection_number(&tables, photon, 0, 1, 30) <
                    ice_detect_pe(&models->detection->tables, &arrival);
    }
    const double share = detected / PHOTONS, scale = models->light->photons_per_metre * area;
    const double error = scale * sqrt(share * (1 - share) / PHOTONS);
    ck_assert_double_eq_tol(share * scale, 2456.51 * 0.34 * variants[_i].efficiency, 4 * error);
    ics_models_destroy(models);
}
END_TEST

ICS_TEST_MAIN("detection")
{
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, worked_chain);
    tcase_add_test(tests, light_that_was_not_thinned);
    tcase_add_test(tests, upgoing_light_is_favoured);
    tcase_add_test(tests, tilted_modules);
    tcase_add_test(tests, sharp_edge);
    tcase_add_test(tests, high_efficiency_by_wavelength);
    tcase_add_test(tests, real_folder_of_high_efficiency);
    tcase_add_test(tests, modules_without_voltage);
    tcase_add_test(tests, blocks_of_a_photon);
    tcase_add_test(tests, hits_of_a_photon_are_independent);
    tcase_add_loop_test(tests, means_do_not_depend_on_what_is_generated, 0,
                        (int)(sizeof variants / sizeof *variants));
    suite_add_tcase(suite, tests);
}
