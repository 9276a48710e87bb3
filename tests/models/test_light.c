/* Promise: spectra, bias and yields have the numbers of physics.md 2.4 and 3, and each faulty
 * spectrum or acceptance is refused with its place. To join: a new fault is a row of `bad_light`.
 */
#include "pipeline/photons/models/light/light.h"
#include "stages/optics.h"
#include "tests/models/spectrum_quantile.h"
#include "tests/support/loaded_models.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Linear between points, -1 outside. */
static double interpolate(const double *x, const double *y, size_t count, double at)
{
    for (size_t i = 1; i < count; ++i) {
        if (at >= x[i - 1] && at <= x[i]) {
            return y[i - 1] + (y[i] - y[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1]);
        }
    }
    return -1;
}

static double integral(const ice_spectrum *s)
{
    double sum = 0;
    for (size_t i = 1; i < s->count; ++i) {
        sum +=
            0.5 * (s->density[i] + s->density[i - 1]) * (s->wavelength[i] - s->wavelength[i - 1]);
    }
    return sum;
}

/* Integral of wavelength * density over that of density, exact for the linear pieces. */
static double mean_of(const ice_spectrum *s)
{
    double sum = 0;
    for (size_t i = 1; i < s->count; ++i) {
        double a = s->wavelength[i - 1], h = s->wavelength[i] - a;
        double p = s->density[i - 1], q = s->density[i];
        sum += h * (a * 0.5 * (p + q) + h * (p + 2 * q) / 6);
    }
    return sum / integral(s);
}

static double quantile(const ice_spectrum *s, double u)
{
    return spectrum_quantile(s, u, integral(s));
}

/* Checks the contract of physics/model.h for a light. */
static void check_contract(const ice_light *light)
{
    for (size_t k = 0; k < light->count; ++k) {
        const ice_spectrum *s = &light->spectra[k];
        bool some = false;
        ck_assert_uint_ge(s->count, 1);
        ck_assert_ptr_nonnull(s->name);
        for (size_t i = 0; i < s->count; ++i) {
            ck_assert_double_ge(s->wavelength[i], ICE_WAVELENGTH_MIN);
            ck_assert_double_le(s->wavelength[i], ICE_WAVELENGTH_MAX);
            ck_assert(i == 0 || s->wavelength[i] > s->wavelength[i - 1]);
            ck_assert_double_ge(s->density[i], 0);
            some |= s->density[i] > 0;
            /* A hit with bias 0 would have an infinite weight. */
            if (light->bias_count > 0) {
                ck_assert_double_gt(interpolate(light->bias_wavelength, light->bias,
                                                light->bias_count, s->wavelength[i]),
                                    0);
            }
        }
        ck_assert(some);
    }
    for (size_t i = 0; i < light->bias_count; ++i) {
        ck_assert_double_gt(light->bias[i], 0);
        ck_assert(i == 0 || light->bias_wavelength[i] > light->bias_wavelength[i - 1]);
    }
}

START_TEST(refraction)
{
    /* physics.md 4.1 */
    static const struct {
        double wavelength, phase, group;
    } rows[] = {{300, 1.334044, 1.400484}, {337, 1.327121, 1.380284}, {350, 1.325168, 1.374339},
                {400, 1.319428, 1.356106}, {450, 1.315666, 1.343754}, {500, 1.313040, 1.335654},
                {600, 1.309394, 1.327472}, {675, 1.307993, 1.325484}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert_double_eq_tol(ice_phase_index_double(rows[i].wavelength), rows[i].phase, 6e-7);
        ck_assert_double_eq_tol(ice_group_index_double(rows[i].wavelength), rows[i].group, 6e-7);
    }
}
END_TEST

static double frank_tamm_yield(double low, double high)
{
    const int cells = 20000;
    double sum = 0, h = (high - low) / cells;
    for (int i = 0; i < cells; ++i) {
        sum += h * ics_light_frank_tamm(low + (i + 0.5) * h, 1);
    }
    return sum;
}

