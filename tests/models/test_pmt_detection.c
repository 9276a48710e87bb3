/* Promise: pmt-plane has the probabilities of ppc's formula at worked numbers and never one above
 * 1, pmt-place finds the window that was hit, both agree in the mean over directions, and transit
 * times have their mean and spread (physics.md 8.13, 8.14). To join: a type of modules is a row of
 * `types`.
 */
#include "physics/detect/variants.h"
#include "tests/support/detection_world.h"
#include "tests/support/test_main.h"

#include <string.h>

static ics_models *load_type(const char *variant, const char *type)
{
    char detect[64], types[1024];
    snprintf(detect, sizeof detect, "stages.detect=%s", variant);
    snprintf(types, sizeof types, "detector.types={t: %s}", type);
    return models_load(
        model_config(detect, types, "light.acceptance=standard", "detector.oversize=1", NULL));
}

static float probability(const ics_models *models, const ice_arrival *arrival)
{
    return models->detection->variant->probability(&models->detection->tables, arrival);
}

START_TEST(share_of_windows)
{
    /* A flat window, a half-sphere, and worked numbers of the formula in between (beta = 0.5): from
     * the side it is A(0.5) / (1 - 0.25) / pi, from the front 1. */
    static const struct {
        double x, beta, share;
    } cases[] = {{1, 1, 1},   {0.5, 1, 0.5},  {-0.5, 1, 0}, {1, 0, 1},
                 {0, 0, 0.5}, {-0.6, 0, 0.2}, {1, 0.5, 1},  {0, 0.5, 0.26066814597}};
    for (size_t i = 0; i < COUNT(cases); ++i) {
        ck_assert_double_eq_tol(ice_pmt_share(cases[i].x, cases[i].beta), cases[i].share, 1e-7);
    }
    /* The mean over all directions is a quarter of the surface of the cap over the area of its rim:
     * 1 / (2 (1 + beta)). */
    for (double beta = 0; beta <= 1; beta += 0.25) {
        double sum = 0;
        const int steps = 20000;
        for (int i = 0; i < steps; ++i) {
            sum += ice_pmt_share(-1 + (2 * i + 1.0) / steps, beta) / steps;
        }
        ck_assert_double_eq_tol(sum, 1 / (2 * (1 + beta)), 1e-6);
    }
}
END_TEST

static const char *const types[] = {
    "{shape: sphere, radius: 0.1651, beta: 0.49, pmts: [[180, 0]]}",
    "{shape: spheroid, radius: 0.15, half_height: 0.267, beta: 0.5, pmts: [[180, 0], [0, 0]]}",
    ("{shape: capsule, radius: 0.18, half_height: 0.21, beta: 0.3, pmts: [[33, 0], [72, 45], "
     "{zenith: 108, azimuth: 200, efficiency: 0.5}, [147, 10]]}"),
    "{shape: cylinder, radius: 0.1, half_height: 0.2, beta: 0.5, pmts: [[90, 0], [90, 120]]}",
    ("{shape: cylinder, radius: 0.1, half_height: 0.5, open_ends: true, beta: 0.5, pmts: [[90, 0], "
     "[90, 90], [90, 180], [90, 270]]}"),
};

START_TEST(largest_probability_is_one)
{
    ics_models *models = load_type("pmt-plane", types[_i]);
    detection_numbers numbers = {0};
    double largest = 0;
    for (int i = 0; i < 40000; ++i) {
        double n[3];
        detection_isotropic(&numbers, n);
        const ice_arrival arrival = {
            .wavelength = 400, .dx = (float)n[0], .dy = (float)n[1], .dz = (float)n[2]};
        const float p = probability(models, &arrival);
        ck_assert_float_le(p, 1.0f + 1e-6f);
        largest = fmax(largest, (double)p);
        if (p > 0) { /* every share of the sum belongs to a PMT */
            const int32_t first =
                models->detection->variant->pmt(&models->detection->tables, &arrival, 0);
            const int32_t last =
                models->detection->variant->pmt(&models->detection->tables, &arrival, 0.9999999f);
            ck_assert_int_ge(first, 0);
            ck_assert_int_le(first, last);
            ck_assert_int_lt(last, (int32_t)models->detector->types[0].pmt_count);
        }
    }
    ck_assert_double_gt(largest, 0.9); /* some maxima are narrow */
    ics_models_destroy(models);
}
END_TEST

