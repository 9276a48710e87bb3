/* Promise: angular acceptances, and lists of modules with efficiencies, axes, cables and voltages,
 * are read from files and configurations, and each faulty file is refused with its place.
 * To join: a new fault is a row of `bad_curves` or `bad_lists`. */
#include "pipeline/photons/models/detector/angular.h"
#include "pipeline/photons/models/detector/detector.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "tests/support/loaded_detector.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* ---- angular acceptance ---------------------------------------------------------------------- */

/* physics.md 8.5: published curves, maximum first. */
static const double laboratory[] = {1.0,    0.26266, 0.47659, 0.15480, -0.14588, 0.17316,
                                    1.3070, 0.44441, -2.3538, -1.3564, 1.2098,   0.81569};
static const double hole_ice[] = {0.75,   0.32813, 0.63899, 0.20049, -1.2250, -0.14470,
                                  4.1695, 0.76898, -5.8690, -2.0939, 2.3834,  1.0435};
static const double flasher_fit[] = {0.68, 0.34, 0.16, 0, 0.88, 0, -1.05, 0, 0.35, 0, 0, 0};

static ice_angular angular_of(const double *numbers, size_t count)
{
    ice_angular angular;
    icestream_error error = {0};
    ck_assert_msg(ics_angular_from_numbers("here", numbers, count, &angular, NULL, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    return angular;
}

/* The mean over directions of a polynomial: c_k / (k + 1) over even k. */
static double mean_by_coefficients(const ice_angular *angular)
{
    double sum = 0;
    for (size_t k = 0; k < angular->count; k += 2) {
        sum += angular->coefficients[k] / (double)(k + 1);
    }
    return sum;
}

#define ANGULAR(numbers) angular_of(numbers, sizeof numbers / sizeof *numbers)

START_TEST(published_curves)
{
    const ice_angular lab = ANGULAR(laboratory), hole = ANGULAR(hole_ice),
                      fit = ANGULAR(flasher_fit), standard = ics_angular_standard();
    ck_assert_double_eq(lab.maximum, 1.0);
    ck_assert_double_eq_tol(mean_by_coefficients(&lab), 0.335822, 5e-7);
    ck_assert_double_eq_tol(ics_angular_mean(&lab), 0.335822, 2e-5);
    ck_assert_double_eq_tol(ics_angular_at(&lab, 1), 0.98803, 5e-6);
    ck_assert_double_eq_tol(ics_angular_at(&lab, 0), 0.26266, 5e-6);
    ck_assert_double_eq_tol(ics_angular_at(&lab, -1), 0.00061, 5e-6);
    ck_assert_double_eq_tol(mean_by_coefficients(&hole), 0.338082, 5e-7);
    ck_assert_double_eq_tol(ics_angular_at(&hole, 0.719), 0.73300, 5e-6);
    ck_assert_double_eq_tol(ics_angular_at(&hole, 1), 0.20039, 5e-6);
    ck_assert_double_eq_tol(ics_angular_mean(&fit), 0.34, 1e-6);
    ck_assert_double_eq_tol(ics_angular_at(&fit, 1), 0.68, 1e-12);
    ck_assert_double_eq_tol(ics_angular_at(&fit, 0.5), 0.49992, 5e-6);
    ck_assert_double_eq_tol(ics_angular_at(&fit, -1), 0, 1e-12);
    ck_assert_double_eq(standard.maximum, 0.68);
    ck_assert_double_eq_tol(ics_angular_mean(&standard), 0.34, 1e-6);
    ck_assert_double_eq_tol(ics_angular_at(&standard, 1), 0.68, 1e-12);
    ck_assert_double_eq_tol(ics_angular_at(&standard, 0.5), 0.57375, 1e-12);
    ck_assert_double_eq_tol(ics_angular_at(&standard, 0), 0.34, 1e-12);
    ck_assert_double_eq_tol(ics_angular_at(&standard, -1), 0, 1e-12);
}
END_TEST

START_TEST(curves_are_cut_at_zero)
{
    static const double numbers[] = {1, 0, 1}, edge[] = {0, 0.3};
    const ice_angular line = ANGULAR(numbers), sharp = ANGULAR(edge);
    ck_assert_double_eq(ics_angular_at(&line, -0.5), 0);
    ck_assert_double_eq_tol(ics_angular_mean(&line), 0.25, 1e-6);
    ck_assert(sharp.has_edge);
    ck_assert_double_eq(sharp.maximum, 1);
    ck_assert_double_eq(ics_angular_at(&sharp, 0.3), 0);
    ck_assert_double_eq(ics_angular_at(&sharp, 0.31), 1);
    ck_assert_double_eq_tol(ics_angular_mean(&sharp), 0.35, 1e-12);
}
END_TEST

static ics_warnings read_curve(const char *content, ice_angular *out)
{
    const ics_text text = ics_text_borrow("as.dat", content, strlen(content));
    ics_warnings warnings = {0};
    icestream_error error = {0};
    ck_assert_msg(ics_angular_read(&text, out, &warnings, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return warnings;
}

/* ppc reads one number as a flat acceptance (itype::add in ini.cxx). */
START_TEST(one_number_is_flat)
{
    ice_angular angular;
    ics_warnings warnings = read_curve("0.7\n", &angular);
    ck_assert_uint_eq(warnings.count, 0);
    ck_assert_double_eq(angular.maximum, 0.7);
    ck_assert_double_eq_tol(ics_angular_mean(&angular), 0.7, 1e-12);
    for (double x = -1; x <= 1; x += 0.5) {
        ck_assert_double_eq(ics_angular_at(&angular, x), 0.7);
    }
}
END_TEST

/* 0.3 + 0.5 x - 0.2 x^3 has its maximum 0.604290 at x = sqrt(5/6). */
START_TEST(larger_maximum_counts)
{
    ice_angular angular;
    ics_warnings warnings = read_curve("0.6032\n0.3\n0.5\n0\n-0.2\n", &angular);
    ck_assert_uint_eq(warnings.count, 1);
    ck_assert_str_eq(warnings.items[0], "as.dat: angular acceptance: found 0.60429 at a cosine of "
                                        "0.913, which is 0.18 % above its maximum, 0.6032; the "
                                        "larger number is used");
    ck_assert_double_eq_tol(angular.maximum, 0.604290, 1e-6);
    ck_assert_double_eq_tol(ics_angular_mean(&angular), 0.300253, 1e-6); /* cut at 0 */
    ics_warnings_free(&warnings);
}
END_TEST

static const struct {
    const char *text, *message;
} bad_curves[] = {
    {"1\n2e6\n", "as.dat: error: coefficient of x^0: found 2000000, expected -1e6 .. 1e6"},
    {"0\n0.3\n0.1\n", "found 3 numbers, the first one 0, expected 2"},
    {"-1\n1\n", "as.dat:1:1: error: maximum: found -1, expected 0 .. 10"},
    {"11\n1\n", "as.dat:1:1: error: maximum: found 11, expected 0 .. 10"},
    {"0.5 -1\n", "as.dat: error: angular acceptance: found nothing above 0 in any direction"},
    {"0\n", "found 1 number, the first one 0, expected 2: 0 and the cosine of an edge, or a "
            "maximum above 0"},
    {"0\n1\n", "as.dat: error: edge: found 1, expected a cosine from -1 to below 1"},
};

START_TEST(bad_curve)
{
    ics_text text = ics_text_borrow("as.dat", bad_curves[_i].text, strlen(bad_curves[_i].text));
    ice_angular angular;
    icestream_error error = {0};
    ics_warnings warnings = {0};
    ck_assert_int_eq(ics_angular_read(&text, &angular, &warnings, &error), ICESTREAM_E_CONFIG);
    ck_assert_uint_eq(warnings.count, 0);
    ck_assert_msg(strstr(error.text, bad_curves[_i].message) != NULL, "expected '%s' in: %s",
                  bad_curves[_i].message, error.text);
    ck_assert_uint_eq(angular.count, 0);
}
END_TEST

/* ---- lists of modules ------------------------------------------------------------------------ */

static const ice_module *find(const loaded_detector *result, uint16_t string, uint16_t module)
{
    const ice_module *found = ics_sensors_find_module(
        result->detector, (ics_module_identity){.string = string, .module = module});
    ck_assert_msg(found != NULL, "no module %u of string %u", module, string);
    return found;
}

/* Loads hex86 with a file that the key `detector.KEY` names. */
static loaded_detector load_with(const char *key, const char *content)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], set[MODEL_PATH + 64];
    snprintf(set, sizeof set, "detector.%s=%s", key,
             model_folder_write(&folder, "x.dat", content, path));
    loaded_detector result = detector_load(model_config(set, NULL));
    model_folder_remove(&folder);
    return result;
}

START_TEST(files_of_modules)
{
    loaded_detector r = load_with("efficiencies", "1 1 1.35\n86 60 0.5\n");
    expect_detector(&r);
    ck_assert_double_eq(find(&r, 1, 1)->efficiency, 1.35);
    ck_assert_uint_eq(find(&r, 1, 1)->acceptance, 0);
    ck_assert_double_eq(find(&r, 86, 60)->efficiency, 0.5);
    ck_assert_double_eq(find(&r, 1, 2)->efficiency, 1);
    ck_assert_uint_eq(r.warnings.count, 0);
    detector_unload(&r);
    r = load_with("efficiencies", "# comment\n1 1 1.1 1\n1 2 1 0\n");
    ck_assert_uint_eq(find(&r, 1, 1)->acceptance, 1);
    ck_assert_uint_eq(find(&r, 1, 2)->acceptance, 0);
    double largest[ICE_ACCEPTANCES];
    ics_detector_efficiencies(r.detector, largest);
    ck_assert_double_eq(largest[0], 1);
    ck_assert_double_eq(largest[1], 1.1);
    detector_unload(&r);
    r = load_with("axes", "1 1 0 0.6 0.8 3\n2 1 0 0 -1.005 3\n");
    expect_detector(&r);
    ck_assert_double_eq_tol(find(&r, 1, 1)->back[1], 0.6, 1e-15);
    ck_assert_double_eq_tol(find(&r, 1, 1)->back[2], 0.8, 1e-15);
    ck_assert_double_eq(find(&r, 2, 1)->back[2], -1);
    detector_unload(&r);
    r = load_with("cables", "1 1 90 0.2\n2 1 -45 0.2\n");
    ck_assert(find(&r, 1, 1)->has_cable && find(&r, 2, 1)->has_cable);
    ck_assert(!find(&r, 1, 2)->has_cable);
    ck_assert_double_eq_tol(find(&r, 1, 1)->cable_azimuth, M_PI / 2, 1e-15);
    ck_assert_double_eq_tol(find(&r, 2, 1)->cable_azimuth, -M_PI / 4, 1e-15);
    ck_assert_double_eq(r.detector->cable_radius, 0.023);
    ck_assert(isinf(r.detector->cable_length));
    detector_unload(&r);
}
END_TEST

START_TEST(modules_without_voltage_are_off)
{
    loaded_detector r = load_with("voltages", "1 1 1300\n1 2 0\n1 61 900\n-8 3 700\n");
    expect_detector(&r);
    ck_assert(!find(&r, 1, 1)->is_off);
    ck_assert(find(&r, 1, 2)->is_off);
    ck_assert(find(&r, 50, 30)->is_off); /* not listed */
    ck_assert(!find(&r, 50, 30)->absorbs);
    ck_assert_uint_eq(r.warnings.count, 0); /* modules at the surface are ignored */
    detector_unload(&r);
}
END_TEST

START_TEST(modules_that_are_not_there_are_counted)
{
    loaded_detector r =
        load_with("cables", "1 1 10 1\n87 1 10 1\n99 61 10 1\n1 61 10 1\n0 1 10 1\n");
    expect_detector(&r);
    ck_assert_uint_eq(r.warnings.count, 1);
    ck_assert_ptr_nonnull(
        strstr(r.warnings.items[0], "2 rows are of modules that hex86 does not have"));
    detector_unload(&r);
}
END_TEST

/* Ten modules of string 1. One azimuth for all of them, such as a 0 that fills the column, is no
 * angle in radians. */
START_TEST(azimuths_in_radians)
{
    static const char *const last[] = {"0", "1.5", "90"};
    for (size_t i = 0; i < sizeof last / sizeof *last; ++i) {
        char text[256] = "";
        for (int module = 1; module < 10; ++module) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "1 %d 0 1\n", module);
        }
        snprintf(text + strlen(text), sizeof text - strlen(text), "1 10 %s 1\n", last[i]);
        loaded_detector r = load_with("cables", text);
        expect_detector(&r);
        ck_assert_uint_eq(r.warnings.count, i == 1);
        detector_unload(&r);
    }
}
END_TEST

