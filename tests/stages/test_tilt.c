/* Tilt of the layers: the shift at a point has the worked numbers of physics.md 6.1, and equals an
 * interpolation that this file writes again in double precision.
 *
 * How to join: add one test for each new kind of tilt table. */
#include "tests/stages/feature_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* The test table of physics.md 6.1: zshift = nr (0.02 - 0.05 (depth - 1200) / 1200). */
static void fill_test_tilt(ice_tilt *tilt)
{
    tilt->azimuth = 225.0 * M_PI / 180.0;
    tilt->origin = 0.0;
    for (size_t row = 0; row < tilt->depth_count; ++row) {
        for (size_t k = 0; k < tilt->station_count; ++k) {
            const double depth = tilt->first_depth + tilt->depth_step * (double)row;
            tilt->shifts[row * tilt->station_count + k] =
                tilt->stations[k] * (0.02 - 0.05 * (depth - 1200.0) / 1200.0);
        }
    }
}

/* Places `count` stations evenly on the line, over 1060 m. */
static void set_stations(ice_tilt *tilt, size_t count)
{
    free(tilt->stations);
    free(tilt->shifts);
    tilt->station_count = count;
    tilt->stations = calloc(count, sizeof *tilt->stations);
    tilt->shifts = calloc(tilt->depth_count * count, sizeof *tilt->shifts);
    ck_assert(tilt->stations && tilt->shifts);
    for (size_t k = 0; k < count; ++k) {
        tilt->stations[k] = -530.0 + 1060.0 * (double)k / (double)(count - 1);
    }
}

/* Two stations, a few, as many stretches as a kernel keeps in constants, and more. */
static const size_t station_counts[] = {2, 5, ICE_TILT_STRETCHES + 1, ICE_TILT_STRETCHES + 2, 300};

