/* Promise: the tilt of ppc folders, CSV and YAML has every number of the real tables, and each
 * faulty table is refused with its place. To join: a new fault is a row of `bad_folders` or
 * `bad_yaml`. */
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/tilt.h"
#include "pipeline/photons/models/models.h"
#include "stages/tilt.h"
#include "tables/tables.h"
#include "tests/support/loaded_ice.h"
#include "tests/support/loaded_models.h"
#include "tests/support/model_files.h"
#include "tests/support/ppc_folder.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* ---- the real tables ------------------------------------------------------------------------- */

/* Returns all numbers of a file, read without the reader of the program. The caller frees them. */
static double *numbers_of(const char *path, size_t *count)
{
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    double *numbers = calloc(100000, sizeof *numbers);
    for (*count = 0; fscanf(file, "%lf", &numbers[*count]) == 1;) {
        ck_assert_uint_lt(++*count, 100000);
    }
    fclose(file);
    return numbers;
}

START_TEST(real_line)
{
    static const double stations[] = {-531.419, -454.882, 0, 165.202, 445.477, 520.77};
    char path[MODEL_PATH], table[MODEL_PATH];
    if (model_shared("ice/spice_bfr-v2", path) == NULL ||
        model_shared("ice/spice_bfr-v2/tilt.dat", table) == NULL) {
        return;
    }
    char directory[MODEL_PATH + 32];
    snprintf(directory, sizeof directory, "ice.directory=%s", path);
    loaded_ice ice = {0};
    icestream_config *config =
        model_config(directory, "ice.birefringence=false", "ice.tilt_origin=3.0052",
                     "ice.tilt_outside=clamp", NULL);
    ice.status = ics_ice_create(config, &ice.medium, &ice.factors, &ice.warnings, &ice.error);
    icestream_config_destroy(config);
    expect_ice(&ice);
    const ice_tilt *tilt = &ice.medium->tilt;
    ck_assert_int_eq(tilt->kind, ICE_TILT_LINE);
    ck_assert(tilt->clamp);
    ck_assert_double_eq(tilt->origin, 3.0052);
    ck_assert_double_eq_tol(tilt->azimuth, 225 * M_PI / 180, 1e-15);
    ck_assert_double_eq(tilt->first_depth, 1208.47);
    ck_assert_double_eq_tol(tilt->depth_step, 10, 1e-12);
    ck_assert_uint_eq(tilt->depth_count, 125);
    ck_assert_uint_eq(tilt->station_count, COUNT(stations));
    for (size_t i = 0; i < COUNT(stations); ++i) {
        ck_assert_double_eq(tilt->stations[i], stations[i]);
    }
    /* The first and second row as printed in the file. */
    ck_assert_double_eq(tilt->shifts[0], -0.775051);
    ck_assert_double_eq(tilt->shifts[5], 6.657);
    ck_assert_double_eq(tilt->shifts[6 + 1], -0.0568687);
    size_t count;
    double *numbers = numbers_of(table, &count);
    ck_assert_uint_eq(count, 125 * 7);
    for (size_t i = 0; i < 125 * 6; ++i) {
        ck_assert_double_eq(tilt->shifts[i], numbers[i / 6 * 7 + 1 + i % 6]);
    }
    free(numbers);
    double low, high;
    ics_ice_tilt_range(tilt, &low, &high);
    ck_assert_double_lt(low, -18);
    ck_assert_double_gt(high, 41);
    ck_assert(ics_tables_find_features(ice.medium) & ICE_HAS_TILT);
    ice_unload(&ice);
}
END_TEST

