/* Promise: types of modules from YAML, om.conf and DETX have the shapes, PMTs and orientations that
 * their files say, and modules get the types that lists and om.map name. Wrong inputs are in
 * tests/cli/bad_inputs/bad_inputs_types.py. To join: one test for each source of types. */
#include "physics/body.h"
#include "physics/detect/pmt.h"
#include "physics/light/light_curve.h"
#include "pipeline/photons/models/detector/detx.h"
#include "pipeline/photons/models/detector/pmt_tables.h"
#include "pipeline/photons/models/light/acceptance_table.h"
#include "tests/support/loaded_detector.h"
#include "tests/support/model_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char list[] = "string,module,x,y,z,type,zenith,azimuth,roll\n"
                           "1,1,0,0,0,dom,0,0,0\n"
                           "1,2,0,0,-17,mdom,180,0,0\n"
                           "2,1,100,0,0,wom,90,90,0\n"
                           "2,2,100,0,-20,wom,0,0,30\n";

static loaded_detector load_types(const char *content, const char *name, const char *types,
                                  const char *more)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    snprintf(set, sizeof set, "detector.file=%s", model_folder_write(&folder, name, content, path));
    loaded_detector loaded = detector_load(model_config(set, types, more, NULL));
    model_folder_remove(&folder);
    return loaded;
}

static void expect_vector(const double found[3], double x, double y, double z, double tolerance)
{
    ck_assert_double_eq_tol(found[0], x, tolerance);
    ck_assert_double_eq_tol(found[1], y, tolerance);
    ck_assert_double_eq_tol(found[2], z, tolerance);
}

START_TEST(types_of_yaml)
{
    loaded_detector loaded = load_types(
        list, "list.csv",
        "detector.types={dom: {shape: sphere, radius: 0.1651, pmts: [[180, 0]]}, mdom: {shape: "
        "capsule, radius: 0.1, half_height: 0.3, beta: 0.5, pmt_radius: 0.04, pmts: [{x: 0.1, y: "
        "0, z: 0.1, delay: 3, spread: 1}, [0, 0], {zenith: 90, azimuth: 90, efficiency: 0.5}]}, "
        "wom: "
        "{shape: cylinder, radius: 0.1, half_height: 0.5, open_ends: true}}",
        "detector.string_cables=straight");
    expect_detector(&loaded);
    const ice_detector *d = loaded.detector;
    ck_assert_uint_eq(d->type_count, 3);
    ck_assert_str_eq(d->types[1].name, "mdom");
    ck_assert_int_eq(d->types[1].shape, ICE_SHAPE_CAPSULE);
    ck_assert_double_eq(d->types[1].beta, 0.5);
    ck_assert_double_eq(d->types[0].beta, 1);
    ck_assert(d->types[2].open_ends);
    ck_assert_double_eq_tol(d->radius, hypot(0.1, 0.5), 1e-6);
    ck_assert_uint_eq(d->types[1].pmt_count, 3);
    const ice_pmt *pmts = d->types[1].pmts;
    expect_vector(pmts[0].axis, sqrt(0.5), 0, sqrt(0.5), 1e-12); /* away from the centre */
    ck_assert_double_eq(pmts[0].delay, 3);
    expect_vector(pmts[1].centre, 0, 0, 0.3, 1e-12); /* on the surface */
    expect_vector(pmts[2].centre, 0, 0.1, 0, 1e-12);
    ck_assert_double_eq(pmts[2].efficiency, 0.5);
    ck_assert_double_eq(pmts[2].radius, 0.04);
    expect_vector(d->types[0].pmts[0].centre, 0, 0, -0.1651, 1e-12);
    for (size_t i = 0; i < 4; ++i) {
        ck_assert_uint_eq(d->modules[i].type, i < 2 ? i : 2);
    }
    /* Upside down; the axis towards +y; rolled by 30 degrees. */
    double turned[3];
    ck_assert_uint_eq(d->modules[0].orientation, 0);
    ice_orient(&d->orientations[d->modules[1].orientation], (const double[]){0, 0, 1}, turned);
    expect_vector(turned, 0, 0, -1, 1e-12);
    ice_orient(&d->orientations[d->modules[2].orientation], (const double[]){0, 0, 1}, turned);
    expect_vector(turned, 0, 1, 0, 1e-12);
    ice_orient(&d->orientations[d->modules[3].orientation], (const double[]){1, 0, 0}, turned);
    expect_vector(turned, sqrt(0.75), 0.5, 0, 1e-12);
    /* From the upper end of a module to the lower end of the next one. The axis of (2, 1) is not
     * vertical, so the sphere around this module counts. */
    ck_assert_uint_eq(d->cable_count, 2);
    expect_vector(d->cables[0].from, 0, 0, -16.7, 1e-12);
    expect_vector(d->cables[0].to, 0, 0, -0.1651, 1e-12);
    expect_vector(d->cables[1].from, 100, 0, -19.5, 1e-12);
    expect_vector(d->cables[1].to, 100, 0, -hypot(0.1, 0.5), 1e-6);
    ck_assert_double_eq(d->cables[0].radius, 0.023);
    detector_unload(&loaded);
}
END_TEST