START_TEST(tilt_of_a_line)
{
    stage_world world = feature_world(ICE_HAS_TILT_LINE);
    set_stations(&world.medium->tilt, station_counts[_i]);
    fill_test_tilt(&world.medium->tilt);
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert_double_eq_tol(ice_shift(tables, 0, 0, 0), 0.0, 1e-6);
    ck_assert_double_eq_tol(ice_shift(tables, 300, 200, -350), 9.105031, 2e-5);
    ck_assert_double_eq_tol(ice_shift(tables, -300, -200, 400), 1.943512, 2e-5);
    /* Far outside the stations and the depths, the shift continues along straight lines. */
    uint64_t state = 4;
    for (int i = 0; i < 10000; ++i) {
        const double x = test_between(&state, -3000, 3000), y = test_between(&state, -3000, 3000);
        const double z = test_between(&state, -2000, 2000);
        const double exact = (cos(3.926990817) * x + sin(3.926990817) * y) *
                             (0.02 - 0.05 * (ICE_DETECTOR_DEPTH - z - 1200.0) / 1200.0);
        ck_assert_double_eq_tol(ice_shift(tables, (float)x, (float)y, (float)z), exact, 1e-3);
        ck_assert_double_eq_tol(ice_height(tables, (float)x, (float)y, (float)z), z - exact, 2e-3);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(tilt_that_stays_at_its_edge)
{
    stage_world world = feature_world(ICE_HAS_TILT_LINE);
    ice_tilt *tilt = &world.medium->tilt;
    fill_test_tilt(tilt);
    tilt->azimuth = 0.0;
    tilt->clamp = true;
    const ice_tables *tables = stage_world_tables(&world);
    const double top = ICE_DETECTOR_DEPTH - tilt->first_depth;
    const double last = tilt->stations[tilt->station_count - 1];
    const float corner = ice_shift(tables, (float)last, 0, (float)top);
    ck_assert_double_eq_tol(corner, last * (0.02 + 0.05 * 100.0 / 1200.0), 1e-4);
    ck_assert_double_eq_tol(ice_shift(tables, 5000, 77, 5000), corner, 1e-4);
    stage_world_destroy(&world);
}
END_TEST

/* The shift of a map at one node, as the README of the public ice models defines it. A node in a
 * corner that is cut off has none. */
static double node(const ice_tilt *tilt, size_t row, int i, int j)
{
    const bool there = i < j + (int)tilt->axes[0].cut && j < i + (int)tilt->axes[1].cut;
    const size_t line = tilt->axes[0].count;
    return there ? tilt->shifts[(row * tilt->axes[1].count + (size_t)j) * line + (size_t)i] : 0.0;
}

static double at_row(const ice_tilt *tilt, size_t row, double u, double v)
{
    int i = (int)floor(u), j = (int)floor(v);
    i = i > (int)tilt->axes[0].count - 2 ? (int)tilt->axes[0].count - 2 : i;
    j = j > (int)tilt->axes[1].count - 2 ? (int)tilt->axes[1].count - 2 : j;
    const double p = u - i, r = v - j;
    if (p > r) {
        return (1 - p) * node(tilt, row, i, j) + (p - r) * node(tilt, row, i + 1, j) +
               r * node(tilt, row, i + 1, j + 1);
    }
    return (1 - r) * node(tilt, row, i, j) + (r - p) * node(tilt, row, i, j + 1) +
           p * node(tilt, row, i + 1, j + 1);
}

/* Moves a point outside the map to the edge. A ray leads outwards from each of the six corners. A
 * point between two rays is p + f (q - p), where p and q lie on the rays at the same length, and
 * moves to the same share f of the edge. */
static void onto_edge(const ice_tilt *tilt, double *u, double *v)
{
    const double c1 = (double)tilt->axes[0].cut - 1, c2 = (double)tilt->axes[1].cut - 1;
    const double n1 = (double)tilt->axes[0].count - 1, n2 = (double)tilt->axes[1].count - 1;
    const double corners[7][2] = {{0, 0},        {c1, 0}, {n1, n1 - c1}, {n1, n2},
                                  {n2 - c2, n2}, {0, c2}, {0, 0}};
    const double rays[7][2] = {{-1, -1}, {0, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}};
    for (int k = 0; k < 6; ++k) {
        const double *a = corners[k], *b = corners[k + 1];
        /* Both rays leave the line of the edge at the same rate. */
        const double ex = b[0] - a[0], ey = b[1] - a[1];
        const double per_s = ex * rays[k][1] - ey * rays[k][0];
        const double s = (ex * (*v - a[1]) - ey * (*u - a[0])) / per_s;
        if (!(s > 0)) {
            continue;
        }
        const double px = a[0] + s * rays[k][0], py = a[1] + s * rays[k][1];
        const double qx = b[0] + s * rays[k + 1][0], qy = b[1] + s * rays[k + 1][1];
        const double along = (*u - px) * (qx - px) + (*v - py) * (qy - py);
        const double f = along / ((qx - px) * (qx - px) + (qy - py) * (qy - py));
        if (f < 0 || f > 1) {
            continue;
        }
        *u = a[0] + f * ex;
        *v = a[1] + f * ey;
        return;
    }
}

static double map_oracle(const ice_tilt *tilt, double x, double y, double z)
{
    const double a = tilt->axes[0].azimuth, b = tilt->axes[1].azimuth;
    const double determinant = cos(a) * sin(b) - sin(a) * cos(b);
    double u = (x * sin(b) - y * cos(b)) / determinant;
    double v = (y * cos(a) - x * sin(a)) / determinant;
    u = (u - tilt->axes[0].first) / tilt->axes[0].step;
    v = (v - tilt->axes[1].first) / tilt->axes[1].step;
    onto_edge(tilt, &u, &v);
    const double depth = (ICE_DETECTOR_DEPTH - z - tilt->first_depth) / tilt->depth_step;
    const double row = fmin(fmax(floor(depth), 0), (double)tilt->depth_count - 2);
    const double low = at_row(tilt, (size_t)row, u, v), high = at_row(tilt, (size_t)row + 1, u, v);
    return low + (depth - row) * (high - low);
}

START_TEST(tilt_of_a_map)
{
    stage_world world = feature_world(ICE_HAS_TILT_MAP);
    const ice_tilt *tilt = &world.medium->tilt;
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 5;
    int inside = 0;
    for (int i = 0; i < 200000; ++i) {
        const double x = test_between(&state, -1500, 1500), y = test_between(&state, -1500, 1500);
        const double z = test_between(&state, -1000, 900);
        const double exact = map_oracle(tilt, x, y, z);
        ck_assert_double_eq_tol(ice_shift(tables, (float)x, (float)y, (float)z), exact, 5e-3);
        inside += hypot(x, y) < 400;
    }
    ck_assert_int_gt(inside, 1000);
    stage_world_destroy(&world);
}
END_TEST

/* On the edges of the hexagon, where a corner of the grid is cut off, rounding decides between a
 * triangle that exists and one that does not. */
START_TEST(tilt_on_the_edges_of_a_map)
{
    stage_world world = feature_world(ICE_HAS_TILT_MAP);
    const ice_tilt *tilt = &world.medium->tilt;
    const ice_tables *tables = stage_world_tables(&world);
    const double c1 = (double)tilt->axes[0].cut - 1, c2 = (double)tilt->axes[1].cut - 1;
    const double n1 = (double)tilt->axes[0].count - 1, n2 = (double)tilt->axes[1].count - 1;
    const double corners[7][2] = {{0, 0},        {c1, 0}, {n1, n1 - c1}, {n1, n2},
                                  {n2 - c2, n2}, {0, c2}, {0, 0}};
    uint64_t state = 6;
    for (int i = 0; i < 60000; ++i) {
        const double *from = corners[i % 6], *to = corners[i % 6 + 1];
        const double f = test_uniform(&state), off = i % 3 ? test_between(&state, -1e-5, 1e-5) : 0;
        double place[2] = {0, 0};
        for (int m = 0; m < 2; ++m) {
            const ice_tilt_axis *axis = &tilt->axes[m];
            const double along = axis->first + axis->step * (from[m] + f * (to[m] - from[m]) + off);
            place[0] += along * cos(axis->azimuth);
            place[1] += along * sin(axis->azimuth);
        }
        const float x = (float)place[0], y = (float)place[1];
        const float z = (float)test_between(&state, -1000, 900);
        ck_assert_double_eq_tol(ice_shift(tables, x, y, z),
                                map_oracle(tilt, (double)x, (double)y, (double)z), 5e-3);
    }
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("tilt")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, tilt_of_a_line, 0, sizeof station_counts / sizeof *station_counts);
    tcase_add_test(all, tilt_that_stays_at_its_edge);
    tcase_add_test(all, tilt_of_a_map);
    tcase_add_test(all, tilt_on_the_edges_of_a_map);
    suite_add_tcase(suite, all);
}
