/* Promise: ics_tables_nearest_find() gives the same distances as a loop over all points, and an
 * owner at the smaller of them, for cells inside the points, far outside and larger than all of
 * them.
 *
 * How to join: a new arrangement of points is a case of place(). */
#include "base/error.h"
#include "tables/nearest.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { POINTS = 600, CELLS = 4000, OWNERS = 40 };

/* A uniform number in [0, 1) from a fixed sequence (the constants are those of drand48). */
static double draw(uint64_t *state)
{
    *state = (*state * 0x5deece66dull + 11) & 0xffffffffffffull;
    return (double)*state * 0x1p-48;
}

static ics_owned_point place(int arrangement, uint64_t *state)
{
    const double u = draw(state), v = draw(state);
    const uint32_t owner = (uint32_t)(draw(state) * OWNERS);
    switch (arrangement) {
    case 0: /* a square */
        return (ics_owned_point){1000.0 * u, 1000.0 * v, owner};
    case 1: /* a line along y */
        return (ics_owned_point){12.5, 3000.0 * v, owner};
    case 2: /* one position */
        return (ics_owned_point){-7.0, 9.0, owner};
    case 3: /* two clusters far apart, one of them with one owner */
        return (ics_owned_point){u < 0.9 ? u : 5e4 + u, v, u < 0.9 ? 3 : owner};
    default: /* one owner */
        return (ics_owned_point){800.0 * u, 50.0 * v, 5};
    }
}

static double outside(double value, double low, double side)
{
    return fmax(fmax(low - value, value - low - side), 0.0);
}

/* The square of the distance (m2) between a cell and a point. */
static double square_between(ics_map_cell cell, const ics_owned_point *point)
{
    const double x = outside(point->x, cell.x, cell.side);
    const double y = outside(point->y, cell.y, cell.side);
    return x * x + y * y;
}

/* Compares the result for one cell with a loop over all points. */
static void expect_nearest(const ics_owned_point *points, ics_nearest_search *search,
                           ics_map_cell cell)
{
    const ics_nearest_owner found = ics_tables_nearest_find(search, cell);
    double least = INFINITY, own = INFINITY, second = INFINITY;
    for (size_t k = 0; k < POINTS; ++k) {
        const double square = square_between(cell, &points[k]);
        least = fmin(least, square);
        own = points[k].owner == found.owner ? fmin(own, square) : own;
        second = points[k].owner != found.owner ? fmin(second, square) : second;
    }
    ck_assert_msg(fabs(found.least - least) <= 1e-9 * least && own <= least * (1.0 + 1e-9),
                  "cell (%g, %g) of %g m: found %g m2 and owner %u, whose square is %g, not %g",
                  cell.x, cell.y, cell.side, found.least, found.owner, own, least);
    ck_assert_msg(found.second == second || fabs(found.second - second) <= 1e-9 * second,
                  "cell (%g, %g) of %g m: second %g m2, not %g", cell.x, cell.y, cell.side,
                  found.second, second);
}

START_TEST(as_a_loop_over_all_points)
{
    static ics_owned_point points[POINTS];
    uint64_t state = 20261127 + (uint64_t)_i;
    for (size_t k = 0; k < POINTS; ++k) {
        points[k] = place(_i, &state);
    }
    ics_nearest_search search;
    ck_assert_int_eq(ics_tables_nearest_create(points, POINTS, &search), ICESTREAM_OK);
    for (int c = 0; c < CELLS; ++c) {
        const double wide = c % 2 ? 1500.0 : 1e5;
        const ics_map_cell cell = {wide * (draw(&state) - 0.3), wide * (draw(&state) - 0.3),
                                   c % 10 ? 5.0 + 20.0 * draw(&state) : 4000.0};
        expect_nearest(points, &search, cell);
    }
    ics_tables_nearest_destroy(&search);
}
END_TEST

/* The search would be of no use if it tried every point. */
START_TEST(few_points_are_tried)
{
    static ics_owned_point points[POINTS];
    uint64_t state = 20261127;
    for (size_t k = 0; k < POINTS; ++k) {
        points[k] = place(0, &state);
    }
    ics_nearest_search search;
    ck_assert_int_eq(ics_tables_nearest_create(points, POINTS, &search), ICESTREAM_OK);
    for (int c = 0; c < CELLS; ++c) {
        const ics_map_cell cell = {1000.0 * draw(&state), 1000.0 * draw(&state), 5.0};
        (void)ics_tables_nearest_find(&search, cell);
    }
    ck_assert_uint_lt(search.tried, (size_t)CELLS * POINTS / 10);
    ics_tables_nearest_destroy(&search);
}
END_TEST

/* Points on a line parallel to an axis have about one square each, too. A search passes all squares
 * of a ring, so thousands of squares for two strings would take minutes. */
START_TEST(points_on_a_line_have_few_squares)
{
    const ics_owned_point points[] = {{8.0, 0.0, 0}, {8.0, 50.0, 1}};
    ics_nearest_search search;
    ck_assert_int_eq(ics_tables_nearest_create(points, 2, &search), ICESTREAM_OK);
    ck_assert_int_le(search.nx * search.ny, 4);
    ics_tables_nearest_destroy(&search);
}
END_TEST

ICS_TEST_MAIN("nearest")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, as_a_loop_over_all_points, 0, 5);
    tcase_add_test(all, few_points_are_tried);
    tcase_add_test(all, points_on_a_line_have_few_squares);
    suite_add_tcase(suite, all);
}
