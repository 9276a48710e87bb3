/* The reach bound in steeply tilted layers. Wherever the bound relies on the clearest ice of a row,
 * a photon finds no clearer ice within ICE_CLEAR_RANGE. Whole runs far outside the table of the
 * tilt, where the shift continues linearly without limit, give the same hits without the bound.
 *
 * How to join: a new kind of tilt joins in clear_ranges_hold and in runs_far_outside_are_the_same.
 */
#include "stages/variants.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { LAYERS = 600, DEPTHS = 2, STATIONS = 2, NODES = 9, TABLES = 24 };

/* Makes layers of 5 m with the clearest ice at the bottom or at the top. If a photon gets further
 * down or up than the bound assumes, it finds clearer ice, and the test fails. */
static void fill_layers(ice_medium *medium, bool upwards)
{
    for (int i = 0; i < LAYERS; ++i) {
        medium->layers[i].dust_absorption = 0.001 * (1 + (upwards ? LAYERS - i : i));
    }
}

static stage_world mixed_world(void)
{
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = a[i] = 0.5;
    }
    ice_medium *medium = world_medium_layered(-1500.0, 5.0, LAYERS, b, a);
    return stage_world_create(medium, world_detector_far(), world_light_line(400.0));
}

/* Makes two rows of random shifts of up to `most` (m). If `is_plain`, the rows are equal, so that
 * the shift is steep only across. */
static double *shifts_between(uint64_t *state, size_t count, double most, bool is_plain)
{
    double *shifts = calloc(DEPTHS * count, sizeof *shifts);
    ck_assert_ptr_nonnull(shifts);
    for (size_t i = 0; i < DEPTHS * count; ++i) {
        shifts[i] = is_plain && i >= count ? shifts[i - count] : test_between(state, -most, most);
    }
    return shifts;
}

static void set_line(ice_medium *medium, uint64_t *state, double most, bool is_plain)
{
    static const double stations[STATIONS] = {-90.0, 60.0};
    ice_tilt *tilt = &medium->tilt;
    *tilt = (ice_tilt){.kind = ICE_TILT_LINE, .azimuth = test_between(state, 0.0, 6.2)};
    tilt->station_count = STATIONS;
    tilt->stations = calloc(STATIONS, sizeof *tilt->stations);
    ck_assert_ptr_nonnull(tilt->stations);
    for (size_t k = 0; k < STATIONS; ++k) {
        tilt->stations[k] = stations[k];
    }
    tilt->shifts = shifts_between(state, STATIONS, most, is_plain);
}

/* Sets a map with axes at `angle` (rad) to each other. If the angle is small, so is the angle
 * between some edge and the ray from its corner. */
static void set_map(ice_medium *medium, uint64_t *state, double most, bool is_plain, double angle)
{
    ice_tilt *tilt = &medium->tilt;
    const double azimuth = test_between(state, 0.0, 6.2);
    const double step = angle < 0.5 ? 320.0 : 80.0; /* long edges where the map is thin */
    *tilt = (ice_tilt){.kind = ICE_TILT_MAP};
    tilt->axes[0] = (ice_tilt_axis){azimuth, -step, step, 3, 2};
    tilt->axes[1] = (ice_tilt_axis){azimuth + angle, -0.9 * step, 0.9 * step, 3, 2};
    tilt->shifts = shifts_between(state, NODES, most, is_plain);
    /* The shift is steep along one pair of edges, and not steeper anywhere inside. */
    for (size_t node = 0; node < NODES && is_plain; ++node) {
        tilt->shifts[node] = tilt->shifts[NODES + node] =
            0.01 * step * most * ((double)(node % 3) + (double)(node / 3) - 2.0);
    }
    for (size_t node = 0; node < NODES; ++node) {
        if (!ice_tilt_has_node(tilt, node % 3, node / 3)) {
            tilt->shifts[node] = tilt->shifts[NODES + node] = 0.0;
        }
    }
}

/* Returns the direction in which the height changes most at a point, upwards or downwards (`sign`).
 * Now and then it returns any direction. */
static void way(const ice_tables *tables, uint64_t *state, double sign, const double at[3],
                double n[3])
{
    const float step = 0.5f, x = (float)at[0], y = (float)at[1], z = (float)at[2];
    test_direction(state, n);
    if (test_word(state) % 16 == 0) {
        return;
    }
    const double gradient[3] = {
        (double)(ice_height(tables, x + step, y, z) - ice_height(tables, x - step, y, z)),
        (double)(ice_height(tables, x, y + step, z) - ice_height(tables, x, y - step, z)),
        (double)(ice_height(tables, x, y, z + step) - ice_height(tables, x, y, z - step))};
    const double length =
        sqrt(gradient[0] * gradient[0] + gradient[1] * gradient[1] + gradient[2] * gradient[2]);
    for (int k = 0; k < 3 && length > 0.0; ++k) {
        n[k] = sign * gradient[k] / length;
    }
}

/* Follows photons in and around the table, each over a path of ICE_CLEAR_RANGE in several segments.
 * Returns the number of photons for which the bound relies on its rows. */
