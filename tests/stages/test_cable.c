/* Cables: their shadow on a module and alone is the exact one, whatever the oversize is; the search
 * finds a cable if a search through all cables does; a photon that starts inside leaves freely.
 *
 * How to join: add one test for each new rule of stages/cable.h. */
#include "stages/variants.h"

#define ICE_PUT_ARRIVAL(sink, tables, arrival) (++*(size_t *)(sink), (void)(arrival), 0)
#include "stages/bounce.h"
#include "tests/support/shape_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define CABLE_RADIUS 0.023

static stage_world world_of(ice_detector *detector)
{
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0), detector,
                                           world_light_line(400.0));
    return world;
}

static void add_cables(ice_detector *detector, size_t count)
{
    detector->cables = calloc(count, sizeof *detector->cables);
    ck_assert_ptr_nonnull(detector->cables);
    detector->cable_count = count;
}

/* What became of rays. */
typedef struct outcome {
    size_t hits, absorbed, rays;
} outcome;

/* Light along +x from x = -5 m, spread evenly over abs(y), abs(z) <= half_side. */
static outcome shine(const ice_tables *tables, double half_side, size_t rays)
{
    outcome found = {.rays = rays};
    uint64_t state = 12;
    for (size_t i = 0; i < rays; ++i) {
        const ice_photon photon = {.x = -5.0f,
                                   .y = (float)test_between(&state, -half_side, half_side),
                                   .z = (float)test_between(&state, -half_side, half_side),
                                   .dx = 1.0f,
                                   .wavelength = 400.0f};
        uint32_t fate = ICE_ALIVE, recorded = 0;
        float length = 10.0f;
        ck_assert_int_ge(ice_record_hits(ICE_collide_string_grid, tables, &length, 1.0f, &photon,
                                         &found.hits, &fate, &recorded),
                         0);
        found.absorbed += fate == ICE_ABSORBED;
    }
    return found;
}

/* Within 4.4 sigma: false alarms 1e-5 for each call, and the seed is fixed. */
static void expect_share(const char *what, size_t found, size_t of, double expected)
{
    const double share = (double)found / (double)of;
    const double sigma = sqrt(expected * (1.0 - expected) / (double)of);
    ck_assert_msg(fabs(share - expected) <= 4.4 * sigma, "%s: found %.6f, expected %.6f +- %.2g",
                  what, share, expected, sigma);
}

/* The part of the area of a disc of radius r with y from `low` to `high`. */
static double strip_of_disc(double r, double low, double high)
{
    const double a = low / r, b = high / r;
    return (b * sqrt(1.0 - b * b) + asin(b) - a * sqrt(1.0 - a * a) - asin(a)) / M_PI;
}

