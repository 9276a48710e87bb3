/* Promise: detect: pmt-table has the probabilities of its table, linear between the directions of a
 * ring and between rings, whatever the order of rows and the form of directions is; with a table
 * made from the formula of pmt-plane it gives what pmt-plane gives (physics.md 8.16). Wrong tables
 * are in tests/cli/bad_inputs/bad_inputs_pmt_table.py. To join: one test for each property of the
 * table.
 */
#include "physics/body.h"
#include "physics/detect/variants.h"
#include "tests/support/detection_world.h"
#include "tests/support/test_main.h"

#include <stdlib.h>
#include <string.h>

#define DEGREE (M_PI / 180)

/* A sphere whose shadow has the area 0.04 pi m2, with two PMTs. */
#define BALL "{shape: sphere, radius: 0.2, pmts: [[180, 0], {zenith: 0, azimuth: 0, efficiency: 2}]"

/* Loads one type of modules with a table. `type` ends before its closing brace. */
static ics_models *load_table(const char *variant, const char *type, const char *csv)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], detect[64], types[MODEL_PATH + 2048];
    model_folder_write(&folder, "areas.csv", csv, path);
    snprintf(detect, sizeof detect, "stages.detect=%s", variant);
    snprintf(types, sizeof types, "detector.types={t: %s, table: %s}}", type, path);
    ics_models *models = models_load(
        model_config(detect, types, "light.acceptance=standard", "detector.oversize=1", NULL));
    model_folder_remove(&folder);
    return models;
}

static ice_arrival light_from(double zenith, double azimuth)
{
    return (ice_arrival){.wavelength = 400,
                         .dx = (float)-(sin(zenith) * cos(azimuth)),
                         .dy = (float)-(sin(zenith) * sin(azimuth)),
                         .dz = (float)-cos(zenith)};
}

/* The sum of effective areas over the area of the module, which the probability is made of. */
static double share_at(const ics_models *models, double zenith, double azimuth)
{
    const ice_detection *tables = &models->detection->tables;
    const ice_arrival light = light_from(zenith, azimuth);
    const ice_arrival other = light_from(0.3, 0.7);
    /* The factor of wavelength and efficiency is that of all directions. */
    const double common = (double)ice_pmt_common(tables, &other);
    return (double)models->detection->variant->probability(tables, &light) / common *
           models->detector->angular.maximum;
}

/* Appends a row to a table in memory. */
static void put(char **text, size_t *size, int pmt, double zenith, double azimuth, double area)
{
    char row[128];
    const int length = snprintf(row, sizeof row, "%d,%.9g,%.9g,%.9g\n", pmt, zenith, azimuth, area);
    *text = realloc(*text, *size + (size_t)length + 1);
    ck_assert_ptr_nonnull(*text);
    memcpy(*text + *size, row, (size_t)length + 1);
    *size += (size_t)length;
}

static char *start(size_t *size)
{
    static const char header[] = "pmt,zenith,azimuth,area\n";
    *size = sizeof header - 1;
    return strdup(header);
}

/* ---- interpolation --------------------------------------------------------------------------- */

/* A function that is linear in zenith and azimuth is exact between all directions, also if every
 * ring has other azimuths. */
START_TEST(linear_between_directions)
{
    size_t size;
    char *csv = start(&size);
    for (int ring = 0; ring < 11; ++ring) {
        const double zenith = 15 + 15 * ring;
        for (int i = 0; i < 6 + ring; ++i) {
            const double azimuth = 330.0 * i / (5 + ring);
            put(&csv, &size, 0, zenith, azimuth, 1e-3 + 1e-5 * zenith + 2e-5 * azimuth);
            put(&csv, &size, 1, zenith, azimuth, 1e-3);
        }
    }
    ics_models *models = load_table("pmt-table", BALL, csv);
    detection_numbers numbers = {0};
    for (int i = 0; i < 2000; ++i) {
        const double zenith = 15 + 150 * detection_uniform(&numbers),
                     azimuth = 330 * detection_uniform(&numbers);
        const double expected = 1e-3 + 1e-5 * zenith + 2e-5 * azimuth + 2 * 1e-3;
        ck_assert_double_eq_tol(share_at(models, zenith * DEGREE, azimuth * DEGREE),
                                expected / (M_PI * 0.04), 2e-6);
    }
    /* The largest value is that of a direction in the table. */
    ck_assert_double_eq_tol(models->detector->angular.maximum,
                            (1e-3 + 165e-5 + 660e-5 + 2e-3) / (M_PI * 0.04), 1e-12);
    ics_models_destroy(models);
    free(csv);
}
END_TEST

