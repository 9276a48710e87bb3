/* Promise: ice files can give every feature, the configuration switches features off, and the
 * digest of the ice depends on every number. A new feature joins the file tilted.yaml, and each of
 * its numbers the list of changes. */
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/models.h"
#include "tables/tables.h"
#include "tests/support/loaded_ice.h"
#include "tests/support/model_files.h"
#include "tests/support/ppc_folder.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ice files ------------------------------------------------------------------------------- */

#define YAML_CRYSTALS                                                                              \
    "birefringence:\n"                                                                             \
    "  along: [0.076795, 544284.545166, 2.229494, 0.002624]\n"                                     \
    "  across: [0.077381, 1547618.883526, 2.449589, 0.002505]\n"                                   \
    "  mean: [0.000995, 0.248264, 2.354436, 1.680717]\n"

static loaded_ice load_yaml(const char *yaml, const char *csv, const char *set)
{
    char path[MODEL_PATH];
    model_folder folder = model_folder_create();
    if (csv != NULL) {
        model_folder_write(&folder, "l.csv", csv, path);
    }
    model_folder_write(&folder, "ice.yaml", yaml, path);
    loaded_ice ice = ice_load("ice.file", path, set, NULL);
    model_folder_remove(&folder);
    return ice;
}

/* Homogeneous ice by its lengths is the same as by its coefficients. */
START_TEST(homogeneous_by_lengths)
{
    loaded_ice ice = load_yaml("layers: {effective_scattering_length: 25, absorption_length: 80}\n"
                               "anisotropy: [0.04, -0.08]\n",
                               NULL, NULL);
    expect_ice(&ice);
    const ice_medium *m = ice.medium;
    ck_assert_uint_eq(m->layer_count, 1);
    ck_assert_double_eq_tol(ics_ice_scattering(m, 0, 400), 1 / 25.0, 1e-15);
    ck_assert_double_eq_tol(ics_ice_absorption(m, 0, 400), 1 / 80.0, 1e-15);
    ck_assert_double_lt(ics_ice_scattering(m, 0, 500), 1 / 25.0);
    ck_assert_double_eq(m->layers[0].anisotropy_along, 0.04);
    ice_unload(&ice);
    ice = load_yaml("layers: {absorption_length: 3000, effective_scattering_length: 25}\n", NULL,
                    NULL);
    expect_no_ice(&ice, "ice.yaml:1:9: error: layers.absorption_length: found 3000 m, expected at "
                        "most 2202.");
    ice_unload(&ice);
    ice = load_yaml("layers: {absorption_length: 100}\n", NULL, NULL);
    expect_no_ice(&ice, "effective_scattering_length");
    ice_unload(&ice);
    ice =
        load_yaml("layers: {absorption_length: 100, effective_scattering_length: 2, file: l.csv}\n",
                  NULL, NULL);
    expect_no_ice(&ice, "file");
    ice_unload(&ice);
}
END_TEST

/* The factors multiply whatever a layer scatters and absorbs, at every wavelength. */
START_TEST(factors_scale_all_layers)
{
    static const char *const ices[] = {
        "layers: [[1900, 0.03, 0.01, 2], [1910, 0.05, 0.02, -3]]\n" YAML_CRYSTALS
        "  subtraction: constant\n",
        "index: {salinity: 35, temperature: 13, pressure: 200}\noptics: {table: [[wavelength_nm, "
        "absorption_length_m, scattering_length_m], [250, 20, 30], "
        "[700, 2, 60]]}\nscattering: {mean_cosine: 0.9}\nlayers: "
        "[[0, 1, 1], [10, 1.2, 0.9]]\n"};
    for (size_t i = 0; i < COUNT(ices); ++i) {
        loaded_ice plain = load_yaml(ices[i], NULL, NULL), scaled;
        char path[MODEL_PATH];
        model_folder folder = model_folder_create();
        model_folder_write(&folder, "ice.yaml", ices[i], path);
        scaled =
            ice_load("ice.file", path, "ice.scattering_factor=1.1", "ice.absorption_factor=0.8");
        model_folder_remove(&folder);
        expect_ice(&plain);
        expect_ice(&scaled);
        for (size_t k = 0; k < plain.medium->layer_count; ++k) {
            for (double x = 250; x <= 700; x += 50) {
                ck_assert_double_eq_tol(ics_ice_scattering(scaled.medium, k, x) /
                                            ics_ice_scattering(plain.medium, k, x),
                                        1.1, 1e-12);
                ck_assert_double_eq_tol(ics_ice_absorption(scaled.medium, k, x) /
                                            ics_ice_absorption(plain.medium, k, x),
                                        0.8, 1e-12);
            }
        }
        ck_assert(ics_ice_birefringence_scattering(&scaled.medium->birefringence) ==
                  ics_ice_birefringence_scattering(&plain.medium->birefringence));
        ice_unload(&plain);
        ice_unload(&scaled);
    }
}
END_TEST

