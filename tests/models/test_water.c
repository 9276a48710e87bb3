/* Promise: the index of refraction of water, tables by wavelength from every source, and light that
 * travels through water agree with independent numbers; each faulty file is refused with its place.
 */
#include "physics/water.h"
#include "pipeline/models/ice/ice.h"
#include "pipeline/models/light/light.h"
#include "stages/variants.h"
#include "tables/tables.h"
#include "tests/support/model_files.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEA_FILE  "ice.file=" ICS_SOURCE_DIRECTORY "/configs/media/sea-water.yaml"
#define LAKE_FILE "ice.file=" ICS_SOURCE_DIRECTORY "/configs/media/lake-water.yaml"
#define MOLECULES "stages.scatter=rayleigh-hg"

static const ice_water sea = {.salinity = 38.5, .temperature = 13.2, .pressure = 220};

/* ---- index of refraction --------------------------------------------------------------------- */

START_TEST(worked_indices)
{
    /* Computed by another program with 40 digits, the group index by differences. Pure water at 20
     * deg C has 1.3330 in yellow light. */
    static const struct {
        double wavelength;
        ice_water water;
        double phase, group;
    } rows[] = {
        {589.3, {0, 20, 0}, 1.333004434277, 1.351343393220},
        {400, {0, 0, 0}, 1.344230937500, 1.382821250000},
        {700, {35, 30, 0}, 1.335321578717, 1.350519600583},
        {470, {38.5, 13.2, 220}, 1.349096096594, 1.377110657290},
        {375, {38.5, 13.2, 220}, 1.357223662892, 1.403419678003},
        {490, {0.1, 3.5, 110}, 1.339479373910, 1.364543500549},
        {300, {35, 10, 500}, 1.374849870370, 1.458849703704},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert_double_eq_tol(ice_water_phase_index(&rows[i].water, rows[i].wavelength),
                                rows[i].phase, 1e-12);
        ck_assert_double_eq_tol(ice_water_group_index(&rows[i].water, rows[i].wavelength),
                                rows[i].group, 1e-12);
    }
}
END_TEST

START_TEST(group_index_is_the_slope)
{
    const double h = 1e-3;
    for (double x = 300; x <= 700; x += 7) {
        double slope =
            (ice_water_phase_index(&sea, x + h) - ice_water_phase_index(&sea, x - h)) / (2 * h);
        ck_assert_double_eq_tol(ice_water_group_index(&sea, x),
                                ice_water_phase_index(&sea, x) - x * slope, 1e-9);
    }
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct loaded {
    ice_medium *medium;
    ics_warnings warnings;
    icestream_error error;
    int status;
} loaded;

static loaded load(const char *file, const char *scatter)
{
    loaded result = {0};
    ics_ice_factors factors;
    icestream_config *config = model_config(file, scatter, NULL);
    result.status =
        ics_ice_create(config, &result.medium, &factors, &result.warnings, &result.error);
    icestream_config_destroy(config);
    return result;
}

static loaded load_good(const char *file, const char *scatter)
{
    loaded result = load(file, scatter);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    return result;
}

static void unload(loaded *result)
{
    ics_ice_destroy(result->medium);
    ics_warnings_free(&result->warnings);
}

static loaded load_text(const model_folder *folder, const char *yaml)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    snprintf(set, sizeof set, "ice.file=%s", model_folder_write(folder, "w.yaml", yaml, path));
    return load(set, NULL);
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

START_TEST(sea_water)
{
    /* Columns of the file, and half way between two rows. */
    static const double rows[][3] = {{375, 26, 122},   {470, 60, 265},   {250, 1.8, 30},
                                     {700, 1.5, 1037}, {460, 58, 246.5}, {550, 15, 453},
                                     {280, 4.2, 45}};
    loaded water = load_good(SEA_FILE, MOLECULES);
    const ice_medium *m = water.medium;
    ck_assert_str_eq(m->name, "sea water");
    ck_assert_uint_eq(m->layer_count, 1);
    ck_assert_uint_eq(ics_tables_find_features(m), ICE_HAS_SPECTRAL_OPTICS);
    ck_assert_double_eq(m->rayleigh_fraction, 0.17);
    ck_assert_double_eq(m->mean_cosine, 0.924);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const ice_spectral_optics *at = &m->spectral[(int)rows[i][0] - 250];
        ck_assert_double_eq_tol(1 / ics_ice_absorption(m, 0, rows[i][0]), rows[i][1], 1e-9);
        ck_assert_double_eq_tol(1 / ics_ice_scattering(m, 0, rows[i][0]), rows[i][2], 1e-9);
        ck_assert_double_eq_tol(at->scattering * (1 - 0.83 * 0.924), 1 / rows[i][2], 1e-12);
        ck_assert_double_eq_tol(ics_ice_phase_index(m, rows[i][0]),
                                ice_water_phase_index(&sea, rows[i][0]), 1e-12);
        ck_assert_double_eq_tol(ics_ice_group_index(m, rows[i][0]),
                                ice_water_group_index(&sea, rows[i][0]), 1e-12);
    }
    /* Between rows of the medium as between rows of the stages' tables. */
    ck_assert_double_eq_tol(
        ics_ice_absorption(m, 0, 470.25),
        0.75 * ics_ice_absorption(m, 0, 470) + 0.25 * ics_ice_absorption(m, 0, 471), 1e-12);
    ck_assert(warned(&water, "trusted down to 300 nm"));
    ck_assert(!warned(&water, "rayleigh_fraction"));
    unload(&water);
}
END_TEST

