/* The detect stage: probabilities, cable shadow and random numbers against worked numbers, means
 * against what they must not depend on, and what becomes of hits. */
#include "stages/detect_none.h"
#include "stages/detect_pe.h"

#include "kernels/tables.h"
#include "pipeline/host/batch.h"
#include "pipeline/models/light.h"
#include "pipeline/models/models.h"
#include "pipeline/models/sensors.h"
#include "tests/support/model_files.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static is_models *load(is_config *config)
{
    is_models *models = NULL;
    is_error error = {0};
    ck_assert_msg(is_models_create(config, &models, &error) == IS_OK, "%s", error.text);
    is_config_destroy(config);
    return models;
}

static uint32_t index_of(const is_models *models, uint16_t string, uint16_t number)
{
    const ice_module *module =
        is_detector_find(models->detector, (is_module_label){.string = string, .module = number});
    ck_assert_ptr_nonnull(module);
    return (uint32_t)(module - models->detector->modules);
}

/* Light of a wavelength that travels upwards with a cosine nz, at the module's foot. */
static float probability(const is_models *models, uint32_t module, double wavelength, double nz)
{
    const ice_arrival arrival = {.module = module,
                                 .wavelength = (float)wavelength,
                                 .z = -0.1651f,
                                 .dx = (float)sqrt(1 - nz * nz),
                                 .dz = (float)nz};
    return ice_detect_pe(&models->detection->tables, &arrival);
}

/* ---- acceptances ----------------------------------------------------------------------------- */

START_TEST(worked_chain)
{
    /* physics.md 8.5: F = 5, 450 nm, n_z 0.5: bias 0.00328794, weight 304.142, P 0.84375. */
    is_models *models = load(model_config("stages.detect=pe", "detector.oversize=5", NULL));
    ck_assert_float_eq_tol(probability(models, 0, 450, 0.5), 0.84375f, 1e-6f);
    const double weight = 1 / is_light_bias(models->light, 450);
    ck_assert_double_eq_tol(weight, 304.142, 0.03);
    ck_assert_double_eq_tol(weight * 0.12088 / 25 * 0.57375, 0.84375, 3e-5);
    is_models_destroy(models);
    /* With modules of 1.35 in the detector the others see 1/1.35 of their light. */
    models =
        load(model_config("stages.detect=pe", "detector.oversize=5", "detector.dense=true", NULL));
    ck_assert_float_eq_tol(probability(models, index_of(models, 1, 1), 450, 0.5),
                           (float)(0.84375 / 1.35), 1e-6f);
    ck_assert_float_eq_tol(probability(models, index_of(models, 80, 1), 450, 0.5), 0.84375f, 1e-6f);
    is_models_destroy(models);
}
END_TEST

START_TEST(light_that_was_not_thinned)
{
    /* Every wavelength is seen alike; modules are four times as large as those that see. */
    is_models *models = load(
        model_config("stages.detect=pe", "light.acceptance=none", "detector.oversize=2", NULL));
    ck_assert_float_eq_tol(probability(models, 0, 300, 1), 0.17f, 1e-7f);
    ck_assert_float_eq_tol(probability(models, 0, 650, 0.5), 0.57375f / 4, 1e-7f);
    is_models_destroy(models);
}
END_TEST

START_TEST(upgoing_light_is_favoured)
{
    /* physics.md 14.2: the wrong sign of cos(eta) would turn this round. */
    is_models *models = load(model_config("stages.detect=pe", NULL));
    ck_assert_float_eq_tol(probability(models, 7, 400, 1), 1.0f, 1e-6f);
    ck_assert_float_eq_tol(probability(models, 7, 400, 0), 0.5f, 1e-6f);
    ck_assert_float_eq_tol(probability(models, 7, 400, -1), 0.0f, 1e-6f);
    ck_assert_float_eq(ice_detect_none(NULL, NULL), 1.0f);
    is_models_destroy(models);
}
END_TEST

