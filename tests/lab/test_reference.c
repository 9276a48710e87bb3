/* The published benchmark of clsim as ice, light and detector (bench/lab/reference.h).
 *
 * Promises: the tables of a reference folder become the ice, the light and the modules that its
 * README describes. Expected values are computed from the formulas of that README, not by this
 * program. The tests of real tables need reference/clsim in the shared folder and are skipped
 * if it is missing. To join: a new table needs a test of its values.
 */
#include "bench/lab/reference.h"
#include "pipeline/config/config.h"
#include "pipeline/models/ice/ice.h"
#include "pipeline/models/models.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Loads the models of the reference folder, at oversize 1. Returns false if the folder is missing.
 */
static bool load_reference(ics_models **models)
{
    char path[MODEL_PATH];
    if (model_shared("reference/clsim", path) == NULL) {
        return false;
    }
    ics_reference reference;
    icestream_error error = {0};
    ck_assert_msg(ics_reference_open(path, &reference, &error) == ICESTREAM_OK, "%s", error.text);
    icestream_config *config = model_config("detector.oversize=1", NULL);
    icestream_config changed = *config;
    ics_reference_apply(&reference, &changed);
    ck_assert_msg(ics_models_create(&changed, models, &error) == ICESTREAM_OK, "%s", error.text);
    ics_reference_close(&reference);
    icestream_config_destroy(config);
    return true;
}

static void check_relative(double found, double expected, double tolerance)
{
    ck_assert_msg(fabs(found / expected - 1) < tolerance, "found %.10g, expected %.10g", found,
                  expected);
}

START_TEST(reference_ice)
{
    /* Scattering length 1 / (b400 (wl/400)^-0.8986...) and absorption length at 300, 400, 500 nm;
     * layer 0 is the black floor. */
    static const struct {
        size_t layer;
        double scattering[3], absorption[3];
    } expected[] = {
        {0, {0.645143919, 0.835463766, 1.02096718}, {0.00073280357, 0.00100100042, 0.00127493054}},
        {1, {0.608543073, 0.788065536, 0.963044814}, {21.4273771, 28.783218, 23.4411992}},
        {60, {2.2526081, 2.91713584, 3.56484634}, {72.5844384, 94.4573924, 46.162541}},
        {85, {2.41707091, 3.13011578, 3.8251156}, {93.7218325, 120.697059, 52.249946}},
        {110, {2.00994449, 2.60288556, 3.18082104}, {125.057744, 158.62032, 58.9811244}},
        {170, {0.496539624, 0.643020654, 0.785794681}, {17.3242878, 23.4388561, 22.5477861}},
    };
    ics_models *models;
    if (!load_reference(&models)) {
        return;
    }
    const ice_medium *medium = models->medium;
    ck_assert_uint_eq(medium->layer_count, 171);
    ck_assert_double_eq_tol(medium->bottom, -855.4, 1e-6);
    ck_assert_double_eq_tol(medium->thickness, 10, 1e-6);
    ck_assert_double_eq(medium->mean_cosine, 0.9);
    ck_assert_double_eq(medium->liu_fraction, 0.35);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        for (int k = 0; k < 3; ++k) {
            size_t layer = expected[i].layer;
            double wavelength = 300 + 100 * k;
            /* ics_ice_scattering is the effective one, 1 - g times the geometric one. */
            check_relative(0.1 / ics_ice_scattering(medium, layer, wavelength),
                           expected[i].scattering[k], 1e-8);
            check_relative(1 / ics_ice_absorption(medium, layer, wavelength),
                           expected[i].absorption[k], 1e-8);
        }
    }
    /* Tilt and anisotropy as the README of the folder gives them. */
    const ice_tilt *tilt = &medium->tilt;
    ck_assert_int_eq(tilt->kind, ICE_TILT_LINE);
    ck_assert_uint_eq(tilt->station_count, 6);
    ck_assert_uint_eq(tilt->depth_count, 125);
    ck_assert_double_eq_tol(tilt->stations[1], -454.882, 1e-9);
    ck_assert_double_eq_tol(tilt->first_depth + 124 * tilt->depth_step, 1948.07 + 500.4, 1e-6);
    ck_assert_double_eq_tol(tilt->shifts[124 * 6 + 0], 41.9408, 1e-9);
    ck_assert_double_eq_tol(tilt->shifts[124 * 6 + 5], -1.258, 1e-9);
    ck_assert_double_eq_tol(cos(tilt->azimuth), -0.70710678119, 1e-9);
    ck_assert_double_eq_tol(medium->layers[17].anisotropy_along, -0.0764, 1e-12);
    ck_assert_double_eq_tol(medium->layers[17].anisotropy_across, 0.0382, 1e-12);
    ck_assert_double_eq(medium->absorption_exponent, 1.0);
    ck_assert_double_eq_tol(cos(medium->flow_azimuth), cos(130 * M_PI / 180), 1e-12);
    ics_models_destroy(models);
}
END_TEST

/* Returns the ice file that scripts/reference_clsim.py writes, with one layer and without tilt. The
 * caller frees it. */
