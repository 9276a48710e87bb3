/* The lower bounds of the distance to the nearest module are never too large, so that no hit is
 * lost, and not so small that they are useless. Whole runs give the same hits without the bounds.
 *
 * How to join: add one test for each new bound of stages/reach.h. */
#include "stages/variants.h"
#include "tests/support/model_files.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* Compares the bound with the exact distance at points inside the map, at its edge and far outside.
 */
static void expect_lower_bound(stage_world *world, double spread, double largest_loss)
{
    const ice_tables *tables = stage_world_tables(world);
    uint64_t state = 51;
    double loss = 0.0;
    for (size_t i = 0, n = test_scaled(20000); i < n; ++i) {
        const double reach = i % 8 == 0 ? 10.0 * spread : spread;
        const float x = (float)test_between(&state, -reach, reach);
        const float y = (float)test_between(&state, -reach, reach);
        const double bound = ice_clearance(tables, x, y);
        const double exact = world_clearance(tables, (double)x, (double)y);
        ck_assert_msg(bound >= 0.0 && bound <= exact, "(%.9g, %.9g): bound %g m, exact %g m",
                      (double)x, (double)y, bound, exact);
        if (i % 8) {
            loss = fmax(loss, exact - bound);
        }
    }
    ck_assert_double_lt(loss, largest_loss);
}

/* Whether a photon in flat layers is out of reach of every module. */
static int32_t is_out_of_reach(const ice_tables *tables, float clearance, float x, float y, float z,
                               ice_optics optics, float absorption)
{
    const ice_photon photon = {.x = x, .y = y, .z = z, .absorption = absorption};
    return ice_is_out_of_reach(tables, &photon, ice_least_distance(tables, clearance, z), z,
                               optics);
}