static size_t expect_clear_ranges(stage_world *world, uint64_t *state, size_t photons)
{
    const ice_tables *tables = stage_world_tables(world);
    size_t known = 0;
    for (size_t i = 0; i < photons; ++i) {
        double at[3] = {test_between(state, -250.0, 250.0), test_between(state, -250.0, 250.0),
                        test_between(state, -150.0, 150.0)};
        const float x = (float)at[0], y = (float)at[1], z = (float)at[2];
        if (!ice_is_clear_range_known(tables, x, y, z)) {
            continue;
        }
        ++known;
        const float start = ice_height(tables, x, y, z);
        const float clearest = tables->layers[ice_layer_at(tables, start)].clear_dust;
        const double piece = (double)ICE_CLEAR_RANGE / (double)(1 + test_word(state) % 8);
        for (double gone = 0.0; gone < (double)ICE_CLEAR_RANGE - 0.01; gone += piece) {
            const float height = ice_height(tables, (float)at[0], (float)at[1], (float)at[2]);
            double n[3];
            way(tables, state, i % 2 ? 1.0 : -1.0, at, n);
            for (int part = 0; part <= 4; ++part) {
                const float there = height + (float)(0.25 * part * piece * n[2]);
                const float dust = tables->layers[ice_layer_at(tables, there)].dust;
                ck_assert_msg(dust >= clearest,
                              "from (%g, %g, %g), height %g, after %g m: height %g has dust %g, "
                              "the row contains %g",
                              (double)x, (double)y, (double)z, (double)start, gone, (double)there,
                              (double)dust, (double)clearest);
            }
            for (int k = 0; k < 3; ++k) {
                at[k] += piece * n[k];
            }
        }
    }
    return known;
}

/* Case 0 is a line whose shift continues outside its stations, case 1 a line whose shift stays at
 * its edge. Cases 2 to 4 are maps with smaller and smaller angles between their axes. */
START_TEST(clear_ranges_hold)
{
    static const double angles[] = {2.1, 1.0, 0.35};
    uint64_t state = 61 + (uint64_t)_i;
    stage_world world = mixed_world();
    size_t known = 0;
    const size_t photons = test_scaled(2000);
    for (int table = 0; table < TABLES; ++table) {
        ice_tilt *tilt = &world.medium->tilt;
        const double most = test_between(&state, 5.0, 60.0);
        const bool is_plain = table % 4 >= 2;
        free(tilt->stations);
        free(tilt->shifts);
        if (_i < 2) {
            set_line(world.medium, &state, most, is_plain);
        } else {
            set_map(world.medium, &state, most, is_plain, angles[_i - 2]);
        }
        tilt->clamp = _i == 1;
        tilt->depth_count = DEPTHS;
        tilt->depth_step = 60.0;
        tilt->first_depth = ICE_DETECTOR_DEPTH - 30.0;
        fill_layers(world.medium, table % 2 == 1);
        known += expect_clear_ranges(&world, &state, photons);
    }
    /* The bound was used: inside the tables, and everywhere if the shift stays at its edge. */
    ck_assert_uint_gt(known, photons);
    ck_assert(_i != 1 || known == TABLES * photons);
    stage_world_destroy(&world);
}
END_TEST

/* ---- whole runs ------------------------------------------------------------------------------ */

/* Murky ice 400 m thick between clear ice. The tilt is nearly level in its small table; far outside
 * it is so steep that the murky ice is 25 m thick: upwards, 5 km from the stations of a line, or
 * across, 2 km above the depths of a map. */
static stage_world steep_world(bool map)
{
    enum { COUNT = 80 };
    double b[COUNT], a[COUNT];
    for (int i = 0; i < COUNT; ++i) {
        b[i] = 0.1;
        a[i] = i >= 20 && i < 60 ? 0.2 : 0.005;
    }
    ice_medium *medium = world_medium_layered(map ? 1600.0 : -400.0, 10.0, COUNT, b, a);
    ice_tilt *tilt = &medium->tilt;
    *tilt = (ice_tilt){.kind = map ? ICE_TILT_MAP : ICE_TILT_LINE,
                       .first_depth = ICE_DETECTOR_DEPTH - 10.0,
                       .depth_step = 10.0,
                       .depth_count = 3,
                       .station_count = map ? 0 : 2};
    tilt->axes[0] = (ice_tilt_axis){0.0, -60.0, 60.0, 3, 2};
    tilt->axes[1] = (ice_tilt_axis){2.0 * M_PI / 3.0, -60.0, 60.0, 3, 2};
    const size_t nodes = map ? NODES : 2;
    tilt->stations = calloc(2, sizeof *tilt->stations);
    tilt->shifts = calloc(3 * nodes, sizeof *tilt->shifts);
    ck_assert(tilt->stations && tilt->shifts);
    tilt->stations[1] = 10.0;
    for (size_t row = 0; row < 3; ++row) {
        for (size_t k = 0; k < nodes; ++k) {
            const double down = 10.0 * ((double)row - 1.0);
            const double across = map ? 60.0 * ((double)(k % 3) - 1.0) : 10.0 * (double)k;
            if (!map || ice_tilt_has_node(tilt, k % 3, k / 3)) {
                tilt->shifts[row * nodes + k] = (map ? 0.006 : 0.003) * across * down;
            }
        }
    }
    const double far[1][3] = {{map ? 80.0 : 5000.0, 0.0, map ? 2000.0 : 80.0}};
    return stage_world_create(medium, world_detector(far, 1, 100.0), world_light_line(400.0));
}

