/* Promise: detectors from every source have the positions of physics.md 13.3 and of the real
 * geometry, and each faulty list is refused with its place. A new fault is a row of the table of
 * messages. */
#include "pipeline/photons/models/detector/detector.h"
#include "pipeline/photons/models/detector/module_grid.h"
#include "tests/support/loaded_detector.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static loaded_detector load_file(const model_folder *folder, const char *name, const char *content)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    snprintf(set, sizeof set, "detector.file=%s", model_folder_write(folder, name, content, path));
    return detector_load(model_config(set, NULL));
}

static const ice_module *find(const ice_detector *detector, unsigned string, unsigned module)
{
    for (size_t i = 0; i < detector->module_count; ++i) {
        if (detector->modules[i].string == string && detector->modules[i].module == module) {
            return &detector->modules[i];
        }
    }
    ck_abort_msg("no module %u of string %u", module, string);
    return NULL;
}

/* ---- hex86 ----------------------------------------------------------------------------------- */

START_TEST(hex86_positions)
{
    /* physics.md 13.3 */
    static const struct {
        unsigned string;
        double x, y;
    } strings[] = {{1, -187.5, -541.2659},
                   {2, -62.5, -541.2659},
                   {43, 0, 0},
                   {48, 625, 0},
                   {86, 187.5, 541.2659}};
    static const int rows[] = {4, 7, 8, 9, 10, 10, 10, 9, 8, 7, 4};
    loaded_detector hex = detector_load(model_config("detector.layout=hex86", NULL));
    expect_detector(&hex);
    const ice_detector *d = hex.detector;
    ck_assert_uint_eq(d->module_count, 5160);
    ck_assert_double_eq(d->radius, 0.1651);
    ck_assert_double_eq(d->oversize, 1);
    ck_assert(!d->keep_hit_photons);
    for (size_t i = 0; i < 5; ++i) {
        const ice_module *top = find(d, strings[i].string, 1);
        const ice_module *bottom = find(d, strings[i].string, 60);
        ck_assert_double_eq_tol(top->x, strings[i].x, 1e-9);
        ck_assert_double_eq_tol(top->y, strings[i].y, 5e-5);
        ck_assert_double_eq(top->z, 501.5);
        ck_assert_double_eq(bottom->z, -501.5);
        ck_assert_double_eq(bottom->x, top->x);
    }
    unsigned string = 1;
    for (int r = 0; r < 11; ++r) {
        for (int k = 0; k < rows[r]; ++k, ++string) {
            ck_assert_double_eq_tol(find(d, string, 30)->y, (r - 5) * 108.2531755, 1e-6);
        }
    }
    ck_assert_uint_eq(string, 87);
    for (size_t i = 0; i < d->module_count; ++i) {
        ck_assert_double_eq(d->modules[i].efficiency, 1);
        ck_assert(!d->modules[i].absorbs);
    }
    double closest;
    ck_assert_double_eq_tol(d->closest, 17, 1e-9);
    /* Neighbouring strings are exactly 125 m apart, as one module of each string shows. */
    ice_module tops[86];
    for (size_t i = 0, n = 0; i < d->module_count; ++i) {
        if (d->modules[i].module == 1) {
            tops[n++] = d->modules[i];
        }
    }
    ck_assert_int_eq(ics_module_grid_closest(tops, 86, &closest, NULL), ICESTREAM_OK);
    ck_assert_double_eq_tol(closest, 125, 1e-9);
    detector_unload(&hex);
}
END_TEST