/* Adds seven rings of four directions, 0.001 (1 + i) m2 at the azimuth 90 i + turn. */
static char *four_of_each(double lowest, double turn)
{
    size_t size;
    char *csv = start(&size);
    for (double zenith = lowest; zenith < 180; zenith += 30) {
        for (int i = 0; i < 4; ++i) {
            put(&csv, &size, 0, zenith, 90 * i + turn, 1e-3 * (1 + i));
            put(&csv, &size, 1, zenith, 90 * i + turn, 0);
        }
    }
    return csv;
}

static void expect_area(const ics_models *models, double zenith, double azimuth, double area)
{
    ck_assert_double_eq_tol(share_at(models, zenith * DEGREE, azimuth * DEGREE),
                            area / (M_PI * 0.04), 1e-6);
}

START_TEST(around_the_axis_and_at_the_poles)
{
    char *csv = four_of_each(30, 0);
    ics_models *models = load_table("pmt-table", BALL, csv);
    expect_area(models, 90, 0, 1e-3);
    expect_area(models, 75, 180, 3e-3);
    expect_area(models, 90, 315, 2.5e-3); /* between the last and the first azimuth */
    expect_area(models, 90, 342, 1.6e-3);
    expect_area(models, 0, 0, 2.5e-3); /* the mean of the nearest ring */
    expect_area(models, 180, 77, 2.5e-3);
    expect_area(models, 15, 90, 2.25e-3);
    expect_area(models, 172.5, 270, 0.75 * 2.5e-3 + 0.25 * 4e-3);
    ics_models_destroy(models);
    free(csv);

    csv = four_of_each(30, -50); /* -50 is 310 degrees */
    models = load_table("pmt-table", BALL, csv);
    expect_area(models, 90, 310, 1e-3);
    expect_area(models, 90, 355, 1.5e-3);
    expect_area(models, 90, 17.5, 1e-3 * (1 + 67.5 / 90));
    ics_models_destroy(models);
    free(csv);

    size_t size;
    csv = four_of_each(30, 0);
    size = strlen(csv);
    put(&csv, &size, 0, 0, 0, 1e-3); /* a pole is one direction, whatever the azimuth is */
    put(&csv, &size, 0, 0, 90, 3e-3);
    put(&csv, &size, 0, 0, 180, 8e-3);
    put(&csv, &size, 1, 0, 0, 0);
    models = load_table("pmt-table", BALL, csv);
    expect_area(models, 0, 123, 4e-3);
    expect_area(models, 15, 90, 3e-3);
    expect_area(models, 180, 0, 2.5e-3);
    ics_models_destroy(models);
    free(csv);
}
END_TEST

START_TEST(symmetric_tables)
{
    /* One direction for every zenith: the azimuth of the light does not matter. */
    size_t size;
    char *csv = start(&size);
    for (int zenith = 0; zenith <= 180; zenith += 30) {
        put(&csv, &size, 0, zenith, 40, 1e-5 * (180 - zenith));
        put(&csv, &size, 1, zenith, 40, 1e-5 * zenith);
    }
    ics_models *models = load_table("pmt-table", BALL, csv);
    for (double azimuth = -170; azimuth < 190; azimuth += 13) {
        expect_area(models, 60, azimuth, 1e-5 * 120 + 2 * 1e-5 * 60);
        expect_area(models, 100, azimuth, 1e-5 * 80 + 2 * 1e-5 * 100);
    }
    ics_models_destroy(models);
    free(csv);
}
END_TEST

/* ---- forms of the file ----------------------------------------------------------------------- */

