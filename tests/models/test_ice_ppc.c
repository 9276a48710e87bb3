/* Promise: ppc folders give the layers, parameters and settings that are written in them, real
 * folders and small ones, and each faulty folder is refused with its place. To join: a new fault is
 * a case of tests/cli/bad_inputs/bad_inputs_ice.py; `bad_folders` has others. */
#include "tests/support/loaded_ice.h"
#include "tests/support/model_files.h"
#include "tests/support/ppc_folder.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* ---- real folders ---------------------------------------------------------------------------- */

START_TEST(real_folders)
{
    static const char *const names[] = {"ice/spice_bfr-v2", "ice/spice_ftp-v3m"};
    for (int k = 0; k < 2; ++k) {
        char path[MODEL_PATH];
        if (model_shared(names[k], path) == NULL) {
            return;
        }
        loaded_ice ice =
            ice_load("ice.directory", path, "ice.birefringence=false", "ice.tilt=true");
        expect_ice(&ice);
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
        ck_assert(!ice_warned(&ice, "hole ice"));
        ck_assert(!ice_warned(&ice, "oversize"));
        ice_unload(&ice);
    }
}
END_TEST

START_TEST(folder_oversize_is_mentioned)
{
    char path[MODEL_PATH];
    if (model_shared("ice/spice_bfr-v2", path) == NULL) {
        return;
    }
    loaded_ice ice = ice_load("ice.directory", path, "detector.oversize=2",
                              "ice.birefringence_subtraction=constant");
    expect_ice(&ice);
    ck_assert(ice_warned(&ice, "cfg.txt:2: oversize 5 is not used, detector.oversize is 2"));
    ice_unload(&ice);
}
END_TEST

/* ---- small folders --------------------------------------------------------------------------- */

#define GOOD_PAR PPC_PARAMETERS
#define GOOD_CFG "5 # F\n0.99 # efficiency\n0.45\n0.9\n"
#define GOOD_DAT "1900 0.03 0.01 0\n1910 0.04 0.01 0.5\n1920 0.05 0.02 1\n"

static loaded_ice load_folder(const model_folder *folder)
{
    return ice_load("ice.directory", folder->path, NULL, NULL);
}

