/* Promise: the cable shadow is that of physics.md 8.8 - at worked positions, at the ends of a
 * cable, and for the share of isotropic light that a cable removes. To join: a new position is a
 * row of the table in cable_geometry. */
#include "tests/support/detection_world.h"
#include "tests/support/test_main.h"

#define RADIUS 0.1651
#define CABLE  0.023

/* Returns whether light that arrives at (x, y, z) along a direction is in the shadow of a cable at
 * azimuth 0 (module 1) or 90 degrees (module 2). */
static bool is_shadowed(const ics_models *models, uint16_t number, const double place[3],
                        const double n[3])
{
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    const ice_arrival arrival = {.module = detection_module(models, 1, number),
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
    ics_models *models = detection_with_file("detector.cables", "1 1 0 1\n1 2 90 1\n",
                                             "detector.angular_acceptance=none");
    /* Distances (m) from the axis of the cable, whose radius is 0.023 m. */
    const double near = 0.0229, far = 0.0231;
    const struct {
        uint16_t module;
        double place[3], n[3];
        bool shadowed;
    } rows[] = {
        {1, {RADIUS, 0, 0}, {-1, 0, 0}, true},  /* the cable touches the module at this point */
        {1, {-RADIUS, 0, 0}, {1, 0, 0}, false}, /* the module is in front of the cable */
        {1,
         {RADIUS, 0, 0},
         {0, -1, 0},
         false}, /* passes between cable and module, and touches both */
        {1, {sqrt(RADIUS * RADIUS - near * near), near, 0}, {-1, 0, 0}, true},
        {1, {sqrt(RADIUS * RADIUS - far * far), far, 0}, {-1, 0, 0}, false},
        {1, {sqrt(RADIUS * RADIUS - near * near), -near, 0}, {-1, 0, -3}, true},
        {1, {sqrt(RADIUS * RADIUS - far * far), -far, 0}, {-1, 0, 3}, false},
        {1, {0.1, 0, sqrt(RADIUS * RADIUS - 0.01)}, {0, 0, -1}, false}, /* parallel to the cable */
        {1, {0, 0, RADIUS}, {-1, 0, -1}, true},
        {1, {0, 0, RADIUS}, {1, 0, -1}, false},
        {2, {0, RADIUS, 0}, {0, -1, 0}, true},
        {2, {0, -RADIUS, 0}, {0, 1, 0}, false},
        {2, {RADIUS, 0, 0}, {-1, 0, 0}, false},
        {3, {RADIUS, 0, 0}, {-1, 0, 0}, false}, /* no cable */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ck_assert_msg(is_shadowed(models, rows[i].module, rows[i].place, rows[i].n) ==
                          rows[i].shadowed,
                      "row %zu", i);
    }
    ics_models_destroy(models);
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
    ics_models *endless =
        detection_with_file("detector.cables", cable, "detector.angular_acceptance=none");
    ck_assert(is_shadowed(endless, 1, place, from_low));
    ck_assert(is_shadowed(endless, 1, place, from_high));
    ics_models_destroy(endless);
    ics_models *models = detection_with_file("detector.cables", cable, "detector.cable_length=1");
    /* The standard module does not accept steep light, so the light comes from below. */
    const double foot[3] = {0, 0, -RADIUS};
    const double up_low[3] = {-sin(low), 0, cos(low)}, up_high[3] = {-sin(high), 0, cos(high)};
    ck_assert(is_shadowed(models, 1, foot, up_low));
    ck_assert(!is_shadowed(models, 1, foot, up_high));
    ics_models_destroy(models);
}
END_TEST

/* Draws a point at which light with this direction enters a sphere, uniformly over its
 * cross-section. */
static void place_of(detection_numbers *from, const double n[3], double place[3])
{
    const double r2 = detection_uniform(from), angle = 2 * M_PI * detection_uniform(from);
    const double u = sqrt(r2) * cos(angle), v = sqrt(r2) * sin(angle), w = -sqrt(1 - r2);
    /* Two vectors across n: horizontal, and n x it. */
    const double h = sqrt(n[0] * n[0] + n[1] * n[1]);
    const double a[3] = {-n[1] / h, n[0] / h, 0};
    const double b[3] = {n[1] * a[2] - n[2] * a[1], n[2] * a[0] - n[0] * a[2],
                         n[0] * a[1] - n[1] * a[0]};
    for (int i = 0; i < 3; ++i) {
        place[i] = RADIUS * (u * a[i] + v * b[i] + w * n[i]);
    }
}

/* Area of a unit disc on one side of a chord at distance x. */
static double segment_area(double x)
{
    const double at = fmin(fmax(x, -1), 1);
    return acos(at) - at * sqrt(1 - at * at);
}

/* Returns the share of isotropic hits in the shadow of an endless cable, for a light of any
 * inclination. Along the light, the cable is a strip of width 2 rc. The middle of the strip is (R +
 * rc) |sin psi| away from the middle of the module's disc, where psi is the azimuth between the
 * origin of the light and the cable. The cable is in front of the module for |psi| < 90 degrees. */
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
    ics_models *models =
        detection_with_file("detector.cables", "1 1 0 1\n", "detector.angular_acceptance=none");
    detection_numbers random = {0};
    size_t all = 0, facing = 0, behind = 0;
    for (int i = 0; i < HITS; ++i) {
        double n[3], place[3];
        detection_isotropic(&random, n);
        place_of(&random, n, place);
        bool shadowed = is_shadowed(models, 1, place, n);
        all += shadowed;
        facing += n[0] < 0;
        behind += shadowed && n[0] >= 0;
    }
    /* 4 sigma: 1 in 16 000 by chance. */
    const double expected = shadowed_part(), part = (double)all / HITS;
    ck_assert_double_eq_tol(part, expected, 4 * sqrt(expected / HITS));
    /* About a tenth of the light from the side of the cable is lost, and nothing of the light from
     * the other side. */
    ck_assert_double_eq_tol((double)all / (double)facing, 0.1, 0.02);
    ck_assert_uint_eq(behind, 0);
    ics_models_destroy(models);
}
END_TEST

ICS_TEST_MAIN("cable_shadow")
{
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, cable_geometry);
    tcase_add_test(tests, cables_that_end);
    tcase_add_test(tests, isotropic_light_in_the_shadow);
    suite_add_tcase(suite, tests);
}
