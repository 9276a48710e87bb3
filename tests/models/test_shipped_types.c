/* Promise: every type in configs/detectors/types loads, and its numbers fit together: PMTs stand on
 * the surface of the body and look outwards, no two windows overlap, and there are as many PMTs as
 * the module has. A detector of each type runs with every variant of detect that its numbers
 * suffice for. To join: a shipped type is a row of `shipped`; a file without a row fails the test.
 */
#include "physics/body.h"
#include "physics/light/light_curve.h"
#include "pipeline/photons/models/models.h"
#include "tests/support/loaded_models.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <glob.h>
#include <math.h>
#include <string.h>

#define FOLDER ICS_SOURCE_DIRECTORY "/configs/detectors/types/"

/* Numbers with four decimals (m) and one decimal (degrees). */
#define ROUNDING 2e-4

static const struct {
    const char *name;
    ice_shape shape;
    size_t pmts;
    bool has_windows;  /* the radius of the windows is known */
    bool is_symmetric; /* the upper half is like the lower half */
    double low, high;  /* m, its radius is at least `low`, its half height at most `high` */
    bool has_table;    /* only for detect: pmt-table */
} shipped[] = {
    {"dom", ICE_SHAPE_SPHERE, 1, false, false, 0.125, 0.3, false},
    {"degg", ICE_SHAPE_SPHEROID, 2, false, true, 0.125, 0.3, false},
    {"mdom", ICE_SHAPE_CAPSULE, 24, true, true, 0.125, 0.3, false},
    {"lom16", ICE_SHAPE_CAPSULE, 16, true, true, 0.125, 0.3, false},
    {"lom18", ICE_SHAPE_CAPSULE, 18, true, true, 0.125, 0.3, false},
    {"km3net", ICE_SHAPE_SPHERE, 31, true, false, 0.125, 0.3, false},
    {"pone", ICE_SHAPE_SPHERE, 16, true, true, 0.125, 0.3, false},
    {"fom", ICE_SHAPE_SPHEROID, 0, false, true, 0.125, 0.7, false},
    {"wom", ICE_SHAPE_CYLINDER, 2, false, true, 0.05, 0.4, true},
};

static ics_models *load(int i, const char *variant)
{
    char types[MODEL_PATH], detect[64];
    snprintf(types, sizeof types, "detector.types={t: %s%s.yaml}", FOLDER, shipped[i].name);
    snprintf(detect, sizeof detect, "stages.detect=%s", variant);
    return models_load(model_config(types, detect, NULL));
}

START_TEST(every_file_has_a_row)
{
    glob_t found;
    ck_assert_int_eq(glob(FOLDER "*.yaml", 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, COUNT(shipped));
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        const char *file = strrchr(found.gl_pathv[i], '/') + 1;
        const size_t length = strlen(file) - strlen(".yaml");
        bool has_row = false;
        for (size_t k = 0; k < COUNT(shipped); ++k) {
            has_row |=
                strlen(shipped[k].name) == length && strncmp(shipped[k].name, file, length) == 0;
        }
        ck_assert_msg(has_row, "%s has no row in test_shipped_types.c", file);
    }
    globfree(&found);
}
END_TEST

