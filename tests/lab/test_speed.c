/* `icestream-lab speed --reference`: the benchmark with the ice, light and modules of clsim.
 *
 * Promises: the tables of the folder replace ice, light and modules, detector.file may give other
 * modules, and a key that has no effect is refused. The tables themselves are tested in
 * test_reference.c, and the benchmark in tests/tools/test_bench.c.
 * To join: what --reference replaces gets a check in reference_with_other_modules. */
#include "bench/lab/speed/speed.h"
#include "tests/support/json_values.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Measures once, with the reference in a folder, as JSON. Returns the status; the caller frees
 * *text. */
static int speed(const icestream_config *config, const char *folder, char **text,
                 icestream_error *error)
{
    const ics_lab_options options = {.bench = {.repeats = 1, .json = true}, .reference = folder};
    const ics_speed_extras none = {.stages = false};
    size_t size = 0;
    FILE *out = open_memstream(text, &size);
    ck_assert_ptr_nonnull(out);
    const int status = ics_speed_measure(config, &options, none, out, error);
    fclose(out);
    return status;
}

static json_t *speed_json(const icestream_config *config, const char *folder)
{
    char *text = NULL;
    icestream_error error = {0};
    ck_assert_msg(speed(config, folder, &text, &error) == ICESTREAM_OK, "%s", error.text);
    json_t *root = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(root);
    free(text);
    return root;
}

/* Makes a small folder of the form of clsim's tables. */
static void write_reference(const model_folder *folder)
{
    char path[MODEL_PATH];
    model_folder_write(folder, "tilt.csv", "z_m,dz_m_at_0,dz_m_at_1000\n-500,0,0\n500,0,0\n", path);
    model_folder_write(folder, "ice_layers.csv",
                       "layer,z_bottom_m,z_top_m,b400_per_m,adust400_per_m,delta_tau_K\n"
                       "0,-600,0,0.3,0.01,1\n1,0,600,0.3,0.01,1\n",
                       path);
    model_folder_write(folder, "wavelength.csv", "wavelength_nm,pdf_per_m\n300,1\n600,1\n", path);
    model_folder_write(folder, "doms.csv", "string,module,x,y,z\n1,1,900,900,900\n", path);
    model_folder_write(folder, "near.csv", "string,module,x,y,z\n1,1,0,0,-399\n1,2,1,0,-400\n",
                       path);
}

/* --set detector.file gives other modules than those of the reference. The steps of the cascade are
 * close to these modules and 1 km away from that of the reference. */
START_TEST(reference_with_other_modules)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], file[MODEL_PATH + 32];
    write_reference(&folder);
    snprintf(path, sizeof path, "%s", folder.path);
    snprintf(file, sizeof file, "detector.file=%s/near.csv", folder.path);
    for (int other = 0; other < 2; ++other) {
        icestream_config *config = model_config("device.backend=cpu", "workload.kind=cascade",
                                                "workload.steps=20", "graph.schedule=monolithic",
                                                "detector.oversize=5", other ? file : NULL, NULL);
        json_t *root = speed_json(config, path);
        const json_int_t hits = whole_of(json_array_get(json_object_get(root, "rows"), 0), "hits");
        ck_assert_msg((hits > 0) == (other == 1), "%d: %lld hits", other, (long long)hits);
        json_decref(root);
        icestream_config_destroy(config);
    }
    icestream_config *config = model_config("ice.model=uniform", "detector.layout=hex86", NULL);
    icestream_error error = {0};
    char *text = NULL;
    ck_assert_int_eq(speed(config, path, &text, &error), ICESTREAM_E_CONFIG);
    free(text);
    ck_assert_msg(
        strstr(error.text, "--set ice.model: error: found uniform, which has no effect") &&
            strstr(error.text, "--set detector.layout: error: found hex86"),
        "%s", error.text);
    icestream_config_destroy(config);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(reference_run)
{
    char path[MODEL_PATH];
    if (model_shared("reference/clsim", path) == NULL) {
        return;
    }
    /* The published run had 7.08 hits per thousand photons at oversize 5, with tilt and anisotropy.
     * This run has 400 000 photons, so the statistical error is 2 %. */
    icestream_config *config =
        model_config("device.backend=cpu", "workload.kind=cascade", "workload.steps=2000",
                     "detector.oversize=5", "graph.schedule=wavefront", NULL);
    json_t *root = speed_json(config, path);
    ck_assert_str_eq(text_of(root, "world"), "clsim's ice and modules");
    const json_t *row = json_array_get(json_object_get(root, "rows"), 0);
    ck_assert_double_eq_tol((double)whole_of(row, "hits") / 400000, 7.08e-3, 1e-3);
    json_decref(root);
    icestream_config_destroy(config);
}
END_TEST

ICS_TEST_MAIN("speed")
{
    TCase *tests = tcase_create("speed");
    tcase_add_test(tests, reference_with_other_modules);
    tcase_add_test(tests, reference_run);
    suite_add_tcase(suite, tests);
}