/* Everything default but for one file of the detector. */
static is_models *with_file(const char *key, const char *content, const char *set)
{
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], given[MODEL_PATH + 64];
    snprintf(given, sizeof given, "%s=%s", key,
             model_folder_write(&folder, "x.dat", content, path));
    is_models *models = load(model_config("stages.detect=pe", given, set, NULL));
    model_folder_remove(&folder);
    return models;
}

START_TEST(tilted_modules)
{
    /* The PMT of module 1 looks to -x, its back to +x; that of module 2 upwards. */
    is_models *models =
        with_file("detector.axes", "1 1 1 0 0 1\n1 2 0 0 -1 1\n", "detector.oversize=1");
    const ice_arrival east = {.module = index_of(models, 1, 1), .wavelength = 400, .dx = 1};
    ice_arrival west = east, up = east;
    west.dx = -1;
    up.dx = 0;
    up.dz = 1;
    const ice_detection *tables = &models->detection->tables;
    ck_assert_float_eq_tol(ice_detect_pe(tables, &east), 1.0f, 1e-6f);
    ck_assert_float_eq_tol(ice_detect_pe(tables, &west), 0.0f, 1e-6f);
    ck_assert_float_eq_tol(ice_detect_pe(tables, &up), 0.5f, 1e-6f);
    ck_assert_float_eq_tol(probability(models, index_of(models, 1, 2), 400, -1), 1.0f, 1e-6f);
    ck_assert_float_eq_tol(probability(models, index_of(models, 1, 3), 400, 1), 1.0f, 1e-6f);
    is_models_destroy(models);
}
END_TEST

START_TEST(sharp_edge)
{
    is_models *models = with_file("detector.angular_acceptance", "0\n0.3\n", NULL);
    const float heights[] = {-0.31f, -0.29f, 0.0f, 1.0f}, expected[] = {1, 0, 0, 0};
    for (int i = 0; i < 4; ++i) {
        const ice_arrival arrival = {.wavelength = 400, .z = 0.1651f * heights[i], .dz = -1};
        ck_assert_float_eq(ice_detect_pe(&models->detection->tables, &arrival), expected[i]);
    }
    is_models_destroy(models);
}
END_TEST

START_TEST(high_efficiency_by_wavelength)
{
    /* Half at 300 nm, twice at 500 nm; the second file makes module 2 such a one, of 0.8. */
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], ratio[MODEL_PATH + 64], list[MODEL_PATH + 64];
    snprintf(ratio, sizeof ratio, "light.high_efficiency=%s",
             model_folder_write(&folder, "wv.rde", "300 0.5\n500 2\n", path));
    snprintf(list, sizeof list, "detector.efficiencies=%s",
             model_folder_write(&folder, "eff-f2k", "1 2 0.8 1\n", path));
    is_models *models = load(model_config("stages.detect=pe", ratio, list, NULL));
    const uint32_t plain = index_of(models, 1, 1), high = index_of(models, 1, 2);
    /* 0.8 of 0.5 + 1.5 (wl - 300) / 200, of which the larger of it and 1 is the envelope. */
    static const double rows[][3] = {{290, 1, 0.4},    {300, 1, 0.4},      {340, 1, 0.64},
                                     {400, 1, 1},      {480, 1 / 1.48, 1}, {500, 1 / 1.6, 1},
                                     {600, 1 / 1.6, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert_float_eq_tol(probability(models, plain, rows[i][0], 1), (float)rows[i][1], 2e-6f);
        ck_assert_float_eq_tol(probability(models, high, rows[i][0], 1), (float)rows[i][2], 2e-6f);
    }
    /* Nowhere more than certain, between the points of the tables either. */
    for (double wl = 280; wl <= 680; wl += 0.173) {
        ck_assert_float_le(probability(models, plain, wl, 1), 1 + 1e-6f);
        ck_assert_float_le(probability(models, high, wl, 1), 1 + 1e-6f);
    }
    is_models_destroy(models);
    model_folder_remove(&folder);
}
END_TEST