START_TEST(lake_water)
{
    loaded water = load_good(LAKE_FILE, NULL);
    const ice_medium *m = water.medium;
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, 0, 490), 23, 1e-9);
    ck_assert_double_eq_tol(1 / m->spectral[490 - 250].scattering, 40, 1e-9);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, 0, 490), 40 / 0.12, 1e-9);
    ck_assert_double_eq_tol(ics_ice_phase_index(m, 490), 1.339479373910, 1e-12);
    unload(&water);
}
END_TEST

#define INDEX      "index: {salinity: 35, temperature: 10, pressure: 500}\n"
#define SCATTERING "scattering: {mean_cosine: 0.9}\n"
#define TABLE                                                                                      \
    "optics: {table: [[wavelength_nm, absorption_per_m, scattering_per_m], [250, 0.2, 0.1], "      \
    "[700, 0.1, 0.01]]}\n"

START_TEST(coefficients_and_layers)
{
    model_folder folder = model_folder_create();
    loaded water =
        load_text(&folder, TABLE SCATTERING INDEX "layers: [[-20, 1, 2], [0, 1, 1], [20, 3, 1]]\n");
    ck_assert_msg(water.status == ICESTREAM_OK, "%s", water.error.text);
    const ice_medium *m = water.medium;
    ck_assert_uint_eq(m->layer_count, 3);
    ck_assert_double_eq(m->thickness, 20);
    ck_assert_double_eq(m->bottom, -30);
    ck_assert_double_eq_tol(ics_ice_absorption(m, 0, 475), 0.3, 1e-12);
    ck_assert_double_eq_tol(ics_ice_absorption(m, 1, 475), 0.15, 1e-12);
    ck_assert_double_eq_tol(ics_ice_scattering(m, 1, 475), 0.0055, 1e-12);
    ck_assert_double_eq_tol(ics_ice_scattering(m, 2, 475), 0.0165, 1e-12);
    ck_assert_double_eq_tol(ics_ice_group_index(m, 300), 1.458849703704, 1e-12);
    unload(&water);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(ends_that_go_on)
{
    model_folder folder = model_folder_create();
    loaded water =
        load_text(&folder, "optics: {extend: constant, table: [[scattering_length_m, "
                           "wavelength_nm, absorption_length_m], [20, 400, 30], [40, 500, 50]]}\n"
                           "scattering: {rayleigh_fraction: 0, mean_cosine: 0.5}\n" INDEX);
    ck_assert_msg(water.status == ICESTREAM_OK, "%s", water.error.text);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(water.medium, 0, 250), 30, 1e-9);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(water.medium, 0, 450), 40, 1e-9);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(water.medium, 0, 700), 50, 1e-9);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(water.medium, 0, 700), 80, 1e-9);
    unload(&water);
    model_folder_remove(&folder);
}
END_TEST