static const struct {
    const char *key, *text, *message;
} bad_lists[] = {
    {"efficiencies", "1 1 1 2\n", "x.dat:1: error: type: found 2, expected 0 or 1"},
    {"axes", "1 1 0 0 0 1\n", "x.dat:1: error: axis: found a vector of length 0"},
    {"axes", "1 1 0 0 1.1 1\n", "x.dat:1: error: axis: found a vector of length 1.1"},
    {"axes", "1 1 1e200 1e200 0 1\n", "x.dat:1: error: axis: found a vector of length inf"},
    {"cables", "1 1 370 1\n", "x.dat:1: error: azimuth: found 370, expected -360 .. 360"},
    {"voltages", "1 1 -5\n", "x.dat:1: error: voltage: found -5, expected 0 .. 1e5 V"},
    {"voltages", "1 1 1e6\n", "x.dat:1: error: voltage: found 1000000"},
};

START_TEST(bad_list)
{
    loaded_detector r = load_with(bad_lists[_i].key, bad_lists[_i].text);
    expect_no_detector(&r, bad_lists[_i].message);
    detector_unload(&r);
}
END_TEST

/* ---- from ice folders ------------------------------------------------------------------------ */

START_TEST(real_folders)
{
    static const char *const names[] = {"ice/spice_bfr-v2", "ice/spice_ftp-v3m"};
    char path[MODEL_PATH], ice[MODEL_PATH + 32], geometry[MODEL_PATH + 64];
    for (size_t k = 0; k < 2; ++k) {
        if (model_shared(names[k], path) == NULL) {
            return;
        }
        snprintf(ice, sizeof ice, "ice.directory=%s", path);
        snprintf(geometry, sizeof geometry, "detector.file=%s/geo-f2k", path);
        loaded_detector r = detector_load(model_config(ice, geometry, "stages.detect=pe", NULL));
        expect_detector(&r);
        size_t efficient = 0, cables = 0, off = 0;
        for (size_t i = 0; i < r.detector->module_count; ++i) {
            const ice_module *m = &r.detector->modules[i];
            efficient += k == 0 ? m->efficiency == 1.35 : m->acceptance == 1;
            cables += m->has_cable;
            off += m->is_off;
        }
        ck_assert_uint_eq(efficient, 399);
        ck_assert_uint_eq(cables, k == 0 ? 0 : 5083);
        ck_assert_uint_eq(off, 0);
        ck_assert_uint_eq(r.warnings.count, 0);
        ck_assert_double_eq(r.detector->angular.maximum, 0.68);
        ck_assert_double_eq(r.detector->angular.coefficients[1], k == 0 ? 0.21 : 0.16);
        ck_assert_double_eq_tol(ics_angular_at(&r.detector->angular, 1), 0.68, 1e-9);
        detector_unload(&r);
        /* Without photo-electrons these files are not needed. The maximum scales the light in any
         * case. */
        r = detector_load(model_config(ice, geometry, NULL));
        expect_detector(&r);
        for (size_t i = 0; i < r.detector->module_count; ++i) {
            const ice_module *m = &r.detector->modules[i];
            ck_assert(m->efficiency == 1 && m->acceptance == 0 && !m->has_cable);
        }
        ck_assert_double_eq(r.detector->angular.maximum, 0.68);
        detector_unload(&r);
    }
}
END_TEST