/* Two cables between three modules of a string, which the file lists in any order, and none to the
 * next string. The upright cylinder ends at its half height. */
START_TEST(cables_between_modules)
{
    static const char rows[] =
        "string,module,x,y,z\n1,1,0,0,0\n1,2,0,0,-30\n1,3,0,0,-17\n2,1,50,0,0\n";
    loaded_detector loaded = load_types(rows, "list.csv", "detector.string_cables=side",
                                        "detector.string_cable_azimuth=90");
    expect_detector(&loaded);
    ck_assert_uint_eq(loaded.detector->cable_count, 2);
    expect_vector(loaded.detector->cables[0].from, 0, 0.1881, -30, 1e-12);
    expect_vector(loaded.detector->cables[0].to, 0, 0.1881, -17, 1e-12);
    detector_unload(&loaded);
    loaded = load_types(rows, "list.csv", "detector.string_cables=straight",
                        "detector.types={a: {shape: cylinder, radius: 0.1, half_height: 0.5}}");
    expect_detector(&loaded);
    expect_vector(loaded.detector->cables[1].from, 0, 0, -16.5, 1e-12);
    expect_vector(loaded.detector->cables[1].to, 0, 0, -0.5, 1e-12);
    detector_unload(&loaded);
}
END_TEST

START_TEST(types_of_ppc)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], file[MODEL_PATH + 32], conf[MODEL_PATH + 32], map[MODEL_PATH + 32];
    snprintf(file, sizeof file, "detector.file=%s",
             model_folder_write(&folder, "list.csv",
                                "string,module,x,y,z\n1,1,0,0,0\n1,2,0,0,-17\n2,1,100,0,0\n",
                                path));
    snprintf(conf, sizeof conf, "detector.om_conf=%s",
             model_folder_write(&folder, "om.conf",
                                "# name module area beta Rr Rz num dir cable\n"
                                "Default -1 1 0.49 0.1651 0.1651 1 180 0 90\n"
                                "DEgg 120 1.2 0.5 0.150 0.267 2 180 0\n 0 0\n"
                                "Tube 7 1 0.3 0.1 -0.5 1 90 45\n",
                                path));
    snprintf(map, sizeof map, "detector.om_map=%s",
             model_folder_write(&folder, "om.map", "1 2 120\n2 1 7\n9 9 7\n", path));
    loaded_detector loaded = detector_load(model_config(file, conf, map, NULL));
    expect_detector(&loaded);
    const ice_detector *d = loaded.detector;
    ck_assert_uint_eq(d->type_count, 3);
    ck_assert_int_eq(d->types[0].shape, ICE_SHAPE_SPHERE);
    ck_assert_int_eq(d->types[1].shape, ICE_SHAPE_SPHEROID);
    ck_assert_double_eq(d->types[1].pmts[1].efficiency, 1.2);
    expect_vector(d->types[1].pmts[1].axis, 0, 0, 1, 1e-12);
    ck_assert_int_eq(d->types[2].shape, ICE_SHAPE_CYLINDER);
    ck_assert(d->types[2].open_ends);
    ck_assert_uint_eq(d->modules[0].type, 0); /* not in om.map: number -1 */
    ck_assert_uint_eq(d->modules[1].type, 1);
    ck_assert_uint_eq(d->modules[2].type, 2);
    detector_unload(&loaded);
    model_folder_remove(&folder);
}
END_TEST

