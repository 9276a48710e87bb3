/* Ice from every source: the normative numbers, the real models, and what is refused. */
#include "pipeline/models/ice/ice.h"
#include "pipeline/models/ice/ice_layers.h"
#include "pipeline/models/text/text.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct loaded {
    ice_medium *medium;
    ics_ice_factors factors;
    ics_warnings warnings;
    icestream_error error;
    int status;
} loaded;

static loaded load(const char *set)
{
    loaded result = {0};
    icestream_config *config = model_config(set, NULL);
    result.status =
        ics_ice_create(config, &result.medium, &result.factors, &result.warnings, &result.error);
    icestream_config_destroy(config);
    return result;
}

static loaded load_good(const char *set)
{
    loaded result = load(set);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    ck_assert_ptr_nonnull(result.medium);
    return result;
}

static void unload(loaded *result)
{
    ics_ice_destroy(result->medium);
    ics_warnings_free(&result->warnings);
}

static bool warned(const loaded *result, const char *text)
{
    for (size_t i = 0; i < result->warnings.count; ++i) {
        if (strstr(result->warnings.items[i], text) != NULL) {
            return true;
        }
    }
    return false;
}

/* A real model with two settings; no medium where it is not there. */
static loaded load_shared(const char *name, const char *first, const char *second)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    loaded result = {0};
    if (model_shared(name, path) == NULL) {
        return result;
    }
    snprintf(set, sizeof set, "ice.directory=%s", path);
    icestream_config *config = model_config(set, first, second, NULL);
    result.status =
        ics_ice_create(config, &result.medium, &result.factors, &result.warnings, &result.error);
    icestream_config_destroy(config);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    return result;
}

/* The layer that holds a height. */
static size_t layer_at(const ice_medium *medium, double z)
{
    return (size_t)floor((z - medium->bottom) / medium->thickness);
}

/* ---- built in -------------------------------------------------------------------------------- */

START_TEST(south_pole_like_check_table)
{
    /* physics.md 13.1 */
    static const struct {
        double z, be400, lambda_e, adust400, dtau, lambda_a;
    } rows[] = {
        {700, 0.145599, 6.87, 0.040768, -8.1375, 24.28},
        {500, 0.041258, 24.24, 0.011552, -5.0887, 83.45},
        {400, 0.078599, 12.72, 0.022008, -3.3897, 44.55},
        {250, 0.030831, 32.44, 0.008633, -0.6228, 110.09},
        {100, 0.034484, 29.00, 0.009655, 2.4061, 98.81},
        {0, 0.024440, 40.92, 0.006843, 4.5709, 136.65},
        {-90, 0.163423, 6.12, 0.045758, 6.6187, 21.63},
        {-150, 0.021559, 46.39, 0.006036, 8.0364, 153.21},
        {-300, 0.012670, 78.92, 0.003548, 11.7639, 246.60},
        {-350, 0.013725, 72.86, 0.003843, 13.0646, 229.55},
        {-400, 0.029191, 34.26, 0.008174, 14.3944, 115.04},
        {-500, 0.012394, 80.68, 0.003470, 17.1414, 249.86},
        {-850, 0.083114, 12.03, 0.023272, 27.6729, 41.93},
    };
    loaded ice = load_good("ice.model=south-pole-like");
    const ice_medium *m = ice.medium;
    ck_assert_uint_eq(m->layer_count, 171);
    ck_assert_double_eq(m->bottom, -855);
    ck_assert_double_eq(m->thickness, 10);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        size_t j = layer_at(m, rows[i].z);
        ck_assert_double_eq_tol(m->layers[j].effective_scattering, rows[i].be400, 6e-7);
        ck_assert_double_eq_tol(m->layers[j].dust_absorption, rows[i].adust400, 6e-7);
        ck_assert_double_eq_tol(m->layers[j].delta_tau, rows[i].dtau, 6e-5);
        ck_assert_double_eq_tol(1 / ics_ice_scattering(m, j, 400), rows[i].lambda_e, 6e-3);
        ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 400), rows[i].lambda_a, 6e-3);
    }
    unload(&ice);
}
END_TEST