START_TEST(features_in_yaml)
{
    static const char yaml[] =
        "layers: [[1900, 0.03, 0.01, 0]]\nflow_azimuth: 130\nanisotropy: [0.04, -0.08]\n"
        "absorption_anisotropy: [0.6, -0.3, -0.3]\nhole: { radius: 0.3, mean_cosine: 0.8 "
        "}\n" YAML_CRYSTALS "  subtraction: constant\n";
    loaded_ice ice = load_yaml(yaml, NULL, NULL);
    expect_ice(&ice);
    const ice_medium *m = ice.medium;
    ck_assert_double_eq_tol(m->flow_azimuth, 130 * M_PI / 180, 1e-15);
    ck_assert_double_eq(m->layers[0].anisotropy_along, 0.04);
    ck_assert_double_eq(m->layers[0].anisotropy_across, -0.08);
    ck_assert_double_eq(m->absorption_exponent, 1);
    ck_assert_double_eq_tol(exp(m->absorption_anisotropy[0]), 1.69545, 6e-6);
    ck_assert_double_eq(m->hole.radius, 0.3);
    ck_assert_double_eq(m->hole.effective_scattering, 0.03);
    ck_assert_double_eq(m->hole.absorption, 100);
    ck_assert_double_eq(m->hole.mean_cosine, 0.8);
    ck_assert_double_eq(m->hole.liu_fraction, 0.35);
    ck_assert_mem_eq(&m->birefringence, &ppc_crystals, sizeof ppc_crystals);
    ck_assert_double_eq(m->layers[0].birefringence, 1);
    ck_assert_double_eq(m->layers[0].birefringence_mean, 1);
    ck_assert_double_eq_tol(m->layers[0].bubbles, -0.00246854, 6e-9);
    ice_unload(&ice);
    ice = load_yaml(yaml, NULL, "ice.birefringence_subtraction=scaled");
    expect_ice(&ice);
    ck_assert_double_eq(ice.medium->layers[0].bubbles, 0);
    ck_assert_double_eq_tol(ice.medium->layers[0].effective_scattering, 0.03 - 0.00246854, 6e-9);
    ice_unload(&ice);
    ice = load_yaml("layers: [[1900, 0.03, 0.01, 0]]\n" YAML_CRYSTALS, NULL, NULL);
    expect_ice(&ice);
    ck_assert_double_eq(ice.medium->layers[0].bubbles,
                        0); /* nothing is subtracted without a setting */
    ice_unload(&ice);
    ice = load_yaml("layers: [[1900, 0.03, 0.01, 0]]\nabsorption_exponent: 1\n"
                    "hole: { absorption: 3 }\n",
                    NULL, NULL);
    expect_ice(&ice);
    ck_assert_uint_eq(ics_tables_find_features(ice.medium), 0);
    ice_unload(&ice);
}
END_TEST