/* Returns the mean effective area (cm2) of a type at a wavelength, as the tables of detection give
 * it. */
static double mean_area(const ice_detector *detector, size_t type, double wavelength)
{
    const ice_module_type *self = &detector->types[type];
    const double all = ice_curve_at(detector->acceptance_wavelengths, detector->acceptance,
                                    detector->acceptance_count, wavelength);
    const double ratio =
        self->acceptance.count == 0
            ? 1
            : ice_curve_at_or_end(self->acceptance.wavelengths, self->acceptance.ratios,
                                  self->acceptance.count, wavelength);
    double front = 0;
    for (size_t k = 0; k < self->pmt_count; ++k) {
        front += ics_pmt_effective_area(self, &self->pmts[k]);
    }
    return 1e4 * all * ratio * front * ice_pmt_share_mean(self->beta);
}

START_TEST(types_of_ppc_have_their_effective_areas)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], file[MODEL_PATH + 32], conf[MODEL_PATH + 32], map[MODEL_PATH + 32],
        efficiencies[MODEL_PATH + 32];
    snprintf(file, sizeof file, "detector.file=%s",
             model_folder_write(
                 &folder, "list.csv",
                 "string,module,x,y,z\n1,1,0,0,0\n1,2,0,0,-17\n1,3,0,0,-34\n2,1,100,0,0\n", path));
    snprintf(conf, sizeof conf, "detector.om_conf=%s",
             model_folder_write(&folder, "om.conf",
                                "Default -1 1 0.49 0.1651 0.1651 1 180 0\n"
                                "DEgg 120 1.2 0.5 0.150 0.267 2 180 0\n 0 0\n"
                                "Tube 7 1 -2 0.0575 -0.38 2 180 0\n 0 0\n",
                                path));
    snprintf(map, sizeof map, "detector.om_map=%s",
             model_folder_write(&folder, "om.map", "1 2 120\n1 3 120\n2 1 7\n", path));
    snprintf(efficiencies, sizeof efficiencies, "detector.efficiencies=%s",
             model_folder_write(&folder, "eff", "1 1 1 0\n1 2 1 0\n1 3 1.1 1\n2 1 1 1\n", path));
    model_folder_write(&folder, "om.wv_120.0", "300 0\n400 40\n500 20\n", path);
    model_folder_write(&folder, "om.wv_120.1", "350 50\n450 70\n", path);
    loaded_detector loaded =
        detector_load(model_config(file, conf, map, efficiencies, "stages.detect=pmt-plane", NULL));
    ck_assert_int_eq(loaded.status, ICESTREAM_E_CONFIG);
    ck_assert(strstr(loaded.error.text, "om.wv_7.1: error: found no such file") != NULL);
    detector_unload(&loaded);
    model_folder_write(&folder, "om.wv_7.1", "300 5\n400 10\n500 10\n", path);
    loaded =
        detector_load(model_config(file, conf, map, efficiencies, "stages.detect=pmt-plane", NULL));
    ck_assert_ptr_nonnull(loaded.detector);
    ck_assert_uint_eq(loaded.warnings.count, 1);
    ck_assert(strstr(loaded.warnings.items[0], "the type Tube has beta -2, a WOM") != NULL);
    const ice_detector *d = loaded.detector;
    ck_assert_uint_eq(d->type_count, 4);
    ck_assert_str_eq(d->types[3].name, "DEgg, PMTs of kind 1");
    const uint32_t types[] = {0, 1, 3, 2};
    for (size_t i = 0; i < d->module_count; ++i) {
        ck_assert_uint_eq(d->modules[i].type, types[i]);
        ck_assert_uint_eq(d->modules[i].acceptance, 0);
    }
    /* PMTs have the efficiency 1.2, the column area. */
    ck_assert_double_eq_tol(mean_area(d, 1, 400), 1.2 * 40, 1e-9);
    ck_assert_double_eq_tol(mean_area(d, 1, 350), 1.2 * 20, 1e-9);
    ck_assert_double_eq_tol(mean_area(d, 1, 550), 1.2 * 10,
                            1e-9); /* half of the last bin further */
    ck_assert_double_eq_tol(mean_area(d, 3, 425), 1.2 * 65, 1e-9);
    ck_assert_double_eq_tol(mean_area(d, 2, 450), 10, 1e-9);
    /* The standard module: ppc's mean of the angular acceptance times the area of its sphere. */
    ck_assert_double_eq_tol(
        mean_area(d, 0, 400),
        1e4 * ics_light_standard_acceptance(400) * 0.335822 * M_PI * 0.1651 * 0.1651, 1e-9);
    detector_unload(&loaded);
    loaded = detector_load(model_config(file, conf, map, efficiencies, "stages.detect=pmt-plane",
                                        "light.acceptance=standard", NULL));
    expect_detector(&loaded);
    ck_assert_uint_eq(loaded.detector->type_count, 3);
    detector_unload(&loaded);
    model_folder_remove(&folder);
}
END_TEST