START_TEST(place_and_plane_agree)
{
    /* Parallel light on a sphere with a window whose half angle is 60 degrees (beta 0.5, so the rim
     * has the radius R sin 60, and the corner of the window is 2 R sin 30 = R from its middle). The
     * place of impact of uniform parallel light is on the window as often as the formula says. */
    static const char type[] =
        "{shape: sphere, radius: 0.2, beta: 0.5, pmts: [{zenith: 0, azimuth: "
        "0, radius: 0.2}]}";
    ics_models *models = load_type("pmt-place", type);
    detection_numbers numbers = {0};
    for (double cosine = -0.8; cosine < 1; cosine += 0.4) {
        const int photons = 20000;
        int on_window = 0;
        const double sine = sqrt(1 - cosine * cosine);
        const double light[3] = {-sine, 0, -cosine}; /* it comes from this angle to the axis */
        for (int i = 0; i < photons; ++i) {
            const double r = 0.2 * sqrt(detection_uniform(&numbers)),
                         a = 2 * M_PI * detection_uniform(&numbers), d = sqrt(0.04 - r * r);
            const double u = r * cos(a), v = r * sin(a);
            const ice_arrival arrival = {.wavelength = 400,
                                         .x = (float)(-d * light[0] + u * cosine),
                                         .y = (float)v,
                                         .z = (float)(-d * light[2] - u * sine),
                                         .dx = (float)light[0],
                                         .dz = (float)light[2]};
            on_window += probability(models, &arrival) > 0;
        }
        /* 4.5 standard deviations of a share of at most 1 in 4 (n p q <= n / 4): false alarms of
         * five angles below 4e-5. */
        const double expected = 0.75 * ice_pmt_share(cosine, 0.5);
        ck_assert_double_eq_tol((double)on_window / photons, expected, 4.5 * sqrt(0.25 / photons));
    }
    ics_models_destroy(models);
}
END_TEST

START_TEST(turned_modules)
{
    /* A module that hangs upside down has its PMT above: light from above is detected as light from
     * below by an upright one. */
    ics_models *upright = load_type("pmt-plane", types[0]);
    ics_models *turned = load_type("pmt-plane", "{shape: sphere, radius: 0.1651, beta: 0.49, "
                                                "orientation: [180, 0, 0], pmts: [[180, 0]]}");
    const ice_arrival up = {.wavelength = 400, .dx = 0.6f, .dz = 0.8f},
                      down = {.wavelength = 400, .dx = -0.6f, .dz = -0.8f};
    ck_assert_float_gt(probability(upright, &up), probability(upright, &down));
    ck_assert_float_eq_tol(probability(upright, &up), probability(turned, &down), 1e-6f);
    ics_models_destroy(upright);
    ics_models_destroy(turned);
}
END_TEST

/* Loads a type with one PMT. `more` are further keys, of which the last one gets the name of a file
 * with ratios from 0.5 at 300 nm to 1.5 at 500 nm. */
static ics_models *load_accepting(const char *variant, const char *more)
{
    model_folder folder = model_folder_create();
    char ratio[MODEL_PATH], table[MODEL_PATH], type[4 * MODEL_PATH];
    model_folder_write(&folder, "ratio", "300 0.5\n500 1.5\n", ratio);
    model_folder_write(&folder, "table.csv",
                       "pmt,zenith,azimuth,area\n0,0,0,0.01\n0,30,0,0.01\n0,60,0,0.01\n"
                       "0,90,0,0.01\n0,120,0,0\n0,150,0,0\n0,180,0,0\n",
                       table);
    snprintf(type, sizeof type,
             "{shape: sphere, radius: 0.2, pmts: [{zenith: 0, azimuth: 0, radius: 0.1}], table: "
             "%s%s%s}",
             table, more, *more ? ratio : "");
    char detect[64], set[5 * MODEL_PATH];
    snprintf(detect, sizeof detect, "stages.detect=%s", variant);
    snprintf(set, sizeof set, "detector.types={t: %s}", type);
    ics_models *models = models_load(
        model_config(detect, set, "light.acceptance=standard", "detector.oversize=1", NULL));
    model_folder_remove(&folder);
    return models;
}