START_TEST(hex86_options)
{
    loaded_detector hex = detector_load(model_config("detector.jitter=true", "detector.dense=true",
                                                     "detector.keep_hit_photons=true", NULL));
    expect_detector(&hex);
    const ice_detector *d = hex.detector;
    /* String 1: 4 * 0.6180339887 - 2; string 50: 0.6180339887 * 50 = 30.901699435. */
    ck_assert_double_eq_tol(find(d, 1, 1)->z, 501.5 + 0.4721359548, 1e-9);
    ck_assert_double_eq_tol(find(d, 50, 60)->z, -501.5 + 1.60679774, 1e-7);
    ck_assert_double_eq(find(d, 78, 5)->efficiency, 1);
    ck_assert_double_eq(find(d, 79, 5)->efficiency, 1.35);
    ck_assert_double_eq(find(d, 86, 60)->efficiency, 1.35);
    double largest[ICE_ACCEPTANCES];
    ics_detector_efficiencies(d, largest);
    ck_assert_double_eq(fmax(largest[0], largest[1]), 1.35);
    ck_assert(d->keep_hit_photons);
    detector_unload(&hex);
}
END_TEST

/* By default photons end at modules of true size only, and with discs at none that is wider. */
START_TEST(photons_that_continue)
{
    static const struct {
        const char *oversize, *rule;
        bool continues, ends_at_true_size;
    } rows[] = {{"detector.oversize=1", NULL, false, false},
                {"detector.oversize=1", "detector.crossing=disc", false, false},
                {"detector.oversize=1.5", NULL, false, true},
                {"detector.oversize=1.5", "detector.crossing=disc", true, true},
                {"detector.oversize=5", "detector.keep_hit_photons=auto", false, true},
                {"detector.oversize=5", "detector.keep_hit_photons=false", false, false},
                {"detector.oversize=5", "detector.keep_hit_photons=true", true, false},
                {"detector.oversize=1", "detector.keep_hit_photons=true", true, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        loaded_detector hex = detector_load(model_config(rows[i].oversize, rows[i].rule, NULL));
        expect_detector(&hex);
        ck_assert_msg(hex.detector->keep_hit_photons == rows[i].continues, "row %zu", i);
        ck_assert_msg(hex.detector->ends_at_true_size == rows[i].ends_at_true_size, "row %zu", i);
        detector_unload(&hex);
    }
}
END_TEST

START_TEST(excluded_modules_absorb)
{
    loaded_detector hex = detector_load(
        model_config("detector.dense=true", "detector.excluded=[[1, 1], [86, 60]]", NULL));
    expect_detector(&hex);
    size_t excluded = 0;
    for (size_t i = 0; i < hex.detector->module_count; ++i) {
        excluded += hex.detector->modules[i].absorbs;
    }
    ck_assert_uint_eq(excluded, 2);
    ck_assert(find(hex.detector, 1, 1)->absorbs);
    ck_assert(find(hex.detector, 86, 60)->absorbs);
    detector_unload(&hex);
    hex = detector_load(model_config("detector.excluded=[[87, 1], [1, 61], [1, 2]]", NULL));
    ck_assert_int_eq(hex.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(hex.error.text, "found [87, 1], expected a module of hex86"));
    ck_assert_ptr_nonnull(strstr(hex.error.text, "found [1, 61], expected a module of hex86"));
    ck_assert_ptr_null(strstr(hex.error.text, "[1, 2]"));
    detector_unload(&hex);
}
END_TEST

START_TEST(hex86_with_huge_modules)
{
    loaded_detector hex = detector_load(model_config("detector.radius=9", NULL));
    ck_assert_int_eq(hex.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(hex.error.text, "--set detector.radius: error: string 1, module "
                                                 "2: found 17 m from string 1, module 1, expected "
                                                 "at least 18 m"));
    detector_unload(&hex);
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------- */

START_TEST(real_geometry)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    if (model_shared("ice/spice_bfr-v2/geo-f2k", path) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "detector.file=%s", path);
    loaded_detector geo = detector_load(model_config(set, "detector.excluded=[[63, 20]]", NULL));
    expect_detector(&geo);
    ck_assert_uint_eq(geo.detector->module_count, 5160);
    /* The flasher of the reference runs stands at (-66.70, 276.92, 174.43). */
    const ice_module *flasher = find(geo.detector, 63, 20);
    ck_assert(flasher->absorbs);
    ck_assert_double_eq_tol(flasher->x, -66.70, 1e-9);
    ck_assert_double_eq_tol(flasher->y, 276.92, 1e-9);
    ck_assert_double_eq_tol(flasher->z, 174.43, 1e-9);
    const ice_module *first = &geo.detector->modules[0];
    ck_assert_uint_eq(first->string, 1);
    ck_assert_uint_eq(first->module, 1);
    ck_assert_double_eq_tol(first->z, 496.03, 1e-9);
    detector_unload(&geo);
}
END_TEST

START_TEST(reference_csv)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    if (model_shared("reference/clsim/doms.csv", path) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "detector.file=%s", path);
    loaded_detector csv = detector_load(model_config(set, NULL));
    expect_detector(&csv);
    ck_assert_uint_eq(csv.detector->module_count, 5160);
    ck_assert_double_eq(find(csv.detector, 1, 1)->x, -256.14001);
    ck_assert_double_eq(find(csv.detector, 1, 2)->z, 479.01);
    detector_unload(&csv);
}
END_TEST

