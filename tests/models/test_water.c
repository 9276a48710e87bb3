/* Promise: the index of refraction of water and tables by wavelength from every source agree with
 * independent numbers, and each faulty file is refused with its place. To join: a new fault is a
 * row of `bad`. Light that travels through water is tested in test_water_light.c. */
#include "tables/tables.h"
#include "tests/models/water_files.h"
#include "tests/support/loaded_ice.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* ---- index of refraction --------------------------------------------------------------------- */

START_TEST(worked_indices)
{
    /* Computed by another program with 50 digits, the group index by differences. The last row is
     * one of table 3 of IAPWS R9-97: 1.396526 at 0 deg C and 10 MPa, of which 99 bar are pressure
     * of water. */
    static const struct {
        double wavelength;
        ice_water water;
        double phase, group;
    } rows[] = {
        {589.3, {0, 20, 0}, 1.333348864398, 1.351670394270},
        {400, {0, 0, 0}, 1.344588129608, 1.382705933612},
        {700, {35, 30, 0}, 1.335682383869, 1.351117089756},
        {470, {38.5, 13.2, 220}, 1.349642455640, 1.378096690380},
        {375, {38.5, 13.2, 220}, 1.357816713022, 1.403606691137},
        {490, {0.1, 3.5, 110}, 1.340063895867, 1.365357766568},
        {300, {35, 10, 500}, 1.375391333774, 1.456020029854},
        {226.5, {0, 0, 99}, 1.396526776054, 1.586904958572},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert_double_eq_tol(ice_water_phase_index(&rows[i].water, rows[i].wavelength),
                                rows[i].phase, 1e-12);
        ck_assert_double_eq_tol(ice_water_group_index(&rows[i].water, rows[i].wavelength),
                                rows[i].group, 1e-12);
    }
}
END_TEST

/* Check values of UNESCO 1983 (g/cm3). */
START_TEST(densities)
{
    ck_assert_double_eq_tol(ice_water_density(&(ice_water){0, 5, 0}), 0.99996675, 1e-8);
    ck_assert_double_eq_tol(ice_water_density(&(ice_water){35, 5, 0}), 1.02767547, 1e-8);
    ck_assert_double_eq_tol(ice_water_density(&(ice_water){35, 25, 1000}), 1.06253817, 1e-8);
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

/* Loads water or ice, with one more setting. Fails the test on errors. */
static loaded_ice load_good(const char *key, const char *path, const char *set)
{
    loaded_ice water = ice_load(key, path, set, NULL);
    expect_ice(&water);
    return water;
}

static loaded_ice load_text(const model_folder *folder, const char *yaml)
{
    char path[MODEL_PATH];
    return ice_load("ice.file", model_folder_write(folder, "w.yaml", yaml, path), NULL, NULL);
}

START_TEST(sea_water)
{
    /* Rows of the file, and points half way between two rows: wavelength (nm), absorption length
     * and effective scattering length (m). */
    static const double rows[][3] = {{375, 26, 122},   {470, 60, 265},   {250, 1.8, 30},
                                     {700, 1.5, 1037}, {460, 58, 246.5}, {550, 15, 453},
                                     {280, 4.2, 45}};
    loaded_ice water = load_good("ice.file", SEA_FILE, MOLECULES);
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
    /* Between its rows the medium is linear, as the tables of the stages are. */
    ck_assert_double_eq_tol(
        ics_ice_absorption(m, 0, 470.25),
        0.75 * ics_ice_absorption(m, 0, 470) + 0.25 * ics_ice_absorption(m, 0, 471), 1e-12);
    ck_assert(ice_warned(&water, "trusted down to 300 nm"));
    ck_assert(!ice_warned(&water, "rayleigh_fraction"));
    ice_unload(&water);
}
END_TEST

START_TEST(lake_water)
{
    loaded_ice water = load_good("ice.file", LAKE_FILE, NULL);
    const ice_medium *m = water.medium;
    ck_assert_double_eq_tol(1 / ics_ice_absorption(m, 0, 490), 23, 1e-9);
    ck_assert_double_eq_tol(1 / m->spectral[490 - 250].scattering, 40, 1e-9);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(m, 0, 490), 40 / 0.12, 1e-9);
    ck_assert_double_eq_tol(ics_ice_phase_index(m, 490), 1.340063895867, 1e-12);
    ice_unload(&water);
}
END_TEST

#define TABLE                                                                                      \
    "optics: {table: [[wavelength_nm, absorption_per_m, scattering_per_m], [250, 0.2, 0.1], "      \
    "[700, 0.1, 0.01]]}\n"