START_TEST(frank_tamm)
{
    /* physics.md 3.1, CODATA alpha */
    ck_assert_double_eq_tol(ics_light_frank_tamm(300, 1), 223.190, 6e-4);
    ck_assert_double_eq_tol(ics_light_frank_tamm(400, 1), 121.957, 6e-4);
    ck_assert_double_eq_tol(ics_light_frank_tamm(500, 1), 77.025, 6e-4);
    ck_assert_double_eq_tol(ics_light_frank_tamm(600, 1), 53.078, 6e-4);
    ck_assert_double_eq_tol(frank_tamm_yield(300, 600), 32573.44, 6e-3);
    ck_assert_double_eq_tol(frank_tamm_yield(300, 500), 26179.65, 6e-3);
    ck_assert_double_eq_tol(frank_tamm_yield(350, 550), 20191.86, 6e-3);
    ck_assert_double_eq_tol(frank_tamm_yield(265, 675), 45023.47, 6e-3);
}
END_TEST

START_TEST(standard_acceptance)
{
    /* physics.md 3.3 */
    static const double rows[][2] = {{300, 0.00268}, {337, 0.03419}, {350, 0.06420},
                                     {400, 0.12801}, {450, 0.12088}, {500, 0.09041},
                                     {550, 0.04626}, {600, 0.01972}, {650, 0.00320}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert_double_eq_tol(ics_light_standard_acceptance(rows[i][0]), rows[i][1], 5e-6);
    }
    ck_assert_double_eq(ics_light_standard_acceptance(279.9), 0);
    ck_assert_double_gt(ics_light_standard_acceptance(280), 0);
    ck_assert_double_gt(ics_light_standard_acceptance(680), 0);
    ck_assert_double_eq(ics_light_standard_acceptance(680.1), 0);
}
END_TEST

START_TEST(standard_light)
{
    ics_models *models = models_load(model_config("detector.oversize=1", NULL));
    const ice_light *light = models->light;
    const ice_spectrum *s = &light->spectra[0];
    check_contract(light);
    ck_assert_uint_eq(light->count, 7);
    /* Yield and quantiles of physics.md 3.3; a table of 1 nm is within 0.005 nm (3.4). */
    ck_assert_double_eq_tol(light->photons_per_metre / 0.68, 2456.51, 0.03);
    ck_assert_double_eq_tol(integral(s), light->photons_per_metre, 1e-9);
    static const double quantiles[][2] = {{0.01, 316.52}, {0.05, 340.88}, {0.25, 379.19},
                                          {0.50, 418.75}, {0.75, 469.77}, {0.95, 549.31},
                                          {0.99, 604.27}};
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; ++i) {
        ck_assert_double_eq_tol(quantile(s, quantiles[i][0]), quantiles[i][1], 0.0105);
    }
    ck_assert_double_eq_tol(mean_of(s), 428.60, 0.0105);
    size_t mode = 0;
    for (size_t i = 0; i < s->count; ++i) {
        if (s->density[i] > s->density[mode]) {
            mode = i;
        }
    }
    ck_assert_double_eq_tol(s->wavelength[mode], 383.6, 0.5);
    ics_models_destroy(models);
}
END_TEST

START_TEST(bias_of_the_worked_chain)
{
    /* physics.md 8.5: F = 5, 450 nm; dense strings raise it by 1.35. */
    ics_models *models = models_load(model_config("detector.oversize=5", NULL));
    const ice_light *light = models->light;
    double bias = interpolate(light->bias_wavelength, light->bias, light->bias_count, 450);
    ck_assert_double_eq_tol(bias, 0.00328794, 3e-7);
    ck_assert_double_eq_tol(1 / bias, 304.142, 0.03);
    ics_models_destroy(models);
    models = models_load(model_config("detector.oversize=5", "detector.dense=true", NULL));
    light = models->light;
    double dense = interpolate(light->bias_wavelength, light->bias, light->bias_count, 450);
    ck_assert_double_eq_tol(dense / bias, 1.35, 1e-12);
    ics_models_destroy(models);
}
END_TEST

START_TEST(plain_light)
{
    ics_models *models = models_load(model_config("light.acceptance=none", NULL));
    const ice_light *light = models->light;
    const ice_spectrum *s = &light->spectra[0];
    check_contract(light);
    ck_assert_uint_eq(light->bias_count, 0);
    ck_assert_double_eq(s->wavelength[0], 265);
    ck_assert_double_eq(s->wavelength[s->count - 1], 675);
    /* The trapezoid rule on 1 nm is h^2/12 times the difference of slopes too high: 0.17. */
    ck_assert_double_eq_tol(light->photons_per_metre, 45023.47, 0.25);
    ics_models_destroy(models);
}
END_TEST