START_TEST(small_folder)
{
    model_folder folder = model_folder_create();
    ppc_folder_write(&folder, GOOD_PAR, GOOD_CFG, GOOD_DAT);
    loaded_ice ice = load_folder(&folder);
    expect_ice(&ice);
    ck_assert_uint_eq(ice.medium->layer_count, 3);
    ck_assert_double_eq_tol(ice.medium->bottom, 1948.07 - 1925, 1e-9);
    ck_assert_double_eq(ice.medium->layers[0].effective_scattering, 0.05);
    ck_assert_double_eq(ice.medium->layers[2].effective_scattering, 0.03);
    ck_assert_uint_eq(ice.warnings.count, 0);
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(six_parameters_and_a_single_line)
{
    /* adust400 = (D * column 3 + E) * 400^-kappa with the published D and E. A single line is one
     * layer of 100 m. */
    model_folder folder = model_folder_create();
    ppc_folder_write(&folder, "0.9 0\n1.08 0\n6954.1 0\n6617.75 0\n71.4029 0\n2.56657 0\n",
                     GOOD_CFG, "1948.07 0.03 0.05 0\n");
    loaded_ice ice = load_folder(&folder);
    expect_ice(&ice);
    ck_assert_uint_eq(ice.medium->layer_count, 1);
    ck_assert_double_eq(ice.medium->thickness, 100);
    ck_assert_double_eq_tol(ice.medium->bottom, -50, 1e-9);
    ck_assert_double_eq_tol(ice.medium->layers[0].dust_absorption, 6.136715 * 0.00154802, 1e-7);
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

/* Five parameters have D and no E; depths may be rounded. */
START_TEST(five_parameters_and_rounded_depths)
{
    model_folder folder = model_folder_create();
    ppc_folder_write(
        &folder, "0.9 0\n1.08 0\n6954.1 0\n6617.75 0\n71.4029 0\n", GOOD_CFG,
        "1900 0.03 0.05 0\n1906.67 0.03 0.05 0\n1913.33 0.03 0.05 0\n1920 0.03 0.05 0\n");
    loaded_ice ice = load_folder(&folder);
    expect_ice(&ice);
    ck_assert_double_eq_tol(ice.medium->layers[0].dust_absorption, 71.4029 * 0.05 * 0.00154802,
                            1e-7);
    ck_assert_double_eq_tol(ice.medium->thickness, 20. / 3, 1e-12);
    ck_assert_double_eq_tol(ice.medium->bottom, 1948.07 - 1920 - 10. / 3, 1e-9);
    ck_assert_double_eq_tol(ice.medium->uneven, 0.01 / 3, 1e-9);
    ck_assert(ice_warned(&ice, "depths of the layers are up to 0.00333 m away from equal steps"));
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(features_that_are_not_simulated_are_named)
{
    char path[MODEL_PATH];
    model_folder folder = model_folder_create();
    ppc_folder_write(&folder, GOOD_PAR, GOOD_CFG, GOOD_DAT);
    model_folder_write(&folder, "str-f2k", "1\n", path);
    loaded_ice ice = load_folder(&folder);
    expect_ice(&ice);
    ck_assert(ice_warned(&ice, "not simulated yet: str-f2k (data of strings)"));
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

/* ---- folders with faults --------------------------------------------------------------------- */

static const struct {
    const char *par, *cfg, *dat, *extra_name, *extra;
    const char *message; /* part of it */
} bad_folders[] = {
    {NULL, GOOD_CFG, GOOD_DAT, NULL, NULL,
     "error: found no icemodel.par, expected a ppc ice folder"},
    {GOOD_PAR, GOOD_CFG, NULL, NULL, NULL,
     "error: found no icemodel.dat, expected a ppc ice folder"},
    {"0.9 0\n1.1 0\n-6954 0\n6617 0\n", GOOD_CFG, GOOD_DAT, NULL, NULL,
     "icemodel.par:3: error: absorption_a: found -6954, expected 0 .. 1e+09 1/m"},
    {GOOD_PAR, "5\n1\n1.35\n0.9\n", GOOD_DAT, NULL, NULL,
     "cfg.txt:3: error: liu_fraction: found 1.35, expected 0 .. 1"},
    {GOOD_PAR, "0\n1\n0.35\n0.9\n", GOOD_DAT, NULL, NULL, "cfg.txt:1: error: oversize: found 0"},
    {GOOD_PAR, "5\n1\n0,35\n0.9\n", GOOD_DAT, NULL, NULL,
     "cfg.txt:3:1: error: first number of the line: found '0,35'"},
    {GOOD_PAR, GOOD_CFG, "1900 0 0.01 0\n", NULL, NULL,
     "icemodel.dat:1: error: be400: found 0, expected more than 0 1/m"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 -0.01 0\n", NULL, NULL,
     "icemodel.dat:1: error: adust400: found -0.01"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 -150\n", NULL, NULL,
     "icemodel.dat:1: error: absorption: found -"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 -500\n", NULL, NULL,
     "icemodel.dat:1: error: dtau: found -500"},
    {GOOD_PAR, GOOD_CFG, "1900 0.03 0.01 0\n1900.01 0.03 0.01 0\n", NULL, NULL,
     "icemodel.dat:2: error: layer spacing: found 0.01"},
    {GOOD_PAR, GOOD_CFG, GOOD_DAT, "icemodel.bbl", "-1 1350 1400\n",
     "icemodel.bbl:1: error: bubbles: found -1 1350 1400"},
};

START_TEST(bad_folder)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH];
    ppc_folder_write(&folder, bad_folders[_i].par, bad_folders[_i].cfg, bad_folders[_i].dat);
    if (bad_folders[_i].extra_name != NULL) {
        model_folder_write(&folder, bad_folders[_i].extra_name, bad_folders[_i].extra, path);
    }
    loaded_ice ice = load_folder(&folder);
    expect_no_ice(&ice, bad_folders[_i].message);
    ck_assert_int_eq(ice.error.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(ice.medium);
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(errors_of_all_files_come_together)
{
    model_folder folder = model_folder_create();
    ppc_folder_write(&folder, "0.9 0\nx 0\n6954 0\n6617 0\n", "5\n1\n2\n1\n",
                     "1900 0.03 0.01 0\n1910 a b 0\n");
    loaded_ice ice = load_folder(&folder);
    ck_assert_int_eq(ice.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(ice.error.text, "icemodel.par:2:1"));
    ck_assert_ptr_nonnull(strstr(ice.error.text, "cfg.txt:3: error: liu_fraction"));
    ck_assert_ptr_nonnull(strstr(ice.error.text, "cfg.txt:4: error: mean_cosine"));
    ck_assert_ptr_nonnull(strstr(ice.error.text, "icemodel.dat:2:6"));
    ck_assert_ptr_nonnull(strstr(ice.error.text, "icemodel.dat:2:8"));
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

ICS_TEST_MAIN("ice_ppc")
{
    TCase *good = tcase_create("good");
    tcase_add_test(good, real_folders);
    tcase_add_test(good, folder_oversize_is_mentioned);
    tcase_add_test(good, small_folder);
    tcase_add_test(good, six_parameters_and_a_single_line);
    tcase_add_test(good, five_parameters_and_rounded_depths);
    tcase_add_test(good, features_that_are_not_simulated_are_named);
    suite_add_tcase(suite, good);
    TCase *bad = tcase_create("bad");
    tcase_add_loop_test(bad, bad_folder, 0, COUNT(bad_folders));
    tcase_add_test(bad, errors_of_all_files_come_together);
    suite_add_tcase(suite, bad);
}