START_TEST(real_map)
{
    char path[MODEL_PATH], table[MODEL_PATH];
    if (model_shared("ice/spice_ftp-v3m", path) == NULL ||
        model_shared("ice/spice_ftp-v3m/tilt.map", table) == NULL) {
        return;
    }
    loaded_ice ice = ice_load("ice.directory", path, "ice.birefringence_subtraction=none", NULL);
    expect_ice(&ice);
    const ice_tilt *tilt = &ice.medium->tilt;
    const ice_tilt_axis *u = &tilt->axes[0], *v = &tilt->axes[1];
    ck_assert_int_eq(tilt->kind, ICE_TILT_MAP);
    ck_assert(!tilt->clamp);
    ck_assert_double_eq_tol(u->azimuth, 9.3 * M_PI / 180, 1e-15);
    ck_assert_double_eq_tol(v->azimuth, 129.3 * M_PI / 180, 1e-15);
    ck_assert_double_eq(u->first, -609.975);
    ck_assert_double_eq(u->step, 125.154);
    ck_assert_double_eq(v->first, -549.188);
    ck_assert_double_eq(v->step, 125.402);
    ck_assert_uint_eq(u->count, 11);
    ck_assert_uint_eq(u->cut, 6);
    ck_assert_uint_eq(v->count, 10);
    ck_assert_uint_eq(v->cut, 5);
    ck_assert_uint_eq(ics_ice_tilt_node_count(tilt), 80);
    ck_assert_uint_eq(tilt->depth_count, 125);
    ck_assert_double_eq(tilt->first_depth, 1208.47);
    ck_assert_double_eq_tol(tilt->depth_step, 10, 1e-12);
    ck_assert_uint_eq(tilt->station_count, 0);
    /* Columns run along axis 1 for each position on axis 2: six nodes in line 0, then line 1. */
    ck_assert_double_eq(tilt->shifts[0], 4.46127);
    ck_assert_double_eq(tilt->shifts[5], -1.36658);
    ck_assert_double_eq(tilt->shifts[6], 0);
    ck_assert_double_eq(tilt->shifts[11], 3.57729);
    size_t count, next = 0;
    double *numbers = numbers_of(table, &count);
    ck_assert_uint_eq(count, 125 * 81);
    for (size_t row = 0; row < 125; ++row) {
        ++next; /* the depth */
        for (size_t j = 0; j < 10; ++j) {
            for (size_t i = 0; i < 11; ++i) {
                bool exists = i < j + 6 && j < i + 5;
                ck_assert(ice_tilt_has_node(tilt, i, j) == exists);
                ck_assert_double_eq(tilt->shifts[(row * 10 + j) * 11 + i],
                                    exists ? numbers[next++] : 0);
            }
        }
    }
    ck_assert_uint_eq(next, count);
    free(numbers);
    ice_unload(&ice);
}
END_TEST

/* The shift that photons see, from the cases of clsim's and Prometheus' folders (../shared/cases).
 */
START_TEST(shared_cases)
{
    static const struct {
        const char *name;
        double along, depth, shift, tolerance;
    } cases[] = {{"cases/d01-tilt-origin", 120, 1940, 1.5, 1e-4},
                 {"cases/d03-tilt-rounded", 250, 1914, 3, 2e-3}};
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    for (size_t i = 0; i < COUNT(cases) && model_shared(cases[i].name, path) != NULL; ++i) {
        const ics_table_options options = {.seed = 1, .bounce_limit = 1};
        icestream_error error = {0};
        ics_tables *tables;
        snprintf(set, sizeof set, "ice.directory=%s", path);
        ics_models *models = models_load(model_config(set, "detector.layout=hex86", NULL));
        ck_assert_msg(ics_tables_create(models->medium, models->detector, models->light, &options,
                                        &tables, &error) == ICESTREAM_OK,
                      "%s", error.text);
        const double axis = 225 * M_PI / 180;
        ck_assert_double_eq_tol(ice_shift(&tables->device, (float)(cases[i].along * cos(axis)),
                                          (float)(cases[i].along * sin(axis)),
                                          (float)(ICE_DETECTOR_DEPTH - cases[i].depth)),
                                cases[i].shift, cases[i].tolerance);
        ics_tables_destroy(tables);
        ics_models_destroy(models);
    }
}
END_TEST

START_TEST(switched_off)
{
    static const char *const names[] = {"ice/spice_bfr-v2", "ice/spice_ftp-v3m"};
    char path[MODEL_PATH];
    for (size_t i = 0; i < COUNT(names) && model_shared(names[i], path) != NULL; ++i) {
        loaded_ice ice =
            ice_load("ice.directory", path, "ice.tilt=false", "ice.birefringence_subtraction=none");
        ck_assert_int_eq(ice.status, ICESTREAM_OK);
        ck_assert_int_eq(ice.medium->tilt.kind, ICE_TILT_NONE);
        ck_assert_ptr_null(ice.medium->tilt.shifts);
        ck_assert(!(ics_tables_find_features(ice.medium) & ICE_HAS_TILT));
        ck_assert(!ice_warned(&ice, "tilt"));
        ice_unload(&ice);
    }
}
END_TEST