/* The index of the formula as a table of phase indices. */
static void write_indices(char *text, size_t size, int first, int last, const char *more)
{
    size_t used = (size_t)snprintf(text, size, "wavelength_nm,phase_index%s\n", more);
    for (int x = first; x <= last && used < size; x += 10) {
        used += (size_t)snprintf(text + used, size - used, "%d,%.15g%s\n", x,
                                 ice_water_phase_index(&sea, x), *more ? ",1.4" : "");
    }
    ck_assert_uint_lt(used, size);
}

START_TEST(tables_of_the_index)
{
    model_folder folder = model_folder_create();
    char text[4096], path[MODEL_PATH];
    write_indices(text, sizeof text, 250, 700, "");
    model_folder_write(&folder, "n.csv", text, path);
    loaded water = load_text(&folder, TABLE SCATTERING "index: {file: n.csv}\n");
    ck_assert_msg(water.status == ICESTREAM_OK, "%s", water.error.text);
    ck_assert_uint_eq(water.warnings.count, 0); /* the formula of the index was not used */
    for (int x = 250; x <= 700; x += 10) {
        ck_assert_double_eq_tol(ics_ice_phase_index(water.medium, x),
                                ice_water_phase_index(&sea, x), 1e-12);
    }
    /* Tolerance of slopes over 10 nm; at the ends only one side is known. */
    for (int x = 300; x <= 690; x += 1) {
        ck_assert_double_eq_tol(ics_ice_group_index(water.medium, x),
                                ice_water_group_index(&sea, x), 5e-4);
    }
    unload(&water);

    write_indices(text, sizeof text, 250, 700, ",group_index");
    model_folder_write(&folder, "n.csv", text, path);
    water = load_text(&folder, TABLE SCATTERING "index: {file: n.csv}\n");
    ck_assert_msg(water.status == ICESTREAM_OK, "%s", water.error.text);
    ck_assert_double_eq(ics_ice_group_index(water.medium, 333), 1.4);
    unload(&water);

    /* The slope of a table that is a straight line: n - x dn/dx is its value at 0. */
    water = load_text(&folder,
                      TABLE SCATTERING "index: {extend: constant, table: [[wavelength_nm, "
                                       "phase_index], [400, 1.36], [410, 1.359], [600, 1.34]]}\n");
    ck_assert_msg(water.status == ICESTREAM_OK, "%s", water.error.text);
    for (int x = 250; x <= 700; x += 50) {
        ck_assert_double_eq_tol(ics_ice_group_index(water.medium, x), 1.4, 1e-9);
    }
    ck_assert_double_eq(ics_ice_phase_index(water.medium, 250), 1.36);
    unload(&water);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(scatter_stages)
{
    loaded water = load(SEA_FILE, "stages.scatter=hg-sl");
    ck_assert_int_eq(water.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(water.error.text, "stages.scatter: found hg-sl, which does not "
                                                   "simulate molecules, but molecules cause 0.17"));
    ck_assert_ptr_nonnull(strstr(water.error.text, "expected rayleigh-hg"));
    unload(&water);
    water = load_good(SEA_FILE, "stages.scatter={source: /my/own.h}");
    unload(&water);
    water = load_good(LAKE_FILE, MOLECULES);
    ck_assert(warned(&water, "the rayleigh_fraction of"));
    unload(&water);
    loaded ice = load_good("ice.model=uniform", MOLECULES);
    ck_assert(warned(&ice, "the rayleigh_fraction of"));
    unload(&ice);
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------- */

#define HEAD "optics: {table: [[wavelength_nm, absorption_per_m, scattering_per_m]"

static const struct {
    const char *yaml, *csv, *message;
} bad[] = {
    {"optics: 1\n" SCATTERING INDEX, NULL, "w.yaml:1:9: error: optics: found '1'"},
    {"optics: {}\n" SCATTERING INDEX, NULL, "w.yaml:1:1: error: the key 'optics.file' is missing"},
    {"optics: {table: []}\n" SCATTERING INDEX, NULL, "w.yaml:1:17: error: table: found an empty"},
    {"optics: {table: [[wavelength_nm, colour], [1, 2]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:34: error: table: found column 'colour'"},
    {"optics: {table: [[wavelength_nm, wavelength_nm], [1, 2]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:34: error: table: found column wavelength_nm twice"},
    {"optics: {table: [[absorption_per_m], [1]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:18: error: table: found no column 'wavelength_nm'"},
    {"optics: {table: [5, [1]]}\n" SCATTERING INDEX, NULL, "w.yaml:1:18: error: table: found '5'"},
    {HEAD ", [250, 0.1]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:71: error: table: found a list of 2, expected a list of 3 numbers"},
    {HEAD ", [250, 0.1, .nan], [700, 0.1, 0.1]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:82: error: scattering_per_m: found '.nan'"},
    {HEAD ", [250, 0.1, 0], [700, 0.1, 0.1]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:82: error: scattering_per_m: found '0', expected a number from 1e-06 to 10000"},
    {HEAD ", [250, 0.1, 1], [250, 0.1, 0.1]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:86: error: table: wavelength_nm: found 250 after 250"},
    {HEAD ", [300, 0.1, 1], [700, 0.1, 0.1]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:17: error: optics: found wavelengths of 300 .. 700 nm, expected 250 .. 700 nm, or "
     "optics.extend: constant"},
    {HEAD ", [250, 0.1, 1], [650, 0.1, 0.1]]}\n" SCATTERING INDEX, NULL,
     "found wavelengths of 250 .. 650 nm"},
    {"optics: {table: [[wavelength_nm, absorption_per_m, absorption_length_m], [250, 1, 1], "
     "[700, 1, 1]]}\n" SCATTERING INDEX,
     NULL, "w.yaml:1:17: error: optics: found 2 columns of absorption, expected one"},
    {"optics: {table: [[wavelength_nm, absorption_per_m], [250, 1], [700, 1]]}\n" SCATTERING INDEX,
     NULL, "w.yaml:1:17: error: optics: found 0 columns of scattering, expected one"},
    {"optics: {extend: linear}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:18: error: optics.extend: found 'linear', expected"},
    {"optics: {file: t.csv, table: [[1]]}\n" SCATTERING INDEX, "x\n",
     "only one of 'optics.table' and 'optics.file'"},
    {"optics: {file: none.csv}\n" SCATTERING INDEX, NULL, "none.csv: error: No such file"},
    {"optics: {file: t.csv}\n" SCATTERING INDEX,
     "wavelength_nm,absorption_length_m,scattering_length_m\n250,-1,5\n700,1,1\n",
     "t.csv:2: error: absorption_length_m: found -1, expected 0.0001 .. 1e+06"},
    {"optics: {file: t.csv}\n" SCATTERING INDEX,
     "wavelength_nm,absorption_length_m,scattering_length_m\n700,1,5\n250,1,1\n",
     "t.csv:3: error: wavelength_nm: found 250 after 700, expected it to ascend"},
    {"optics: {file: t.csv}\n" SCATTERING INDEX,
     "wavelength_nm,absorption_length_m,scattering_length_m\n0.47,1,5\n0.7,1,1\n",
     "t.csv:2: error: wavelength_nm: found 0.47, expected 100 .. 2000"},
    {"optics: {file: t.csv}\n" SCATTERING INDEX, "wavelength_nm,depth\n250,1\n",
     "t.csv:1:15: error: found column 'depth', expected columns wavelength_nm, absorption_length"},
    {TABLE "scattering: {rayleigh_fraction: 0.1}\n" INDEX, NULL,
     "the key 'scattering.mean_cosine' is missing"},
    {TABLE "scattering: {mean_cosine: 1}\n" INDEX, NULL,
     "w.yaml:2:27: error: scattering.mean_cosine: found '1'"},
    {TABLE "scattering: {mean_cosine: 0.9, rayleigh_fraction: 17}\n" INDEX, NULL,
     "w.yaml:2:51: error: scattering.rayleigh_fraction: found '17'"},
    {TABLE SCATTERING, NULL, "w.yaml:1:1: error: the key 'index.salinity' is missing"},
    {TABLE SCATTERING "index: {salinity: 35, temperature: 10}\n", NULL,
     "w.yaml:3:8: error: the key 'index.pressure' is missing"},
    {TABLE SCATTERING "index: {salinity: 35, temperature: 283, pressure: 1}\n", NULL,
     "w.yaml:3:36: error: index.temperature: found '283', expected a number from -2 to 40"},
    {TABLE SCATTERING "index: {salinity: 0.038, temperature: 4, pressure: 1e9}\n", NULL,
     "index.pressure: found '1e9'"},
    {TABLE SCATTERING "index: {salinity: 1, temperature: 4, pressure: 1, extend: constant}\n", NULL,
     "w.yaml:3:59: error: index.extend: is for index.file or index.table, and neither is given"},
    {TABLE SCATTERING "index: {salinity: 1, table: [[wavelength_nm, phase_index], [250, 1.4], "
                      "[400, 1.35], [700, 1.33]]}\n",
     NULL, "w.yaml:3:19: error: index.salinity: found also a table of the index"},
    {TABLE SCATTERING "index: {table: [[wavelength_nm, phase_index], [250, 1.4], [700, 1.3]]}\n",
     NULL, "w.yaml:3:16: error: index: found 2 rows, expected 3 or more"},
    {TABLE SCATTERING "index: {table: [[wavelength_nm, group_index], [250, 1.4], [700, 1.3]]}\n",
     NULL, "w.yaml:3:16: error: index: found no column 'phase_index'"},
    {TABLE SCATTERING "index: {table: [[wavelength_nm, phase_index], [250, 0.9], [300, 1.3], "
                      "[700, 1.3]]}\n",
     NULL, "w.yaml:3:53: error: phase_index: found '0.9'"},
    {TABLE SCATTERING "index: {table: [[wavelength_nm, phase_index], [250, 1.2], [300, 1.3], "
                      "[700, 1.8]]}\n",
     NULL, "w.yaml:3:16: error: index: found a group index of 0."},
    {TABLE SCATTERING "index: {table: [[wavelength_nm, phase_index], [300, 1.4], [400, 1.35], "
                      "[700, 1.3]]}\n",
     NULL, "w.yaml:3:16: error: index: found wavelengths of 300 .. 700 nm"},
    {TABLE SCATTERING INDEX "layers: []\n", NULL, "w.yaml:4:9: error: layers: found an empty list"},
    {TABLE SCATTERING INDEX "layers: [[0, 1]]\n", NULL,
     "w.yaml:4:10: error: layers[0]: found a list of 2"},
    {TABLE SCATTERING INDEX "layers: [[0, 0, 1]]\n", NULL,
     "w.yaml:4:14: error: layers[0].scattering: found '0'"},
    {TABLE SCATTERING INDEX "layers: [[0, 1, 1], [-10, 1, 1]]\n", NULL,
     "w.yaml:4:21: error: layers[1].z: found -10 after 0, expected it to rise"},
    {TABLE SCATTERING INDEX "layers: [[0, 1, 1], [10, 1, 1], [21, 1, 1]]\n", NULL,
     "w.yaml:4:33: error: layers[2].z: found 21, expected 20: equal spacing of 10 m"},
    {TABLE SCATTERING INDEX "alpha: 1\n", NULL, "w.yaml:4:1: error: unknown key 'alpha'"},
    {TABLE SCATTERING INDEX "scatering: {}\n", NULL, "did you mean 'scattering'?"},
};

START_TEST(bad_files)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH];
    if (bad[_i].csv) {
        model_folder_write(&folder, "t.csv", bad[_i].csv, path);
    }
    loaded water = load_text(&folder, bad[_i].yaml);
    ck_assert_int_eq(water.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(water.medium);
    ck_assert_msg(strstr(water.error.text, bad[_i].message), "expected '%s' in: %s",
                  bad[_i].message, water.error.text);
    unload(&water);
    model_folder_remove(&folder);
}
END_TEST

/* ---- light ----------------------------------------------------------------------------------- */

static ics_models *models_of(const char *file)
{
    ics_models *models = NULL;
    icestream_error error = {0};
    icestream_config *config = model_config(file, MOLECULES, "light.acceptance=none", NULL);
    int status = ics_models_create(config, &models, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    icestream_config_destroy(config);
    return models;
}

START_TEST(cherenkov_light)
{
    /* Frank and Tamm's integral over 265 .. 675 nm with the index of this water, computed
     * elsewhere; ice has 45023. */
    ics_models *models = models_of(SEA_FILE);
    ck_assert_double_eq_tol(ics_light_cherenkov_yield(models->medium, 400, 1), 130.3630240101,
                            1e-6);
    ck_assert_double_eq_tol(models->light->photons_per_metre, 48142.95, 1);
    ics_models_destroy(models);
}
END_TEST

static void expect_digests(const model_folder *folder, const char *yaml, const ics_models *like,
                           bool same)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    snprintf(set, sizeof set, "ice.file=%s", model_folder_write(folder, "w.yaml", yaml, path));
    ics_models *models = models_of(set);
    ck_assert_msg((strcmp(models->ice_digest, like->ice_digest) == 0) == same, "%s", yaml);
    ics_models_destroy(models);
}

START_TEST(digests)
{
    static const char head[] = "optics: {table: [[wavelength_nm, absorption_per_m, ";
    static const char first[] = "scattering_per_m], [250, 0.25, 0.125], [700, 0.25, 0.125]]}\n";
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], set[MODEL_PATH + 32], yaml[1024];
#define COMPOSE(...) snprintf(yaml, sizeof yaml, "%s%s%s%s", __VA_ARGS__)
    COMPOSE(head, first, SCATTERING, INDEX);
    snprintf(set, sizeof set, "ice.file=%s", model_folder_write(&folder, "a.yaml", yaml, path));
    ics_models *models = models_of(set);
    expect_digests(&folder, yaml, models, true);
    COMPOSE(head, "scattering_length_m], [250, 0.25, 8], [700, 0.25, 8]]}\n", SCATTERING, INDEX);
    expect_digests(&folder, yaml, models, true);
    COMPOSE(head, "scattering_per_m], [250, 0.25, 0.125], [700, 0.251, 0.125]]}\n", SCATTERING,
            INDEX);
    expect_digests(&folder, yaml, models, false);
    COMPOSE(head, "scattering_per_m], [250, 0.25, 0.126], [700, 0.25, 0.125]]}\n", SCATTERING,
            INDEX);
    expect_digests(&folder, yaml, models, false);
    COMPOSE(head, first, "scattering: {mean_cosine: 0.9, rayleigh_fraction: 0.01}\n", INDEX);
    expect_digests(&folder, yaml, models, false);
    COMPOSE(head, first, SCATTERING, "index: {salinity: 35, temperature: 11, pressure: 500}\n");
    expect_digests(&folder, yaml, models, false);
    ics_models_destroy(models);
    model_folder_remove(&folder);
}
END_TEST