START_TEST(real_folder_of_high_efficiency)
{
    char path[MODEL_PATH], ice[MODEL_PATH + 32], geometry[MODEL_PATH + 64];
    if (!model_shared("ice/spice_ftp-v3m", path))
        return;
    snprintf(ice, sizeof ice, "ice.directory=%s", path);
    snprintf(geometry, sizeof geometry, "detector.file=%s/geo-f2k", path);
    is_models *plain = load(model_config(ice, geometry, NULL));
    is_models *models = load(model_config(ice, geometry, "stages.detect=pe", NULL));
    /* ppc made 1191730012 photons of 100 TeV, where a flat envelope would have made
     * 1e5 * 5.25403 * 2450.08 * 1.015 * 0.68: as many as the larger of 1 and wv.rde is, on average
     * over wv.dat. */
    const double ratio = models->light->photons_per_metre / plain->light->photons_per_metre;
    ck_assert_double_eq_tol(ratio, 1191730012.0 / (1e5 * 5.25403 * 2450.08 * 1.015 * 0.68), 1e-4);
    ck_assert_ptr_null(plain->detection);
    is_models_destroy(plain);
    is_models_destroy(models);
    snprintf(ice, sizeof ice, "ice.directory=%.*s/spice_bfr-v2", (int)(strrchr(path, '/') - path),
             path);
    plain = load(model_config(ice, geometry, NULL));
    models = load(model_config(ice, geometry, "stages.detect=pe", NULL));
    ck_assert_double_eq_tol(models->light->photons_per_metre / plain->light->photons_per_metre,
                            1.35, 1e-12);
    is_models_destroy(plain);
    is_models_destroy(models);
}
END_TEST

START_TEST(modules_without_voltage)
{
    is_models *models = with_file("detector.voltages", "1 1 1300\n", NULL);
    ck_assert_float_eq_tol(probability(models, index_of(models, 1, 1), 400, 1), 1.0f, 1e-6f);
    ck_assert_float_eq(probability(models, index_of(models, 1, 2), 400, 1), 0.0f);
    is_models_destroy(models);
}
END_TEST

/* ---- cable shadow ---------------------------------------------------------------------------- */

#define RADIUS 0.1651
#define CABLE  0.023

/* Whether light that arrives at (x, y, z) along a direction is shadowed by a cable at azimuth 0 (of
 * module 1) or 90 degrees (of module 2). */
static bool is_shadowed(const is_models *models, uint16_t number, const double place[3],
                        const double n[3])
{
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    const ice_arrival arrival = {.module = index_of(models, 1, number),
                                 .wavelength = 400,
                                 .x = (float)place[0],
                                 .y = (float)place[1],
                                 .z = (float)place[2],
                                 .dx = (float)(n[0] / length),
                                 .dy = (float)(n[1] / length),
                                 .dz = (float)(n[2] / length)};
    return ice_detect_pe(&models->detection->tables, &arrival) == 0.0f;
}