START_TEST(tilt_settings_need_a_tilt)
{
    char path[MODEL_PATH];
    loaded_ice ice = ice_load("ice.model", "uniform", "ice.tilt_origin=3", NULL);
    expect_no_ice(&ice,
                  "--set ice.tilt_origin: error: ice.tilt_origin: found 3 m, but this ice has "
                  "no tilt");
    ice_unload(&ice);
    ice = ice_load("ice.model", "uniform", "ice.tilt_outside=clamp", NULL);
    expect_no_ice(&ice, "--set ice.tilt_outside: error: ice.tilt_outside: found clamp, but this "
                        "ice has no tilt");
    ice_unload(&ice);
    if (model_shared("ice/spice_ftp-v3m", path) == NULL) {
        return;
    }
    ice = ice_load("ice.directory", path, "ice.tilt_origin=3", "ice.birefringence=false");
    expect_no_ice(&ice, "ice.tilt_origin: found 3 m, but the tilt of this ice is a map");
    ice_unload(&ice);
}
END_TEST

/* ---- small folders --------------------------------------------------------------------------- */

#define PAR "7 -100\n86 0\n9 50\n"
#define DAT "1000 1 0 -2\n1020 2 0 -3\n"
/* Seven nodes: two sides of two nodes, two of three. */
#define SET "10 -100 100 3 2\n130 -100 110 3 2\n"
#define MAP "1000 1 2 3 4 5 6 7\n1010 -1 -2 -3 -4 -5 -6 -7\n"

static void write_folder(const model_folder *folder)
{
    ppc_folder_write(folder, PPC_PARAMETERS, PPC_SETTINGS,
                     "1900 0.03 0.01 0\n1910 0.04 0.01 0.5\n");
}

static loaded_ice load_folder(const char *par, const char *dat, const char *set, const char *map)
{
    const struct {
        const char *name, *content;
    } files[] = {{"tilt.par", par}, {"tilt.dat", dat}, {"tilt.set", set}, {"tilt.map", map}};
    char path[MODEL_PATH];
    model_folder folder = model_folder_create();
    write_folder(&folder);
    for (size_t i = 0; i < COUNT(files); ++i) {
        if (files[i].content != NULL) {
            model_folder_write(&folder, files[i].name, files[i].content, path);
        }
    }
    loaded_ice ice = ice_load("ice.directory", folder.path, NULL, NULL);
    model_folder_remove(&folder);
    return ice;
}

START_TEST(small_tables)
{
    loaded_ice ice = load_folder(PAR, DAT, NULL, NULL);
    expect_ice(&ice);
    ck_assert_uint_eq(ice.medium->tilt.station_count, 3);
    ck_assert_double_eq(ice.medium->tilt.depth_step, 20);
    ck_assert_double_eq(ice.medium->tilt.shifts[5], -3);
    ice_unload(&ice);

    static const double row[] = {1, 2, 0, 3, 4, 5, 0, 6, 7};
    ice = load_folder(PAR, DAT, SET, MAP);
    expect_ice(&ice);
    ck_assert_int_eq(ice.medium->tilt.kind, ICE_TILT_MAP);
    for (size_t i = 0; i < COUNT(row); ++i) {
        ck_assert_double_eq(ice.medium->tilt.shifts[i], row[i]);
        ck_assert_double_eq(ice.medium->tilt.shifts[9 + i], -row[i]);
    }
    ck_assert(
        ice_warned(&ice, "tilt.par and tilt.dat are not used, because tilt.set and tilt.map"));
    ck_assert(!ice_warned(&ice, "shifts layers by up to"));
    ice_unload(&ice);

    ice = load_folder(PAR, "1000 1 0 -2\n1020 2 0 -130\n", NULL, NULL);
    ck_assert(ice_warned(&ice, "the tilt shifts layers by up to 130 m"));
    ice_unload(&ice);
}
END_TEST

