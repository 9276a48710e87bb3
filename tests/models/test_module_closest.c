/* Promise: the distance of the two closest modules is exact, however the modules are arranged. To
 * join: a new arrangement is a function that fills a list, and a row of `arrangements`. */
#include "pipeline/icestream.h"
#include "pipeline/photons/models/detector/module_grid.h"
#include "tests/support/test_main.h"

#include <math.h>

enum { MODULES = 600 };

static uint64_t state;

/* Returns a number from 0 to 1. */
static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 40) / 16777216.0;
}

static void fill_cube(ice_module *module, int i)
{
    (void)i;
    module->x = 2000 * uniform() - 1000;
    module->y = 2000 * uniform() - 1000;
    module->z = 2000 * uniform() - 1000;
}

static void fill_sheet(ice_module *module, int i)
{
    fill_cube(module, i);
    module->z = -3;
}

/* The modules of the list are in turn in one of two clouds, so that neighbours in the list are much
 * farther from each other than neighbours in space. */
static void fill_clouds(ice_module *module, int i)
{
    module->x = 0.1 * uniform() + (i % 2 == 0 ? 9000 : -9000);
    module->y = 0.1 * uniform();
    module->z = 0;
}

static void fill_upright_line(ice_module *module, int i)
{
    *module = (ice_module){.x = -0.5, .y = 0.25, .z = i * 17.0 + uniform()};
}

static void fill_strings(ice_module *module, int i)
{
    *module =
        (ice_module){.x = 125.0 * (i / 60 % 5), .y = 108.25 * (i / 300), .z = 17.0 * (i % 60)};
    module->x += 0.01 * uniform();
}

/* Strings from the top to the bottom, whose halves follow each other only in every second string.
 */
static void fill_halves(ice_module *module, int i)
{
    const int string = i / 60, half = i / 30 % 2;
    const int other = string % 2 == 0 ? string : string - half + (1 - half);
    *module = (ice_module){.x = 125.0 * (other % 3),
                           .y = 90.0 * (other / 3),
                           .z = 500 - 17.0 * (i % 60) + 0.01 * uniform()};
}

/* All distances are those of a lattice, so columns begin exactly at modules. */
static void fill_lattice(ice_module *module, int i)
{
    *module = (ice_module){.x = i % 8 - 4, .y = i / 8 % 8 - 4, .z = i / 64 - 5};
}

/* The modules come ever closer to each other. */
static void fill_spiral(ice_module *module, int i)
{
    const double radius = 9000 * pow(0.98, i);
    *module = (ice_module){.x = radius * cos(i), .y = radius * sin(i), .z = radius / 3};
}

static const struct {
    const char *name;
    void (*fill)(ice_module *module, int i);
} arrangements[] = {
    {"cube", fill_cube},         {"sheet", fill_sheet},     {"clouds", fill_clouds},
    {"line", fill_upright_line}, {"strings", fill_strings}, {"halves", fill_halves},
    {"lattice", fill_lattice},   {"spiral", fill_spiral},
};
static double distance_of(const ice_module *a, const ice_module *b)
{
    return sqrt((a->x - b->x) * (a->x - b->x) + (a->y - b->y) * (a->y - b->y) +
                (a->z - b->z) * (a->z - b->z));
}

START_TEST(equals_all_pairs)
{
    for (uint64_t round = 0; round < 5; ++round) {
        static ice_module modules[MODULES];
        state = 12345 + 17 * round;
        for (int i = 0; i < MODULES; ++i) {
            modules[i] = (ice_module){0};
            arrangements[_i].fill(&modules[i], i);
        }
        double expected = INFINITY, found;
        for (int i = 0; i < MODULES; ++i) {
            for (int k = 0; k < i; ++k) {
                expected = fmin(expected, distance_of(&modules[i], &modules[k]));
            }
        }
        ck_assert_int_eq(ics_module_grid_closest(modules, MODULES, &found, NULL), ICESTREAM_OK);
        ck_assert_msg(found == expected, "%s: found %.17g, expected %.17g", arrangements[_i].name,
                      found, expected);
    }
}
END_TEST

START_TEST(few_modules)
{
    const ice_module corners[2] = {{.x = -1e4, .y = -1e4, .z = -1e4},
                                   {.x = 1e4, .y = 1e4, .z = 1e4}};
    const ice_module twice[3] = {{.x = 5}, {.x = 7}, {.x = 5}};
    double found;
    ck_assert_int_eq(ics_module_grid_closest(corners, 1, &found, NULL), ICESTREAM_OK);
    ck_assert(isinf(found));
    ck_assert_int_eq(ics_module_grid_closest(corners, 2, &found, NULL), ICESTREAM_OK);
    ck_assert_double_eq_tol(found, 34641.016, 1e-3);
    ck_assert_int_eq(ics_module_grid_closest(twice, 3, &found, NULL), ICESTREAM_OK);
    ck_assert_double_eq(found, 0);
}
END_TEST

ICS_TEST_MAIN("module_closest")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, equals_all_pairs, 0, COUNT(arrangements));
    tcase_add_test(all, few_modules);
    suite_add_tcase(suite, all);
}
