/* Promise: ice files of YAML, with layers in the file or in a CSV table, have the numbers that are
 * written in them, and each faulty file is refused with its place. To join: a new fault is a row of
 * `bad_yaml`. Features of ice in YAML are tested in test_ice_file.c. */
#include "tests/support/loaded_ice.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static loaded_ice load_yaml(const model_folder *folder, const char *yaml)
{
    char path[MODEL_PATH];
    return ice_load("ice.file", model_folder_write(folder, "ice.yaml", yaml, path), NULL, NULL);
}

START_TEST(yaml_inline_layers)
{
    model_folder folder = model_folder_create();
    loaded_ice ice =
        load_yaml(&folder, "name: mine\nmean_cosine: 0.85\nliu_fraction: 0\nalpha: 0.9\n"
                           "kappa: 1.1\nabsorption_a: 7000\nabsorption_b: 6600\n"
                           "layers:\n  - [1900, 0.03, 0.01, 1]\n"
                           "  - [1920, 0, 0.02, 2, 0.5]\n");
    expect_ice(&ice);
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
    ice_unload(&ice);
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
    loaded_ice ice = load_yaml(&folder, "layers: { file: l.csv }\n");
    expect_ice(&ice);
    ck_assert_uint_eq(ice.medium->layer_count, 2);
    ck_assert_double_eq(ice.medium->layers[1].bubbles, 0.1);
    ck_assert_double_eq(ice.medium->layers[1].effective_scattering, 0.03);
    ck_assert_double_eq(ice.medium->layers[0].dust_absorption, 0.02);
    ck_assert_double_eq(ice.medium->layers[0].delta_tau, 3);
    ck_assert_double_eq(ice.medium->mean_cosine, 0.9);
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(example_of_physics)
{
    /* physics.md 4.2: be400 0.04, adust400 0.01, dtau 5. */
    model_folder folder = model_folder_create();
    loaded_ice ice = load_yaml(&folder, "alpha: 0.8986\nkappa: 1.0841\nabsorption_a: 6954.1\n"
                                        "absorption_b: 6617.75\nlayers: [[2000, 0.04, 0.01, 5]]\n");
    expect_ice(&ice);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(ice.medium, 0, 400), 25, 1e-12);
    ck_assert_double_eq_tol(ics_ice_absorption(ice.medium, 0, 400), 0.01047676, 6e-9);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(ice.medium, 0, 400), 95.449, 6e-4);
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

static const struct {
    const char *yaml, *csv, *message;
} bad_yaml[] = {
    {"", NULL, "layers"},
    {"layers: [1900, 0.03]\n", NULL, "ice.yaml:1:10: error: layers[0]: found"},
    {"layers:\n  - [1900, 0.03, x, 0]\n", NULL, "ice.yaml:2:18: error: layers[0].adust400"},
    {"layers:\n  - [1900, 0.03, 0.01, 0, 0, 0]\n", NULL, "ice.yaml:2:5: error: layers[0]: found"},
    {"liu_fraction: -0.1\nlayers:\n  - [1900, 0.03, 0.01, 0]\n", NULL,
     "ice.yaml:1:15: error: liu_fraction: found -0.1"},
    {"layer: [[1900, 0.03, 0.01, 0]]\n", NULL, "layers"},
    {"layers: { table: l.csv }\n", NULL, "ice.yaml:1:"},
};

START_TEST(bad_yaml_file)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH];
    if (bad_yaml[_i].csv != NULL) {
        model_folder_write(&folder, "l.csv", bad_yaml[_i].csv, path);
    }
    loaded_ice ice = load_yaml(&folder, bad_yaml[_i].yaml);
    expect_no_ice(&ice, bad_yaml[_i].message);
    ck_assert_ptr_null(ice.medium);
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

ICS_TEST_MAIN("ice_yaml")
{
    TCase *good = tcase_create("good");
    tcase_add_test(good, yaml_inline_layers);
    tcase_add_test(good, yaml_with_a_table);
    tcase_add_test(good, example_of_physics);
    suite_add_tcase(suite, good);
    TCase *bad = tcase_create("bad");
    tcase_add_loop_test(bad, bad_yaml_file, 0, COUNT(bad_yaml));
    suite_add_tcase(suite, bad);
}