/* The rows of a table from the last one to the first one, as unit vectors if `is_vector`. */
static char *rewritten(const char *csv, bool is_vector)
{
    const size_t size = 8 * strlen(csv) + 64;
    char *out = malloc(size), *rows = malloc(size), *next = rows + size - 1;
    ck_assert(out != NULL && rows != NULL);
    *next = '\0';
    for (const char *line = strchr(csv, '\n'); line != NULL; line = strchr(line + 1, '\n')) {
        char row[128];
        int pmt;
        double zenith, azimuth, area;
        if (sscanf(line + 1, "%d,%lf,%lf,%lf", &pmt, &zenith, &azimuth, &area) != 4) {
            break;
        }
        const double z = zenith * DEGREE, a = azimuth * DEGREE;
        const int length = is_vector ? snprintf(row, sizeof row, "%d,%.17g,%.17g,%.17g,%.9g\n", pmt,
                                                sin(z) * cos(a), sin(z) * sin(a), cos(z), area)
                                     : snprintf(row, sizeof row, "%d,%.9g,%.9g,%.9g\n", pmt, zenith,
                                                azimuth, area);
        next -= length;
        memcpy(next, row, (size_t)length);
    }
    snprintf(out, size, "pmt,%s,area\n%s", is_vector ? "x,y,z" : "zenith,azimuth", next);
    free(rows);
    return out;
}

START_TEST(forms_of_a_table)
{
    char *csv = four_of_each(15, 45), *reverse = rewritten(csv, false);
    char *vectors = rewritten(csv, true), *changed = strdup(csv);
    ck_assert_ptr_nonnull(strstr(changed, ",0.004\n"));
    strstr(changed, ",0.004\n")[5] = '5';
    ics_models *first = load_table("pmt-table", BALL, csv);
    ics_models *second = load_table("pmt-table", BALL, reverse);
    ics_models *third = load_table("pmt-table", BALL, vectors);
    ics_models *other = load_table("pmt-table", BALL, changed);
    ck_assert_str_eq(first->detector_digest, second->detector_digest);
    ck_assert_str_ne(first->detector_digest, other->detector_digest);
    /* Angles from vectors may differ by a rounding, so the numbers are compared. */
    for (double zenith = 0; zenith < 180; zenith += 7) {
        ck_assert_double_eq_tol(share_at(first, zenith * DEGREE, zenith),
                                share_at(third, zenith * DEGREE, zenith), 1e-6);
    }
    ics_models_destroy(first);
    ics_models_destroy(second);
    ics_models_destroy(third);
    ics_models_destroy(other);
    free(csv);
    free(reverse);
    free(vectors);
    free(changed);
}
END_TEST

/* ---- PMTs ------------------------------------------------------------------------------------ */

START_TEST(shares_of_pmts)
{
    /* Four PMTs, of which one sees nothing: the share of the random number divides as the areas. */
    static const char type[] =
        "{shape: capsule, radius: 0.2, half_height: 0.3, pmts: [[0, 0], [90, 0], "
        "{zenith: 90, azimuth: 90, efficiency: 0.5, delay: 3}, [180, 0]]";
    static const double areas[] = {1e-3, 0, 4e-3, 5e-3};
    size_t size;
    char *csv = start(&size);
    for (int zenith = 0; zenith <= 180; zenith += 20) {
        for (int k = 0; k < 4; ++k) {
            put(&csv, &size, k, zenith, 0, areas[k]);
        }
    }
    ics_models *models = load_table("pmt-table", type, csv);
    const ice_arrival light = light_from(1.1, 0.4);
    int counts[4] = {0};
    for (int i = 0; i < 800; ++i) {
        const int32_t pmt = models->detection->variant->pmt(&models->detection->tables, &light,
                                                            ((float)i + 0.5f) / 800);
        ck_assert_int_ge(pmt, 0);
        ck_assert_int_lt(pmt, 4);
        ++counts[pmt];
    }
    ck_assert_int_eq(counts[0], 100);
    ck_assert_int_eq(counts[1], 0);
    ck_assert_int_eq(counts[2], 200);
    ck_assert_int_eq(counts[3], 500);
    ck_assert_float_eq(models->detection->tables.pmts->windows[2].delay, 3);
    ics_models_destroy(models);
    free(csv);
}
END_TEST