START_TEST(acceptances_of_pmts)
{
    static const char *const variants[] = {"pmt-plane", "pmt-place", "pmt-table"};
    static const struct {
        double wavelength, ratio;
    } cases[] = {{280, 0.5}, {300, 0.5}, {350, 0.75}, {475, 1.375}, {500, 1.5}, {600, 1.5}};
    const bool has_angles = strcmp(variants[_i], "pmt-place") == 0;
    ics_models *plain = load_accepting(variants[_i], "");
    ics_models *accepting =
        load_accepting(variants[_i], ", angular_polynomial: [0.8, -0.2, 1], acceptance_ratio: ");
    /* The largest values differ by the maxima. */
    ck_assert_double_eq_tol(accepting->detector->angular.maximum / plain->detector->angular.maximum,
                            1.5 * (has_angles ? 0.8 : 1), 1e-12);
    for (size_t i = 0; i < COUNT(cases); ++i) {
        for (double x = 0.1; x < 1; x += 0.2) {
            const ice_arrival light = {.wavelength = (float)cases[i].wavelength,
                                       .z = 0.2f,
                                       .dx = (float)sqrt(1 - x * x),
                                       .dz = (float)-x};
            const double p = (double)probability(accepting, &light);
            const double expected = (double)probability(plain, &light) * cases[i].ratio / 1.5 *
                                    (has_angles ? fmax(x - 0.2, 0) / 0.8 : 1);
            ck_assert_double_le(p, 1 + 1e-4);
            ck_assert_double_eq_tol(p, expected, 1e-6);
        }
    }
    ics_models_destroy(plain);
    ics_models_destroy(accepting);
}
END_TEST

/* Puts the name of a file everywhere where `word` stands. */
static void name_files(char *text, size_t size, const char *word, const char *name)
{
    for (char *at = text; (at = strstr(at, word)) != NULL;) {
        char tail[2048];
        snprintf(tail, sizeof tail, "%s", at + strlen(word));
        snprintf(at, size - (size_t)(at - text), "%s%s", name, tail);
    }
}

/* Loads a type with two PMTs, 0 above and 1 below. `top`, `bottom` and `rest` are further keys of
 * these and of the type, in which FALLS and RISES are files with ratios from 300 to 500 nm. */
static ics_models *load_pair(const char *variant, const char *top, const char *bottom,
                             const char *rest)
{
    model_folder folder = model_folder_create();
    char falls[MODEL_PATH], rises[MODEL_PATH], table[MODEL_PATH], set[4096], detect[64];
    model_folder_write(&folder, "falls", "300 2\n500 0.5\n", falls);
    model_folder_write(&folder, "rises", "300 0.5\n400 1\n500 1.5\n", rises);
    model_folder_write(&folder, "table.csv",
                       "pmt,zenith,azimuth,area\n0,0,0,0.01\n0,30,0,0.01\n0,60,0,0.01\n"
                       "0,90,0,0.004\n0,120,0,0.001\n0,150,0,0\n0,180,0,0\n1,0,0,0\n1,30,0,0\n"
                       "1,60,0,0.001\n1,90,0,0.004\n1,120,0,0.01\n1,150,0,0.01\n1,180,0,0.02\n",
                       table);
    snprintf(
        set, sizeof set,
        "detector.types={t: {shape: sphere, radius: 0.2, beta: 0.3, table: %s, pmts: [{zenith: "
        "0, azimuth: 0, radius: 0.15%s}, {zenith: 180, azimuth: 0, radius: 0.15%s}]%s}}",
        table, top, bottom, rest);
    name_files(set, sizeof set, "FALLS", falls);
    name_files(set, sizeof set, "RISES", rises);
    snprintf(detect, sizeof detect, "stages.detect=%s", variant);
    ics_models *models = models_load(
        model_config(detect, set, "light.acceptance=standard", "detector.oversize=1", NULL));
    model_folder_remove(&folder);
    return models;
}

/* Returns the share of arrivals that PMT 0 detects, of those that a PMT detects. */
static double share_of_first(const ics_models *models, const ice_arrival *arrival)
{
    const int steps = 1000;
    int first = 0;
    for (int i = 0; i < steps; ++i) {
        first += models->detection->variant->pmt(&models->detection->tables, arrival,
                                                 ((float)i + 0.5f) / (float)steps) == 0;
    }
    return (double)first / steps;
}