START_TEST(calibration_light)
{
    /* physics.md 2.4; without acceptance the median and half of the 16-84 % width are the input. */
    static const double leds[][2] = {
        {341.7, 10.7}, {371.0, 7.5}, {402.8, 8.0}, {451.3, 10.2}, {489.8, 16.2}};
    ics_models *models = models_load(model_config("light.acceptance=none", NULL));
    const ice_light *light = models->light;
    for (size_t i = 0; i < 5; ++i) {
        const ice_spectrum *s = &light->spectra[1 + i];
        ck_assert_double_eq_tol(quantile(s, 0.5), leds[i][0], 0.01);
        ck_assert_double_eq_tol(0.5 * (quantile(s, 0.8413447) - quantile(s, 0.1586553)), leds[i][1],
                                0.02);
    }
    ck_assert_uint_eq(light->spectra[6].count, 1);
    ck_assert_double_eq(light->spectra[6].wavelength[0], 337);
    ck_assert_double_gt(light->spectra[6].density[0], 0);
    ics_models_destroy(models);
    /* The acceptance falls steeply at 340 nm and shifts the detected light to the red. */
    models = models_load(model_config("light.acceptance=standard", NULL));
    ck_assert_double_gt(quantile(&models->light->spectra[1], 0.5), 345);
    ics_models_destroy(models);
}
END_TEST

/* Modules that see a narrow band only detect nothing of the built-in sources outside of it. */
START_TEST(sources_outside_a_narrow_band)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    model_folder folder = model_folder_create();
    model_folder_write(&folder, "a.dat", "0 440\n0.5 450\n1 460\n", path);
    snprintf(set, sizeof set, "light.acceptance=%s", path);
    ics_models *models = models_load(model_config(set, NULL));
    const ice_light *light = models->light;
    check_contract(light);
    for (size_t i = 1; i < 7; ++i) {
        const bool is_outside = i == 1 || i == 2 || i == 6; /* 340, 370 and 337 nm */
        ck_assert_int_eq(light->kept[i] == 0, is_outside);
    }
    ics_models_destroy(models);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(light_of_a_real_folder)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    if (model_shared("ice/spice_bfr-v2", path) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "ice.directory=%s", path);
    ics_models *models =
        models_load(model_config(set, "detector.layout=hex86", "detector.oversize=1",
                                 "ice.birefringence_subtraction=constant", NULL));
    const ice_light *light = models->light;
    const ice_spectrum *s = &light->spectra[0];
    check_contract(light);
    /* 2450.08 per metre, times the folder's efficiency 1.015: 2486.8 per metre in the reference
     * runs; its angular acceptance has the maximum 0.68. */
    ck_assert_double_eq_tol(light->photons_per_metre / 0.68 / 1.015, 2450.08, 1e-6);
    ck_assert_double_eq(light->bias_wavelength[0], 261);
    ck_assert_double_eq(light->bias_wavelength[light->bias_count - 1], 679);
    /* The file's own quantiles: 0.46 of 1 lies at 415 nm and so on, within a bin's interpolation.
     */
    ck_assert_double_eq_tol(quantile(s, 0.02148403), 335, 1.0);
    ck_assert_double_eq_tol(quantile(s, 0.47048256), 415, 0.2);
    ck_assert_double_eq_tol(quantile(s, 0.93046755), 535, 0.5);
    /* Nominal module: mean 429.9 nm, median 419.8 nm (physics.md 3.2). */
    ck_assert_double_eq_tol(mean_of(s), 429.9, 0.15);
    ck_assert_double_eq_tol(quantile(s, 0.5), 419.8, 0.15);
    ics_models_destroy(models);
    models = models_load(model_config(set, "detector.layout=hex86", "detector.oversize=1",
                                      "light.acceptance=standard",
                                      "ice.birefringence_subtraction=constant", NULL));
    ck_assert_double_eq_tol(models->light->photons_per_metre / 0.68 / 1.015, 2456.51, 0.03);
    ics_models_destroy(models);
}
END_TEST