START_TEST(shipped_files)
{
    glob_t found;
    ck_assert_int_eq(glob(ICS_SOURCE_DIRECTORY "/configs/ice/*.yaml", 0, NULL, &found), 0);
    ck_assert_uint_ge(found.gl_pathc, 5);
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        loaded_ice ice = ice_load("ice.file", found.gl_pathv[i], NULL, NULL);
        expect_ice(&ice);
        ice_unload(&ice);
    }
    globfree(&found);
    /* tilted.yaml has every feature of a file. */
    loaded_ice ice =
        ice_load("ice.file", ICS_SOURCE_DIRECTORY "/configs/ice/tilted.yaml", NULL, NULL);
    expect_ice(&ice);
    ck_assert_uint_eq(ics_tables_find_features(ice.medium),
                      ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY |
                          ICE_HAS_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE | ICE_HAS_HOLES);
    ck_assert_double_eq(ice.medium->tilt.shifts[0], -10);
    char text[128];
    ck_assert_str_eq(ics_ice_features_text(ice.medium, text, sizeof text),
                     " with tilt, scattering anisotropy, absorption anisotropy, birefringence, "
                     "hole ice");
    ice_unload(&ice);
    ice = ice_load("ice.model", "uniform", NULL, NULL);
    ck_assert_str_eq(ics_ice_features_text(ice.medium, text, sizeof text), "");
    ice_unload(&ice);
}
END_TEST

START_TEST(features_in_csv)
{
    static const char header[] = "depth_m,be400_per_m,adust400_per_m,delta_tau_K";
    char csv[512];
    snprintf(csv, sizeof csv, "%s,birefringence,birefringence_mean_factor,anisotropy_across\n%s",
             header, "1900,0.03,0.01,0,2,1.5,0.1\n1910,0.03,0.01,0,0,1,0\n");
    loaded_ice ice =
        load_yaml("layers: { file: l.csv }\nanisotropy: [0.04, -0.08]\n" YAML_CRYSTALS, csv, NULL);
    expect_ice(&ice);
    const ice_layer *upper = &ice.medium->layers[1], *lower = &ice.medium->layers[0];
    ck_assert_double_eq(upper->birefringence, 2);
    ck_assert_double_eq(upper->birefringence_mean, 3);
    ck_assert_double_eq(upper->anisotropy_along, 0.04); /* no column: the value of the whole ice */
    ck_assert_double_eq(upper->anisotropy_across, 0.1);
    ck_assert_double_eq(lower->birefringence, 0);
    ck_assert_double_eq(lower->anisotropy_across, 0);
    ice_unload(&ice);
}
END_TEST

static const struct {
    const char *yaml, *message;
} bad_yaml[] = {
    {"anisotropy: [0.04]\n", "ice.yaml:2:13: error: anisotropy: found"},
    {"absorption_anisotropy: [a, 0, 0]\n", "ice.yaml:2:25: error: absorption_anisotropy"},
    {"flow_azimuth: 361\n", "ice.yaml:2:15: error: flow_azimuth: found '361', expected a number"},
    {"absorption_exponent: 11\n", "ice.yaml:2:22: error: absorption_exponent: found '11'"},
    {"hole: { radius: 1, absorption: 0 }\n", "ice.yaml:2:32: error: hole.absorption: found '0'"},
    {"hole: { radius: 1, mean_cosine: 1 }\n", "ice.yaml:2:33: error: hole.mean_cosine: found '1'"},
    {"birefringence: { along: [1, 2, 3] }\n", "ice.yaml:2:25: error: birefringence.along: found"},
};

START_TEST(bad_yaml_file)
{
    char yaml[512];
    snprintf(yaml, sizeof yaml, "layers: [[1900, 0.03, 0.01, 0]]\n%s", bad_yaml[_i].yaml);
    loaded_ice ice = load_yaml(yaml, NULL, NULL);
    expect_no_ice(&ice, bad_yaml[_i].message);
    ice_unload(&ice);
}
END_TEST

/* ---- the digest ------------------------------------------------------------------------------ */

static void digest_of(const char *key, const char *path, const char *set, char out[ICS_DIGEST_TEXT])
{
    char ice[MODEL_PATH + 32];
    ics_models *models = NULL;
    icestream_error error = {0};
    snprintf(ice, sizeof ice, "%s=%s", key, path);
    icestream_config *config = model_config(ice, set != NULL ? set : "run.seed=1", NULL);
    ck_assert_msg(ics_models_create(config, &models, &error) == ICESTREAM_OK, "%s", error.text);
    memcpy(out, models->ice_digest, ICS_DIGEST_TEXT);
    ics_models_destroy(models);
    icestream_config_destroy(config);
}