START_TEST(south_pole_like_sums)
{
    loaded ice = load_good("ice.model=south-pole-like");
    const ice_medium *m = ice.medium;
    double scattering = 0, dust = 0, pure = 0;
    double longest_e = 0, shortest_e = 1e9, longest_a = 0, shortest_a = 1e9;
    double central_be = 0, central_le = 0, central_a = 0, central_la = 0;
    int central = 0;
    for (size_t j = 0; j < m->layer_count; ++j) {
        double le = 1 / ics_ice_scattering(m, j, 400), la = 1 / ics_ice_absorption(m, j, 400);
        scattering += 10 * m->layers[j].effective_scattering;
        dust += 10 * m->layers[j].dust_absorption;
        pure += 10 * (1 + 0.01 * m->layers[j].delta_tau);
        longest_e = fmax(longest_e, le);
        shortest_e = fmin(shortest_e, le);
        longest_a = fmax(longest_a, la);
        shortest_a = fmin(shortest_a, la);
        double z = m->bottom + m->thickness * ((double)j + 0.5);
        if (fabs(z) <= 500) {
            ++central;
            central_be += 1 / le;
            central_le += le;
            central_a += 1 / la;
            central_la += la;
        }
    }
    ck_assert_double_eq_tol(scattering, 89.4158, 6e-5);
    ck_assert_double_eq_tol(dust, 25.0364, 6e-5);
    ck_assert_double_eq_tol(pure, 1812.42, 6e-3);
    ck_assert_double_eq_tol(central / central_be, 28.14, 6e-3);
    ck_assert_double_eq_tol(central_le / central, 38.91, 6e-3);
    ck_assert_double_eq_tol(central / central_a, 95.91, 6e-3);
    ck_assert_double_eq_tol(central_la / central, 128.01, 6e-3);
    ck_assert_double_eq_tol(shortest_e, 5.33, 6e-3);
    ck_assert_double_eq_tol(longest_e, 117.0, 6e-2);
    ck_assert_double_eq_tol(shortest_a, 18.9, 6e-2);
    ck_assert_double_eq_tol(longest_a, 337.9, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, layer_at(m, 810), 400), 5.33, 6e-3);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, layer_at(m, -760), 400), 117.0, 6e-2);
    unload(&ice);
}
END_TEST

START_TEST(wavelength_dependence)
{
    loaded ice = load_good("ice.model=south-pole-like");
    const ice_medium *m = ice.medium;
    size_t j = layer_at(m, -350);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, j, 300), 56.26, 6e-3);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, j, 500), 89.04, 6e-3);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, j, 600), 104.89, 6e-3);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 300), 190.4, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 365), 229.9, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 400), 229.6, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 450), 151.3, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 500), 58.6, 6e-2);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, j, 600), 7.69, 6e-3);
    unload(&ice);
}
END_TEST

START_TEST(temperature_differences)
{
    /* physics.md 4.2 */
    ck_assert_double_eq_tol(ics_ice_delta_tau(1730), 0, 1e-12);
    ck_assert_double_eq_tol(ics_ice_delta_tau(1098.47), -10.1134, 6e-5);
    ck_assert_double_eq_tol(ics_ice_delta_tau(1098.47 + 6.53), -10.0326, 6e-5);
    ck_assert_double_eq_tol(ics_ice_delta_tau(1948.07), 4.5709, 6e-5);
    ck_assert_double_eq_tol(ics_ice_delta_tau(2450), 17.1956, 6e-5);
}
END_TEST

START_TEST(uniform_is_case_u)
{
    loaded ice = load_good("ice.model=uniform");
    const ice_medium *m = ice.medium;
    ck_assert_uint_eq(m->layer_count, 1);
    ck_assert_double_eq(m->mean_cosine, 0.9);
    ck_assert_double_eq(m->liu_fraction, 0.35);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, 0, 400), 25, 1e-12);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, 0, 400), 100, 1e-4);
    /* Power laws and the ice term of physics.md 4.2. */
    ck_assert_double_eq_tol(ics_ice_scattering(m, 0, 500) / 0.04, 0.81831, 6e-6);
    ck_assert_double_eq_tol(ics_ice_scattering(m, 0, 300) / 0.04, 1.29500, 6e-6);
    static const struct {
        double wavelength, term, tolerance;
    } terms[] = {{337, 2.0601e-5, 6e-10}, {365, 9.2923e-5, 6e-10}, {400, 4.54057e-4, 6e-10},
                 {450, 2.85403e-3, 6e-9}, {500, 1.24204e-2, 6e-8}, {600, 0.112760, 6e-7}};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; ++i) {
        double dust = 0.009545943 * pow(terms[i].wavelength / 400, -1.0841);
        ck_assert_double_eq_tol(ics_ice_absorption(m, 0, terms[i].wavelength) - dust, terms[i].term,
                                terms[i].tolerance);
    }
    double dust = ics_ice_absorption(m, 0, 300) - 6954.1 * exp(-6617.75 / 300);
    ck_assert_double_eq_tol(dust / 0.009545943, 1.36599, 6e-6);
    unload(&ice);
}
END_TEST