START_TEST(shadow_is_exact)
{
    /* A vertical cable in front of a sphere, at y = 0.05 m. */
    const double at[1][3] = {{0.0, 0.0, 0.0}};
    const double r = ICE_MODULE_RADIUS, y = 0.05, f = _i ? 5.0 : 1.0;
    ice_detector *detector = world_detector(at, 1, f);
    add_cables(detector, 1);
    detector->cables[0] = (ice_cable){
        .from = {-0.3, y, 3.0}, .to = {-0.3, y, -3.0}, .radius = CABLE_RADIUS, .string = 1};
    stage_world world = world_of(detector);
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert_uint_ne(tables->features & ICE_HAS_CABLES, 0);
    const double half_side = 1.1 * f * r, area = 4.0 * half_side * half_side;
    const outcome found = shine(tables, half_side, test_scaled(200000));
    const double shadow = strip_of_disc(r, y - CABLE_RADIUS, y + CABLE_RADIUS);
    const double disc = M_PI * r * r * f * f / area;
    expect_share("hits", found.hits, found.rays, disc * (1.0 - shadow));
    /* Next to the sphere the cable has its true width. */
    const double wide = f * r;
    const double strip = 2.0 * CABLE_RADIUS * 2.0 * half_side / area;
    const double in_front =
        M_PI * wide * wide * strip_of_disc(wide, y - CABLE_RADIUS, y + CABLE_RADIUS) / area;
    expect_share("absorbed", found.absorbed, found.rays, disc * shadow + strip - in_front);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(behind_the_module_nothing_is_lost)
{
    const double at[1][3] = {{0.0, 0.0, 0.0}};
    ice_detector *detector = world_detector(at, 1, 1.0);
    add_cables(detector, 1);
    detector->cables[0] = (ice_cable){
        .from = {0.3, 0.0, -3.0}, .to = {0.3, 0.0, 3.0}, .radius = CABLE_RADIUS, .string = 1};
    stage_world world = world_of(detector);
    const outcome found = shine(stage_world_tables(&world), 0.1, 1000);
    ck_assert_uint_eq(found.hits, 1000);
    ck_assert_uint_eq(found.absorbed, 0);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(ends_and_starts)
{
    const ice_cable_row cable = {
        .z = -1.0f, .radius = 0.25f, .uz = 1.0f, .length = 2.0f}; /* z from -1 to 1 m */
    static const struct {
        float x, z, nx, nz, length;
        int32_t enters;
    } rows[] = {
        {-2.0f, 0.0f, 1.0f, 0.0f, 1.75f, 1},  /* ends on the surface */
        {-2.0f, 0.0f, 1.0f, 0.0f, 1.7f, 0},   /* ends in front of it */
        {0.0f, 0.0f, 1.0f, 0.0f, 5.0f, 0},    /* starts inside */
        {-2.0f, 1.1f, 1.0f, 0.0f, 5.0f, 0},   /* passes above */
        {-2.0f, 0.0f, -1.0f, 0.0f, 5.0f, 0},  /* flies away */
        {-1.0f, 2.05f, 0.6f, -0.8f, 5.0f, 1}, /* through the upper end: there x is -0.2125 */
        {-1.0f, 2.5f, 0.6f, -0.8f, 1.8f, 0},  /* ends in front of the upper end */
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        const ice_contact_search search = {
            rows[i].x, 0.0f, rows[i].z, {rows[i].nx, 0.0f, rows[i].nz}, rows[i].length, -1.0f, 0};
        ck_assert_msg(ice_enters_cable(&search, &cable) == rows[i].enters, "row %zu", i);
    }
}
END_TEST

/* ---- the search ------------------------------------------------------------------------------ */

enum { STRINGS = 12, LEVELS = 8 };

/* Strings of 8 modules, every third of them inclined, with a cable next to each pair of modules and
 * one up to 40 m above the highest module. */
static ice_detector *detector_with_cables(double oversize, uint64_t *state)
{
    static double positions[STRINGS * LEVELS][3];
    double lean[STRINGS];
    for (size_t s = 0; s < STRINGS; ++s) {
        const double x = test_between(state, -100.0, 100.0), y = test_between(state, -100.0, 100.0);
        lean[s] = s % 3 ? 0.0 : 0.4;
        for (size_t k = 0; k < LEVELS; ++k) {
            double *at = positions[s * LEVELS + k];
            at[2] = 60.0 - 17.0 * (double)k;
            at[0] = x + lean[s] * at[2];
            at[1] = y;
        }
    }
    ice_detector *detector =
        world_detector((const double(*)[3])positions, STRINGS * LEVELS, oversize);
    add_cables(detector, STRINGS * LEVELS);
    for (size_t i = 0; i < STRINGS * LEVELS; ++i) {
        detector->modules[i].string = (uint16_t)(1 + i / LEVELS);
        detector->modules[i].module = (uint16_t)(1 + i % LEVELS);
        const double up = i % LEVELS ? 17.0 : 40.0;
        const double *at = positions[i];
        detector->cables[i] =
            (ice_cable){.from = {at[0] + 0.2, at[1] + 0.1, at[2]},
                        .to = {at[0] + 0.2 + up * lean[i / LEVELS], at[1] + 0.1, at[2] + up},
                        .radius = CABLE_RADIUS,
                        .string = (uint16_t)(1 + i / LEVELS)};
    }
    return detector;
}

/* Returns a segment that passes a cable closely, or any one. */
static ice_contact_search segment_near(const ice_detector *detector, uint64_t *state)
{
    const ice_cable *cable = &detector->cables[test_word(state) % detector->cable_count];
    const double t = test_between(state, -0.05, 1.05);
    const double length =
        test_word(state) % 4 ? 15.0 * test_exponential(state) : test_between(state, 0.0, 300.0);
    const double before = length * test_between(state, -0.1, 1.1);
    double n[3];
    test_direction(state, n);
    float from[3];
    for (int k = 0; k < 3; ++k) {
        from[k] = (float)(cable->from[k] + t * (cable->to[k] - cable->from[k]) +
                          test_between(state, -0.05, 0.05) - before * n[k]);
    }
    const ice_contact_search search = {
        from[0],       from[1], from[2], {(float)n[0], (float)n[1], (float)n[2]},
        (float)length, -1.0f,   0};
    return search;
}

START_TEST(search_finds_every_cable)
{
    uint64_t state = 91;
    ice_detector *detector = detector_with_cables(_i ? 5.0 : 1.0, &state);
    stage_world world = world_of(detector);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_cable_row *cables =
        ice_shape_array(tables->shapes.table, tables->shapes.table->cables);
    size_t found = 0;
    const size_t count = test_scaled(100000);
    for (size_t i = 0; i < count; ++i) {
        const ice_contact_search search = segment_near(detector, &state);
        int32_t expected = 0;
        for (size_t k = 0; k < detector->cable_count && !expected; ++k) {
            expected = ice_enters_cable(&search, &cables[k]);
        }
        ck_assert_int_eq(ice_enters_any_cable(tables, &search), expected);
        if (expected) {
            ++found;
            const float clearance = ice_clearance(tables, search.x, search.y);
            ck_assert(search.length >= ice_least_distance(tables, clearance, search.z));
            ck_assert(ice_may_collide(tables, search.x, search.y, search.z, search.direction,
                                      search.length));
        }
    }
    ck_assert_uint_gt(found * 10, count);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(bad_cables_are_refused)
{
    static const ice_cable bad[] = {
        {.from = {0, 0, 1}, .to = {0, 0, 1}, .radius = CABLE_RADIUS, .string = 1},
        {.from = {0, 0, 1}, .to = {0, 0, 2}, .radius = CABLE_RADIUS, .string = 7},
        {.from = {0, 0, 1}, .to = {500, 0, 2}, .radius = CABLE_RADIUS, .string = 1}};
    const double at[1][3] = {{0.0, 0.0, 0.0}};
    const ice_cable *cable = &bad[_i];
    ice_detector *detector = world_detector(at, 1, 1.0);
    add_cables(detector, 1);
    detector->cables[0] = *cable;
    stage_world world = world_of(detector);
    icestream_error error = {0};
    ics_tables *tables = NULL;
    ck_assert_int_eq(
        ics_tables_create(world.medium, detector, world.light, &world.options, &tables, &error),
        ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(tables);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("cable")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, shadow_is_exact, 0, 2);
    tcase_add_test(all, behind_the_module_nothing_is_lost);
    tcase_add_test(all, ends_and_starts);
    tcase_add_loop_test(all, search_finds_every_cable, 0, 2);
    tcase_add_loop_test(all, bad_cables_are_refused, 0, 3);
    suite_add_tcase(suite, all);
}