START_TEST(small_files)
{
    model_folder folder = model_folder_create();
    loaded_detector csv = load_file(&folder, "one.csv", "string,module,x,y,z\n7,9,1.5,-2,3e1\n");
    expect_detector(&csv);
    ck_assert_uint_eq(csv.detector->module_count, 1);
    const ice_module *m = &csv.detector->modules[0];
    ck_assert(m->string == 7 && m->module == 9 && m->x == 1.5 && m->y == -2 && m->z == 30);
    ck_assert(isinf(csv.detector->closest));
    detector_unload(&csv);

    /* Byte order mark, Windows line ends, comments, columns in another order, and the modules too.
     */
    csv = load_file(&folder, "any.csv",
                    "\xEF\xBB\xBF# mine\r\nz, y, x, efficiency, module, string\r\n\r\n"
                    "0, 0, 1, 1.35, 2, 65535\r\n0, 0, 0, 1, 0, 0 # first\r\n");
    expect_detector(&csv);
    ck_assert_uint_eq(csv.detector->module_count, 2);
    ck_assert_uint_eq(csv.detector->modules[0].string, 0);
    ck_assert_uint_eq(csv.detector->modules[1].string, 65535);
    ck_assert_double_eq(csv.detector->modules[1].efficiency, 1.35);
    detector_unload(&csv);

    loaded_detector geo =
        load_file(&folder, "my.geo-f2k",
                  "A\t0x1\t10\t20\t-1948.07\t3\t60\nB\t0x2\t10\t20\t-1900\t3\t61\n"
                  "C\t0x3\t10\t20\t-1900\t0\t5\nD\t0x4\t10\t20\t-1900\t-1\t5\n");
    expect_detector(&geo);
    ck_assert_uint_eq(geo.detector->module_count, 1);
    ck_assert_double_eq(geo.detector->modules[0].z, 0);
    detector_unload(&geo);

    /* Strings above 86 have no modules at the surface. */
    geo = load_file(&folder, "new.geo-f2k",
                    "A\t0x1\t10\t20\t-1948.07\t87\t110\nB\t0x2\t10\t20\t-1900\t86\t61\n"
                    "C\t0x3\t10\t20\t-1900\t1001\t0\n");
    expect_detector(&geo);
    ck_assert_uint_eq(geo.detector->module_count, 2);
    ck_assert(geo.detector->modules[0].string == 87 && geo.detector->modules[0].module == 110);
    ck_assert(geo.detector->modules[1].string == 1001 && geo.detector->modules[1].module == 0);
    detector_unload(&geo);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(touching_modules)
{
    model_folder folder = model_folder_create();
    loaded_detector csv =
        load_file(&folder, "a.csv", "string,module,x,y,z\n1,1,0,0,0\n1,2,0.3303,0,0\n");
    expect_detector(&csv);
    detector_unload(&csv);
    csv = load_file(&folder, "a.csv", "string,module,x,y,z\n1,1,0,0,0\n1,2,0.33,0,0\n");
    ck_assert_int_eq(csv.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(csv.error.text,
                                 "a.csv:3: error: string 1, module 2: found 0.33 m from string 1, "
                                 "module 1 (line 2), expected at least 0.3302 m"));
    detector_unload(&csv);
    model_folder_remove(&folder);
}
END_TEST

/* Returns a list of modules on a cubic lattice with edge^3 places and this spacing (m), in reverse
 * order. The caller frees it. */
static char *lattice(int edge, double spacing)
{
    size_t size = (size_t)edge * (size_t)edge * (size_t)edge * 64 + 64, used;
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    used = (size_t)snprintf(text, size, "string,module,x,y,z\n");
    for (int i = edge * edge * edge - 1; i >= 0; --i) {
        used += (size_t)snprintf(text + used, size - used, "%d,%d,%g,%g,%g\n", i / 1000, i % 1000,
                                 spacing * (i % edge), spacing * (i / edge % edge),
                                 spacing * (i / edge / edge));
    }
    return text;
}

START_TEST(hundred_thousand_modules)
{
    model_folder folder = model_folder_create();
    char *text = lattice(47, 0.5);
    loaded_detector csv = load_file(&folder, "many.csv", text);
    free(text);
    expect_detector(&csv);
    ck_assert_uint_eq(csv.detector->module_count, 103823);
    ck_assert_double_eq_tol(csv.detector->closest, 0.5, 1e-9);
    detector_unload(&csv);
    /* All modules but the first are too close to the first. */
    text = lattice(47, 1e-4);
    csv = load_file(&folder, "many.csv", text);
    free(text);
    ck_assert_int_eq(csv.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(csv.error.text, "many.csv: error: and 103812 more"));
    detector_unload(&csv);
    model_folder_remove(&folder);
}
END_TEST

/* ---- files with faults ----------------------------------------------------------------------- */

#define HEADER "string,module,x,y,z\n"

static const struct {
    const char *name, *content, *message;
} bad_files[] = {
    {"a.csv", "string,module,x,y,z,x_m\n1,1,0,0,0,0\n",
     "a.csv:1:21: error: found column x_m twice"},
    {"a.csv", HEADER "1,1,0,0,\n", "a.csv:2:9: error: z: found '', expected a finite number"},
    {"a.csv", HEADER "1,1,0,0,1e5\n",
     "a.csv:2: error: z: found 100000 m, expected -10000 .. 10000"},
};

START_TEST(bad_file)
{
    model_folder folder = model_folder_create();
    loaded_detector result = load_file(&folder, bad_files[_i].name, bad_files[_i].content);
    expect_no_detector(&result, bad_files[_i].message);
    detector_unload(&result);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(all_excluded_is_a_warning)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    snprintf(set, sizeof set, "detector.file=%s",
             model_folder_write(&folder, "one.csv", HEADER "1,1,0,0,0\n", path));
    loaded_detector result = detector_load(model_config(set, "detector.excluded=[[1, 1]]", NULL));
    expect_detector(&result);
    ck_assert_uint_eq(result.warnings.count, 1);
    ck_assert_ptr_nonnull(strstr(result.warnings.items[0], "all 1 modules are excluded"));
    double largest[ICE_ACCEPTANCES];
    ics_detector_efficiencies(result.detector, largest);
    ck_assert(largest[0] == 0 && largest[1] == 0);
    detector_unload(&result);
    model_folder_remove(&folder);
}
END_TEST

ICS_TEST_MAIN("detector")
{
    TCase *good = tcase_create("good");
    tcase_add_test(good, hex86_positions);
    tcase_add_test(good, hex86_options);
    tcase_add_test(good, photons_that_continue);
    tcase_add_test(good, excluded_modules_absorb);
    tcase_add_test(good, real_geometry);
    tcase_add_test(good, reference_csv);
    tcase_add_test(good, small_files);
    tcase_add_test(good, touching_modules);
    tcase_add_test(good, hundred_thousand_modules);
    tcase_add_test(good, all_excluded_is_a_warning);
    suite_add_tcase(suite, good);
    TCase *bad = tcase_create("bad");
    tcase_add_loop_test(bad, bad_file, 0, sizeof bad_files / sizeof *bad_files);
    tcase_add_test(bad, hex86_with_huge_modules);
    suite_add_tcase(suite, bad);
}