/* ---- real ppc folders --------------------------------------------------------------------------
 */

START_TEST(real_folders)
{
    static const char *const names[] = {"ice/spice_bfr-v2", "ice/spice_ftp-v3m"};
    for (int k = 0; k < 2; ++k) {
        loaded ice = load_shared(names[k], "ice.birefringence=false", "ice.tilt=true");
        if (!ice.medium) {
            return;
        }
        const ice_medium *m = ice.medium;
        ck_assert_uint_eq(m->layer_count, 171);
        ck_assert_double_eq_tol(m->bottom, -855.4, 1e-9);
        ck_assert_double_eq_tol(m->thickness, 10, 1e-9);
        ck_assert_double_eq(m->alpha, 0.898608505726);
        ck_assert_double_eq(m->kappa, 1.084106802940);
        ck_assert_double_eq(m->liu_fraction, (k == 0 ? 0.35 : 0.137));
        ck_assert_double_eq(m->mean_cosine, 0.9);
        ck_assert_double_eq(ice.factors.efficiency, 1.015);
        /* The first row is the top layer, with bubbles; the last is bedrock. */
        const ice_layer *top = &m->layers[170], *bottom = &m->layers[0];
        ck_assert_double_eq_tol(top->effective_scattering, (k == 0 ? 0.15747853 : 0.147474), 1e-15);
        ck_assert_double_eq(top->delta_tau, -10.0326);
        ck_assert_double_eq_tol(top->bubbles, 11.7 * (1 - 1098.47 / 1350) * (1 - 1098.47 / 1400),
                                1e-12);
        ck_assert_double_eq(bottom->dust_absorption, (k == 0 ? 1036.2006 : 1124.79));
        ck_assert_double_eq(bottom->bubbles, 0);
        /* Depth 1348.47 is the last row above 1350 m, 1358.47 has none. */
        ck_assert_double_gt(m->layers[145].bubbles, 0);
        ck_assert_double_eq(m->layers[144].bubbles, 0);
        ck_assert(!warned(&ice, "hole ice"));
        ck_assert(!warned(&ice, "oversize"));
        unload(&ice);
    }
}
END_TEST

START_TEST(folder_oversize_is_mentioned)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    if (!model_shared("ice/spice_bfr-v2", path)) {
        return;
    }
    snprintf(set, sizeof set, "ice.directory=%s", path);
    loaded ice = {0};
    icestream_config *config = model_config(set, "detector.oversize=1", NULL);
    ck_assert_int_eq(ics_ice_create(config, &ice.medium, &ice.factors, &ice.warnings, &ice.error),
                     ICESTREAM_OK);
    ck_assert(warned(&ice, "cfg.txt:2: oversize 5 is not used, detector.oversize is 1"));
    icestream_config_destroy(config);
    unload(&ice);
}
END_TEST

/* ---- small ppc folders -------------------------------------------------------------------------
 */

#define GOOD_PAR "0.9 0.1\n1.1 0.1\n6954.1 0\n6617.75 0\n"
#define GOOD_CFG "5 # F\n0.99 # efficiency\n0.45\n0.9\n"
#define GOOD_DAT "1900 0.03 0.01 0\n1910 0.04 0.01 0.5\n1920 0.05 0.02 1\n"