START_TEST(acceptances_of_single_pmts)
{
    static const char *const variants[] = {"pmt-plane", "pmt-place", "pmt-table"};
    const char *variant = variants[_i];
    /* PMT 0 has an own ratio and the polynomial of the type, PMT 1 the reverse. The references have
     * the same acceptance for both PMTs, of which one detects nothing. */
    ics_models *both =
        load_pair(variant, ", acceptance_ratio: FALLS", ", angular_polynomial: [1.5, 0.5, 1]",
                  ", acceptance_ratio: RISES, angular_polynomial: [0.8, 0.3, 0.5]");
    ics_models *top = load_pair(variant, "", ", efficiency: 0",
                                ", acceptance_ratio: FALLS, angular_polynomial: [0.8, 0.3, 0.5]");
    ics_models *bottom = load_pair(variant, ", efficiency: 0", "",
                                   ", acceptance_ratio: RISES, angular_polynomial: [1.5, 0.5, 1]");
    const double maximum = both->detector->angular.maximum;
    detection_numbers numbers = {0};
    for (int i = 0; i < 4000; ++i) {
        double n[3];
        detection_isotropic(&numbers, n);
        const bool is_above = n[2] < 0; /* the light meets the middle of the window before it */
        const ice_arrival light = {.wavelength = (float)(280 + 10 * (i % 25)),
                                   .z = is_above ? 0.2f : -0.2f,
                                   .dx = (float)n[0],
                                   .dy = (float)n[1],
                                   .dz = (float)n[2]};
        const double p = (double)probability(both, &light),
                     first = (double)probability(top, &light) * top->detector->angular.maximum,
                     second =
                         (double)probability(bottom, &light) * bottom->detector->angular.maximum;
        ck_assert_double_le(p, 1 + 1e-6);
        ck_assert_double_eq_tol(p * maximum, first + second, 1e-6 * maximum);
        if (i % 40 == 0 && p > 1e-3) { /* which PMT detects it */
            ck_assert_double_eq_tol(share_of_first(both, &light), first / (first + second), 2e-3);
        }
    }
    if (strcmp(variant, "pmt-place") == 0) { /* 0.8 * 2 of PMT 0, 1.5 * 1.5 of PMT 1 */
        ck_assert_double_eq_tol(maximum, 2.25, 1e-12);
    } else if (strcmp(variant, "pmt-table") == 0) { /* light from below: 0.02 m2 * 1.5 */
        ck_assert_double_eq_tol(maximum, 0.03 / (M_PI * 0.04), 1e-6);
    }
    ics_models_destroy(both);
    ics_models_destroy(top);
    ics_models_destroy(bottom);
}
END_TEST

START_TEST(transit_times)
{
    static const ice_tables tables = {.seed_low = 3};
    const int count = 20000;
    double sum = 0, squares = 0;
    for (int i = 0; i < count; ++i) {
        const ice_identity identity = {.photon_id = (uint32_t)i};
        const double t = (double)ice_transit_time(&tables, identity, 0x80000007u, 40, 2) - 40;
        sum += t;
        squares += t * t;
        ck_assert_float_eq(ice_transit_time(&tables, identity, 0x80000007u, 40, 0), 40);
    }
    /* 4.5 standard deviations each: false alarms below 2e-5. */
    ck_assert_double_eq_tol(sum / count, 0, 4.5 * 2 / sqrt(count));
    ck_assert_double_eq_tol(squares / count, 4, 4.5 * 4 * sqrt(2.0 / count));
}
END_TEST

ICS_TEST_MAIN("pmt_detection")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, share_of_windows);
    tcase_add_loop_test(all, largest_probability_is_one, 0, COUNT(types));
    tcase_add_test(all, place_and_plane_agree);
    tcase_add_test(all, turned_modules);
    tcase_add_loop_test(all, acceptances_of_pmts, 0, 3);
    tcase_add_loop_test(all, acceptances_of_single_pmts, 0, 3);
    tcase_add_test(all, transit_times);
    suite_add_tcase(suite, all);
}
