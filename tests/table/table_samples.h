/* Small photon tables for the suites of this folder. */
#ifndef TABLE_SAMPLES_H
#define TABLE_SAMPLES_H

#include "pipeline/photons/table/table.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const ics_table_axis sample_axes[4] = {
    {.name = "r", .unit = "m", .from = 0, .to = 8, .bins = 2, .power = 2},
    {.name = "azimuth", .unit = "deg", .from = 0, .to = 180, .bins = 3, .power = 1},
    {.name = "cosine", .unit = "1", .from = -1, .to = 1, .bins = 2, .power = 1},
    {.name = "t", .unit = "ns", .from = 0, .to = 100, .bins = 4, .power = 1},
};

/* Two digests, for parts. */
#define SAMPLE_PART_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define SAMPLE_PART_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define SAMPLE_PART_C "0000000000000000000000000000000000000000000000000000000000000003"

/* A spherical table with a part, and sums that depend on `seed`; some cells stay empty. */
static inline ics_table *sample_table(uint64_t seed, const char *part, bool has_squares)
{
    const ics_table_facts facts = {.geometry = ICS_TABLE_SPHERICAL,
                                   .step_length = 1.0,
                                   .area = 0.5,
                                   .n_group = 1.35,
                                   .n_phase = 1.33,
                                   .z = -12.5,
                                   .seed = 7};
    icestream_error error = {.text = ""};
    ics_table *table = NULL;
    ck_assert_msg(ics_table_create(sample_axes, 4, &facts, has_squares, &table, &error) == 0, "%s",
                  error.text);
    for (uint64_t i = 0; i < table->cells; ++i) {
        const uint64_t mixed = (i + seed) * 0x9e3779b97f4a7c15u;
        table->sums[i] = mixed % 3 == 0 ? 0 : (int64_t)(mixed >> 24);
        if (has_squares) {
            table->squares[i] = table->sums[i] / 2;
        }
    }
    const ics_table_weight weight = {.whole = 10 * seed, .fraction = 0xc0000000u};
    ck_assert_int_eq(ics_table_add_photons(table, 100 + seed, weight, &error), 0);
    ck_assert_int_eq(ics_table_add_part(table, part, &error), 0);
    return table;
}

/* Whether all numbers, parts and axes are equal. */
static inline bool sample_equals(const ics_table *a, const ics_table *b)
{
    const size_t bytes = a->cells * sizeof *a->sums;
    bool is_equal =
        a->cells == b->cells && a->axis_count == b->axis_count && a->photons == b->photons &&
        a->weight.whole == b->weight.whole && a->weight.fraction == b->weight.fraction &&
        a->part_count == b->part_count && (a->squares == NULL) == (b->squares == NULL) &&
        a->facts.seed == b->facts.seed && a->facts.z == b->facts.z &&
        a->facts.geometry == b->facts.geometry && memcmp(a->sums, b->sums, bytes) == 0 &&
        (a->squares == NULL || memcmp(a->squares, b->squares, bytes) == 0);
    for (size_t i = 0; is_equal && i < a->part_count; ++i) {
        is_equal = strcmp(a->parts[i].digest, b->parts[i].digest) == 0;
    }
    return is_equal;
}

#endif
