/* Promise: models with the same numbers have the same digests, the description names every part of
 * a model, the example files load, and the errors of all models come together. To join: a new part
 * of a model gets a line in `description`, and a change of it in digests_follow_the_numbers. */
#include "tests/support/loaded_models.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(digests_follow_the_numbers)
{
    model_folder folder = model_folder_create();
    char yaml[MODEL_PATH], csv[MODEL_PATH], set[MODEL_PATH + 32], second[MODEL_PATH + 32];
    ics_models *built_in = models_load(model_config("ice.model=uniform", NULL));
    /* The same ice from a file: bottom -50, thickness 100. */
    snprintf(set, sizeof set, "ice.file=%s",
             model_folder_write(&folder, "u.yaml",
                                "name: other name\nmean_cosine: 0.9\nliu_fraction: 0.35\n"
                                "alpha: 0.8986\nkappa: 1.0841\nabsorption_a: 6954.1\n"
                                "absorption_b: 6617.75\n"
                                "layers: [[1948.07, 0.04, 0.009545943, -0.0]]\n",
                                yaml));
    snprintf(
        second, sizeof second, "detector.file=%s",
        model_folder_write(&folder, "d.csv", "string,module,x,y,z\n1,2,0,0,9\n1,1,0,0,0\n", csv));
    ics_models *file = models_load(model_config(set, second, NULL));
    ck_assert_str_eq(built_in->ice_digest, file->ice_digest);
    ck_assert_str_ne(built_in->detector_digest, file->detector_digest);
    ck_assert_str_eq(built_in->light_digest, file->light_digest);
    ck_assert_uint_eq(strlen(file->ice_digest), 64);

    /* Order and layout of the file do not matter; a position does. */
    model_folder_write(&folder, "d.csv", "module,string,x,y,z\n1,1,0,0,0\n2,1,0,-0.0,9.0\n", csv);
    ics_models *reordered = models_load(model_config(set, second, NULL));
    ck_assert_str_eq(reordered->detector_digest, file->detector_digest);
    ics_models_destroy(reordered);
    model_folder_write(&folder, "d.csv", "module,string,x,y,z\n1,1,0,0,0\n2,1,0,0,9.0001\n", csv);
    ics_models *moved = models_load(model_config(set, second, NULL));
    ck_assert_str_ne(moved->detector_digest, file->detector_digest);
    ics_models_destroy(moved);
    ics_models *excluded =
        models_load(model_config(set, second, "detector.excluded=[[1, 1]]", NULL));
    ck_assert_str_ne(excluded->detector_digest, file->detector_digest);
    ics_models_destroy(excluded);
    ics_models_destroy(built_in);
    ics_models_destroy(file);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(description)
{
    ics_models *models =
        models_load(model_config("ice.absorb_above=1000", "light.acceptance=none", NULL));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ics_models_describe(models, out);
    ck_assert_int_eq(fclose(out), 0);
    const char *const parts[] = {
        "ice        south-pole-like\n",
        "171 of 10 m, z -855.00 .. 855.00 m (depth 1093.07 .. 2803.07 m)",
        "effective scattering 5.326 .. 117 m, absorption 18.88 .. 337.9 m at 400 nm",
        "world    ends above z = 1000 m",
        "5160 on 86 strings, 0 excluded, radius 0.1651 m, oversize 1\n",
        "x -562.50 .. 625.00, y -541.27 .. 541.27, z -501.50 .. 501.50 m",
        "nearest  17 m",
        "yield    45023.7 Cherenkov photons per metre",
        "LED 405",
        "line 337 nm",
        models->ice_digest,
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        ck_assert_msg(strstr(text, parts[i]) != NULL, "expected '%s' in:\n%s", parts[i], text);
    }
    free(text);
    ics_models_destroy(models);
}
END_TEST

START_TEST(shipped_examples_load)
{
    static const char *const sets[][2] = {
        {"ice.file=" ICS_SOURCE_DIRECTORY "/configs/ice/uniform.yaml", "detector.layout=hex86"},
        {"ice.file=" ICS_SOURCE_DIRECTORY "/configs/ice/three-layers.yaml",
         "detector.file=" ICS_SOURCE_DIRECTORY "/configs/detectors/cluster.csv"},
    };
    ics_models *uniform = models_load(model_config(sets[0][0], sets[0][1], NULL));
    ics_models *built_in = models_load(model_config("ice.model=uniform", NULL));
    ck_assert_str_eq(uniform->ice_digest, built_in->ice_digest);
    ics_models *layers = models_load(model_config(sets[1][0], sets[1][1], NULL));
    ck_assert_uint_eq(layers->medium->layer_count, 3);
    ck_assert_uint_eq(layers->detector->module_count, 7);
    ics_models_destroy(uniform);
    ics_models_destroy(built_in);
    ics_models_destroy(layers);
}
END_TEST

START_TEST(errors_of_ice_and_detector_come_together)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], ice[MODEL_PATH + 32], detector[MODEL_PATH + 32];
    snprintf(ice, sizeof ice, "ice.file=%s/none.yaml", folder.path);
    snprintf(detector, sizeof detector, "detector.file=%s",
             model_folder_write(&folder, "d.csv", "string\n", path));
    icestream_config *config = model_config(ice, detector, NULL);
    ics_models *models;
    icestream_error error = {0};
    ck_assert_int_eq(ics_models_create(config, &models, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "none.yaml"));
    ck_assert_ptr_nonnull(strstr(error.text, "d.csv:1: error: found no column 'module'"));
    icestream_config_destroy(config);
    model_folder_remove(&folder);
}
END_TEST

ICS_TEST_MAIN("models")
{
    TCase *together = tcase_create("together");
    tcase_add_test(together, digests_follow_the_numbers);
    tcase_add_test(together, description);
    tcase_add_test(together, shipped_examples_load);
    tcase_add_test(together, errors_of_ice_and_detector_come_together);
    suite_add_tcase(suite, together);
}