START_TEST(clearance_of_hex86)
{
    stage_world world = stage_world_from_config(NULL, "detector.layout=hex86", NULL);
    /* A cell of the map has a diagonal of about 14 m. */
    expect_lower_bound(&world, 600.0, 20.0);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(clearance_of_one_module)
{
    static const double at[1][3] = {{12.0, -34.0, 56.0}};
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                                           world_detector(at, 1, 16.0), world_light_line(400.0));
    expect_lower_bound(&world, 60.0, 5.0);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(clearance_of_a_real_detector)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    if (model_shared("ice/spice_bfr-v2/geo-f2k", path) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "detector.file=%s", path);
    stage_world world = stage_world_from_config(NULL, set, NULL);
    expect_lower_bound(&world, 600.0, 20.0);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(clearance_near_a_string_is_the_distance_to_its_axis)
{
    /* The cells of the map are 10 m wide. The distance to the axis does not depend on them. */
    stage_world world = stage_world_from_config(NULL, "detector.layout=hex86", NULL);
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 54;
    for (size_t i = 0, n = test_scaled(20000); i < n; ++i) {
        const ice_string *string = &tables->strings[test_word(&state) % tables->string_count];
        const double distance = test_between(&state, 0.0, 12.0);
        const double azimuth = test_between(&state, 0.0, 6.28318);
        const float x = (float)((double)string->x + distance * cos(azimuth));
        const float y = (float)((double)string->y + distance * sin(azimuth));
        const double exact = world_clearance(tables, (double)x, (double)y);
        const double bound = (double)ice_clearance(tables, x, y);
        ck_assert_msg(bound <= exact && exact - bound < 0.06,
                      "(%.9g, %.9g): bound %g m, exact %g m", (double)x, (double)y, bound, exact);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(clearance_of_straight_and_leaning_strings)
{
    /* Every second string leans and has no axis. With many straight strings the cells of the map
     * have 32 bits. */
    for (int rows = 10; rows <= WORLD_LEANING_ROWS; rows += WORLD_LEANING_ROWS - 10) {
        ice_detector *detector = world_detector_leaning((size_t)rows, 5.0);
        stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                                               detector, world_light_line(400.0));
        const ice_tables *tables = stage_world_tables(&world);
        /* 50 of 100 strings have one of 64 indices, 2450 of 4900 one of 4096. */
        ck_assert_uint_eq(tables->axis_mask, rows == 10 ? 63 : 4095);
        ck_assert_int_eq(ice_has_wide_cells(tables), rows == 10 ? 0 : 1);
        /* Half of the points are outside the map, so the loss may be large. */
        expect_lower_bound(&world, 40.0 * rows, INFINITY);
        stage_world_destroy(&world);
    }
}
END_TEST

/* Returns the least distance (m) of a segment, seen from above, to the cylinder around any string
 * but one. */
static double to_other_strings(const ice_tables *tables, uint32_t but, const double from[2],
                               const double to[2])
{
    const double dx = to[0] - from[0], dy = to[1] - from[1], square = dx * dx + dy * dy;
    double least = INFINITY;
    for (uint32_t s = 0; s < tables->string_count; ++s) {
        const ice_string *string = &tables->strings[s];
        const double ox = (double)string->x - from[0], oy = (double)string->y - from[1];
        const double along =
            square > 0.0 ? fmin(fmax((ox * dx + oy * dy) / square, 0.0), 1.0) : 0.0;
        const double distance = hypot(ox - along * dx, oy - along * dy) - (double)string->radius;
        least = s != but ? fmin(least, distance) : least;
    }
    return least;
}

/* A segment that is found too short half-way for the modules of other strings touches none of them,
 * and most segments that touch none are found. */
START_TEST(others_are_not_reached)
{
    stage_world world = stage_world_from_config(NULL, "detector.layout=hex86", NULL);
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 55;
    size_t too_short = 0, found = 0;
    for (size_t i = 0, count = test_scaled(200000); i < count; ++i) {
        const float x = (float)test_between(&state, -600.0, 600.0);
        const float y = (float)test_between(&state, -600.0, 600.0);
        const double azimuth = test_between(&state, 0.0, 6.28318);
        const double nz = i % 16 ? test_between(&state, -1.0, 1.0) : 1.0;
        const double across = sqrt(1.0 - nz * nz);
        const ice_direction n = {(float)(across * cos(azimuth)), (float)(across * sin(azimuth)),
                                 (float)nz};
        const ice_near_row near = tables->nearest[ice_clearance_cell(tables, x, y)];
        const double length = test_between(&state, 0.0, 3.0 * (double)near.others);
        const double from[2] = {(double)x, (double)y};
        const double to[2] = {from[0] + length * (double)n.x, from[1] + length * (double)n.y};
        const double distance = to_other_strings(tables, near.string, from, to);
        const bool may = ice_may_reach_others(tables, near.others, x, y, n, (float)length) != 0;
        ck_assert_msg(may || distance > 0.0, "(%.9g, %.9g) to (%.9g, %.9g): %g m to another string",
                      from[0], from[1], to[0], to[1], distance);
        too_short += distance > 0.0;
        found += !may;
    }
    ck_assert_uint_gt(10 * found, 6 * too_short);
    stage_world_destroy(&world);
}
END_TEST

/* Returns the absorption depth of the straight line between two points, in steps of half a metre.
 */
static double least_cost(const stage_world *world, ice_optics optics, const double from[3],
                         const double to[3])
{
    const ice_tables *tables = &world->tables->device;
    double length = 0.0;
    for (int k = 0; k < 3; ++k) {
        length += (to[k] - from[k]) * (to[k] - from[k]);
    }
    length = sqrt(length);
    const size_t steps = (size_t)(length / 0.5) + 1;
    double cost = 0.0;
    for (size_t i = 0; i < steps; ++i) {
        const double share = ((double)i + 0.5) / (double)steps;
        const float z = (float)(from[2] + share * (to[2] - from[2]));
        const ice_layer_row *row = &tables->layers[ice_layer_at(tables, z)];
        cost += ice_absorption(optics, row->dust, row->ice) * length / (double)steps;
    }
    return cost;
}

START_TEST(out_of_reach_only_what_is)
{
    /* A photon must not be dropped if its absorption depth is enough for a straight path to some
     * module. */
    stage_world world = stage_world_from_config(NULL, "detector.oversize=5", NULL);
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 52;
    size_t dropped = 0;
    const size_t n = test_scaled(100000);
    for (size_t i = 0; i < n; ++i) {
        const double from[3] = {test_between(&state, -900.0, 900.0),
                                test_between(&state, -900.0, 900.0),
                                test_between(&state, -900.0, 900.0)};
        const ice_sphere *module = &tables->modules[test_word(&state) % tables->module_count];
        const double to[3] = {(double)module->x, (double)module->y, (double)module->z};
        const ice_optics optics = ice_optics_at(tables, (float)test_between(&state, 280.0, 680.0));
        /* The edge of a module is nearer than its centre, by the widened radius or less. */
        const double distance =
            sqrt((from[0] - to[0]) * (from[0] - to[0]) + (from[1] - to[1]) * (from[1] - to[1]) +
                 (from[2] - to[2]) * (from[2] - to[2]));
        const double share = fmax(0.0, 1.0 - 5.0 * 0.1651 / distance);
        const double edge[3] = {from[0] + share * (to[0] - from[0]),
                                from[1] + share * (to[1] - from[1]),
                                from[2] + share * (to[2] - from[2])};
        const float enough = (float)(1.01 * least_cost(&world, optics, from, edge));
        const float clearance = ice_clearance(tables, (float)from[0], (float)from[1]);
        const float x = (float)from[0], y = (float)from[1], z = (float)from[2];
        ck_assert_msg(!is_out_of_reach(tables, clearance, x, y, z, optics, enough),
                      "from (%g, %g, %g): depth %g is enough for module %d", from[0], from[1],
                      from[2], (double)enough, (int)(module - tables->modules));
        dropped += is_out_of_reach(tables, clearance, x, y, z, optics, 0.05f) != 0;
    }
    /* The bound does drop some photons. */
    ck_assert_uint_gt(dropped * 10, n);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(heights_count)
{
    /* 298 m straight above the top module of a string, the absorption depth at 400 nm is at least
     * 298 / 338. The horizontal distance is 0, so the bound must use the height. */
    stage_world world = stage_world_from_config(NULL, "detector.oversize=1", NULL);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_optics optics = ice_optics_at(tables, 400.0f);
    for (int up = 0; up < 2; ++up) {
        const float z = up ? 800.0f : -800.0f;
        ck_assert_int_eq(is_out_of_reach(tables, 0.0f, 0.0f, 0.0f, z, optics, 0.5f), 1);
        ck_assert_int_eq(is_out_of_reach(tables, 0.0f, 0.0f, 0.0f, z, optics, 16.0f), 0);
        /* Segments there cannot reach a module either, unless they are long enough. */
        const float down = up ? -1.0f : 1.0f;
        ck_assert_int_eq(
            ice_may_collide(tables, 0.0f, 0.0f, z, (ice_direction){0.0f, 0.0f, down}, 290.0f), 0);
        ck_assert_int_eq(
            ice_may_collide(tables, 0.0f, 0.0f, z, (ice_direction){0.0f, 0.0f, down}, 299.0f), 1);
        ck_assert_int_eq(ice_may_collide(tables, 50.0f, 0.0f, 0.0f,
                                         (ice_direction){0.6f, 0.0f, 0.8f * down}, 80.0f),
                         0);
    }
    stage_world_destroy(&world);
}
END_TEST

/* Makes steps in and around the detector: cascades, flashers and isotropic light. */
static void steps_around(ice_emission *emissions, size_t count, uint32_t photons)
{
    uint64_t state = 53;
    for (size_t i = 0; i < count; ++i) {
        double n[3];
        test_direction(&state, n);
        emissions[i] = (ice_emission){
            .x = (float)test_between(&state, -700.0, 700.0),
            .y = (float)test_between(&state, -700.0, 700.0),
            .z = (float)test_between(&state, -700.0, 700.0),
            .length = (float)test_between(&state, 0.0, 5.0),
            .dx = (float)n[0],
            .dy = (float)n[1],
            .dz = (float)n[2],
            .beta = 1.0f,
            .event_low = (uint32_t)i,
            .step_id = (uint32_t)(7 * i),
            .photons = photons,
            .spectrum = i % 4 == 3 ? 3 : 0,
            .flags = i % 8 == 7 ? ICE_EMISSION_ISOTROPIC : 0,
        };
    }
}

static void expect_same_arrivals(stage_world *world, size_t steps, uint32_t photons)
{
    static ice_emission emissions[4000];
    ck_assert_uint_le(steps, 4000);
    steps_around(emissions, steps, photons);
    const ice_variants variants = world_variants();
    world_result results[2];
    for (int cull = 0; cull < 2; ++cull) {
        world->options.reach_cull = cull;
        stage_world_tables(world);
        results[cull] = world_run(world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions,
                                  (uint32_t)steps);
    }
    ck_assert_uint_gt(results[0].arrivals.count, 20);
    ck_assert_uint_eq(results[1].arrivals.count, results[0].arrivals.count);
    ck_assert_mem_eq(results[1].arrivals.items, results[0].arrivals.items,
                     results[0].arrivals.count * sizeof(ice_arrival));
    ck_assert_uint_eq(results[1].account.detected, results[0].account.detected);
    ck_assert_uint_eq(results[1].account.hits, results[0].account.hits);
    /* Dropped photons count as left. Without the bound they are absorbed and reach no module. */
    ck_assert_uint_eq(results[0].account.left, 0);
    ck_assert_uint_gt(results[1].account.left, 0);
    ck_assert_uint_eq(results[1].account.left + results[1].account.absorbed,
                      results[0].account.absorbed);
    ck_assert_uint_lt(results[1].account.bounces, results[0].account.bounces);
    world_result_free(&results[0]);
    world_result_free(&results[1]);
}

START_TEST(runs_without_the_bound_are_the_same)
{
    stage_world world = stage_world_from_config(NULL, "detector.oversize=5", NULL);
    expect_same_arrivals(&world, test_scaled(2000), 200);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(runs_in_real_ice_are_the_same)
{
    char path[MODEL_PATH], ice[MODEL_PATH + 32], detector[MODEL_PATH + 32];
    if (model_shared("ice/spice_bfr-v2", path) == NULL) {
        return;
    }
    snprintf(ice, sizeof ice, "ice.directory=%s", path);
    snprintf(detector, sizeof detector, "detector.file=%s/geo-f2k", path);
    stage_world world =
        stage_world_from_config(NULL, ice, detector, MODEL_LAYERS_ONLY, "detector.oversize=16",
                                "detector.keep_hit_photons=true", NULL);
    expect_same_arrivals(&world, test_scaled(2000), 200);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("reach")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, clearance_of_hex86);
    tcase_add_test(all, clearance_of_one_module);
    tcase_add_test(all, clearance_of_a_real_detector);
    tcase_add_test(all, clearance_near_a_string_is_the_distance_to_its_axis);
    tcase_add_test(all, clearance_of_straight_and_leaning_strings);
    tcase_add_test(all, others_are_not_reached);
    tcase_add_test(all, out_of_reach_only_what_is);
    tcase_add_test(all, heights_count);
    tcase_add_test(all, runs_without_the_bound_are_the_same);
    tcase_add_test(all, runs_in_real_ice_are_the_same);
    suite_add_tcase(suite, all);
}