static double distance(const double a[3], const double b[3])
{
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

static void check_pmt(const ice_module_type *type, const ice_pmt *pmt)
{
    static const double centre[3] = {0};
    const double length = distance(pmt->centre, centre);
    double outwards = 0, towards[3], surface[3];
    ck_assert_double_eq_tol(distance(pmt->axis, centre), 1, 1e-12);
    ck_assert_double_gt(length, 0);
    for (int i = 0; i < 3; ++i) {
        towards[i] = pmt->centre[i] / length;
        outwards += pmt->axis[i] * towards[i];
    }
    ice_body_point(type->shape, type->radius, type->half_height, towards, surface);
    ck_assert_double_eq_tol(distance(pmt->centre, surface), 0, ROUNDING);
    ck_assert_double_gt(outwards, 0.7); /* within 45 degrees of the line from the centre */
    ck_assert_double_ge(pmt->efficiency, 0);
    ck_assert_double_le(pmt->efficiency, 1);
    ck_assert_double_ge(pmt->delay, 0);
    ck_assert_double_ge(pmt->spread, 0);
}

START_TEST(numbers_fit_together)
{
    ics_models *models = load(_i, "none");
    ck_assert_uint_eq(models->detector->type_count, 1);
    ck_assert_uint_eq(models->warnings.count, 0);
    const ice_module_type *type = &models->detector->types[0];
    ck_assert_int_eq(type->shape, shipped[_i].shape);
    ck_assert_uint_eq(type->pmt_count, shipped[_i].pmts);
    ck_assert_double_ge(type->radius, shipped[_i].low);
    ck_assert_double_le(type->half_height, shipped[_i].high);
    ck_assert_int_eq(type->table.ring_count > 0, shipped[_i].has_table);
    ck_assert(type->acceptance.own_count > 0 || type->pmt_count == 0);
    ck_assert_double_ge(type->half_height, type->radius);
    ck_assert_double_ge(type->beta, 0);
    ck_assert_double_le(type->beta, 1);
    double sum = 0, windows = 0;
    for (size_t k = 0; k < type->pmt_count; ++k) {
        const ice_pmt *pmt = &type->pmts[k];
        check_pmt(type, pmt);
        ck_assert_int_eq(pmt->radius > 0, shipped[_i].has_windows);
        sum += pmt->axis[2];
        windows += M_PI * pmt->radius * pmt->radius;
        for (size_t other = 0; other < k; ++other) {
            const double apart = distance(pmt->centre, type->pmts[other].centre);
            ck_assert_msg(apart > 1e-3 && apart >= pmt->radius + type->pmts[other].radius,
                          "%s: the windows of PMTs %zu and %zu overlap: their middles are %g m "
                          "apart",
                          shipped[_i].name, other, k, apart);
        }
    }
    /* Windows cover at most the smallest possible surface, that of a sphere of this radius. */
    ck_assert_double_le(windows, 4 * M_PI * type->radius * type->radius);
    if (shipped[_i].is_symmetric) {
        ck_assert_double_eq_tol(sum, 0, 1e-9);
    }
    ics_models_destroy(models);
}
END_TEST

/* Turns a vector from the frame of module 0 to that of the detector. */
static void turn(const ice_detector *detector, const double v[3], double out[3])
{
    const uint32_t number = detector->modules[0].orientation;
    const ice_orientation upright = {.w = 1};
    const ice_orientation *q = number > 0 ? &detector->orientations[number] : &upright;
    const double t[3] = {2 * (q->y * v[2] - q->z * v[1]), 2 * (q->z * v[0] - q->x * v[2]),
                         2 * (q->x * v[1] - q->y * v[0])};
    out[0] = v[0] + q->w * t[0] + q->y * t[2] - q->z * t[1];
    out[1] = v[1] + q->w * t[1] + q->z * t[0] - q->x * t[2];
    out[2] = v[2] + q->w * t[2] + q->x * t[1] - q->y * t[0];
}

START_TEST(detects_light)
{
    static const char *const variants[] = {"pmt-plane", "pmt-place"};
    const bool has_no_variant = shipped[_i].has_table || shipped[_i].pmts == 0;
    const size_t count = has_no_variant ? 0 : shipped[_i].has_windows ? 2 : 1;
    for (size_t v = 0; v < count; ++v) {
        ics_models *models = load(_i, variants[v]);
        const ice_detection *tables = &models->detection->tables;
        const ice_pmt *pmts = models->detector->types[0].pmts;
        for (size_t k = 0; k < shipped[_i].pmts; ++k) {
            /* Light that meets the middle of a window from the front, in the detector's frame. */
            double at[3], axis[3];
            turn(models->detector, pmts[k].centre, at);
            turn(models->detector, pmts[k].axis, axis);
            const ice_arrival arrival = {.wavelength = 400,
                                         .x = (float)at[0],
                                         .y = (float)at[1],
                                         .z = (float)at[2],
                                         .dx = (float)-axis[0],
                                         .dy = (float)-axis[1],
                                         .dz = (float)-axis[2]};
            const float p = models->detection->variant->probability(tables, &arrival);
            ck_assert_float_gt(p, 0);
            ck_assert_float_le(p, 1.0001f);
            if (v == 1) {
                ck_assert_int_eq(models->detection->variant->pmt(tables, &arrival, 0), (int)k);
            }
        }
        ics_models_destroy(models);
    }
}
END_TEST

/* Mean share of isotropic light on the sphere of a type that its PMTs detect at 400 nm: the mean of
 * P, times what P is divided by. Without the efficiencies of wavelengths. */
static double mean_share(int type, const char *variant)
{
    const double golden = M_PI * (3 - sqrt(5));
    ics_models *models = load(type, variant);
    const double radius = models->detector->types[0].radius;
    double sum = 0;
    const int count = 20000;
    for (int i = 0; i < count; ++i) { /* directions on a spiral, impacts on the disc across them */
        const double z = 1 - (2 * i + 1.0) / count, r = sqrt(1 - z * z), a = golden * i;
        const double d[3] = {r * cos(a), r * sin(a), z};
        const double u[3] = {-sin(a), cos(a), 0}, v[3] = {-z * cos(a), -z * sin(a), r};
        const double b = sqrt(fmod(i * 0.7548776662466927, 1)),
                     turn = 2 * M_PI * fmod(i * 0.5698402909980532, 1);
        double at[3];
        for (int k = 0; k < 3; ++k) {
            at[k] = radius * (b * (cos(turn) * u[k] + sin(turn) * v[k]) - sqrt(1 - b * b) * d[k]);
        }
        const ice_arrival arrival = {.wavelength = 400,
                                     .x = (float)at[0],
                                     .y = (float)at[1],
                                     .z = (float)at[2],
                                     .dx = (float)d[0],
                                     .dy = (float)d[1],
                                     .dz = (float)d[2]};
        sum += models->detection->variant->probability(&models->detection->tables, &arrival);
    }
    const double share = sum / count * models->detector->angular.maximum;
    ics_models_destroy(models);
    return share;
}

/* The effective area of KM3NeT's PMTs is that of Jpp: 31 PMTs of 45.4 cm2 with a mean angular
 * acceptance of 0.2966 (of the file that configs/detectors/types/km3net.yaml names), and both
 * variants agree. For P-ONE a window of radius r turns r^2 / (4 R^2) of the sphere to isotropic
 * light. 20000 points: the error of a mean share of 0.2 is 0.003 at most. */
START_TEST(variants_agree)
{
    const double jpp = 31 * 45.4e-4 * 0.2966 / (M_PI * 0.2159 * 0.2159);
    const double flat = 16 * 0.0375 * 0.0375 / (4 * 0.21 * 0.21);
    const double place = mean_share(5, "pmt-place"), plane = mean_share(5, "pmt-plane");
    ck_assert_double_eq_tol(plane / jpp, 1, 0.02);
    ck_assert_double_eq_tol(place / jpp, 1, 0.03);
    ck_assert_double_eq_tol(mean_share(6, "pmt-plane") / flat, 1, 0.02);
    ck_assert_double_eq_tol(mean_share(6, "pmt-place") / flat, 1, 0.05);
}
END_TEST

/* Two types with their own acceptances: light is made with the larger one, and a hit counts with
 * the acceptance of its type. light.acceptance of the run replaces both. */
START_TEST(each_type_has_its_acceptance)
{
    static const double wavelengths[] = {350, 400, 450, 500}, a[] = {0, 0.2, 0.2, 0.1},
                        b[] = {0.1, 0.1, 0.3, 0};
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], file[MODEL_PATH + 32], types[2 * MODEL_PATH];
    snprintf(file, sizeof file, "detector.file=%s",
             model_folder_write(&folder, "list.csv",
                                "string,module,x,y,z,type\n1,1,0,0,0,a\n1,2,0,0,30,b\n", path));
    model_folder_write(&folder, "a.csv", "360,0\n400,0.2\n460,0.2\n500,0.1\n", path);
    model_folder_write(&folder, "b.csv", "wl;qe_percent\n300;10\n400;10\n450;30\n490;0\n", path);
    snprintf(
        types, sizeof types,
        "detector.types={a: {shape: sphere, radius: 0.2, pmt_radius: 0.04, pmts: [[180, 0]], "
        "acceptance: %s/a.csv}, b: {shape: sphere, radius: 0.2, pmt_radius: 0.04, pmts: [[180, "
        "0]], acceptance: %s/b.csv}}",
        folder.path, folder.path);
    ics_models *models = models_load(
        model_config(file, types, "stages.detect=pmt-place", "detector.oversize=1", NULL));
    const ice_detection *tables = &models->detection->tables;
    for (size_t i = 0; i < COUNT(wavelengths); ++i) {
        const double made = ice_curve_at(models->light->bias_wavelength, models->light->bias,
                                         models->light->bias_count, wavelengths[i]);
        ck_assert_double_eq_tol(made, fmax(a[i], b[i]), 1e-7);
        for (uint32_t module = 0; module < 2; ++module) {
            const ice_arrival arrival = {
                .wavelength = (float)wavelengths[i], .module = module, .z = -0.2f, .dz = 1};
            const float p = models->detection->variant->probability(tables, &arrival);
            ck_assert_double_eq_tol(made * (double)p, module == 0 ? a[i] : b[i], 1e-6);
        }
    }
    ics_models_destroy(models);
    models = models_load(model_config(file, types, "stages.detect=pmt-place",
                                      "light.acceptance=standard", "detector.oversize=1", NULL));
    ck_assert_uint_eq(models->warnings.count, 1);
    ck_assert_ptr_nonnull(strstr(models->warnings.items[0], "has no effect"));
    const ice_arrival arrival = {.wavelength = 400, .z = -0.2f, .dz = 1};
    ck_assert_float_eq_tol(
        models->detection->variant->probability(&models->detection->tables, &arrival), 1, 1e-6f);
    ics_models_destroy(models);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(wom_detects_light)
{
    /* 18 cm2 for light from the side, a half of it in each PMT; from other directions as much of
     * the light on the tube, and nothing along its axis. */
    ics_models *models = load(COUNT(shipped) - 1, "pmt-table");
    const double maximum = models->detector->angular.maximum;
    ck_assert_double_eq_tol(maximum, 18e-4 / (4 * 0.0575 * 0.38), 1e-8);
    for (double zenith = 0; zenith <= 180; zenith += 7.5) {
        const double z = zenith * M_PI / 180;
        const ice_arrival arrival = {
            .wavelength = 400, .x = 0.0575f, .dx = (float)-sin(z), .dz = (float)-cos(z)};
        const ics_detection *detection = models->detection;
        const float p = detection->variant->probability(&detection->tables, &arrival);
        ck_assert_float_eq_tol(p, zenith > 0 && zenith < 180 ? 1 : 0, 2e-5f);
        if (p > 0.5f) {
            ck_assert_int_eq(detection->variant->pmt(&detection->tables, &arrival, 0.499f), 0);
            ck_assert_int_eq(detection->variant->pmt(&detection->tables, &arrival, 0.501f), 1);
        }
    }
    ics_models_destroy(models);
}
END_TEST

ICS_TEST_MAIN("shipped_types")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, every_file_has_a_row);
    tcase_add_loop_test(all, numbers_fit_together, 0, COUNT(shipped));
    tcase_add_loop_test(all, detects_light, 0, COUNT(shipped));
    tcase_add_test(all, variants_agree);
    tcase_add_test(all, each_type_has_its_acceptance);
    tcase_add_test(all, wom_detects_light);
    suite_add_tcase(suite, all);
}