/* As in clsim's and Prometheus' folders: no station at 0, and depths that are rounded. */
START_TEST(tables_of_other_programs)
{
    loaded_ice ice = load_folder("50 -400\n66 -300\n2 500\n", DAT, NULL, NULL);
    expect_ice(&ice);
    ck_assert(ice.medium->tilt.origin == 0 && ice.medium->tilt.stations[0] == -400);
    ck_assert_double_eq(ice.medium->tilt.uneven, 0);
    ice_unload(&ice);

    /* 1000, 1020.06, 1040.06 are 0.03 m from equal steps, and the steepest shift is 10 m in 20.03
     * m. */
    ice = load_folder(PAR, "1000 1 0 -2\n1020.06 2 0 -3\n1040.06 2 0 -13\n", NULL, NULL);
    expect_ice(&ice);
    ck_assert_double_eq_tol(ice.medium->tilt.depth_step, 20.03, 1e-12);
    ck_assert_double_eq_tol(ice.medium->tilt.uneven, 0.03, 1e-9);
    ck_assert_double_eq_tol(ice.medium->tilt.moved, 0.03 * 10 / 20.03, 1e-9);
    ck_assert(
        ice_warned(&ice, "depths of the tilt are up to 0.03 m away from equal steps of 20.03 m"));
    ck_assert(ice_warned(&ice, "this moves layers by at most 0.015 m"));
    ice_unload(&ice);

    /* Depths that change nothing are no reason to refuse. */
    ice = load_folder(PAR, "1000 1 0 -2\n1019 1 0 -2\n1040 1 0 -2\n", NULL, NULL);
    expect_ice(&ice);
    ck_assert(!ice_warned(&ice, "away from equal steps"));
    ice_unload(&ice);
}
END_TEST

static const struct {
    const char *par, *dat, *set, *map, *message;
} bad_folders[] = {
    {"1 -5\n86 0\n3 1e9\n", DAT, NULL, NULL,
     "tilt.par:3: error: position: found 1000000000, expected -100000 .. 100000 m"},
    {PAR, "1000 1 0 -2\n1020.3 2 0 -13\n1040 2 0 -3\n", NULL, NULL,
     "the ice of this table is up to 0.165 m off in equal steps, at most 0.1 m is accepted"},
    {PAR, "1e9 1 0 -2\n2e9 2 0 -3\n", NULL, NULL,
     "tilt.dat:1: error: depth: found 1000000000, expected metres below the surface"},
    {NULL, NULL, "400 -100 100 3 2\n130 -100 110 3 2\n", MAP,
     "tilt.set:1: error: azimuth: found 400, expected -360 .. 360 degrees"},
    {NULL, NULL, "10 -1e9 100 3 2\n130 -100 110 3 2\n", MAP, "tilt.set:1: error: first: found"},
    {NULL, NULL, "10 -100 0 3 2\n130 -100 -110 3 2\n", MAP,
     "tilt.set:1: error: step: found 0, expected 0.1 .. 100000 m"},
    {NULL, NULL, "10 -100 100 3 1\n130 -100 110 3 2\n", MAP,
     "tilt.set:1: error: cut: found 1, expected a whole number, 2 .. 2"},
    {NULL, NULL, "10 -100 100 3 3\n130 -100 110 3 2\n", MAP, "tilt.set:1: error: cut: found 3"},
    {NULL, NULL, "10 -100 100 64 32\n130 -100 110 64 32\n", MAP,
     "tilt.set: error: found 3040 nodes, expected at most 511"},
};

START_TEST(bad_folder)
{
    loaded_ice ice = load_folder(bad_folders[_i].par, bad_folders[_i].dat, bad_folders[_i].set,
                                 bad_folders[_i].map);
    expect_no_ice(&ice, bad_folders[_i].message);
    ice_unload(&ice);
}
END_TEST

START_TEST(files_of_a_tilt_that_is_off_are_not_read)
{
    char path[MODEL_PATH];
    model_folder folder = model_folder_create();
    write_folder(&folder);
    model_folder_write(&folder, "tilt.par", "nonsense\n", path);
    loaded_ice ice = ice_load("ice.directory", folder.path, "ice.tilt=false", NULL);
    ck_assert_int_eq(ice.status, ICESTREAM_OK);
    ice_unload(&ice);
    model_folder_remove(&folder);
}
END_TEST

/* ---- ice files ------------------------------------------------------------------------------- */

#define LAYERS "layers: [[1900, 0.03, 0.01, 0]]\n"
#define CSV                                                                                        \
    "shift_m,depth_m,position_m\n1,1000,-100\n2,1000,0\n3,1000,60\n4,1010,-100\n5,1010,0\n"        \
    "6,1010,60\n"

