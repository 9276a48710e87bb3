/* Compaction of a pool (kernels/cuda/compact.h): partition and sorting move all photons to the
 * front of the pool, and in the order that the host computes.
 *
 * How to join: a new size of pool joins in the table `pools`, a new key in compact_keys. */
#include "tests/gpu/compact_pool.h"
#include "tests/gpu/gpu_world.h"

#include <string.h>

static const struct {
    uint32_t capacity, used;
    double share;
} pools[] = {
    {1, 1, 1.0},
    {1, 1, 0.0},
    {1, 0, 1.0},
    {31, 20, 0.5},
    {1000, 1000, 0.0},
    {1000, 1000, 1.0},
    {1000, 64, 0.9},
    {4096, 4000, 0.02},
    {100003, 99999, 0.45},
    {262144, 262144, 0.1},
    {1 << 20, 900000, 0.97},
};
enum { POOLS = sizeof pools / sizeof *pools };

START_TEST(partition)
{
    const uint32_t capacity = pools[_i].capacity;
    compact_slots before =
        compact_random_slots(capacity, pools[_i].used, pools[_i].share, 3 + (uint64_t)_i);
    compact_device_pool there = compact_pool_create(capacity, NULL);
    compact_pool_put(&there, &before);
    COMPACT_CHECK(
        ics_compact_partition(NULL, &there.pool, there.progress, there.temporary, there.bytes));
    compact_slots after = compact_pool_get(&there, capacity);
    compact_expect(&before, &after);
    /* Photons in front of the new end keep their slots. The others come from the back. */
    uint32_t last = before.used;
    for (uint32_t i = 0; i < before.alive; ++i) {
        const uint32_t from = after.columns[2][i * COMPACT_WORD + 2];
        if (*compact_emission_of(&before, i) != ICS_NOBODY) {
            ck_assert_uint_eq(from, i);
        } else {
            ck_assert_uint_ge(from, before.alive);
            ck_assert_uint_lt(from, last);
            last = from;
        }
    }
    compact_slots_destroy(&before);
    compact_slots_destroy(&after);
    compact_pool_destroy(&there);
}
END_TEST

static float place_of(const compact_slots *pool, uint32_t slot, int axis)
{
    float value;
    memcpy(&value, &pool->columns[0][slot * COMPACT_WORD + (uint32_t)axis], sizeof value);
    return value;
}

static uint32_t index_in(float position, float start, float inverse_width, uint32_t count)
{
    const float index = (position - start) * inverse_width;
    if (!(index > 0.0f)) {
        return 0;
    }
    return (uint32_t)index < count - 1 ? (uint32_t)index : count - 1;
}

static uint32_t key_of(const compact_slots *pool, uint32_t slot, const ics_compact_key *key)
{
    const uint32_t x = index_in(place_of(pool, slot, 0), key->x, key->inverse_cell, key->nx);
    const uint32_t y = index_in(place_of(pool, slot, 1), key->y, key->inverse_cell, key->ny);
    const uint32_t layer =
        index_in(place_of(pool, slot, 2), key->bottom, key->inverse_thickness, key->layers);
    return (y * key->nx + x) * key->layers + layer;
}

START_TEST(sorted)
{
    const int which = _i / COMPACT_KEYS;
    const ics_compact_key *key = &compact_keys[_i % COMPACT_KEYS];
    const uint32_t capacity = pools[which].capacity;
    compact_slots before =
        compact_random_slots(capacity, pools[which].used, pools[which].share, 31 + (uint64_t)_i);
    compact_device_pool there = compact_pool_create(capacity, key);
    compact_pool_put(&there, &before);
    COMPACT_CHECK(ics_compact_sorted(NULL, &there.pool, &there.spare, key, there.progress,
                                     there.temporary, there.bytes));
    compact_slots after = compact_pool_get(&there, capacity);
    compact_expect(&before, &after);
    for (uint32_t i = 1; i < before.alive; ++i) {
        const uint32_t left = key_of(&after, i - 1, key), right = key_of(&after, i, key);
        ck_assert_uint_le(left, right);
        if (left == right) {
            ck_assert_uint_lt(after.columns[2][(i - 1) * COMPACT_WORD + 2],
                              after.columns[2][i * COMPACT_WORD + 2]);
        }
    }
    compact_slots_destroy(&before);
    compact_slots_destroy(&after);
    compact_pool_destroy(&there);
}
END_TEST

START_TEST(too_little_memory)
{
    compact_device_pool there = compact_pool_create(1000, &compact_keys[0]);
    ck_assert_int_ne(ics_compact_partition(NULL, &there.pool, there.progress, there.temporary, 100),
                     0);
    ck_assert_int_ne(ics_compact_sorted(NULL, &there.pool, &there.spare, &compact_keys[0],
                                        there.progress, there.temporary, 100),
                     0);
    compact_pool_destroy(&there);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu compact");
    TCase *tests = tcase_create("compact");
    tcase_add_loop_test(tests, partition, 0, POOLS);
    tcase_add_loop_test(tests, sorted, 0, POOLS * COMPACT_KEYS);
    tcase_add_test(tests, too_little_memory);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