static char *ice_of_the_script(void)
{
    static const char begin[] = "ICE = \"\"\"\\\n", end[] = "layers:\n";
    char *script = calloc(1, 100000), *tilt;
    FILE *file = fopen(ICS_SOURCE_DIRECTORY "/scripts/reference_clsim.py", "r");
    ck_assert(script != NULL && file != NULL);
    ck_assert_uint_gt(fread(script, 1, 99999, file), 1000);
    fclose(file);
    const char *first = strstr(script, begin);
    ck_assert_ptr_nonnull(first);
    first += strlen(begin);
    const char *last = strstr(first, end);
    ck_assert_ptr_nonnull(last);
    char *text = calloc(1, 4096);
    ck_assert_ptr_nonnull(text);
    snprintf(text, 4096, "%.*slayers: [[2000, 0.03, 0.01, 0]]\n", (int)(last - first), first);
    ck_assert_ptr_nonnull(tilt = strstr(text, "tilt: {"));
    *tilt = '#';
    free(script);
    return text;
}

/* scripts/reference_clsim.py makes clsim's ice from files as a user would write them, and therefore
 * repeats the constants of reference.c. Both must be the same. */
START_TEST(the_script_has_the_same_ice)
{
    ics_models *models;
    if (!load_reference(&models)) {
        return;
    }
    char *text = ice_of_the_script(), path[MODEL_PATH], set[MODEL_PATH + 32];
    model_folder folder = model_folder_create();
    snprintf(set, sizeof set, "ice.file=%s", model_folder_write(&folder, "i.yaml", text, path));
    icestream_config *config = model_config(set, NULL);
    ics_models *theirs;
    icestream_error error = {0};
    ck_assert_msg(ics_models_create(config, &theirs, &error) == ICESTREAM_OK, "%s", error.text);
    const ice_medium *a = models->medium, *b = theirs->medium;
    ck_assert_double_eq(a->mean_cosine, b->mean_cosine);
    ck_assert_double_eq(a->liu_fraction, b->liu_fraction);
    ck_assert_double_eq(a->alpha, b->alpha);
    ck_assert_double_eq(a->kappa, b->kappa);
    ck_assert_double_eq(a->absorption_a, b->absorption_a);
    ck_assert_double_eq(a->absorption_b, b->absorption_b);
    ck_assert_double_eq(a->flow_azimuth, b->flow_azimuth);
    ck_assert_double_eq(a->absorption_exponent, b->absorption_exponent);
    ck_assert_double_eq(a->layers[0].anisotropy_along, b->layers[0].anisotropy_along);
    ck_assert_double_eq(a->layers[0].anisotropy_across, b->layers[0].anisotropy_across);
    ics_models_destroy(theirs);
    ics_models_destroy(models);
    icestream_config_destroy(config);
    model_folder_remove(&folder);
    free(text);
}
END_TEST

/* Returns the share of a spectrum below a wavelength (nm), which is one of the spectrum's points.
 */
static double share_below(const ice_spectrum *spectrum, double wavelength)
{
    double below = 0, total = 0;
    for (size_t i = 1; i < spectrum->count; ++i) {
        double area = 0.5 * (spectrum->density[i] + spectrum->density[i - 1]) *
                      (spectrum->wavelength[i] - spectrum->wavelength[i - 1]);
        total += area;
        if (spectrum->wavelength[i] <= wavelength) {
            below += area;
        }
    }
    return below / total;
}

START_TEST(reference_light)
{
    /* From the column cdf of wavelength.csv. */
    static const double shares[][2] = {{260, 0},
                                       {300, 2.7710050761e-04},
                                       {350, 8.4360089947e-02},
                                       {400, 4.0912789561e-01},
                                       {500, 8.6883300407e-01},
                                       {600, 9.9104617281e-01},
                                       {670, 9.9987645480e-01},
                                       {680, 1}};
    ics_models *models;
    if (!load_reference(&models)) {
        return;
    }
    const ice_spectrum *cherenkov = &models->light->spectra[0];
    ck_assert_double_eq(cherenkov->wavelength[0], 260);
    ck_assert_double_eq(cherenkov->wavelength[cherenkov->count - 1], 680);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; ++i) {
        ck_assert_double_eq_tol(share_below(cherenkov, shares[i][0]), shares[i][1], 2e-9);
    }

    /* The bias has the shape of the column bias, 0.15062904556 at 400 nm and 0.096387681623 at
     * 500 nm, except that constants of the Cherenkov yield are rounded. */
    const ice_light *light = models->light;
    double bias[2] = {0};
    for (size_t i = 0; i < light->bias_count; ++i) {
        for (int k = 0; k < 2; ++k) {
            if (light->bias_wavelength[i] == 400 + 100 * k) {
                bias[k] = light->bias[i];
            }
        }
    }
    check_relative(bias[0] / bias[1], 0.15062904556 / 0.096387681623, 1e-3);
    ics_models_destroy(models);
}
END_TEST

START_TEST(reference_detector)
{
    ics_models *models;
    if (!load_reference(&models)) {
        return;
    }
    const ice_detector *detector = models->detector;
    ck_assert_uint_eq(detector->module_count, 5160);
    ck_assert_double_eq(detector->radius, 0.1651);
    ck_assert_double_eq(detector->oversize, 1);
    ck_assert_uint_eq(detector->modules[0].string, 1); /* index 0 in the file */
    ck_assert_double_eq_tol(detector->modules[0].x, -256.14001, 1e-9);
    ck_assert_double_eq_tol(detector->modules[0].z, 496.03, 1e-9);
    ics_models_destroy(models);
}
END_TEST

ICS_TEST_MAIN("reference")
{
    TCase *tests = tcase_create("reference");
    tcase_add_test(tests, reference_ice);
    tcase_add_test(tests, the_script_has_the_same_ice);
    tcase_add_test(tests, reference_light);
    tcase_add_test(tests, reference_detector);
    suite_add_tcase(suite, tests);
}