/* The same two modules in a version of DETX: three PMTs whose axes meet in the centre; the second
 * module is turned by 90 degrees around the vertical. */
static char *detx_of(int version, char letter)
{
    static const double axes[3][3] = {{0, 0, -1}, {0.6, 0, 0.8}, {0, 0.6, 0.8}};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    if (version == 1) {
        fprintf(out, "7 2\n");
    } else {
        fprintf(out,
                "# made by a test\n7 %c%d\n0 99999999\nUTM WGS84 32N  +587600 +4016800 -3450\n2\n",
                letter, version);
    }
    for (int m = 0; m < 2; ++m) {
        const double centre[3] = {10, 20 * m, 100 + 9 * m};
        fprintf(out, "%d 3 %d ", m, m + 1);
        if (version >= 4) {
            fprintf(out, "%g %g %g 1 0 0 0 0 ", centre[0], centre[1], centre[2]);
        }
        fprintf(out, version >= 5 ? "0 3\n" : "3\n");
        for (int k = 0; k < 3; ++k) {
            const double *a = axes[k];
            const double turned[3] = {m ? -a[1] : a[0], m ? a[0] : a[1], a[2]};
            fprintf(out, "%d", 3 * m + k);
            for (int i = 0; i < 3; ++i) {
                fprintf(out, " %.3f", centre[i] + 0.2 * turned[i]);
            }
            fprintf(out, " %g %g %g 0%s\n", turned[0], turned[1], turned[2],
                    version >= 3 ? " 0" : "");
        }
    }
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

START_TEST(modules_of_detx)
{
    /* Jpp writes V from version 3 on. */
    for (int version = 1; version <= 5; ++version) {
        char *text = detx_of(version, version < 3 || _i == 0 ? 'v' : 'V');
        loaded_detector loaded = load_types(
            text, "block.detx",
            "detector.types={km3: {shape: sphere, radius: 0.2159, pmt_radius: 0.038}}", NULL);
        expect_detector(&loaded);
        const ice_detector *d = loaded.detector;
        ck_assert_uint_eq(d->module_count, 2);
        ck_assert_uint_eq(d->type_count, 1);
        ck_assert_str_eq(d->types[0].name, "km3");
        ck_assert_uint_eq(d->types[0].pmt_count, 3);
        ck_assert_double_eq(d->types[0].pmts[2].radius, 0.038);
        /* from 0.2 m along its axis to the sphere */
        expect_vector(d->types[0].pmts[1].centre, 0.6 * 0.2159, 0, 0.8 * 0.2159, 2e-3);
        ck_assert_uint_eq(d->modules[1].string, 3);
        ck_assert_uint_eq(d->modules[1].module, 2);
        ck_assert_double_eq_tol(d->modules[1].y, 20, 2e-3);
        ck_assert_uint_eq(d->modules[0].orientation, 0);
        double turned[3];
        ice_orient(&d->orientations[d->modules[1].orientation], d->types[0].pmts[1].axis, turned);
        expect_vector(turned, 0, 0.6, 0.8, 1e-9);
        detector_unload(&loaded);
        free(text);
    }
}
END_TEST

/* Appends a number of `size` bytes, or a text with its length. */
static void put(FILE *out, const void *value, size_t size)
{
    ck_assert_uint_eq(fwrite(value, 1, size, out), size);
}

static void put_whole(FILE *out, int32_t value)
{
    put(out, &value, sizeof value);
}

static void put_word(FILE *out, const char *word)
{
    put_whole(out, (int32_t)strlen(word));
    put(out, word, strlen(word));
}

/* The modules of detx_of() as DATX, with a comment that has a line break, and a base of a line. */
static char *datx_of(size_t *size)
{
    static const double axes[3][3] = {{0, 0, -1}, {0.6, 0, 0.8}, {0, 0.6, 0.8}};
    static const double reference[3] = {587600, 4016800, -3450}, validity[2] = {0, 1e10};
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, size);
    ck_assert_ptr_nonnull(out);
    put(out, "####", 4);
    put_word(out, "made by\na test");
    put_whole(out, 7);
    put_word(out, "V5");
    put(out, validity, sizeof validity);
    put_word(out, "UTM");
    put_word(out, "WGS 84");
    put_word(out, "");
    put(out, reference, sizeof reference);
    put_whole(out, 3);
    for (int m = -1; m < 2; ++m) {
        const double module[8] = {10, 20 * m, 100 + 9 * m, 1, 0, 0, 0, 1e5};
        put_whole(out, m);
        put_whole(out, 3);
        put_whole(out, m + 1);
        put(out, module, sizeof module);
        put_whole(out, 0);
        put_whole(out, m < 0 ? 0 : 3);
        for (int k = 0; k < 3 && m >= 0; ++k) {
            const double *a = axes[k];
            const double turned[3] = {m ? -a[1] : a[0], m ? a[0] : a[1], a[2]};
            double pmt[7] = {0, 0, 0, turned[0], turned[1], turned[2], 4e5};
            for (int i = 0; i < 3; ++i) {
                pmt[i] = module[i] + 0.2 * turned[i];
            }
            put_whole(out, 3 * m + k);
            put(out, pmt, sizeof pmt);
            put_whole(out, k == 2 && m == 1);
        }
    }
    ck_assert_int_eq(fclose(out), 0);
    return bytes;
}