START_TEST(further_spectra)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], set[2 * MODEL_PATH];
    model_folder_write(&folder, "laser.txt", "# nm, density\n390.5 0\n400.25 2\n410 0\n", path);
    snprintf(set, sizeof set, "light.spectra=[{line: 400}, {file: %s}]", path);
    ics_models *models = models_load(model_config(set, "light.acceptance=none", NULL));
    const ice_light *light = models->light;
    check_contract(light);
    ck_assert_uint_eq(light->count, 9);
    ck_assert_uint_eq(light->spectra[7].count, 1);
    ck_assert_double_eq(light->spectra[7].wavelength[0], 400);
    const ice_spectrum *s = &light->spectra[8];
    ck_assert_double_eq(s->wavelength[0], 390.5);
    ck_assert_double_eq(s->wavelength[s->count - 1], 410);
    ck_assert_double_eq_tol(integral(s), 19.5, 1e-9);
    ck_assert_double_eq_tol(quantile(s, 0.5), 400.25, 1e-9);
    ics_models_destroy(models);
    /* Cut where the acceptance ends. */
    model_folder_write(&folder, "wide.txt", "250 1\n700 1\n", path);
    snprintf(set, sizeof set, "light.spectra=[{file: %s}]", path);
    models = models_load(model_config(set, "light.acceptance=standard", NULL));
    check_contract(models->light);
    ck_assert_double_eq(models->light->spectra[7].wavelength[0], 280);
    ics_models_destroy(models);
    model_folder_remove(&folder);
}
END_TEST

/* The same table in the forms of the field: with a header or without, commas, semicolons, tabs or
 * blanks, shares or percent, a third column with errors, any order of the rows and of the columns.
 */
static const char *const tables[] = {
    "300 0.01\n400 0.25\n500 0.15\n600 0.03\n",
    "wl,acc\n300,0.01\n400,0.25\n500,0.15\n600,0.03\n",
    ("# Wavelength(nm) \t QE \t "
     "error\n3.0e+02\t0.01\t1e-6\n400\t0.25\t1e-3\n500\t0.15\t1e-3\n600\t0.03\t1e-3\n"),
    "wavelength_nm;qe_percent\r\n300;1\r\n400;25\r\n500;15\r\n600;3\r\n",
    "quantum_efficiency, wavelength, error\n0.03,600,0\n0.15,500,0\n0.25,400,0\n0.01,300,0\n",
};

START_TEST(tables_of_acceptance)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    snprintf(set, sizeof set, "light.acceptance=%s",
             model_folder_write(&folder, "qe.dat", tables[_i], path));
    ics_models *models = models_load(model_config(set, "detector.oversize=2", NULL));
    const ice_light *light = models->light;
    check_contract(light);
    ck_assert_uint_eq(light->bias_count, 301);
    ck_assert_double_eq(light->bias_wavelength[0], 300);
    ck_assert_double_eq_tol(light->standard_acceptance[100], 0.25, 1e-12);
    ck_assert_double_eq_tol(light->standard_acceptance[150], 0.20, 1e-12);
    ck_assert_double_eq_tol(light->bias[150], 0.20 * 0.68 / 4, 1e-12); /* physics.md 3.2 */
    ics_models_destroy(models);
    model_folder_remove(&folder);
}
END_TEST

/* ---- files with faults --------------------------------------------------------------------- */

