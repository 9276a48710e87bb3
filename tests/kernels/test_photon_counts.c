/* The histograms of photons in the memory of a GPU (kernels/cuda/photon_counts.h): how much memory
 * they take, and the sums of a batch.
 *
 * How to join: a new part of the counts of a batch joins in the_sums_of_a_batch. */
#include "kernels/cuda/photon_counts.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>

static const ice_photon_axes few = {
    2, 7, {{ICE_PHOTON_BOUNCES, 2, {1, 5, 9}}, {ICE_PHOTON_LAYERS, 1, {1, 2}}}};

static ics_large_axes many_bins(void)
{
    ics_large_axes axes = {.count = 0};
    ics_large_axes_add(&axes, ICE_PHOTON_PATH, (ics_bin_edges){0.0, 1.0, 100, false});
    return axes;
}

START_TEST(memory_of_few_and_of_many_bins)
{
    const ice_photon_axes none = {.count = 0};
    const ics_large_axes no_large = {.count = 0}, large = many_bins();
    ck_assert_uint_eq(ics_photon_counts_bytes(&none, &no_large), 0);
    ck_assert_uint_eq(ics_photon_counts_shared(&none, &no_large), 0);
    ck_assert_uint_eq(ics_photon_counts_of_batch(&few, &no_large), 7 * ICS_SHARES);
    ck_assert_uint_eq(ics_photon_counts_of_batch(&few, &large), 7 * ICS_SHARES + 102);
    ck_assert_uint_eq(ics_photon_counts_bytes(&none, &large), 8 * 102 * ICS_LANE_BATCHES);
    ck_assert_uint_eq(ics_photon_counts_shared(&few, &large),
                      ics_photon_counts_shared(&few, &no_large) + ICS_CACHE_BYTES);
}
END_TEST

/* The shares are added up, the most common segments are what the others leave of all bounces, and
 * the counts of many bins are taken as they are. */
START_TEST(the_sums_of_a_batch)
{
    const ics_large_axes large = many_bins();
    const uint64_t count = ics_photon_counts_of_batch(&few, &large);
    unsigned long long *counts = calloc(count, sizeof *counts);
    uint64_t cells[7], large_cells[102];
    ck_assert_ptr_nonnull(counts);
    for (uint32_t share = 0; share < ICS_SHARES; ++share) {
        for (uint32_t i = 0; i < 7; ++i) {
            counts[7 * share + i] = 1000 * share + i;
        }
    }
    for (uint32_t i = 0; i < 102; ++i) {
        counts[7 * ICS_SHARES + i] = (1ull << 40) + i;
    }
    const uint64_t base = 1000 * (uint64_t)ICS_SHARES * (ICS_SHARES - 1) / 2;
    const uint64_t bounces = 10 * base, others = 2 * base + (4 + 6) * ICS_SHARES;
    ics_photon_counts_sum(&few, &large, counts, bounces, &(ics_photon_sums){cells, large_cells});
    for (uint32_t i = 0; i < 7; ++i) { /* cell 5 has one layer */
        ck_assert_uint_eq(cells[i], i == 5 ? bounces - others : base + i * ICS_SHARES);
    }
    for (uint32_t i = 0; i < 102; ++i) {
        ck_assert_uint_eq(large_cells[i], (1ull << 40) + i);
    }
    free(counts);
}
END_TEST

ICS_TEST_MAIN("photon_counts")
{
    TCase *tests = tcase_create("photon counts");
    tcase_add_test(tests, memory_of_few_and_of_many_bins);
    tcase_add_test(tests, the_sums_of_a_batch);
    suite_add_tcase(suite, tests);
}
