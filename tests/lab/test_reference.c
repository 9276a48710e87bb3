/* The published benchmark of clsim as ice, light and detector (scripts/reference_clsim.py --files).
 *
 * Promises: the tables of a reference folder become the ice, the light and the modules that its
 * README describes, and the run file gives the published number of hits. Expected values are
 * computed from the formulas of that README. The tests need reference/clsim in the shared folder
 * and NumPy. To join: a new table needs a test of its values.
 */
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/ice/ice.h"
#include "pipeline/photons/models/models.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Runs the script and loads the run file that it writes, with --set. NULL: there is no reference,
 * or no NumPy. The caller destroys it. */
static icestream_config *load_run_file(const model_folder *folder, const char *const *sets,
                                       size_t count)
{
    char path[MODEL_PATH], command[3 * MODEL_PATH];
    if (model_shared("reference/clsim", path) == NULL) {
        return NULL;
    }
    snprintf(command, sizeof command,
             "for p in python3 /usr/bin/python3; do $p -c 'import numpy' 2>/dev/null && "
             "exec env ICESTREAM_SHARED='%s/../..' $p " ICS_SOURCE_DIRECTORY
             "/scripts/reference_clsim.py --files '%s'; done; exit 77",
             path, folder->path);
    const int result = system(command); /* NOLINT(cert-env33-c): the paths are those of the test */
    if (WIFEXITED(result) && WEXITSTATUS(result) == 77) {
        test_skip("no Python with NumPy");
        return NULL;
    }
    ck_assert_int_eq(result, 0);
    snprintf(path, sizeof path, "%s/run.yaml", folder->path);
    icestream_config *config = NULL;
    icestream_error error = {0};
    ck_assert_msg(icestream_config_load(path, sets, count, &config, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return config;
}

/* Loads the models of the reference. Returns false if it is missing. */
static bool load_reference(ics_models **models)
{
    model_folder folder = model_folder_create();
    icestream_error error = {0};
    icestream_config *config = load_run_file(&folder, NULL, 0);
    if (config != NULL) {
        ck_assert_msg(ics_models_create(config, models, &error) == ICESTREAM_OK, "%s", error.text);
    }
    icestream_config_destroy(config);
    model_folder_remove(&folder);
    return config != NULL;
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

/* The published run had 7.08 hits per thousand photons at oversize 5, with tilt and anisotropy.
 * This run has 400 000 photons, so the statistical error is 2 %. */
START_TEST(reference_run)
{
    static const char *const sets[] = {"device.backend=cpu", "workload.steps=2000",
                                       "detector.oversize=5", "graph.schedule=wavefront"};
    model_folder folder = model_folder_create();
    icestream_config *config = load_run_file(&folder, sets, sizeof sets / sizeof *sets);
    if (config != NULL) {
        char *text = NULL;
        size_t size = 0;
        icestream_error error = {0};
        FILE *out = open_memstream(&text, &size);
        const icestream_bench_options options = {.once = true, .json = true};
        ck_assert_ptr_nonnull(out);
        ck_assert_msg(icestream_bench(config, &options, out, &error) == ICESTREAM_OK, "%s",
                      error.text);
        fclose(out);
        const char *hits = strstr(text, "\"hits\": ");
        ck_assert_ptr_nonnull(hits);
        ck_assert_double_eq_tol(strtod(hits + strlen("\"hits\": "), NULL) / 400000, 7.08e-3, 1e-3);
        free(text);
    }
    icestream_config_destroy(config);
    model_folder_remove(&folder);
}
END_TEST

ICS_TEST_MAIN("reference")
{
    TCase *tests = tcase_create("reference");
    tcase_add_test(tests, reference_ice);
    tcase_add_test(tests, reference_light);
    tcase_add_test(tests, reference_detector);
    tcase_add_test(tests, reference_run);
    suite_add_tcase(suite, tests);
}