static const struct {
    const char *acceptance, *spectrum, *message;
} bad_light[] = {
    {"0.2 400\n0.25 450\n0.1 500\n", NULL,
     "a.dat:1: error: found 0.2 in the column of wavelengths and 400 in that of the acceptance: "
     "the "
     "columns are swapped"},
    {"0.4,0.2\n0.5,0.1\n", NULL,
     "a.dat:1: error: wavelength: found 0.4, expected 100 .. 2000 nm; is it in micrometres?"},
    {"400,0.2\n500,0.1\n400,0.3\n", NULL,
     "a.dat:3: error: wavelength: found 400 again (first on line 1), expected it once"},
    {"wavelength,QE,rel_acceptance\n400,20,0.8\n500,10,0.4\n", NULL,
     "a.dat:1: error: found 1 columns of wavelengths and 2 of acceptances by their names"},
    {"0 300\n0.6 310\n0.5 320\n1 330\n", NULL, "a.dat:3: error: share: found 0.5 after 0.6"},
    {"0 300\n1.5 310\n1 320\n", NULL, "a.dat:2: error: share: found 1.5, expected 0 .. 1"},
    {"0.1 300\n1 320\n", NULL, "a.dat:1: error: share: found 0.1, expected 0 in the first row"},
    {"0 300\n0.9 320\n", NULL, "a.dat:2: error: share: found 0.9, expected 1 in the last row"},
    {"0 300\n0.5 350\n0.5 400\n1 450\n", NULL,
     "a.dat:3: error: found no light between 350 and 400 nm"},
    {"0 400.1\n0.5 400.2\n1 400.3\n", NULL, "light.acceptance: found less than 2 nm of light"},
    {"300 0\n400 0.5\n500 1\n", NULL, "as of ppc's wv.dat with its columns swapped"},
    {"400 20\n500 25\n", NULL,
     "a.dat:1: error: acceptance: found 20, expected 0 .. 1, a share; if it is in percent, name "
     "the "
     "columns"},
    {"wavelength,qe_percent\n400,101\n500,25\n", NULL,
     "a.dat:2: error: acceptance: found 101, expected 0 .. 100"},
    {"400,-0.2\n500,0.1\n", NULL, "a.dat:1: error: acceptance: found -0.2, expected 0 .. 1"},
    {"400,0.2\n450,0\n460,0\n500,0.1\n", NULL,
     "a.dat: error: acceptance: found 0 at 450 nm between values above 0"},
    {"800,0.2\n900,0.1\n", NULL, "a.dat: error: acceptance: found less than 2 nm above 0"},
    {NULL, "0.5 400\n1 450\n",
     "s.txt:1: error: found wavelengths in column 2, expected them in column 1: the columns are "
     "swapped"},
    {NULL, "250 1\n270 1\n", "s.txt: error: spectrum 7"},
};

START_TEST(bad_light_file)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], acceptance[MODEL_PATH + 32] = "light.acceptance=standard";
    char spectra[MODEL_PATH + 64] = "light.spectra=[]";
    if (bad_light[_i].acceptance != NULL) {
        snprintf(acceptance, sizeof acceptance, "light.acceptance=%s",
                 model_folder_write(&folder, "a.dat", bad_light[_i].acceptance, path));
    }
    if (bad_light[_i].spectrum != NULL) {
        snprintf(spectra, sizeof spectra, "light.spectra=[{file: %s}]",
                 model_folder_write(&folder, "s.txt", bad_light[_i].spectrum, path));
    }
    icestream_config *config = model_config(acceptance, spectra, NULL);
    ics_models *models;
    icestream_error error = {0};
    ck_assert_int_eq(ics_models_create(config, &models, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(models);
    ck_assert_msg(strstr(error.text, bad_light[_i].message) != NULL, "expected '%s' in: %s",
                  bad_light[_i].message, error.text);
    icestream_config_destroy(config);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(line_outside_the_band)
{
    icestream_config *config =
        model_config("light.acceptance=standard", "light.spectra=[{line: 275}, {line: 690}]", NULL);
    ics_models *models;
    icestream_error error = {0};
    ck_assert_int_eq(ics_models_create(config, &models, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "--set light.spectra: error: spectrum 7: found a line "
                                             "at 275 nm, expected 280 .. 680 nm"));
    ck_assert_ptr_nonnull(strstr(error.text, "spectrum 8: found a line at 690 nm"));
    icestream_config_destroy(config);
    models =
        models_load(model_config("light.acceptance=none", "light.spectra=[{line: 275}]", NULL));
    check_contract(models->light);
    ics_models_destroy(models);
}
END_TEST

ICS_TEST_MAIN("light")
{
    TCase *physics = tcase_create("physics");
    tcase_add_loop_test(physics, tables_of_acceptance, 0, (int)(sizeof tables / sizeof *tables));
    tcase_add_test(physics, refraction);
    tcase_add_test(physics, frank_tamm);
    tcase_add_test(physics, standard_acceptance);
    tcase_add_test(physics, standard_light);
    tcase_add_test(physics, bias_of_the_worked_chain);
    tcase_add_test(physics, plain_light);
    tcase_add_test(physics, calibration_light);
    tcase_add_test(physics, sources_outside_a_narrow_band);
    tcase_add_test(physics, light_of_a_real_folder);
    tcase_add_test(physics, further_spectra);
    suite_add_tcase(suite, physics);
    TCase *bad = tcase_create("bad");
    tcase_add_loop_test(bad, bad_light_file, 0, COUNT(bad_light));
    tcase_add_test(bad, line_outside_the_band);
    suite_add_tcase(suite, bad);
}
