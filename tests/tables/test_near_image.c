/* The map of clearances as a GPU reads it. As a texture: whatever cell a texture unit takes for a
 * position, the bounds from its numbers are right, and nearly those from the words of the map. As
 * an array: its cells have the numbers that the words stand for.
 *
 * How to join: add a detector to world_of(). */
#include "stages/reach.h"
#include "tables/near_image.h"
#include "tables/short_texels.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* Detectors: 86 strings; 100 strings of which every second one leans and has no axis; one module;
 * two modules so far apart that texels with 16 bits would be too coarse. Returns a world with one,
 * and its width (m). */
enum { HEX, LEANING, ONE, WIDE, DETECTORS };

static stage_world world_of(int which, double *width)
{
    static const double at[][3] = {{0.0, 0.0, 0.0}, {2500.0, -1500.0, 0.0}};
    static const double widths[] = {1200.0, 400.0, 60.0, 5000.0};
    *width = widths[which];
    if (which == HEX) {
        return stage_world_from_config(NULL, "detector.layout=hex86", NULL);
    }
    ice_detector *detector = which == LEANING ? world_detector_leaning(10, 5.0)
                                              : world_detector(at, which == WIDE ? 2 : 1, 5.0);
    return stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0), detector,
                              world_light_line(400.0));
}

/* Returns the texel at a position in cells (m). A position outside is moved to the edge. */
static ice_surroundings texel_at(const ice_tables *tables, const float *numbers, double u, double v)
{
    const int32_t i = (int32_t)fmin(fmax(floor(u), 0.0), (double)(tables->clearance_nx - 1));
    const int32_t j = (int32_t)fmin(fmax(floor(v), 0.0), (double)(tables->clearance_ny - 1));
    const float *texel = &numbers[(size_t)(j * tables->clearance_nx + i) * ICS_NEAR_NUMBERS];
    const float scale = tables->near_scale;
    return (ice_surroundings){texel[0] * scale, texel[1] * scale, texel[2] * tables->near_others};
}

START_TEST(texels_are_bounds)
{
    double width;
    stage_world world = world_of(_i, &width);
    const ice_tables *tables = stage_world_tables(&world);
    const size_t cells = (size_t)tables->clearance_nx * (size_t)tables->clearance_ny;
    float *numbers = calloc(cells * ICS_NEAR_NUMBERS, sizeof *numbers);
    ck_assert_ptr_nonnull(numbers);
    ics_tables_near_texels(tables, numbers);
    const float inverse = tables->clearance_inverse_cell;
    ice_tables textured = *tables; /* as kernels with the texture see it */
    textured.axis_radius = tables->near_radius;
    uint64_t state = 19;
    double loss = 0.0;
    for (size_t i = 0, n = test_scaled(20000); i < n; ++i) {
        const double reach = (i % 8 ? 1.0 : 10.0) * width;
        const float x = (float)test_between(&state, -reach, reach);
        const float y = (float)test_between(&state, -reach, reach);
        const double u = (double)fmaf(x, inverse, tables->clearance_of_zero_x);
        const double v = (double)fmaf(y, inverse, tables->clearance_of_zero_y);
        const double exact = world_clearance(tables, (double)x, (double)y);
        const float from_words = ice_clearance(tables, x, y);
        for (int corner = 0; corner < 4; ++corner) {
            const double du = corner % 2 ? 1.0 / 256.0 : -1.0 / 256.0;
            const double dv = corner / 2 ? 1.0 / 256.0 : -1.0 / 256.0;
            const ice_surroundings near = texel_at(tables, numbers, u + du, v + dv);
            const float bound = ice_clearance_of(&textured, near, x, y);
            ck_assert_msg((double)bound <= exact, "(%.9g, %.9g): bound %g m, exact %g m", (double)x,
                          (double)y, (double)bound, exact);
            loss = fmax(loss, (double)(from_words - bound));
        }
    }
    /* The width of a cell: a neighbour may know less of the others. */
    ck_assert_double_lt(loss, 3.0 / (double)inverse);
    free(numbers);
    stage_world_destroy(&world);
}
END_TEST

/* Texels with 16 bits say what a texture unit makes of them: their numbers divided by the largest
 * one. Those of a wide detector are float. */
START_TEST(short_texels)
{
    double width;
    stage_world world = world_of(_i, &width);
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert(ics_tables_near_is_short(tables) == (_i != WIDE));
    if (_i != WIDE) {
        const size_t count = (size_t)tables->clearance_nx * (size_t)tables->clearance_ny;
        float *numbers = calloc(count * ICS_NEAR_NUMBERS, sizeof *numbers);
        int16_t *words = calloc(count * ICS_NEAR_NUMBERS, sizeof *words);
        ck_assert(numbers != NULL && words != NULL);
        ics_tables_near_texels(tables, numbers);
        ics_tables_shorten_texels(numbers, count * ICS_NEAR_NUMBERS, words);
        for (size_t i = 0; i < count * ICS_NEAR_NUMBERS; ++i) {
            ck_assert(numbers[i] == (float)words[i] / (float)ICS_TEXEL_STEPS);
        }
        free(numbers);
        free(words);
    }
    stage_world_destroy(&world);
}
END_TEST

/* The array of a GPU with portable maths has to the bit what the words of the map stand for. */
START_TEST(cells_are_words)
{
    double width;
    stage_world world = world_of(_i, &width);
    const ice_tables *tables = stage_world_tables(&world);
    const size_t count = (size_t)tables->clearance_nx * (size_t)tables->clearance_ny;
    ice_near_cell *cells = aligned_alloc(_Alignof(ice_near_cell), count * sizeof *cells);
    ck_assert_ptr_nonnull(cells);
    ics_tables_near_fill(tables, cells);
    uint64_t state = 20;
    for (size_t i = 0, n = test_scaled(100000); i < n; ++i) {
        const double reach = (i % 8 ? 1.0 : 10.0) * width;
        const float x = (float)test_between(&state, -reach, reach);
        const float y = (float)test_between(&state, -reach, reach);
        const ice_near_cell cell = cells[ice_clearance_cell(tables, x, y)];
        const ice_surroundings near = ice_surroundings_at(tables, x, y);
        ck_assert(ice_bits(cell.axis_x) == ice_bits(near.axis_x));
        ck_assert(ice_bits(cell.axis_y) == ice_bits(near.axis_y));
        ck_assert(ice_bits(cell.others) == ice_bits(near.others));
    }
    free(cells);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("near image")
{
    TCase *tests = tcase_create("image");
    tcase_add_loop_test(tests, texels_are_bounds, 0, DETECTORS);
    tcase_add_loop_test(tests, short_texels, 0, DETECTORS);
    tcase_add_loop_test(tests, cells_are_words, 0, DETECTORS);
    suite_add_tcase(suite, tests);
}