START_TEST(cable_geometry)
{
    is_models *models =
        with_file("detector.cables", "1 1 0 1\n1 2 90 1\n", "detector.angular_acceptance=none");
    const double near = 0.0229, far = 0.0231; /* from the cable's axis, of radius 0.023 */
    const struct {
        uint16_t module;
        double place[3], n[3];
        bool shadowed;
    } rows[] = {
        {1, {RADIUS, 0, 0}, {-1, 0, 0}, true},  /* it touches the module just there */
        {1, {-RADIUS, 0, 0}, {1, 0, 0}, false}, /* the module is in front of it */
        {1, {RADIUS, 0, 0}, {0, -1, 0}, false}, /* passes between, touching both */
        {1, {sqrt(RADIUS * RADIUS - near * near), near, 0}, {-1, 0, 0}, true},
        {1, {sqrt(RADIUS * RADIUS - far * far), far, 0}, {-1, 0, 0}, false},
        {1, {sqrt(RADIUS * RADIUS - near * near), -near, 0}, {-1, 0, -3}, true},
        {1, {sqrt(RADIUS * RADIUS - far * far), -far, 0}, {-1, 0, 3}, false},
        {1, {0.1, 0, sqrt(RADIUS * RADIUS - 0.01)}, {0, 0, -1}, false}, /* parallel to it */
        {1, {0, 0, RADIUS}, {-1, 0, -1}, true},
        {1, {0, 0, RADIUS}, {1, 0, -1}, false},
        {2, {0, RADIUS, 0}, {0, -1, 0}, true},
        {2, {0, -RADIUS, 0}, {0, 1, 0}, false},
        {2, {RADIUS, 0, 0}, {-1, 0, 0}, false},
        {3, {RADIUS, 0, 0}, {-1, 0, 0}, false}, /* no cable */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        ck_assert_msg(is_shadowed(models, rows[i].module, rows[i].place, rows[i].n) ==
                          rows[i].shadowed,
                      "row %zu", i);
    is_models_destroy(models);
}
END_TEST

START_TEST(cables_that_end)
{
    /* Back from the top of the module the light meets the cable's near side, 0.1651 m away, at a
     * height of R + R / tan(angle to the vertical): 0.5 m for tan = R / (0.5 - R), 26.24 degrees.
     */
    const double low = 26.5 * M_PI / 180, high = 26.0 * M_PI / 180, place[3] = {0, 0, RADIUS};
    const double from_low[3] = {-sin(low), 0, -cos(low)};
    const double from_high[3] = {-sin(high), 0, -cos(high)};
    static const char cable[] = "1 1 0 1\n";
    is_models *endless = with_file("detector.cables", cable, "detector.angular_acceptance=none");
    ck_assert(is_shadowed(endless, 1, place, from_low));
    ck_assert(is_shadowed(endless, 1, place, from_high));
    is_models_destroy(endless);
    is_models *models = with_file("detector.cables", cable, "detector.cable_length=1");
    /* The standard module sees nothing of steep light: looked at from below instead. */
    const double foot[3] = {0, 0, -RADIUS};
    const double up_low[3] = {-sin(low), 0, cos(low)}, up_high[3] = {-sin(high), 0, cos(high)};
    ck_assert(is_shadowed(models, 1, foot, up_low));
    ck_assert(!is_shadowed(models, 1, foot, up_high));
    is_models_destroy(models);
}
END_TEST

/* Uniform numbers of a test: words of Philox blocks. */
typedef struct numbers {
    uint32_t next;
} numbers;

static double uniform(numbers *from)
{
    const ice_block block = ice_philox(from->next++, 7, 7, 7, 2026, 11);
    return (double)block.a * 0x1p-32;
}

static void isotropic(numbers *from, double n[3])
{
    const double z = 2 * uniform(from) - 1, azimuth = 2 * M_PI * uniform(from);
    const double r = sqrt(1 - z * z);
    n[0] = r * cos(azimuth);
    n[1] = r * sin(azimuth);
    n[2] = z;
}

/* Where light of a direction enters a sphere, uniformly over its cross-section. */
static void place_of(numbers *from, const double n[3], double place[3])
{
    const double r2 = uniform(from), angle = 2 * M_PI * uniform(from);
    const double u = sqrt(r2) * cos(angle), v = sqrt(r2) * sin(angle), w = -sqrt(1 - r2);
    /* Two vectors across n: horizontal, and n x it. */
    const double h = sqrt(n[0] * n[0] + n[1] * n[1]);
    const double a[3] = {-n[1] / h, n[0] / h, 0};
    const double b[3] = {n[1] * a[2] - n[2] * a[1], n[2] * a[0] - n[0] * a[2],
                         n[0] * a[1] - n[1] * a[0]};
    for (int i = 0; i < 3; ++i)
        place[i] = RADIUS * (u * a[i] + v * b[i] + w * n[i]);
}

/* Area of a unit disc on one side of a chord at distance x. */
static double segment_area(double x)
{
    const double at = fmin(fmax(x, -1), 1);
    return acos(at) - at * sqrt(1 - at * at);
}

/* The part of isotropic hits that an endless cable shadows, of any inclination: seen along the
 * light, the cable is a strip of width 2 rc whose middle is (R + rc) |sin psi| beside that of the
 * module's disc, psi the azimuth of the light's origin from the cable; it is in front of the module
 * for |psi| < 90 degrees. */
static double shadowed_part(void)
{
    enum { CELLS = 4000 };
    double sum = 0;
    for (int i = 0; i < CELLS; ++i) {
        const double psi = 0.5 * M_PI * (i + 0.5) / CELLS;
        const double middle = (1 + CABLE / RADIUS) * sin(psi), half = CABLE / RADIUS;
        sum += segment_area(middle - half) - segment_area(middle + half);
    }
    return 0.5 * sum / CELLS / M_PI;
}

START_TEST(isotropic_light_in_the_shadow)
{
    enum { HITS = 400000 };
    is_models *models =
        with_file("detector.cables", "1 1 0 1\n", "detector.angular_acceptance=none");
    numbers random = {0};
    size_t all = 0, facing = 0, behind = 0;
    for (int i = 0; i < HITS; ++i) {
        double n[3], place[3];
        isotropic(&random, n);
        place_of(&random, n, place);
        bool shadowed = is_shadowed(models, 1, place, n);
        all += shadowed;
        facing += n[0] < 0;
        behind += shadowed && n[0] >= 0;
    }
    /* 4 sigma: 1 in 16 000 by chance. */
    const double expected = shadowed_part(), part = (double)all / HITS;
    ck_assert_double_eq_tol(part, expected, 4 * sqrt(expected / HITS));
    /* Of light from the cable's half about a tenth is lost, of the other none. */
    ck_assert_double_eq_tol((double)all / (double)facing, 0.1, 0.02);
    ck_assert_uint_eq(behind, 0);
    is_models_destroy(models);
}
END_TEST

/* ---- random numbers -------------------------------------------------------------------------- */

static int compare_words(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

START_TEST(blocks_of_a_photon)
{
    enum { STRINGS = 86, MODULES = 60, BOUNCES = 10000 };
    static uint32_t blocks[STRINGS * MODULES > BOUNCES ? STRINGS * MODULES : BOUNCES];
    size_t count = 0;
    for (uint32_t string = 1; string <= STRINGS; ++string)
        for (uint32_t module = 1; module <= MODULES; ++module)
            blocks[count++] = ice_detection_block(3, string, module);
    for (int pass = 0; pass < 2; ++pass) {
        qsort(blocks, count, sizeof *blocks, compare_words);
        ck_assert_uint_ge(blocks[0], ICE_BLOCK_DETECT);
        for (size_t i = 1; i < count; ++i)
            ck_assert_uint_ne(blocks[i], blocks[i - 1]);
        count = 0;
        for (uint32_t scatters = 0; scatters < BOUNCES; ++scatters)
            blocks[count++] = ice_detection_block(scatters, 63, 20);
    }
}
END_TEST

START_TEST(hits_of_a_photon_are_independent)
{
    enum { PHOTONS = 40000 };
    const ice_tables tables = {.seed_low = 1};
    size_t first = 0, other_module = 0, other_segment = 0;
    for (uint32_t i = 0; i < PHOTONS; ++i) {
        const ice_identity photon = {.event_low = 3, .step_id = i / 200, .photon_id = i % 200};
        const bool one = ice_detection_number(&tables, photon, 5, 63, 20) < 0.5f;
        first += one;
        other_module += one == (ice_detection_number(&tables, photon, 5, 63, 21) < 0.5f);
        other_segment += one == (ice_detection_number(&tables, photon, 6, 63, 20) < 0.5f);
    }
    /* Half of each; 4 sigma. */
    const double allowed = 4 * sqrt(0.25 * PHOTONS);
    ck_assert_double_eq_tol((double)first, 0.5 * PHOTONS, allowed);
    ck_assert_double_eq_tol((double)other_module, 0.5 * PHOTONS, allowed);
    ck_assert_double_eq_tol((double)other_segment, 0.5 * PHOTONS, allowed);
}
END_TEST

/* ---- means ----------------------------------------------------------------------------------- */

/* Exact inversion of a piecewise linear density (physics.md 3.4). */
static double quantile(const ice_spectrum *s, double u, double area)
{
    double left = u * area;
    for (size_t i = 1; i < s->count; ++i) {
        const double h = s->wavelength[i] - s->wavelength[i - 1];
        const double p = s->density[i - 1], q = s->density[i], cell = 0.5 * (p + q) * h;
        if (left <= cell) {
            const double m = (q - p) / h;
            return s->wavelength[i - 1] +
                   (fabs(m) * h < 1e-12 * p ? left / p : (sqrt(p * p + 2 * m * left) - p) / m);
        }
        left -= cell;
    }
    return s->wavelength[s->count - 1];
}

static const struct {
    const char *sets[3];
    uint16_t string; /* of the module that is hit */
    double efficiency;
} variants[] = {
    {{"detector.oversize=1", NULL, NULL}, 1, 1},
    {{"detector.oversize=5", NULL, NULL}, 1, 1},
    {{"detector.oversize=16", NULL, NULL}, 1, 1},
    {{"detector.angular_polynomial=[1, 0.34, 0.51, 0, -0.17]", NULL, NULL}, 1, 1},
    {{"detector.dense=true", NULL, NULL}, 1, 1},
    {{"detector.dense=true", NULL, NULL}, 86, 1.35},
    {{"detector.dense=true", "detector.angular_polynomial=[1, 0.34, 0.51, 0, -0.17]",
      "detector.oversize=2"},
     86,
     1.35},
};

START_TEST(means_do_not_depend_on_what_is_generated)
{
    /* Photo-electrons per metre of track and cross-section of a module: the yield of
     * physics.md 3.3, 2456.51 photons per metre, times the mean of the angular acceptance, 0.34,
     * whatever F, pk and the envelope are. 4 sigma each: all seven by chance in 1 of 2000 such
     * tests. */
    enum { PHOTONS = 150000 };
    is_models *models =
        load(model_config("stages.detect=pe", variants[_i].sets[0] ? variants[_i].sets[0] : NULL,
                          variants[_i].sets[1], variants[_i].sets[2], NULL));
    const ice_tables tables = {.seed_low = 5};
    const ice_spectrum *spectrum = &models->light->spectra[0];
    const double area = models->detector->oversize * models->detector->oversize;
    numbers random = {0};
    double detected = 0;
    for (uint32_t i = 0; i < PHOTONS; ++i) {
        double n[3];
        isotropic(&random, n);
        const ice_arrival arrival = {
            .module = index_of(models, variants[_i].string, 30),
            .wavelength =
                (float)quantile(spectrum, uniform(&random), models->light->photons_per_metre),
            .dx = (float)n[0],
            .dy = (float)n[1],
            .dz = (float)n[2]};
        const ice_identity photon = {.photon_id = i};
        detected += ice_detection_number(&tables, photon, 0, 1, 30) <
                    ice_detect_pe(&models->detection->tables, &arrival);
    }
    const double share = detected / PHOTONS, scale = models->light->photons_per_metre * area;
    const double error = scale * sqrt(share * (1 - share) / PHOTONS);
    ck_assert_double_eq_tol(share * scale, 2456.51 * 0.34 * variants[_i].efficiency, 4 * error);
    is_models_destroy(models);
}
END_TEST

/* ---- hits ------------------------------------------------------------------------------------ */

/* Two steps of 100 photons, all of which arrive at module 0 head-on or from behind. */
typedef struct arriving {
    is_models *models;
    is_batch *batch;
    is_arrivals arrivals;
    is_hit hits[200];
    size_t count;
    is_account account;
    is_error error;
} arriving;

static arriving arrive(const char *content, float weight)
{
    arriving a = {.models = load(model_config("stages.detect=pe", content, NULL))};
    const is_batch_limits limits = is_batch_limits_default();
    ck_assert_int_eq(is_batch_create(&limits, 0, &a.batch, &a.error), IS_OK);
    is_step steps[2] = {{.dz = 1, .beta = 1, .weight = weight, .photons = 100, .step_id = 4},
                        {.dz = 1, .beta = 1, .weight = weight, .photons = 100, .step_id = 5}};
    is_step_cursor cursor = {.steps = steps, .count = 2};
    bool full;
    ck_assert_int_eq(is_batch_fill(a.batch, &cursor, &full, &a.error), IS_OK);
    for (uint32_t i = 0; i < 200; ++i) {
        const ice_arrival arrival = {.emission = i / 100,
                                     .photon_id = i % 100,
                                     .wavelength = 400,
                                     .dz = i < 100 ? 0.5f : -1.0f,
                                     .dx = i < 100 ? sqrtf(0.75f) : 0.0f};
        ck_assert_int_eq(is_arrivals_put(&a.arrivals, &arrival), 0);
        a.hits[a.count++] = (is_hit){
            .step_id = 4 + i / 100, .photon_id = i % 100, .weight = 300 * weight, .pmt = -1};
    }
    return a;
}

static int detect(arriving *a)
{
    static const ice_tables tables = {.seed_low = 1};
    const is_hit_models models = {.tables = &tables,
                                  .detector = a->models->detector,
                                  .light = a->models->light,
                                  .detection = a->models->detection};
    return is_hits_detect(&models, a->batch, &a->arrivals, a->hits, &a->count, &a->account,
                          &a->error);
}

static void end(arriving *a)
{
    is_models_destroy(a->models);
    is_batch_destroy(a->batch);
    is_arrivals_free(&a->arrivals);
}

START_TEST(what_becomes_of_hits)
{
    static const char *const contents[] = {"sink.hits=auto", "sink.hits=pe", "sink.hits=both",
                                           "sink.hits=photons"};
    uint64_t electrons = 0;
    for (int k = 0; k < 4; ++k) {
        arriving a = arrive(contents[k], 1);
        const size_t before = a.count;
        ck_assert_msg(detect(&a) == IS_OK, "%s", a.error.text);
        /* 100 with a probability of 0.84375: 84.4 +- 3.6; 100 with 0. */
        ck_assert_uint_gt(a.account.photo_electrons, 69);
        ck_assert_uint_lt(a.account.photo_electrons, 99);
        ck_assert(k == 0 || a.account.photo_electrons == electrons);
        electrons = a.account.photo_electrons;
        ck_assert_uint_eq(a.count, k < 2 ? electrons : before);
        ck_assert_uint_eq(a.account.undetected, k < 2 ? before - electrons : 0);
        uint64_t marked = 0;
        for (size_t i = 0; i < a.count; ++i) {
            ck_assert(a.hits[i].pmt == 0 || a.hits[i].pmt == -1);
            ck_assert_float_eq(a.hits[i].weight, k < 2 ? 1.0f : 300.0f);
            ck_assert(a.hits[i].pmt == -1 || a.hits[i].step_id == 4);
            marked += a.hits[i].pmt == 0;
        }
        ck_assert_uint_eq(marked, k == 3 ? 0 : electrons);
        end(&a);
    }
}
END_TEST

START_TEST(weights_thin_and_must_not_exceed)
{
    arriving a = arrive("sink.hits=pe", 0.25f);
    ck_assert_msg(detect(&a) == IS_OK, "%s", a.error.text);
    ck_assert_uint_gt(a.count, 5); /* 21.1 +- 4.1 */
    ck_assert_uint_lt(a.count, 38);
    end(&a);
    a = arrive("sink.hits=pe", 0);
    ck_assert_int_eq(detect(&a), IS_OK);
    ck_assert_uint_eq(a.count, 0);
    end(&a);
    a = arrive("sink.hits=both", 2);
    ck_assert_int_eq(detect(&a), IS_E_INPUT);
    ck_assert_msg(strstr(a.error.text,
                         "event 0, step 4, field weight: found 2, with which photon 0 is detected "
                         "by string 1, module 1 with a probability of 1.6875, expected at most 1"),
                  "%s", a.error.text);
    end(&a);
}
END_TEST

START_TEST(unknown_modules_are_errors)
{
    arriving a = arrive("sink.hits=pe", 1);
    a.arrivals.items[7].module = 5160;
    ck_assert_int_eq(detect(&a), IS_E_FAILED);
    ck_assert_ptr_nonnull(strstr(a.error.text, "module 5160 of 5160"));
    end(&a);
}
END_TEST

START_TEST(account_in_metadata)
{
    const is_origin origin = {.seed = 1, .configuration = "c"};
    const is_account account = {.created = 100,
                                .absorbed = 80,
                                .detected = 20,
                                .hits = 25,
                                .photo_electrons = 9,
                                .undetected = 16};
    static const char *const contents[] = {"pe", "both", "photons"};
    is_error error = {0};
    for (int k = 0; k < 3; ++k) {
        json_t *metadata = NULL;
        is_account read;
        ck_assert_int_eq(is_metadata_create(&origin, &metadata, &error), IS_OK);
        ck_assert_int_eq(is_metadata_set_account(metadata, &account, &error), IS_OK);
        ck_assert(is_metadata_account(metadata, &read));
        ck_assert_uint_eq(read.photo_electrons, 0);
        ck_assert_int_eq(is_metadata_set_detection(metadata, contents[k], &account, &error), IS_OK);
        ck_assert(is_metadata_account(metadata, &read));
        ck_assert_uint_eq(read.hits, 25);
        ck_assert_uint_eq(read.photo_electrons, 9);
        ck_assert_uint_eq(read.undetected, k == 0 ? 16 : 0);
        /* What cannot be is no account. */
        json_t *counts = json_object_get(metadata, "account");
        json_object_set_new(counts, "photo_electrons", json_integer(26));
        ck_assert(!is_metadata_account(metadata, &read));
        json_object_set_new(counts, "photo_electrons", json_integer(-1));
        ck_assert(!is_metadata_account(metadata, &read));
        json_object_set_new(counts, "photo_electrons", json_string("9"));
        ck_assert(!is_metadata_account(metadata, &read));
        json_decref(metadata);
    }
    const is_account wrong = {.created = 1, .detected = 1, .hits = 1, .photo_electrons = 2};
    json_t *metadata = NULL;
    ck_assert_int_eq(is_metadata_create(&origin, &metadata, &error), IS_OK);
    ck_assert_int_eq(is_metadata_set_detection(metadata, "pe", &wrong, &error), IS_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "found 2 photo-electrons of 1 hits"));
    json_decref(metadata);
    /* Rows are hits less those that were left out. */
    ck_assert_int_eq(is_account_check(&account, 100, 9, &error), IS_OK);
    ck_assert_int_eq(is_account_check(&account, 100, 25, &error), IS_E_FAILED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("detection");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, worked_chain);
    tcase_add_test(tests, light_that_was_not_thinned);
    tcase_add_test(tests, upgoing_light_is_favoured);
    tcase_add_test(tests, tilted_modules);
    tcase_add_test(tests, sharp_edge);
    tcase_add_test(tests, high_efficiency_by_wavelength);
    tcase_add_test(tests, real_folder_of_high_efficiency);
    tcase_add_test(tests, modules_without_voltage);
    tcase_add_test(tests, cable_geometry);
    tcase_add_test(tests, cables_that_end);
    tcase_add_test(tests, isotropic_light_in_the_shadow);
    tcase_add_test(tests, blocks_of_a_photon);
    tcase_add_test(tests, hits_of_a_photon_are_independent);
    tcase_add_loop_test(tests, means_do_not_depend_on_what_is_generated, 0,
                        (int)(sizeof variants / sizeof *variants));
    tcase_add_test(tests, what_becomes_of_hits);
    tcase_add_test(tests, weights_thin_and_must_not_exceed);
    tcase_add_test(tests, unknown_modules_are_errors);
    tcase_add_test(tests, account_in_metadata);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