START_TEST(modules_of_datx)
{
    size_t size;
    char path[SCRATCH_PATH], set[SCRATCH_PATH + 32];
    char *bytes = datx_of(&size);
    scratch place = scratch_create();
    scratch_write(scratch_path(&place, "block.datx", path), bytes, size);
    snprintf(set, sizeof set, "detector.file=%s", path);
    loaded_detector loaded = detector_load(model_config(
        set, "detector.types={km3: {shape: sphere, radius: 0.2159, pmt_radius: 0.038}}", NULL));
    expect_detector(&loaded);
    const ice_detector *d = loaded.detector;
    ck_assert_uint_eq(d->module_count, 2);
    ck_assert_uint_eq(d->type_count, 1);
    expect_vector(d->types[0].pmts[1].centre, 0.6 * 0.2159, 0, 0.8 * 0.2159, 1e-12);
    ck_assert_uint_eq(d->modules[1].string, 3);
    ck_assert_uint_eq(d->modules[1].module, 2);
    ck_assert_double_eq(d->modules[1].y, 20);
    ck_assert_double_eq(d->modules[1].z, 109);
    double turned[3];
    ice_orient(&d->orientations[d->modules[1].orientation], d->types[0].pmts[1].axis, turned);
    expect_vector(turned, 0, 0.6, 0.8, 1e-12);
    detector_unload(&loaded);
    /* A file that is cut off anywhere, or too long, is an error. */
    for (size_t length = 0; length <= size + 1; ++length) {
        char *other = calloc(1, size + 1);
        ck_assert_ptr_nonnull(other);
        memcpy(other, bytes, length < size ? length : size);
        const ics_text file = ics_text_borrow("block.datx", other, length);
        ics_text text;
        icestream_error error = {0};
        ck_assert_int_eq(ics_datx_text(&file, &text, &error),
                         length == size ? ICESTREAM_OK : ICESTREAM_E_CONFIG);
        ics_text_free(&text);
        free(other);
    }
    scratch_remove(&place);
    free(bytes);
}
END_TEST

ICS_TEST_MAIN("module_types")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, types_of_yaml);
    tcase_add_test(all, cables_between_modules);
    tcase_add_test(all, types_of_ppc);
    tcase_add_test(all, types_of_ppc_have_their_effective_areas);
    tcase_add_loop_test(all, modules_of_detx, 0, 2);
    tcase_add_test(all, modules_of_datx);
    suite_add_tcase(suite, all);
}
