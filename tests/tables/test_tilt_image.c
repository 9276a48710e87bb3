/* The image of a tilt along a line (ice_tilt_image): interpolated as a texture unit does it, it
 * gives the shift of ice_shift(), within the bound that it promises.
 *
 * How to join: add a tilt to `tilts`. */
#include "stages/tilt.h"
#include "tables/short_texels.h"
#include "tables/tilt_image.h"
#include "tests/stages/feature_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* Returns the words of the texture of an image. To be freed by the caller. */
static int16_t *words_of(const ice_tables *tables)
{
    const ics_tables_image_size size = ics_tables_image_size_of(tables);
    const size_t count = (size_t)size.columns * size.rows;
    float *nodes = calloc(count, sizeof *nodes);
    int16_t *words = calloc(count, sizeof *words);
    ck_assert(nodes != NULL && words != NULL);
    ics_tables_image_fill(tables, nodes);
    ics_tables_shorten_texels(nodes, count, words);
    free(nodes);
    return words;
}

/* The shift (m) from a texture with linear interpolation at (x, y), for which CUDA's programming
 * guide has the formula: fractions are rounded to 1/256, and coordinates outside are those of the
 * edge. */
static double texture_at(const ice_tables *tables, const int16_t *words, double x, double y)
{
    const ics_tables_image_size size = ics_tables_image_size_of(tables);
    const double xb = x - 0.5, yb = y - 0.5;
    const double s = nearbyint((xb - floor(xb)) * 256.0) / 256.0;
    const double t = nearbyint((yb - floor(yb)) * 256.0) / 256.0;
    double corner[2][2];
    for (int j = 0; j < 2; ++j) {
        for (int i = 0; i < 2; ++i) {
            const double column = fmin(fmax(floor(xb) + i, 0.0), (double)size.columns - 1.0);
            const double row = fmin(fmax(floor(yb) + j, 0.0), (double)size.rows - 1.0);
            corner[j][i] = (double)tables->tilt.image.unit *
                           words[(size_t)row * size.columns + (size_t)column] / ICS_TEXEL_STEPS;
        }
    }
    return (1.0 - t) * ((1.0 - s) * corner[0][0] + s * corner[0][1]) +
           t * ((1.0 - s) * corner[1][0] + s * corner[1][1]);
}

/* Stations (m) with shifts of this size (m): a zigzag whose slopes change at every station. */
static const struct {
    double zigzag;
    size_t stations;
    bool clamp, uneven;
} tilts[] = {
    {20.0, 2, false, false}, {20.0, 6, false, true}, {20.0, 6, true, true},
    {5.0, 13, false, false}, {5.0, 40, true, false},
};
enum { TILTS = sizeof tilts / sizeof *tilts };

static stage_world world_of(size_t which)
{
    stage_world world = feature_world(ICE_HAS_TILT_LINE);
    ice_tilt *tilt = &world.medium->tilt;
    free(tilt->stations);
    free(tilt->shifts);
    const size_t count = tilts[which].stations;
    tilt->station_count = count;
    tilt->clamp = tilts[which].clamp;
    tilt->stations = calloc(count, sizeof *tilt->stations);
    tilt->shifts = calloc(tilt->depth_count * count, sizeof *tilt->shifts);
    ck_assert(tilt->stations && tilt->shifts);
    for (size_t k = 0; k < count; ++k) {
        const double uneven = tilts[which].uneven ? 37.7 * sin((double)k) : 0.0;
        tilt->stations[k] = -530.0 + 1060.0 * (double)k / (double)(count - 1) + uneven;
        for (size_t row = 0; row < tilt->depth_count; ++row) {
            const double deeper = 1.0 + 0.5 * (double)row / (double)tilt->depth_count;
            tilt->shifts[row * count + k] = tilts[which].zigzag * deeper * (k % 2 ? 0.5 : -0.5);
        }
    }
    return world;
}

START_TEST(image_is_the_shift)
{
    stage_world world = world_of((size_t)_i);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_tilt *tilt = &world.medium->tilt;
    const ics_tables_image_size size = ics_tables_image_size_of(tables);
    ck_assert_uint_gt(size.columns, tilt->clamp ? 130 : 500);
    ck_assert_uint_eq(size.rows,
                      tilt->depth_count + 2 * (size_t)ice_tilt_margin_rows(&tables->tilt));
    int16_t *words = words_of(tables);
    const double top = ICE_DETECTOR_DEPTH - tilt->first_depth;
    const double bottom = top - tilt->depth_step * (double)(tilt->depth_count - 1);
    uint64_t state = 8;
    double most = 0.0;
    for (uint32_t i = 0; i < test_scaled(200000); ++i) {
        const float x = (float)test_between(&state, -900, 900),
                    y = (float)test_between(&state, -900, 900);
        const float z = (float)test_between(&state, bottom, top);
        const double found = texture_at(tables, words, (double)ice_tilt_column(&tables->tilt, x, y),
                                        (double)ice_tilt_row(&tables->tilt, z));
        most = fmax(most, fabs(found - (double)ice_shift(tables, x, y, z)));
    }
    ck_assert_double_le(most, (double)ICE_TILT_IMAGE_ERROR);
    ck_assert_double_gt(most, 0.0); /* the comparison compares two different ways */
    free(words);
    stage_world_destroy(&world);
}
END_TEST

/* Above and below its table, and far along the line, the shift continues up to the margin, and
 * stays what it is there. */
START_TEST(image_has_a_margin)
{
    stage_world world = world_of(0);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_tilt *tilt = &world.medium->tilt;
    int16_t *words = words_of(tables);
    const double ux = (double)tables->tilt.ux, uy = (double)tables->tilt.uy;
    for (int side = -1; side <= 1; side += 2) {
        double there[3];
        for (int k = 0; k < 3; ++k) {
            const double along = side * (530.0 + (k == 0 ? 1900.0 : 4000.0 * k)) + tilt->origin;
            const float x = (float)(along * ux), y = (float)(along * uy);
            there[k] = texture_at(tables, words, (double)ice_tilt_column(&tables->tilt, x, y),
                                  (double)ice_tilt_row(&tables->tilt, 0.0f));
            if (k == 0) {
                ck_assert_double_eq_tol(there[0], (double)ice_shift(tables, x, y, 0.0f), 0.05);
            }
        }
        ck_assert_double_eq(there[1], there[2]);
        ck_assert_double_gt(fabs(there[1]), fabs(there[0]));
    }
    free(words);
    stage_world_destroy(&world);
}
END_TEST

/* With slopes that change too much, or without a tilt along a line, there is no image. */
START_TEST(image_is_left_out)
{
    stage_world world = world_of(1);
    ice_tilt *tilt = &world.medium->tilt;
    for (size_t i = 0; i < tilt->depth_count * tilt->station_count; ++i) {
        tilt->shifts[i] *= 100.0;
    }
    ck_assert_uint_eq(ics_tables_image_size_of(stage_world_tables(&world)).columns, 0);
    stage_world_destroy(&world);
    world = feature_world(0);
    ck_assert_uint_eq(ics_tables_image_size_of(stage_world_tables(&world)).columns, 0);
    stage_world_destroy(&world);
    world = feature_world(ICE_HAS_TILT_MAP);
    ck_assert_uint_eq(ics_tables_image_size_of(stage_world_tables(&world)).columns, 0);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("tilt image")
{
    TCase *tests = tcase_create("image");
    tcase_add_loop_test(tests, image_is_the_shift, 0, TILTS);
    tcase_add_test(tests, image_has_a_margin);
    tcase_add_test(tests, image_is_left_out);
    suite_add_tcase(suite, tests);
}