START_TEST(coefficients_and_layers)
{
    model_folder folder = model_folder_create();
    loaded_ice water =
        load_text(&folder, TABLE SCATTERING INDEX "layers: [[-20, 1, 2], [0, 1, 1], [20, 3, 1]]\n");
    expect_ice(&water);
    const ice_medium *m = water.medium;
    ck_assert_uint_eq(m->layer_count, 3);
    ck_assert_double_eq(m->thickness, 20);
    ck_assert_double_eq(m->bottom, -30);
    ck_assert_double_eq_tol(ics_ice_absorption(m, 0, 475), 0.3, 1e-12);
    ck_assert_double_eq_tol(ics_ice_absorption(m, 1, 475), 0.15, 1e-12);
    ck_assert_double_eq_tol(ics_ice_scattering(m, 1, 475), 0.0055, 1e-12);
    ck_assert_double_eq_tol(ics_ice_scattering(m, 2, 475), 0.0165, 1e-12);
    ck_assert_double_eq_tol(ics_ice_group_index(m, 300), 1.456020029854, 1e-12);
    ice_unload(&water);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(tables_are_extended_at_their_ends)
{
    model_folder folder = model_folder_create();
    loaded_ice water =
        load_text(&folder, "optics: {extend: constant, table: [[scattering_length_m, "
                           "wavelength_nm, absorption_length_m], [20, 400, 30], [40, 500, 50]]}\n"
                           "scattering: {rayleigh_fraction: 0, mean_cosine: 0.5}\n" INDEX);
    expect_ice(&water);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(water.medium, 0, 250), 30, 1e-9);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(water.medium, 0, 450), 40, 1e-9);
    ck_assert_double_eq_tol(1 / ics_ice_absorption(water.medium, 0, 700), 50, 1e-9);
    ck_assert_double_eq_tol(1 / ics_ice_scattering(water.medium, 0, 700), 80, 1e-9);
    ice_unload(&water);
    model_folder_remove(&folder);
}
END_TEST