START_TEST(runs_far_outside_are_the_same)
{
    enum { STEPS = 400 };
    static ice_emission emissions[STEPS];
    stage_world world = steep_world(_i == 1);
    uint64_t state = 67;
    for (uint32_t i = 0; i < STEPS; ++i) {
        emissions[i] =
            (ice_emission){.x = (_i == 1 ? 0.0f : 5000.0f) + (float)test_between(&state, -20, 20),
                           .y = (float)test_between(&state, -20, 20),
                           .z = (_i == 1 ? 2000.0f : 0.0f) + (float)test_between(&state, -20, 20),
                           .dz = 1.0f,
                           .beta = 1.0f,
                           .event_low = i,
                           .photons = 100,
                           .flags = ICE_EMISSION_ISOTROPIC};
    }
    const ice_variants variants = world_variants();
    world_result results[2];
    for (int cull = 0; cull < 2; ++cull) {
        world.options.reach_cull = cull;
        stage_world_tables(&world);
        results[cull] =
            world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, STEPS);
    }
    ck_assert_uint_gt(results[0].arrivals.count, 20);
    ck_assert_uint_eq(results[1].arrivals.count, results[0].arrivals.count);
    ck_assert_mem_eq(results[1].arrivals.items, results[0].arrivals.items,
                     results[0].arrivals.count * sizeof(ice_arrival));
    /* The bound dropped photons. */
    ck_assert_uint_gt(results[1].account.left, 100);
    world_result_free(&results[0]);
    world_result_free(&results[1]);
    stage_world_destroy(&world);
}
END_TEST

/* Where the distance to the modules says that a photon is in the region with a known steepness, it
 * is: case 0 is a detector inside the table of a tilt, case 1 one that is wider than the table. */
START_TEST(distance_says_the_region)
{
    enum { SIDE = 5, MODULES = SIDE * SIDE * SIDE };
    double at[MODULES][3];
    for (int i = 0; i < MODULES; ++i) {
        at[i][0] = 200.0 * (i % SIDE - 2);
        at[i][1] = 200.0 * (i / SIDE % SIDE - 2);
        at[i][2] = 50.0 * (i / SIDE / SIDE - 2);
    }
    uint64_t state = 71;
    stage_world world = mixed_world();
    stage_world_set_detector(&world, world_detector((const double(*)[3])at, MODULES, 5.0));
    ice_tilt *tilt = &world.medium->tilt;
    free(tilt->stations);
    free(tilt->shifts);
    set_line(world.medium, &state, 20.0, true);
    const double half = _i == 0 ? 500.0 : 250.0;
    for (size_t k = 0; k < tilt->station_count; ++k) {
        tilt->stations[k] = half * (2.0 * (double)k / (double)(tilt->station_count - 1) - 1.0);
    }
    tilt->depth_count = DEPTHS;
    tilt->depth_step = 60.0;
    tilt->first_depth = ICE_DETECTOR_DEPTH - 30.0 * DEPTHS;
    fill_layers(world.medium, false);
    const ice_tables *tables = stage_world_tables(&world);
    const size_t n = test_scaled(200000);
    size_t near = 0, outside = 0;
    for (size_t i = 0; i < n; ++i) {
        const double reach = i % 2 ? 800.0 : 5000.0;
        const float x = (float)test_between(&state, -reach, reach);
        const float y = (float)test_between(&state, -reach, reach);
        const float z = (float)test_between(&state, -reach, reach);
        const float distance = ice_least_distance(tables, ice_clearance(tables, x, y), z);
        const float range = ice_clear_range(tables, x, y, z, distance);
        const bool known = ice_is_clear_range_known(tables, x, y, z) != 0;
        near += range > 0.0f;
        outside += !known;
        ck_assert_msg(range == 0.0f || known,
                      "(%g, %g, %g), %g m from a module: the steepness is not known", (double)x,
                      (double)y, (double)z, (double)distance);
        ck_assert(range <= distance && range <= ICE_CLEAR_RANGE);
    }
    ck_assert_uint_gt(50 * near, n);
    ck_assert_uint_gt(50 * outside, n);
    ck_assert_int_eq(tables->tilt.known_distance > 0.0f, _i == 0);
    ck_assert(_i != 0 || tables->tilt.known_distance >= ICE_CLEAR_RANGE);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("tilt and reach")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, clear_ranges_hold, 0, 5);
    tcase_add_loop_test(all, runs_far_outside_are_the_same, 0, 2);
    tcase_add_loop_test(all, distance_says_the_region, 0, 2);
    suite_add_tcase(suite, all);
}
