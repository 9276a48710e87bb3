/* Promise: the nearest module to a line is the one that a look at all modules finds, the first of
 * equally near ones, however the modules are arranged. To join: an arrangement is a case of
 * place_modules(). */
#include "pipeline/photons/models/light/region.h"
#include "tests/support/test_main.h"

enum { MODULES = 3000, LINES = 400, ARRANGEMENTS = 4 };

static ice_module modules[MODULES];
static uint64_t state;

/* Returns a number from -500 to 500. */
static double coordinate(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 1000 * ((double)(state >> 40) / 16777216.0) - 500;
}

static void place_modules(int arrangement, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const bool is_copy = arrangement == 1 && i >= count / 2; /* each position twice */
        modules[i] = (ice_module){.x = coordinate(), .y = coordinate(), .z = coordinate()};
        if (is_copy) {
            modules[i] = modules[i - count / 2];
        }
        if (arrangement == 2) { /* strings */
            modules[i].x = 125.0 * (double)(i / 60 % 10);
            modules[i].y = 125.0 * (double)(i / 600);
        }
        modules[i].absorbs = arrangement == 3 && i % 3 != 0;
    }
}

/* Looks at all modules. */
static const ice_module *nearest_of_all(size_t count, const double from[3], const double to[3],
                                        double *distance)
{
    const double way[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    const double square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
    const ice_module *nearest = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < count; ++i) {
        const double x = modules[i].x - from[0], y = modules[i].y - from[1],
                     z = modules[i].z - from[2];
        const double along = x * way[0] + y * way[1] + z * way[2];
        const double share = square > 0 ? fmin(fmax(along / square, 0), 1) : 0;
        const double dx = x - share * way[0], dy = y - share * way[1], dz = z - share * way[2];
        const double apart = dx * dx + dy * dy + dz * dz;
        if (apart < least && !modules[i].absorbs) {
            least = apart;
            nearest = &modules[i];
        }
    }
    *distance = sqrt(least);
    return nearest;
}

START_TEST(same_as_of_all)
{
    static const size_t counts[] = {0, 1, 255, 256, 257, 512, MODULES};
    state = (uint64_t)_i + 1;
    for (size_t k = 0; k < COUNT(counts); ++k) {
        const ice_detector detector = {.modules = modules, .module_count = counts[k]};
        ics_light_blocks blocks;
        place_modules(_i, counts[k]);
        ics_light_blocks_of(&detector, &blocks);
        for (int i = 0; i < LINES; ++i) {
            const double from[3] = {coordinate(), coordinate(), coordinate()};
            const double length = i % 4 == 0 ? 0 : i % 4 == 1 ? 0.01 : 1;
            const double to[3] = {from[0] + length * coordinate(), from[1] + length * coordinate(),
                                  from[2] + length * coordinate()};
            double found = 0, expected = 0;
            ck_assert_ptr_eq(ics_light_nearest(&blocks, from, to, &found),
                             nearest_of_all(counts[k], from, to, &expected));
            ck_assert_msg(found == expected, "line %d: found %.17g, expected %.17g", i, found,
                          expected);
        }
    }
}
END_TEST

ICS_TEST_MAIN("module_nearest")
{
    TCase *nearest = tcase_create("nearest");
    tcase_add_loop_test(nearest, same_as_of_all, 0, ARRANGEMENTS);
    suite_add_tcase(suite, nearest);
}