static loaded_ice load_yaml(const char *yaml, const char *csv)
{
    static const char *const names[] = {"t.par", "t.dat", "t.set", "t.map"};
    static const char *const contents[] = {PAR, DAT, SET, MAP};
    char path[MODEL_PATH];
    model_folder folder = model_folder_create();
    for (size_t i = 0; i < COUNT(names); ++i) {
        model_folder_write(&folder, names[i], contents[i], path);
    }
    if (csv != NULL) {
        model_folder_write(&folder, "t.csv", csv, path);
    }
    model_folder_write(&folder, "ice.yaml", yaml, path);
    loaded_ice ice = ice_load("ice.file", path, NULL, NULL);
    model_folder_remove(&folder);
    return ice;
}

START_TEST(tilt_in_yaml)
{
    loaded_ice ice = load_yaml(LAYERS "tilt: { file: t.csv, azimuth: 90 }\n", CSV);
    expect_ice(&ice);
    const ice_tilt *tilt = &ice.medium->tilt;
    ck_assert_int_eq(tilt->kind, ICE_TILT_LINE);
    ck_assert_double_eq(tilt->azimuth, 90 * M_PI / 180);
    ck_assert_double_eq(tilt->first_depth, 1000);
    ck_assert_double_eq(tilt->depth_step, 10);
    ck_assert_uint_eq(tilt->depth_count, 2);
    ck_assert_uint_eq(tilt->station_count, 3);
    ck_assert_double_eq(tilt->stations[2], 60);
    for (size_t i = 0; i < 6; ++i) {
        ck_assert_double_eq(tilt->shifts[i], (double)i + 1);
    }
    ice_unload(&ice);
    ice = load_yaml(LAYERS "tilt: { stations: t.par, shifts: t.dat }\n", NULL);
    expect_ice(&ice);
    ck_assert_int_eq(ice.medium->tilt.kind, ICE_TILT_LINE);
    ck_assert_double_eq(ice.medium->tilt.shifts[2], -2);
    ice_unload(&ice);
    ice = load_yaml(LAYERS "tilt: { axes: t.set, shifts: t.map }\n", NULL);
    expect_ice(&ice);
    ck_assert_uint_eq(ics_ice_tilt_node_count(&ice.medium->tilt), 7);
    ice_unload(&ice);
}
END_TEST

static const struct {
    const char *yaml, *csv, *message;
} bad_yaml[] = {
    {"tilt: { file: t.csv, azimuth: 400 }\n", CSV, "ice.yaml:2:31: error: tilt.azimuth: found"},
    {"tilt: { stations: t.par, shifts: t.dat, azimuth: 9 }\n", NULL,
     "ice.yaml:2:50: error: tilt.azimuth: is for tilt.file, which is not given"},
    {"tilt: { shifts: t.map }\n", NULL,
     "ice.yaml:2:17: error: tilt.shifts: needs tilt.stations or tilt.axes, too"},
    {"tilt: { file: t.csv }\n", "depth_m,position_m,shift_m\n1000,0,1\n1010,0,1\n",
     "t.csv:2: error: found 1 positions at the first depth, expected 2 .. 511"},
    {"tilt: { file: t.csv }\n", "depth_m,position_m,shift_m\n1000,0,1\n1000,9,1\n1010,0,1\n",
     "t.csv:4: error: found the end, expected 2 positions at every depth"},
};

START_TEST(bad_yaml_file)
{
    char yaml[512];
    snprintf(yaml, sizeof yaml, LAYERS "%s", bad_yaml[_i].yaml);
    loaded_ice ice = load_yaml(yaml, bad_yaml[_i].csv);
    expect_no_ice(&ice, bad_yaml[_i].message);
    ice_unload(&ice);
}
END_TEST

ICS_TEST_MAIN("ice_tilt")
{
    TCase *good = tcase_create("good");
    tcase_add_test(good, real_line);
    tcase_add_test(good, real_map);
    tcase_add_test(good, shared_cases);
    tcase_add_test(good, switched_off);
    tcase_add_test(good, small_tables);
    tcase_add_test(good, tables_of_other_programs);
    tcase_add_test(good, tilt_in_yaml);
    suite_add_tcase(suite, good);
    TCase *bad = tcase_create("bad");
    tcase_add_test(bad, tilt_settings_need_a_tilt);
    tcase_add_loop_test(bad, bad_folder, 0, COUNT(bad_folders));
    tcase_add_test(bad, files_of_a_tilt_that_is_off_are_not_read);
    tcase_add_loop_test(bad, bad_yaml_file, 0, COUNT(bad_yaml));
    suite_add_tcase(suite, bad);
}