/* The table of a type from the formula of pmt-plane, in steps of 3 degrees. */
static char *plane_table(const ice_module_type *type, const ice_pmt_tables *pmts, double maximum)
{
    size_t size;
    char *csv = start(&size);
    for (int zenith = 0; zenith <= 180; zenith += 3) {
        for (int azimuth = 0; azimuth < (zenith % 180 ? 360 : 1); azimuth += 3) {
            const double z = zenith * DEGREE, a = azimuth * DEGREE;
            const double light[3] = {-sin(z) * cos(a), -sin(z) * sin(a), -cos(z)};
            for (size_t k = 0; k < type->pmt_count; ++k) {
                put(&csv, &size, (int)k, zenith, azimuth,
                    maximum * ice_pmt_plane_area(pmts, &pmts->types[0], (uint32_t)k, light, 400));
            }
        }
    }
    return csv;
}

START_TEST(like_pmt_plane)
{
    static const char type[] =
        "{shape: capsule, radius: 0.18, half_height: 0.25, beta: 0.3, "
        "orientation: [40, 70, 20], pmts: [[33, 0], [72, 45], [108, 200], [147, 10]]";
    char closed[256];
    snprintf(closed, sizeof closed, "detector.types={t: %s}}", type);
    ics_models *plane =
        models_load(model_config("stages.detect=pmt-plane", closed, "light.acceptance=standard",
                                 "detector.oversize=1", NULL));
    char *csv = plane_table(&plane->detector->types[0], plane->detection->tables.pmts,
                            plane->detector->angular.maximum);
    ics_models *table = load_table("pmt-table", type, csv);
    detection_numbers numbers = {0};
    for (int i = 0; i < 3000; ++i) {
        double n[3];
        detection_isotropic(&numbers, n);
        const ice_arrival light = {
            .wavelength = 400, .dx = (float)n[0], .dy = (float)n[1], .dz = (float)n[2]};
        const double p =
            (double)table->detection->variant->probability(&table->detection->tables, &light);
        const double q =
            (double)plane->detection->variant->probability(&plane->detection->tables, &light);
        ck_assert_double_le(p, 1 + 1e-6);
        /* Linear between points 3 degrees apart, second derivatives below some units, and the edge
         * of a window is a kink: within 1 % of the largest value. */
        ck_assert_double_eq_tol(p * table->detector->angular.maximum,
                                q * plane->detector->angular.maximum,
                                0.01 * plane->detector->angular.maximum);
    }
    ics_models_destroy(plane);
    ics_models_destroy(table);
    free(csv);
}
END_TEST

START_TEST(open_cylinders)
{
    /* No light along the axis hits a cylinder without ends, so areas of 0 there are right. */
    static const char type[] =
        "{shape: cylinder, radius: 0.1, half_height: 0.5, open_ends: true, pmts: [[90, 0]]";
    size_t size;
    char *csv = start(&size);
    for (int zenith = 0; zenith <= 180; zenith += 10) {
        put(&csv, &size, 0, zenith, 0, zenith % 180 ? 0.05 * sin(zenith * DEGREE) : 0);
    }
    ics_models *models = load_table("pmt-table", type, csv);
    ck_assert_double_eq_tol(share_at(models, M_PI / 2, 2), 0.05 / 0.2, 1e-6);
    ck_assert_double_eq_tol(share_at(models, 0.4, 2), 0.05 / 0.2, 1e-6);
    ck_assert_double_eq(share_at(models, 0, 0), 0);
    ics_models_destroy(models);
    free(csv);
}
END_TEST

ICS_TEST_MAIN("pmt_table")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, linear_between_directions);
    tcase_add_test(all, around_the_axis_and_at_the_poles);
    tcase_add_test(all, symmetric_tables);
    tcase_add_test(all, forms_of_a_table);
    tcase_add_test(all, shares_of_pmts);
    tcase_add_test(all, like_pmt_plane);
    tcase_add_test(all, open_cylinders);
    suite_add_tcase(suite, all);
}