START_TEST(keys_go_before_folders)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], ice[MODEL_PATH + 32], own[MODEL_PATH + 32];
    snprintf(ice, sizeof ice, "ice.directory=%s", folder.path);
    model_folder_write(&folder, "as.dat", "0.9 0.5 0.4\n", path);
    model_folder_write(&folder, "eff-f2k", "1 1 1.35\n", path);
    model_folder_write(&folder, "cx.dat", "1 1 1 0 0 1\n", path);
    model_folder_write(&folder, "dx.dat", "1 1 45 1\n", path);
    model_folder_write(&folder, "hvs-f2k", "1 1 1200\n", path);
    snprintf(own, sizeof own, "detector.efficiencies=%s",
             model_folder_write(&folder, "mine", "1 1 0.7\n", path));
    loaded_detector r = detector_load(model_config(ice, "stages.detect=pe", NULL));
    expect_detector(&r);
    ck_assert_double_eq(r.detector->angular.maximum, 0.9);
    ck_assert_double_eq(find(&r, 1, 1)->efficiency, 1.35);
    ck_assert_double_eq(find(&r, 1, 1)->back[0], 1);
    ck_assert(find(&r, 1, 1)->has_cable && find(&r, 1, 2)->is_off);
    detector_unload(&r);
    r = detector_load(model_config(ice, "stages.detect=pe", own, "detector.axes=none",
                                   "detector.cables=none", "detector.voltages=none",
                                   "detector.angular_acceptance=standard", NULL));
    ck_assert_double_eq(r.detector->angular.maximum, 0.68);
    ck_assert_double_eq(find(&r, 1, 1)->efficiency, 0.7);
    ck_assert_double_eq(find(&r, 1, 1)->back[0], 0);
    ck_assert(!find(&r, 1, 1)->has_cable && !find(&r, 1, 2)->is_off);
    detector_unload(&r);
    r = detector_load(model_config(ice, "detector.angular_polynomial=[0.5, 0.25, 0.25]", NULL));
    ck_assert_double_eq(r.detector->angular.maximum, 0.5);
    ck_assert_double_eq(find(&r, 1, 1)->efficiency, 1); /* no photo-electrons are made */
    detector_unload(&r);
    r = detector_load(model_config(ice, "detector.angular_acceptance=none", NULL));
    ck_assert_double_eq(r.detector->angular.maximum, 1);
    detector_unload(&r);
    r = detector_load(model_config("detector.angular_polynomial=[0.2, 0.25, 0.25]", NULL));
    ck_assert_int_eq(r.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(r.error.text, "--set detector.angular_polynomial: error: angular "
                                               "acceptance: found 0.5 at a cosine of 1"));
    detector_unload(&r);
    r = detector_load(model_config("detector.cables=/no/such/file", NULL));
    ck_assert_int_eq(r.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(r.error.text, "/no/such/file: error: No such file"));
    detector_unload(&r);
    model_folder_remove(&folder);
}
END_TEST

ICS_TEST_MAIN("sensors")
{
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, published_curves);
    tcase_add_test(tests, curves_are_cut_at_zero);
    tcase_add_test(tests, one_number_is_flat);
    tcase_add_test(tests, larger_maximum_counts);
    tcase_add_loop_test(tests, bad_curve, 0, (int)(sizeof bad_curves / sizeof *bad_curves));
    tcase_add_test(tests, files_of_modules);
    tcase_add_test(tests, modules_without_voltage_are_off);
    tcase_add_test(tests, modules_that_are_not_there_are_counted);
    tcase_add_test(tests, azimuths_in_radians);
    tcase_add_loop_test(tests, bad_list, 0, (int)(sizeof bad_lists / sizeof *bad_lists));
    tcase_add_test(tests, real_folders);
    tcase_add_test(tests, keys_go_before_folders);
    suite_add_tcase(suite, tests);
}
