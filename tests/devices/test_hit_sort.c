/* Promise: arrivals are sorted by the position of their photons in the batch, so that the hits made
 * of them are in the order of hit files if the steps ascend. The order of hits is tested in
 * test_batch.c. To join: another order of arrivals. */
#include "pipeline/photons/devices/batch.h"
#include "tests/support/test_main.h"

#include <check.h>

/* Numbers that are good enough to shuffle with. */
static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

START_TEST(test_arrivals_are_sorted_by_photon)
{
    enum { STEPS = 7, ARRIVALS = 1000, PER_STEP = 1000 };
    ice_emission emissions[STEPS] = {{.photons = 0}};
    ice_arrival items[ARRIVALS] = {{.emission = 0}};
    for (uint32_t i = 0; i < STEPS; ++i) {
        emissions[i].first_photon = 4000000000u + i;
        emissions[i].photons = PER_STEP;
    }
    uint64_t state = 2;
    for (uint32_t i = 0; i < ARRIVALS; ++i) {
        items[i].emission = (uint32_t)(next(&state) % STEPS);
        items[i].photon_id =
            emissions[items[i].emission].first_photon + (uint32_t)(next(&state) % PER_STEP);
        items[i].scatters = i;
    }
    const ics_batch batch = {.emissions = emissions, .count = STEPS};
    const ics_arrivals arrivals = {.items = items, .count = ARRIVALS};
    ics_arrivals sorted = ics_hit_sort_arrivals(&batch, &arrivals);
    ck_assert_uint_eq(sorted.count, ARRIVALS);
    uint64_t sum = sorted.items[0].scatters;
    for (size_t i = 1; i < ARRIVALS; ++i) {
        const ice_arrival *left = &sorted.items[i - 1], *right = &sorted.items[i];
        ck_assert(left->emission < right->emission ||
                  (left->emission == right->emission && left->photon_id <= right->photon_id));
        sum += right->scatters;
    }
    ck_assert_uint_eq(sum, ARRIVALS * (ARRIVALS - 1) / 2);            /* each of them once */
    ck_assert_ptr_null(ics_hit_sort_arrivals(&batch, &sorted).items); /* they are sorted */
    ics_graph_arrivals_free(&sorted);
}
END_TEST

ICS_TEST_MAIN("hit sort")
{
    TCase *tests = tcase_create("hit sort");
    tcase_add_test(tests, test_arrivals_are_sorted_by_photon);
    suite_add_tcase(suite, tests);
}