START_TEST(every_feature_is_digested)
{
    static const char *const settings[] = {
        NULL,
        "ice.tilt=false",
        "ice.tilt_origin=1",
        "ice.tilt_outside=clamp",
        "ice.anisotropy=false",
        "ice.birefringence=false",
        "ice.birefringence_subtraction=none",
        "ice.birefringence_subtraction=scaled",
        "ice.hole_ice=false",
    };
    static const char dat[] = "1900 0.03 0.01 0 0.1 0.2 1 1\n1910 0.03 0.01 0 0 0 2 1\n";
    /* The same ice with one number changed in each case. */
    static const struct {
        const char *name, *content;
    } others[] = {
        {"icemodel.dat", "1900 0.03 0.01 0 0.1 0.2 1 1\n1910 0.03 0.01 0 0 0.01 2 1\n"},
        {"icemodel.dat", "1900 0.03 0.01 0 0.1 0.2 1 1\n1910 0.03 0.01 0 0.01 0 2 1\n"},
        {"icemodel.dat", "1900 0.03 0.01 0 0.1 0.2 1 2\n1910 0.03 0.01 0 0 0 2 1\n"},
        {"cfg.txt",
         PPC_SETTINGS "217\n0.04\n-0.08\n" PPC_HOLE "0.6\n-0.3\n-0.3\n0.5\n" PPC_CRYSTALS},
        {"cfg.txt", PPC_FLOW PPC_HOLE "0.6\n-0.3\n-0.3\n0.6\n" PPC_CRYSTALS},
        {"cfg.txt", PPC_FLOW PPC_HOLE "0.6\n-0.3\n-0.2\n0.5\n" PPC_CRYSTALS},
        {"cfg.txt", PPC_FLOW "0.5\n0.03\n100\n0.25\n0.7\n0.6\n-0.3\n-0.3\n0.5\n" PPC_CRYSTALS},
        {"tilt.par", "1 -100\n86 0\n2 101\n"},
        {"tilt.dat", "1000 1 0 2\n1010 1 0 3\n"},
        {"tilt.dat", "1000 1 0 2\n1020 1 0 2\n"},
    };
    enum { ALL_DIGESTS = COUNT(settings) + COUNT(others) };
    char digests[ALL_DIGESTS][ICS_DIGEST_TEXT], path[MODEL_PATH];
    for (size_t i = 0; i < ALL_DIGESTS; ++i) {
        model_folder folder = model_folder_create();
        ppc_folder_write(&folder, PPC_PARAMETERS, PPC_ALL, dat);
        model_folder_write(&folder, "version", "0\n", path);
        model_folder_write(&folder, "tilt.par", "1 -100\n86 0\n2 100\n", path);
        model_folder_write(&folder, "tilt.dat", "1000 1 0 2\n1010 1 0 2\n", path);
        if (i >= COUNT(settings)) {
            model_folder_write(&folder, others[i - COUNT(settings)].name,
                               others[i - COUNT(settings)].content, path);
        }
        digest_of("ice.directory", folder.path, i < COUNT(settings) ? settings[i] : NULL,
                  digests[i]);
        model_folder_remove(&folder);
        for (size_t k = 0; k < i; ++k) {
            ck_assert_msg(strcmp(digests[i], digests[k]) != 0, "%zu and %zu", k, i);
        }
    }
}
END_TEST

START_TEST(what_the_ice_does_not_have_is_not_digested)
{
    char digest[ICS_DIGEST_TEXT], other[ICS_DIGEST_TEXT];
    digest_of("ice.model", "uniform", NULL, digest);
    digest_of("ice.model", "uniform", "ice.tilt=false", other);
    ck_assert_str_eq(digest, other);
}
END_TEST

ICS_TEST_MAIN("ice_file")
{
    TCase *good = tcase_create("good");
    tcase_add_test(good, homogeneous_by_lengths);
    tcase_add_test(good, factors_scale_all_layers);
    tcase_add_test(good, features_in_yaml);
    tcase_add_test(good, features_in_csv);
    tcase_add_test(good, shipped_files);
    tcase_add_test(good, every_feature_is_digested);
    tcase_add_test(good, what_the_ice_does_not_have_is_not_digested);
    suite_add_tcase(suite, good);
    TCase *bad = tcase_create("bad");
    tcase_add_loop_test(bad, bad_yaml_file, 0, COUNT(bad_yaml));
    suite_add_tcase(suite, bad);
}