static void write_folder(const model_folder *folder, const char *par, const char *cfg,
                         const char *dat)
{
    char path[MODEL_PATH];
    if (par != NULL) {
        model_folder_write(folder, "icemodel.par", par, path);
    }
    if (cfg != NULL) {
        model_folder_write(folder, "cfg.txt", cfg, path);
    }
    if (dat != NULL) {
        model_folder_write(folder, "icemodel.dat", dat, path);
    }
}

static loaded load_folder(const model_folder *folder)
{
    char set[MODEL_PATH];
    snprintf(set, sizeof set, "ice.directory=%s", folder->path);
    return load(set);
}

START_TEST(small_folder)
{
    model_folder folder = model_folder_create();
    write_folder(&folder, GOOD_PAR, GOOD_CFG, GOOD_DAT);
    loaded ice = load_folder(&folder);
    ck_assert_msg(ice.status == ICESTREAM_OK, "%s", ice.error.text);
    ck_assert_uint_eq(ice.medium->layer_count, 3);
    ck_assert_double_eq_tol(ice.medium->bottom, 1948.07 - 1925, 1e-9);
    ck_assert_double_eq(ice.medium->layers[0].effective_scattering, 0.05);
    ck_assert_double_eq(ice.medium->layers[2].effective_scattering, 0.03);
    ck_assert_uint_eq(ice.warnings.count, 0);
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(six_parameters_and_a_single_line)
{
    /* adust400 = (D * column 3 + E) * 400^-kappa with the published D and E; one line: 100 m. */
    model_folder folder = model_folder_create();
    write_folder(&folder, "0.9 0\n1.08 0\n6954.1 0\n6617.75 0\n71.4029 0\n2.56657 0\n", GOOD_CFG,
                 "1948.07 0.03 0.05 0\n");
    loaded ice = load_folder(&folder);
    ck_assert_msg(ice.status == ICESTREAM_OK, "%s", ice.error.text);
    ck_assert_uint_eq(ice.medium->layer_count, 1);
    ck_assert_double_eq(ice.medium->thickness, 100);
    ck_assert_double_eq_tol(ice.medium->bottom, -50, 1e-9);
    ck_assert_double_eq_tol(ice.medium->layers[0].dust_absorption, 6.136715 * 0.00154802, 1e-7);
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(later_features_are_named)
{
    char path[MODEL_PATH];
    model_folder folder = model_folder_create();
    write_folder(&folder, GOOD_PAR, GOOD_CFG, GOOD_DAT);
    model_folder_write(&folder, "om.conf", "1\n", path);
    loaded ice = load_folder(&folder);
    ck_assert_msg(ice.status == ICESTREAM_OK, "%s", ice.error.text);
    ck_assert(warned(&ice, "not simulated yet: om.conf (other sensors)"));
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

/* ---- hostile ppc folders ------------------------------------------------------------------------
 */

static const struct {
    const char *par, *cfg, *dat, *extra_name, *extra;
    const char *message; /* part of it */
} bad_folders[] = {
    {NULL, GOOD_CFG, GOOD_DAT, NULL, NULL, "icemodel.par: error: No such file"},
    {GOOD_PAR, NULL, GOOD_DAT, NULL, NULL, "cfg.txt: error: No such file"},
    {GOOD_PAR, GOOD_CFG, NULL, NULL, NULL, "icemodel.dat: error: No such file"},
    {"0.9 0\n1.1 0\n6954 0\n", GOOD_CFG, GOOD_DAT, NULL, NULL,
     "icemodel.par: error: found 3 rows, expected 4"},
    {"0.9 0\n1.1 0\n6954 0\n6617 0\n1 0\n", GOOD_CFG, GOOD_DAT, NULL, NULL,
     "icemodel.par: error: found 5 rows, expected 4"},
    {"0.9 0\nkappa 0\n6954 0\n6617 0\n", GOOD_CFG, GOOD_DAT, NULL, NULL,
     "icemodel.par:2:1: error: column 1: found 'kappa', expected a finite number"},
    {"0.9 0\n1.1 0\n-6954 0\n6617 0\n", GOOD_CFG, GOOD_DAT, NULL, NULL,
     "icemodel.par:3: error: absorption_a: found -6954, expected 0 .. 1e+09 1/m"},
    {"90 0\n1.1 0\n6954 0\n6617 0\n", GOOD_CFG, GOOD_DAT, NULL, NULL,
     "icemodel.par:1: error: alpha: found 90, expected -10 .. 10"},
    {GOOD_PAR, "5\n1\n0.35\n", GOOD_DAT, NULL, NULL,
     "cfg.txt: error: found 3 numbers, expected 4, 7, 10, 12, 15, 16 or 28"},
    {GOOD_PAR, "5\n1\n0.35\n1\n", GOOD_DAT, NULL, NULL,
     "cfg.txt:4: error: mean_cosine: found 1, expected -1 .. 1, without the ends"},
    {GOOD_PAR, "5\n1\n1.35\n0.9\n", GOOD_DAT, NULL, NULL,
     "cfg.txt:3: error: liu_fraction: found 1.35, expected 0 .. 1"},
    {GOOD_PAR, "5\n0\n0.35\n0.9\n", GOOD_DAT, NULL, NULL, "cfg.txt:2: error: efficiency: found 0"},
    {GOOD_PAR, "0\n1\n0.35\n0.9\n", GOOD_DAT, NULL, NULL, "cfg.txt:1: error: oversize: found 0"},
    {GOOD_PAR, "5\n1\n0,35\n0.9\n", GOOD_DAT, NULL, NULL,
     "cfg.txt:3:1: error: first number of the line: found '0,35'"},
    {GOOD_PAR, GOOD_CFG, "", NULL, NULL, "icemodel.dat: error: found no rows of numbers"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01\n", NULL, NULL,
     "icemodel.dat:1: error: found 3 columns, expected depth be400 adust400 dtau"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0 0\n", NULL, NULL,
     "icemodel.dat:1: error: found 5 columns, expected 4, 6, 7 or 8"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0 0 0 1 1 9\n", NULL, NULL,
     "icemodel.dat:1: error: found 9 columns"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0\n1910 0.03 0.01 0 0 0\n", NULL, NULL,
     "icemodel.dat:2: error: found 6 columns, expected 4 as in the first row"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0\n1910 nan 0.01 0\n", NULL, NULL,
     "icemodel.dat:2:6: error: column 2: found 'nan', expected a finite number"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0\n1910 1e999 0.01 0\n", NULL, NULL,
     "icemodel.dat:2:6: error: column 2: found '1e999'"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0\n1910 0x3 0.01 0\n", NULL, NULL,
     "icemodel.dat:2:6: error: column 2: found '0x3'"},
    {GOOD_PAR, GOOD_CFG, "1900 -0.03 0.01 0\n", NULL, NULL,
     "icemodel.dat:1: error: be400: found -0.03"},
    {GOOD_PAR, GOOD_CFG, "1900 0 0.01 0\n", NULL, NULL,
     "icemodel.dat:1: error: be400: found 0, expected more than 0 1/m"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 -0.01 0\n", NULL, NULL,
     "icemodel.dat:1: error: adust400: found -0.01"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 -150\n", NULL, NULL,
     "icemodel.dat:1: error: absorption: found -"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 -500\n", NULL, NULL,
     "icemodel.dat:1: error: dtau: found -500"},
    {GOOD_PAR, GOOD_CFG, "1910 0.03 0.01 0\n1900 0.03 0.01 0\n", NULL, NULL,
     "icemodel.dat:2: error: depth: found 1900, expected increasing depths"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0\n1900 0.03 0.01 0\n", NULL, NULL,
     "icemodel.dat:2: error: depth: found 1900, expected increasing depths"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0\n1910 0.03 0.01 0\n1930 0.03 0.01 0\n", NULL, NULL,
     "icemodel.dat:3: error: depth: found 1930, expected 1920: equal spacing of 10 m"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0\n1900.01 0.03 0.01 0\n", NULL, NULL,
     "icemodel.dat:2: error: layer spacing: found 0.01"},
    {GOOD_PAR, GOOD_CFG, "1.9e9 0.03 0.01 0\n", NULL, NULL, "error: depth: found 1900000000"},
    {GOOD_PAR, GOOD_CFG, GOOD_DAT, "icemodel.bbl", "11.7 1350\n",
     "icemodel.bbl: error: found 2 numbers, expected 3"},
    {GOOD_PAR, GOOD_CFG, GOOD_DAT, "icemodel.bbl", "-1 1350 1400\n",
     "icemodel.bbl:1: error: bubbles: found -1 1350 1400"},
    {GOOD_PAR, GOOD_CFG, GOOD_DAT, "version", "15\n",
     "version:1: error: version: found 15, expected 0, 10 or 20"},
    {GOOD_PAR, GOOD_CFG, GOOD_DAT, "version", "", "version: error: found no number"},
};

START_TEST(bad_folder)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH];
    write_folder(&folder, bad_folders[_i].par, bad_folders[_i].cfg, bad_folders[_i].dat);
    if (bad_folders[_i].extra_name) {
        model_folder_write(&folder, bad_folders[_i].extra_name, bad_folders[_i].extra, path);
    }
    loaded ice = load_folder(&folder);
    ck_assert_int_eq(ice.status, ICESTREAM_E_CONFIG);
    ck_assert_int_eq(ice.error.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(ice.medium);
    ck_assert_msg(strstr(ice.error.text, bad_folders[_i].message), "expected '%s' in: %s",
                  bad_folders[_i].message, ice.error.text);
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(errors_of_all_files_come_together)
{
    model_folder folder = model_folder_create();
    write_folder(&folder, "0.9 0\nx 0\n6954 0\n6617 0\n", "5\n1\n2\n1\n",
                 "1900 0.03 0.01 0\n1910 a b 0\n");
    loaded ice = load_folder(&folder);
    ck_assert_int_eq(ice.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(ice.error.text, "icemodel.par:2:1"));
    ck_assert_ptr_nonnull(strstr(ice.error.text, "cfg.txt:3: error: liu_fraction"));
    ck_assert_ptr_nonnull(strstr(ice.error.text, "cfg.txt:4: error: mean_cosine"));
    ck_assert_ptr_nonnull(strstr(ice.error.text, "icemodel.dat:2:6"));
    ck_assert_ptr_nonnull(strstr(ice.error.text, "icemodel.dat:2:8"));
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(too_many_layers)
{
    model_folder folder = model_folder_create();
    size_t size = 5000 * 32;
    char *dat = calloc(1, size);
    for (size_t i = 0, used = 0; i < 4097; ++i) {
        used += (size_t)snprintf(dat + used, size - used, "%zu 0.03 0.01 0\n", 100 + i);
    }
    write_folder(&folder, GOOD_PAR, GOOD_CFG, dat);
    free(dat);
    loaded ice = load_folder(&folder);
    ck_assert_int_eq(ice.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(ice.error.text, "icemodel.dat:4097: error: found more than 4096"));
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(not_a_folder)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    model_folder_write(&folder, "file", "x", path);
    snprintf(set, sizeof set, "ice.directory=%s", path);
    loaded ice = load(set);
    ck_assert_int_eq(ice.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(ice.error.text, "found a file, expected a ppc ice folder"));
    unload(&ice);
    snprintf(set, sizeof set, "ice.directory=%s/none", folder.path);
    ice = load(set);
    ck_assert_ptr_nonnull(strstr(ice.error.text, "none: error: No such file or directory"));
    unload(&ice);
    snprintf(set, sizeof set, "ice.file=%s", folder.path);
    ice = load(set);
    ck_assert_int_eq(ice.status, ICESTREAM_E_CONFIG);
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

/* ---- YAML
 * ---------------------------------------------------------------------------------------- */

static loaded load_yaml(const model_folder *folder, const char *yaml)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    snprintf(set, sizeof set, "ice.file=%s", model_folder_write(folder, "ice.yaml", yaml, path));
    return load(set);
}

START_TEST(yaml_inline_layers)
{
    model_folder folder = model_folder_create();
    loaded ice = load_yaml(&folder, "name: mine\nmean_cosine: 0.85\nliu_fraction: 0\nalpha: 0.9\n"
                                    "kappa: 1.1\nabsorption_a: 7000\nabsorption_b: 6600\n"
                                    "layers:\n  - [1900, 0.03, 0.01, 1]\n"
                                    "  - [1920, 0, 0.02, 2, 0.5]\n");
    ck_assert_msg(ice.status == ICESTREAM_OK, "%s", ice.error.text);
    const ice_medium *m = ice.medium;
    ck_assert_str_eq(m->name, "mine");
    ck_assert_uint_eq(m->layer_count, 2);
    ck_assert_double_eq(m->thickness, 20);
    ck_assert_double_eq_tol(m->bottom, 18.07, 1e-9);
    ck_assert_double_eq(m->mean_cosine, 0.85);
    ck_assert_double_eq(m->liu_fraction, 0);
    ck_assert_double_eq(m->alpha, 0.9);
    ck_assert_double_eq(m->kappa, 1.1);
    ck_assert_double_eq(m->absorption_a, 7000);
    ck_assert_double_eq(m->absorption_b, 6600);
    ck_assert_double_eq(m->layers[0].bubbles, 0.5);
    ck_assert_double_eq(m->layers[0].effective_scattering, 0);
    ck_assert_double_eq(m->layers[1].dust_absorption, 0.01);
    ck_assert_double_eq(m->layers[1].delta_tau, 1);
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(yaml_with_a_table)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH];
    model_folder_write(&folder, "l.csv",
                       "# comment\nbubbles_per_m,depth_m,delta_tau_K,be400_per_m,adust400_per_m\n"
                       "0.1, 1900, 2, 0.03, 0.01\r\n0,1910,3,0.04,0.02\n",
                       path);
    loaded ice = load_yaml(&folder, "layers: { file: l.csv }\n");
    ck_assert_msg(ice.status == ICESTREAM_OK, "%s", ice.error.text);
    ck_assert_uint_eq(ice.medium->layer_count, 2);
    ck_assert_double_eq(ice.medium->layers[1].bubbles, 0.1);
    ck_assert_double_eq(ice.medium->layers[1].effective_scattering, 0.03);
    ck_assert_double_eq(ice.medium->layers[0].dust_absorption, 0.02);
    ck_assert_double_eq(ice.medium->layers[0].delta_tau, 3);
    ck_assert_double_eq(ice.medium->mean_cosine, 0.9);
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

static const struct {
    const char *yaml, *csv, *message;
} bad_yaml[] = {
    {"", NULL, "layers"},
    {"layers: [1900, 0.03]\n", NULL, "ice.yaml:1:10: error: layers[0]: found"},
    {"layers: []\n", NULL, "ice.yaml:1:9: error: layers: found"},
    {"layers:\n  - [1900, 0.03, x, 0]\n", NULL, "ice.yaml:2:18: error: layers[0].adust400"},
    {"layers:\n  - [1900, 0.03, 0.01, 0, 0, 0]\n", NULL, "ice.yaml:2:5: error: layers[0]: found"},
    {"layers:\n  - [1900, -0.03, 0.01, 0]\n", NULL, "ice.yaml:2:5: error: be400: found -0.03"},
    {"layers:\n  - [1900, 0.03, 0.01, 0]\n  - [1910, 0.03, 0.01, 0]\n  - [1921, 0.03, 0.01, 0]\n",
     NULL, "ice.yaml:4:5: error: depth: found 1921, expected 1920"},
    {"mean_cosine: 1\nlayers:\n  - [1900, 0.03, 0.01, 0]\n", NULL,
     "ice.yaml:1:14: error: mean_cosine: found 1"},
    {"liu_fraction: -0.1\nlayers:\n  - [1900, 0.03, 0.01, 0]\n", NULL,
     "ice.yaml:1:15: error: liu_fraction: found -0.1"},
    {"layer: [[1900, 0.03, 0.01, 0]]\n", NULL, "layers"},
    {"layers: { file: none.csv }\n", NULL, "none.csv: error: No such file"},
    {"layers: { table: l.csv }\n", NULL, "ice.yaml:1:"},
    {"layers: { file: l.csv }\n", "depth_m,be400_per_m,adust400_per_m\n1,2,3\n",
     "l.csv:1: error: found no column 'delta_tau_K'"},
    {"layers: { file: l.csv }\n", "depth_m,be400_per_m,adust400_per_m,delta_tau\n1,2,3,4\n",
     "l.csv:1:36: error: found column 'delta_tau'"},
    {"layers: { file: l.csv }\n",
     "depth_m,be400_per_m,adust400_per_m,delta_tau_K,depth_m\n1,2,3,4,5\n",
     "l.csv:1:48: error: found column depth_m twice"},
    {"layers: { file: l.csv }\n", "depth_m,be400_per_m,adust400_per_m,delta_tau_K\n1,2,3\n",
     "l.csv:2: error: found 3 columns, expected 4 as in the first line"},
    {"layers: { file: l.csv }\n", "depth_m,be400_per_m,adust400_per_m,delta_tau_K\n1,,3,4\n",
     "l.csv:2:3: error: be400_per_m: found '', expected a finite number"},
    {"layers: { file: l.csv }\n", "depth_m,be400_per_m,adust400_per_m,delta_tau_K\n",
     "l.csv: error: found no rows"},
    {"layers: { file: l.csv }\n", "", "l.csv: error: found no rows"},
};

START_TEST(bad_yaml_file)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH];
    if (bad_yaml[_i].csv) {
        model_folder_write(&folder, "l.csv", bad_yaml[_i].csv, path);
    }
    loaded ice = load_yaml(&folder, bad_yaml[_i].yaml);
    ck_assert_int_eq(ice.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(ice.medium);
    ck_assert_msg(strstr(ice.error.text, bad_yaml[_i].message), "expected '%s' in: %s",
                  bad_yaml[_i].message, ice.error.text);
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(example_of_physics)
{
    /* physics.md 4.2: be400 0.04, adust400 0.01, dtau 5. */
    model_folder folder = model_folder_create();
    loaded ice = load_yaml(&folder, "alpha: 0.8986\nkappa: 1.0841\nabsorption_a: 6954.1\n"
                                    "absorption_b: 6617.75\nlayers: [[2000, 0.04, 0.01, 5]]\n");
    ck_assert_msg(ice.status == ICESTREAM_OK, "%s", ice.error.text);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(ice.medium, 0, 400), 25, 1e-12);
    ck_assert_double_eq_tol(ics_ice_absorption(ice.medium, 0, 400), 0.01047676, 6e-9);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(ice.medium, 0, 400), 95.449, 6e-4);
    unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(world_ends)
{
    icestream_config *config =
        model_config("ice.model=uniform", "ice.absorb_above=900", "ice.absorb_below=-900.5", NULL);
    loaded ice = {0};
    ck_assert_int_eq(ics_ice_create(config, &ice.medium, &ice.factors, &ice.warnings, &ice.error),
                     ICESTREAM_OK);
    ck_assert_double_eq(ice.medium->absorb_above, 900);
    ck_assert_double_eq(ice.medium->absorb_below, -900.5);
    icestream_config_destroy(config);
    unload(&ice);
    ice = load_good("ice.model=uniform");
    ck_assert(isinf(ice.medium->absorb_above) && ice.medium->absorb_above > 0);
    ck_assert(isinf(ice.medium->absorb_below) && ice.medium->absorb_below < 0);
    unload(&ice);
}
END_TEST

ICS_TEST_MAIN("ice")
{
    TCase *good = tcase_create("good");
    tcase_add_test(good, south_pole_like_check_table);
    tcase_add_test(good, south_pole_like_sums);
    tcase_add_test(good, wavelength_dependence);
    tcase_add_test(good, temperature_differences);
    tcase_add_test(good, uniform_is_case_u);
    tcase_add_test(good, real_folders);
    tcase_add_test(good, folder_oversize_is_mentioned);
    tcase_add_test(good, small_folder);
    tcase_add_test(good, six_parameters_and_a_single_line);
    tcase_add_test(good, later_features_are_named);
    tcase_add_test(good, yaml_inline_layers);
    tcase_add_test(good, yaml_with_a_table);
    tcase_add_test(good, example_of_physics);
    tcase_add_test(good, world_ends);
    suite_add_tcase(suite, good);
    TCase *bad = tcase_create("bad");
    tcase_add_loop_test(bad, bad_folder, 0, sizeof bad_folders / sizeof *bad_folders);
    tcase_add_loop_test(bad, bad_yaml_file, 0, sizeof bad_yaml / sizeof *bad_yaml);
    tcase_add_test(bad, errors_of_all_files_come_together);
    tcase_add_test(bad, too_many_layers);
    tcase_add_test(bad, not_a_folder);
    suite_add_tcase(suite, bad);
}