/* ---- a run ----------------------------------------------------------------------------------- */

enum { LINES = 3, FIRST_LINE = 7 };

/* Pencil beams towards a module: the share exp(-(a + b) distance) arrives without a scatter, at the
 * speed of the group index. */
START_TEST(direct_light)
{
    static const double lines[LINES] = {375, 470, 550}, distance = 40;
    static const double place[1][3] = {{0, 0, 0}};
    const uint32_t photons = (uint32_t)test_scaled(400000);
    stage_world world =
        stage_world_from_config(NULL, SEA_FILE, MOLECULES, "light.acceptance=none",
                                "light.spectra=[{line: 375}, {line: 470}, {line: 550}]", NULL);
    stage_world_set_detector(&world, world_detector(place, 1, 1.0));
    const ice_tables *tables = stage_world_tables(&world);
    const double way = distance - world.detector->radius;
    ice_emission emissions[LINES];
    for (int i = 0; i < LINES; ++i) {
        emissions[i] = (ice_emission){.z = (float)-distance,
                                      .dz = 1.0f,
                                      .beta = 1.0f,
                                      .photons = photons,
                                      .step_id = (uint32_t)i,
                                      .spectrum = (uint32_t)(FIRST_LINE + i)};
    }
    ice_variants variants = world_variants();
    variants.scatter = ICE_scatter_rayleigh_hg;
    world_result wave =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, LINES);
    world_result mono =
        world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants, "auto", 0, emissions, LINES);
    ck_assert_uint_eq(wave.account.created, (uint64_t)LINES * photons);
    ck_assert_mem_eq(&wave.account, &mono.account, sizeof wave.account);
    ck_assert_uint_eq(wave.arrivals.count, mono.arrivals.count);
    ck_assert_mem_eq(wave.arrivals.items, mono.arrivals.items,
                     wave.arrivals.count * sizeof *wave.arrivals.items);

    double direct[LINES] = {0};
    uint64_t scattered = 0;
    for (size_t i = 0; i < wave.arrivals.count; ++i) {
        const ice_arrival *hit = &wave.arrivals.items[i];
        if (hit->scatters > 0) {
            ++scattered;
            continue;
        }
        const double line = lines[hit->emission];
        ck_assert_double_eq(hit->wavelength, line);
        ck_assert_double_eq_tol(ics_tables_arrival_delay(tables, &emissions[hit->emission], hit),
                                way * ice_water_group_index(&sea, line) / ICE_LIGHT_SPEED, 1e-3);
        direct[hit->emission] += 1;
    }
    ck_assert_uint_gt(scattered, 0);
    for (int i = 0; i < LINES; ++i) {
        /* b is that of the effective length by 1 - <cos> of molecules and particles. */
        const double a = ics_ice_absorption(world.medium, 0, lines[i]);
        const double b = ics_ice_scattering(world.medium, 0, lines[i]) / (1 - 0.83 * 0.924);
        const double share = exp(-(a + b) * way);
        const double sigma = sqrt(photons * share * (1 - share));
        printf("%g nm: %.0f direct of %u, expected %.1f +- %.1f\n", lines[i], direct[i], photons,
               photons * share, sigma);
        ck_assert_double_eq_tol(direct[i], photons * share, 4.5 * sigma);
    }
    world_result_free(&wave);
    world_result_free(&mono);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("water")
{
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_test(all, worked_indices);
    tcase_add_test(all, group_index_is_the_slope);
    tcase_add_test(all, sea_water);
    tcase_add_test(all, lake_water);
    tcase_add_test(all, coefficients_and_layers);
    tcase_add_test(all, ends_that_go_on);
    tcase_add_test(all, tables_of_the_index);
    tcase_add_test(all, scatter_stages);
    tcase_add_loop_test(all, bad_files, 0, sizeof bad / sizeof *bad);
    tcase_add_test(all, cherenkov_light);
    tcase_add_test(all, digests);
    tcase_add_test(all, direct_light);
    suite_add_tcase(suite, all);
}
