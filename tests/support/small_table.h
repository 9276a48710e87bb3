/* A small table for tests of the stage tabulate: r, azimuth, cosine and delay around each step. */
#ifndef SMALL_TABLE_H
#define SMALL_TABLE_H

#include "stages/tabulate/tabulate.h"

#include <check.h>
#include <math.h>
#include <stddef.h>

enum {
    SMALL_TABLE_BINS = 40,
    SMALL_TABLE_CELLS = (SMALL_TABLE_BINS + 2) * 8 * 12 * (SMALL_TABLE_BINS + 2)
};

/* Returns the table with these sums and squares, [SMALL_TABLE_CELLS]; squares may be NULL. Photons
 * end outside. Weights contain the standard acceptance of physics.md 8.5. */
static inline ice_tabulation small_table(uint64_t *sums, uint64_t *squares)
{
    ice_tabulation table = {
        .axes = {{.bins = SMALL_TABLE_BINS,
                  .power = 2,
                  .scale = SMALL_TABLE_BINS / sqrtf(300),
                  .ends_above = 1},
                 {.coordinate = 1, .bins = 6, .power = 1, .scale = 6 / 180.0f},
                 {.coordinate = 2, .bins = 10, .power = 1, .first = -1, .scale = 5},
                 {.coordinate = 3,
                  .bins = SMALL_TABLE_BINS,
                  .power = 2,
                  .scale = SMALL_TABLE_BINS / sqrtf(3000),
                  .ends_above = 1}},
        .axis_count = 4,
        .geometry = ICE_TABULATE_SPHERICAL,
        .step = 1,
        .inverse_step = 1,
        .absorption_lengths = 10,
        .inverse_speed = 1.3f * 3.33564095f,
        .has_acceptance = 1,
        .acceptance = {0.5f, 0.75f, 0.0f, -0.25f},
        .sums = sums,
        .squares = squares};
    uint32_t stride = 1;
    for (int i = 3; i >= 0; --i) {
        table.axes[i].stride = stride;
        stride *= (uint32_t)table.axes[i].bins + 2;
    }
    ck_assert_uint_eq(stride, SMALL_TABLE_CELLS);
    return table;
}

/* Makes each emission the source of its photons, with a weight of 0.5 to 0.875. */
static inline void small_table_origins(const ice_emission *emissions, size_t count,
                                       ice_tabulate_origin *out)
{
    for (size_t i = 0; i < count; ++i) {
        const ice_emission *e = &emissions[i];
        out[i] = (ice_tabulate_origin){.x = e->x,
                                       .y = e->y,
                                       .z = e->z,
                                       .ux = 1,
                                       .vy = 1,
                                       .wz = 1,
                                       .time = (float)i,
                                       .weight = 0.5f + 0.125f * (float)(i % 4)};
    }
}

#endif