/* Writes a table of phase indices from `first` to `last` (nm) with the numbers of the formula.
 * `more` is empty, or a comma and the name of one more column. */
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
    loaded_ice water = load_text(&folder, TABLE SCATTERING "index: {file: n.csv}\n");
    expect_ice(&water);
    ck_assert_uint_eq(water.warnings.count, 0); /* the formula of the index was not used */
    for (int x = 250; x <= 700; x += 10) {
        ck_assert_double_eq_tol(ics_ice_phase_index(water.medium, x),
                                ice_water_phase_index(&sea, x), 1e-12);
    }
    /* The tolerance is that of slopes over 10 nm. The ends are left out, because only one side is
     * known there. */
    for (int x = 300; x <= 690; x += 1) {
        ck_assert_double_eq_tol(ics_ice_group_index(water.medium, x),
                                ice_water_group_index(&sea, x), 5e-4);
    }
    ice_unload(&water);

    write_indices(text, sizeof text, 250, 700, ",group_index");
    model_folder_write(&folder, "n.csv", text, path);
    water = load_text(&folder, TABLE SCATTERING "index: {file: n.csv}\n");
    expect_ice(&water);
    ck_assert_double_eq(ics_ice_group_index(water.medium, 333), 1.4);
    ice_unload(&water);

    /* In a table that is a straight line, n - x dn/dx is the value of the line at x = 0. */
    water = load_text(&folder,
                      TABLE SCATTERING "index: {extend: constant, table: [[wavelength_nm, "
                                       "phase_index], [400, 1.36], [410, 1.359], [600, 1.34]]}\n");
    expect_ice(&water);
    for (int x = 250; x <= 700; x += 50) {
        ck_assert_double_eq_tol(ics_ice_group_index(water.medium, x), 1.4, 1e-9);
    }
    ck_assert_double_eq(ics_ice_phase_index(water.medium, 250), 1.36);
    ice_unload(&water);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(scatter_stage_must_fit_the_water)
{
    loaded_ice water = ice_load("ice.file", SEA_FILE, "stages.scatter=hg-sl", NULL);
    ck_assert_int_eq(water.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(water.error.text, "stages.scatter: found hg-sl, which does not "
                                                   "simulate molecules, but molecules cause 0.17"));
    ck_assert_ptr_nonnull(strstr(water.error.text, "expected rayleigh-hg"));
    ice_unload(&water);
    water = load_good("ice.file", SEA_FILE, "stages.scatter={source: /my/own.h}");
    ice_unload(&water);
    water = load_good("ice.file", LAKE_FILE, MOLECULES);
    ck_assert(ice_warned(&water, "the rayleigh_fraction of"));
    ice_unload(&water);
    loaded_ice ice = load_good("ice.model", "uniform", MOLECULES);
    ck_assert(ice_warned(&ice, "the rayleigh_fraction of"));
    ice_unload(&ice);
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------- */

#define HEAD "optics: {table: [[wavelength_nm, absorption_per_m, scattering_per_m]"

static const struct {
    const char *yaml, *csv, *message;
} bad[] = {
    {"optics: 1\n" SCATTERING INDEX, NULL, "w.yaml:1:9: error: optics: found '1'"},
    {"optics: {table: []}\n" SCATTERING INDEX, NULL, "w.yaml:1:17: error: table: found an empty"},
    {"optics: {table: [[wavelength_nm, colour], [1, 2]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:34: error: table: found column 'colour'"},
    {"optics: {table: [[wavelength_nm, wavelength_nm], [1, 2]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:34: error: table: found column wavelength_nm twice"},
    {HEAD ", [250, 0.1, 1], [250, 0.1, 0.1]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:86: error: table: wavelength_nm: found 250 after 250"},
    {HEAD ", [300, 0.1, 1], [700, 0.1, 0.1]]}\n" SCATTERING INDEX, NULL,
     "w.yaml:1:17: error: optics: found wavelengths of 300 .. 700 nm, expected at least 250 .. 700 "
     "nm, or "
     "optics.extend: constant"},
    {"optics: {table: [[wavelength_nm, absorption_per_m], [250, 1], [700, 1]]}\n" SCATTERING INDEX,
     NULL, "w.yaml:1:17: error: optics: found 0 columns of scattering, expected one"},
    {"optics: {file: t.csv}\n" SCATTERING INDEX,
     "wavelength_nm,absorption_length_m,scattering_length_m\n250,-1,5\n700,1,1\n",
     "t.csv:2: error: absorption_length_m: found -1, expected 0.0001 .. 1e+06"},
    {TABLE "scattering: {mean_cosine: 1}\n" INDEX, NULL,
     "w.yaml:2:27: error: scattering.mean_cosine: found '1'"},
    {TABLE "scattering: {mean_cosine: 0.9, rayleigh_fraction: 17}\n" INDEX, NULL,
     "w.yaml:2:51: error: scattering.rayleigh_fraction: found '17'"},
    {TABLE SCATTERING "index: {salinity: 0.038, temperature: 4, pressure: 1e9}\n", NULL,
     "index.pressure: found '1e9'"},
    {TABLE SCATTERING "index: {salinity: 1, temperature: 4, pressure: 1, extend: constant}\n", NULL,
     "w.yaml:3:59: error: index.extend: is for index.file or index.table, and neither is given"},
    {TABLE SCATTERING "index: {table: [[wavelength_nm, phase_index], [250, 1.4], [700, 1.3]]}\n",
     NULL, "w.yaml:3:16: error: index: found 2 rows, expected 3 or more"},
    {TABLE SCATTERING "index: {table: [[wavelength_nm, group_index], [250, 1.4], [700, 1.3]]}\n",
     NULL, "w.yaml:3:16: error: index: found no column 'phase_index'"},
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
    {TABLE SCATTERING INDEX "layers: [[0, 1, 1], [10, 1, 1], [21, 1, 1]]\n", NULL,
     "w.yaml:4:33: error: layers[2].z: found 21, expected 20: equal spacing of 10 m"},
};

START_TEST(bad_files)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH];
    if (bad[_i].csv != NULL) {
        model_folder_write(&folder, "t.csv", bad[_i].csv, path);
    }
    loaded_ice water = load_text(&folder, bad[_i].yaml);
    expect_no_ice(&water, bad[_i].message);
    ck_assert_ptr_null(water.medium);
    ice_unload(&water);
    model_folder_remove(&folder);
}
END_TEST

ICS_TEST_MAIN("water")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, worked_indices);
    tcase_add_test(all, group_index_is_the_slope);
    tcase_add_test(all, densities);
    tcase_add_test(all, sea_water);
    tcase_add_test(all, lake_water);
    tcase_add_test(all, coefficients_and_layers);
    tcase_add_test(all, tables_are_extended_at_their_ends);
    tcase_add_test(all, tables_of_the_index);
    tcase_add_test(all, scatter_stage_must_fit_the_water);
    tcase_add_loop_test(all, bad_files, 0, COUNT(bad));
    suite_add_tcase(suite, all);
}
